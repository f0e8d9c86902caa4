"""Categories: types of columns, blocks of indicators, and all that is behind them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import qwo
from qwo.columns.levels import Words
from qwo.columns.recipes import Coding, Variable
from qwo.errors import (
    ArgumentError,
    ColumnNameError,
    ConstantColumnError,
    DataWarning,
    DuplicateColumnError,
    EngineError,
    MergeError,
    NonNumericError,
)
from qwo.moments import Moments, read_table
from qwo.order.blocks import BlockScore
from qwo.order.local_score import LocalScoreEngine
from qwo.sem import adjusted_effect, direct_effect, total_effects

N = 600
REAL = Path(__file__).parents[3] / "shared" / "data" / "test-only" / "mixed_real"


@pytest.fixture
def table() -> pd.DataFrame:
    """Race and sex cause x, x and sex cause y, y causes the stage."""
    rng = np.random.default_rng(3)
    race = rng.choice(["white", "black", "other"], N, p=[0.5, 0.3, 0.2])
    sex = rng.choice(["male", "female"], N)
    x = rng.normal(size=N) + 1.5 * (race == "black") - (race == "other") + (sex == "male")
    y = 0.8 * x - (sex == "male") + rng.normal(size=N)
    stage = np.digitize(y + rng.normal(size=N), [-1, 1])
    names = np.array(["early", "late", "middle"])[[0, 2, 1]]
    return pd.DataFrame({"race": race, "x": x, "sex": sex, "y": y, "stage": names[stage]})


def close(first: Moments, second: Moments) -> None:
    assert first.coding == second.coding
    np.testing.assert_allclose(first.correlation, second.correlation, atol=1e-13)


class TestTypes:
    def test_text_and_categories_need_no_option(self, table):
        moments = Moments.from_data(table)
        assert moments.names == ("race", "x", "sex", "y", "stage")
        assert moments.column_names == (
            "race=black",
            "race=other",
            "x",
            "sex=male",
            "y",
            "stage=early",
            "stage=late",
        )
        kinds = ["nominal", "continuous", "binary", "continuous", "nominal"]
        assert list(moments.audit().types.values()) == kinds

    def test_every_source_gives_the_same(self, table, tmp_path):
        expected = Moments.from_data(table)
        path = tmp_path / "t.csv"
        table.to_csv(path, index=False)
        table.to_parquet(tmp_path / "t.parquet")
        same: list[Any] = [
            path,
            tmp_path / "t.parquet",
            pl.from_pandas(table),
            pa.Table.from_pandas(table),
            pl.from_pandas(table).with_columns(pl.col("race").cast(pl.Categorical)),
        ]
        for source in same:
            found = Moments.from_data(source)
            assert found.coding == expected.coding
            assert np.array_equal(found.correlation, expected.correlation)
        close(Moments.from_data(table.to_numpy(), names=list(table)), expected)
        sorted_levels = Moments.from_data(table.astype({"race": "category", "sex": "category"}))
        assert sorted_levels.coding.variables[0].levels == ("black", "other", "white")
        close(Moments.from_data(read_table(path)), expected)

    def test_levels_are_found_however_the_file_is_cut(self, table, tmp_path):
        long = pd.concat([table] * 40, ignore_index=True)
        long.loc[:20000, "race"] = "white"
        long.to_csv(tmp_path / "long.csv", index=False)
        pieces = Moments.from_dataset(tmp_path / "long.csv", memory_limit="6 MB", n_jobs=2)
        close(pieces, Moments.from_data(long))

    def test_weights_and_dask(self, table):
        dask = pytest.importorskip("dask.dataframe")
        expected = Moments.from_data(table)
        close(Moments.from_data(dask.from_pandas(table, npartitions=3)), expected)
        weighted = Moments.from_data(table.assign(w=2.0), weights="w")
        close(weighted, expected)
        assert weighted.n_samples == 2 * N

    def test_numbers_are_numbers_until_someone_says_otherwise(self, table):
        codes = table.assign(race=pd.Categorical(table.race).codes)
        with pytest.warns(
            DataWarning, match="few different whole numbers, read as quantities: 'race'"
        ) as caught:
            plain = Moments.from_data(codes)
        assert plain.coding.variables[0] == Variable()
        assert "types={'race': 'nominal'}" in str(caught[0].message)
        coded = Moments.from_data(codes, types={"race": "nominal"})
        assert coded.coding.variables[0] == Variable("nominal", ("2", "0", "1"))
        assert np.array_equal(coded.correlation, Moments.from_data(table).correlation)
        said = Moments.from_data(codes, types={"race": "ordinal"})
        assert np.array_equal(said.correlation, plain.correlation)
        assert said.audit().types["race"] == "ordinal"

    def test_levels_in_their_order_make_scores(self, table):
        stages = ["early", "middle", "late"]
        scores = table.stage.map(stages.index).astype(float)
        moments = Moments.from_data(table[["x", "stage"]], types={"stage": stages})
        expected = np.corrcoef(table.x, scores)[0, 1]
        assert moments.correlation[0, 1] == pytest.approx(expected, abs=1e-13)
        ordered = table.assign(stage=pd.Categorical(table.stage, stages, ordered=True))
        assert Moments.from_data(ordered).coding.variables[-1] == Variable("ordinal", tuple(stages))

    @pytest.mark.parametrize(
        ("said", "error", "message"),
        [
            ({"race": "ordinal"}, NonNumericError, "only you can know the order"),
            ({"race": "continuous"}, NonNumericError, "said to be continuous"),
            ({"race": "binary"}, NonNumericError, "3 different values, but is said to be binary"),
            ({"race": ["white", "black"]}, NonNumericError, "'other' among its values"),
            ({"x": "nominal"}, NonNumericError, "too many for a category"),
            ({"rase": "nominal"}, ColumnNameError, "'rase'"),
            ({"race": "colour"}, ArgumentError, "'colour' for 'race'"),
            (["race"], ArgumentError, "types is a list"),
        ],
    )
    def test_what_cannot_be_is_refused(self, table, said, error, message):
        with pytest.raises(error, match=message):
            Moments.from_data(table, types=said)

    def test_text_of_many_levels_is_refused_with_cures(self, table):
        many = table.assign(
            town=[f"town {k % 50}" for k in range(N)], id=[f"p{k}" for k in range(N)]
        )
        with pytest.raises(NonNumericError, match=r"'id' .text with 600 different") as caught:
            Moments.from_data(many)
        cures = {cure.option: cure.value for cure in caught.value.cures}
        assert cures == {"drop": ["town", "id"], "types": {"town": "nominal"}}
        moments = Moments.from_data(many, drop=["id"], types={"town": "nominal"})
        assert moments.coding.variables[-1].size == 49

    def test_a_constant_category_is_constant(self, table):
        with pytest.raises(ConstantColumnError, match="'land'"):
            Moments.from_data(table.assign(land="de"))

    def test_copies_and_nested_categories_are_named(self, table):
        copy = table.assign(colour=table.race.map({"white": "a", "black": "b", "other": "c"}))
        with pytest.raises(DuplicateColumnError, match="'colour' repeats 'race'") as caught:
            Moments.from_data(copy)
        assert caught.value.cures[0].value == ["colour"]
        nested = table.assign(is_white=table.race == "white")
        with pytest.raises(DuplicateColumnError, match="'is_white' follows from 'race'"):
            Moments.from_data(nested)

    def test_rare_levels_are_named(self, table):
        table.loc[:2, "race"] = "martian"
        with pytest.warns(DataWarning, match=r"'race' \(martian: 3\)"):
            Moments.from_data(table)

    def test_transformations_leave_categories_alone(self, table):
        moved = table.assign(x=np.exp(table.x), y=np.exp(table.y))
        close(Moments.from_data(moved, transform="log"), Moments.from_data(table))
        with pytest.raises(ArgumentError, match="'race'"):
            Moments.from_data(table, transform={"race": "log"})

    def test_missing_categories(self, table):
        table.loc[::10, "race"] = None
        with pytest.raises(qwo.InputError, match=r"'race' \(60 missing\)"):
            Moments.from_data(table)
        with pytest.warns(DataWarning):
            dropped = Moments.from_data(table, missing="drop")
        close(dropped, Moments.from_data(table.dropna()))
        with pytest.warns(DataWarning):
            filled = Moments.from_data(table, missing="em")
        assert filled.coding == dropped.coding
        assert 540 < filled.n_samples < N
        np.testing.assert_allclose(filled.correlation, dropped.correlation, atol=0.05)

    def test_marks_of_missing_values_in_text(self, table, tmp_path):
        table.loc[::10, "race"] = "?"
        table.to_csv(tmp_path / "t.csv", index=False)
        for source in (table, tmp_path / "t.csv"):
            with pytest.warns(DataWarning, match="60 of 600 rows are left out"):
                found = Moments.from_data(source, null_values="?", missing="drop")
            assert found.coding.variables[0].levels == ("white", "black", "other")


class TestMoments:
    def test_merge_update_select_save(self, table, tmp_path):
        whole = Moments.from_data(table)
        half = Moments.from_data(table[:300])
        close(half.merge(Moments.from_data(table[300:])), whole)
        close(half.update(table[300:]), whole)
        assert whole.select(["y", "race"]).column_names == ("y", "race=black", "race=other")
        mostly_black = table[300:].assign(race=lambda t: t.race.where(t.index % 3 == 0, "black"))
        other = Moments.from_data(mostly_black)
        assert other.coding != half.coding
        close(half.merge(other), half.update(mostly_black))
        whole.save(tmp_path / "m.npz")
        loaded = Moments.load(tmp_path / "m.npz")
        close(loaded, whole)
        with pytest.raises(ArgumentError, match="types are given"):
            qwo.discover(loaded, types={"race": "nominal"})

    def test_other_levels_cannot_be_merged(self, table):
        some = table[table.race != "other"]
        with pytest.raises(MergeError, match="'race' has 'white', 'black', 'other' here"):
            Moments.from_data(table).merge(Moments.from_data(some))
        with pytest.raises(ArgumentError, match="'martian'"):
            Moments.from_data(table).update(table.assign(race="martian"))

    def test_whitening(self, table):
        matrix, sizes = Moments.from_data(table).whitened()
        assert sizes.tolist() == [2, 1, 1, 1, 2]
        ends = np.cumsum(sizes)
        for stop, size in zip(ends, sizes, strict=True):
            own = slice(stop - size, stop)
            assert np.array_equal(matrix[own, own], np.eye(size))
        columns = Moments.from_data(table).correlation
        block = [columns[np.ix_(own, own)] for own in ([0, 1], [5, 6])]
        expected = np.linalg.slogdet(columns)[1] - sum(np.linalg.slogdet(b)[1] for b in block)
        assert np.linalg.slogdet(matrix)[1] == pytest.approx(expected, abs=1e-12)

    def test_expanding_codes(self):
        coding = Coding((Variable("nominal", ("a", "b", "c")), Variable()))
        rows = coding.columns(np.array([[0, 5.0], [2, 6.0], [np.nan, 7.0]]))
        expected = [[0, 0, 5], [0, 1, 6], [np.nan, np.nan, 7]]
        assert np.array_equal(rows, expected, equal_nan=True)

    def test_numbers_as_words(self):
        words = Words.of_numbers(np.array([2.0, np.nan, 1.0, 2.0, 0.5]))
        assert words.levels == ("0.5", "1", "2")
        assert words.codes.tolist() == [2, -1, 1, 2, 0]


def residual_log_det(columns: dict[str, np.ndarray], child: str, parents: list[str]) -> float:
    """log det of the residual covariance by plain least squares, less that without parents."""
    own = columns[child] - columns[child].mean(axis=0)
    left = own
    if parents:
        given = np.column_stack([columns[parent] for parent in parents])
        given = given - given.mean(axis=0)
        left = own - given @ np.linalg.lstsq(given, own, rcond=None)[0]
    return np.linalg.slogdet(left.T @ left)[1] - np.linalg.slogdet(own.T @ own)[1]


class TestScore:
    def columns(self, table: pd.DataFrame) -> dict[str, np.ndarray]:
        return {
            name: pd.get_dummies(column, drop_first=True).to_numpy(float)
            if column.dtype == object or str(column.dtype).startswith("str")
            else column.to_numpy(float)[:, None]
            for name, column in table.items()
        }

    def test_it_is_its_definition(self, table):
        moments, columns, names = Moments.from_data(table), self.columns(table), list(table)
        score = BlockScore(moments, penalty_discount=2.0, gamma=0.5)
        sizes = [columns[name].shape[1] for name in names]
        for v, count in itertools.product(range(5), range(4)):
            others = [u for u in range(5) if u != v]
            for parents in itertools.combinations(others, count):
                fit = N * residual_log_det(columns, names[v], [names[u] for u in parents])
                price = sum(2 * np.log(N) * sizes[u] * sizes[v] + np.log(5) for u in parents)
                assert score(v, parents) == pytest.approx(-(fit + price), abs=1e-8)

    def test_neither_names_nor_order_of_levels_matter(self, table):
        other = table.assign(race=table.race.map({"white": "1", "black": "3", "other": "2"}))
        other = other.assign(race=other.race.astype("category"))
        first, second = (qwo.discover(t, random_state=0) for t in (table, other))
        assert np.array_equal(first.cpdag, second.cpdag)
        assert first.score == pytest.approx(second.score, abs=1e-8)

    def test_members_of_a_class_score_the_same(self, table):
        table = table.drop(columns="sex")
        found = qwo.discover(table, penalty_discount=2.0, random_state=0)
        values = [qwo.score_graph(table, dag).score for dag in qwo.graph.enumerate_dags(found)]
        assert len(values) > 1
        np.testing.assert_allclose(values, found.score, atol=1e-8)

    def test_the_search_is_that_of_the_slow_reference(self, table):
        found = qwo.discover(table, penalty_discount=2.0, random_state=0)
        engine = LocalScoreEngine(BlockScore(Moments.from_data(table)), 5)
        best = min(engine.reset(order) for order in itertools.permutations(range(5)))
        assert -found.score == pytest.approx(best, abs=1e-6)


class TestDiscovery:
    def test_the_graph(self, table):
        found = qwo.discover(table, penalty_discount=2.0, random_state=0)
        links = {frozenset((a, b)) for a, _, b in found.edges}
        wanted = [("race", "x"), ("sex", "x"), ("x", "y"), ("sex", "y"), ("y", "stage")]
        assert links == {frozenset(pair) for pair in wanted}
        assert found.params["columns"] == [2, 1, 1, 1, 2]
        assert found.n_coefficients == 2 + 1 + 1 + 1 + 2
        assert found.score == pytest.approx(qwo.score_graph(table, found).score)

    def test_knowledge_is_kept(self, table):
        knowledge = {"tiers": [["race", "sex"], ["x", "y"], ["stage"]], "forbidden": [("sex", "y")]}
        found = qwo.discover(table, knowledge=knowledge, random_state=0)
        assert ("race", "-->", "x") in found.edges
        assert ("sex", "-->", "y") not in found.edges

    @pytest.mark.parametrize("search", ["grasp", "hill-climbing"])
    def test_searches(self, table, search):
        found = qwo.discover(table, search=search, random_state=0)
        assert found.score > 0.98 * qwo.discover(table, random_state=0).score

    @pytest.mark.parametrize(
        "start", ["r2", "markov-boundary", "conditional-variance", "random", [4, 3, 2, 1, 0]]
    )
    def test_starts(self, table, start):
        found = qwo.discover(table, start=start, random_state=0)
        assert found.score == pytest.approx(qwo.discover(table, random_state=0).score)

    def test_who_cannot_refuses(self, table):
        for call in (
            lambda: qwo.discover(table, engine="qwo"),
            lambda: qwo.discover(table, method="qwo-hc"),
            lambda: qwo.order_dag(table, list(range(5)), penalty_discount=2),
        ):
            with pytest.raises(EngineError, match="'race', 'stage' have more than two") as caught:
                call()
            assert caught.value.cures[0].value == ["race", "stage"]

    def test_bootstrap(self, table):
        table.loc[:3, "race"] = "martian"
        with pytest.warns(DataWarning, match="martian"):
            result = qwo.bootstrap(table, n_resamples=10, random_state=1)
        assert result.n_degenerate == 0
        assert result.link_support[0, 1] > 0.9
        moments = Moments.from_data(table[4:])
        assert qwo.bootstrap(moments, n_resamples=4, random_state=1).n_done == 4

    def test_penalty_path(self, table):
        path = qwo.penalty_path(table, [2, 4], restarts=0, random_state=1)
        for discovery, penalty in zip(path.discoveries, path.penalties, strict=True):
            expected = qwo.score_graph(table, discovery, penalty).score
            assert discovery.score == pytest.approx(expected)
        assert path.choose("held-out", n_folds=2).penalty in (2, 4)

    def test_estimator(self, table):
        model = qwo.QWO(random_state=0).fit(table)
        assert model.adjacency_matrix_.index.tolist() == list(table)
        assert model.score(table) == pytest.approx(model.sem_.fit.log_likelihood / N)
        coded = table.assign(race=pd.Categorical(table.race).codes)
        same = qwo.QWO(random_state=0, types={"race": "nominal"}).fit(coded)
        assert np.array_equal(same.cpdag_, model.cpdag_)


class TestModel:
    def test_contrasts_are_those_of_least_squares(self, table):
        dag = np.zeros((5, 5), dtype=int)
        dag[[0, 2], 1] = 1
        sem = qwo.fit_sem(table, dag)
        given = pd.get_dummies(table[["race", "sex"]]).astype(float)
        given = given[["race_black", "race_other", "sex_male"]]
        design = np.column_stack([given, np.ones(N)])
        expected, rest = np.linalg.lstsq(design, table.x, rcond=None)[:2]
        variance = float(rest[0]) / (N - 4) * np.linalg.inv(design.T @ design)
        effects = [direct_effect(sem, name, "x") for name in ("race=black", "race=other", "sex")]
        np.testing.assert_allclose([e.estimate for e in effects], expected[:3], atol=1e-10)
        errors = np.sqrt(np.diag(variance))[:3]
        np.testing.assert_allclose([e.standard_error for e in effects], errors, atol=1e-10)
        assert sem.n_edges == 2
        assert "race (white)" in str(sem)

    def test_likelihood_counts_the_columns_of_a_block_together(self, table):
        complete = np.triu(np.ones((5, 5), dtype=int), 1)
        sem = qwo.fit_sem(table, complete)
        moments = Moments.from_data(table).as_columns()
        columns = read_table(table).columns()
        normal = stats.multivariate_normal(moments.means, moments.covariance)
        assert sem.fit.log_likelihood == pytest.approx(normal.logpdf(columns).sum())
        assert sem.log_likelihood(table).sum() == pytest.approx(sem.fit.log_likelihood)
        assert sem.fit.df == 0
        assert qwo.fit_sem(table, 0 * complete).fit.cfi == 0

    def test_total_effects_of_contrasts(self, table):
        dag = np.zeros((5, 5), dtype=int)
        dag[0, 1] = dag[1, 3] = dag[3, 4] = 1
        sem = qwo.fit_sem(table, dag)
        product = sem.coefficients
        labels = sem.names
        x, y, late = labels.index("x"), labels.index("y"), labels.index("stage=late")
        black = labels.index("race=black")
        expected = product[black, x] * product[x, y] * product[y, late]
        found = qwo.total_effect(sem, "race=black", "stage=late")
        assert found.estimate == pytest.approx(expected)
        every = total_effects(sem).effect("race=black", "stage=late")
        assert every.standard_error == pytest.approx(found.standard_error)
        with pytest.raises(ColumnNameError, match="'race=black', 'race=other'"):
            qwo.total_effect(sem, "race", "y")

    def test_the_errors_of_effects_through_a_block_count_correlated_residuals(self, table):
        """The effect is Σ_j a_j b_j over the indicators j; the a_j are correlated."""
        table = table[["x", "stage", "y"]]
        dag = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        levels = pd.get_dummies(table.stage, drop_first=True).to_numpy(float)
        ones = np.ones(N)
        first = np.column_stack([table.x, ones])
        a, left = np.linalg.lstsq(first, levels, rcond=None)[:2]
        residuals = levels - first @ a
        inverse = np.linalg.inv(first.T @ first)[0, 0]
        second = np.column_stack([levels, ones])
        b, rest = np.linalg.lstsq(second, table.y, rcond=None)[:2]
        spread = np.linalg.inv(second.T @ second)[:2, :2] * rest[0] / (N - 3)
        covariance = residuals.T @ residuals / (N - 2) * inverse
        variance = b[:2] @ covariance @ b[:2] + a[0] @ spread @ a[0]
        found = qwo.total_effect(qwo.fit_sem(table, dag), "x", "y")
        assert found.estimate == pytest.approx(a[0] @ b[:2])
        assert found.standard_error == pytest.approx(np.sqrt(variance))
        assert len(left) == 2

    def test_effects_by_adjustment_and_over_a_class(self, table):
        found = adjusted_effect(table, "race=other", "y", ["sex"])
        given = pd.get_dummies(table[["race", "sex"]]).astype(float)
        design = np.column_stack([given[["race_black", "race_other", "sex_male"]], np.ones(N)])
        expected = np.linalg.lstsq(design, table.y, rcond=None)[0][1]
        assert found.estimate == pytest.approx(expected)
        possible = qwo.ida(table, qwo.discover(table, random_state=0), "race=other", "y")
        assert possible.parent_sets[0] == ()

    def test_the_joint_test_of_an_edge(self, table):
        dag = np.zeros((5, 5), dtype=int)
        dag[0, 1] = 1
        [test] = qwo.fit_sem(table, dag).edge_tests
        assert (test.cause, test.effect, test.df) == ("race", "x", 2)
        shares = table.groupby("race").x.transform("mean")
        ratio = ((table.x - shares) ** 2).sum() / ((table.x - table.x.mean()) ** 2).sum()
        assert test.strength == pytest.approx(-N * np.log(ratio))


@pytest.mark.skipif(not REAL.exists(), reason="the real tables beside the project are not here")
class TestRealTables:
    @pytest.mark.parametrize("name", ["student", "contraceptive", "heart", "anes96"])
    @pytest.mark.filterwarnings("ignore::qwo.DataWarning")
    def test_known_types(self, name):
        import json

        said = json.loads((REAL / "types" / f"{name}.json").read_text())["columns"]
        nominal = {column: "nominal" for column, of in said.items() if of["type"] == "nominal"}
        knowledge = REAL / f"{name}.knowledge.txt"
        found = qwo.discover(
            REAL / f"{name}.csv",
            types=nominal,
            missing="drop",
            knowledge=knowledge,
            restarts=0,
            random_state=0,
        )
        assert found.n_edges > 5

    def test_text_tables_are_read_without_an_option(self):
        types = qwo.audit(REAL / "student.csv").types
        nominal = {"Mjob", "Fjob", "reason", "guardian"}
        assert {name for name, kind in types.items() if kind == "nominal"} == nominal


def test_effects_of_contrasts_on_the_command_line(table, tmp_path, monkeypatch):
    from tests.cli.running import run

    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    learnt = run("learn", "t.csv", "-o", "out", "--tiers", "race,sex > x > y > stage", "-q")
    assert learnt.exit_code == 0
    found = run("effect", "t.csv", "out", "race=black", "y")
    assert found.exit_code == 0
    assert "With race black instead of white, y changes by" in found.stdout
    number = run("effect", "t.csv", "out", "x", "y")
    assert "With one unit more of x, y changes by" in number.stdout
    assert "race=black" in run("fit", "t.csv", "out").stdout
    wrong = run("effect", "t.csv", "out", "race", "y")
    assert wrong.exit_code == 1
    assert "'race=black', 'race=other'" in wrong.stderr


class TestColumnTransformers:
    """Frames as pipelines of scikit-learn make them."""

    def pipeline(self, output: str, **options: Any) -> Any:
        columns = make_column_transformer(
            (StandardScaler(), ["x", "y"]),
            remainder="passthrough",
            verbose_feature_names_out=False,
        )
        return make_pipeline(
            columns.set_output(transform=output), qwo.QWO(random_state=0, **options)
        )

    @pytest.mark.parametrize("output", ["pandas", "polars"])
    def test_frames_keep_their_categories(self, table, output):
        fitted = self.pipeline(output).fit(table)
        straight = qwo.discover(table, random_state=0)
        links = [
            {frozenset((a, b)) for a, _, b in edges}
            for edges in (fitted[-1].discovery_.edges, straight.edges)
        ]
        assert links[0] == links[1]
        assert np.isfinite(fitted.score(table))

    def test_an_array_of_text_is_refused_with_a_cure(self, table):
        with pytest.raises(qwo.InputError, match=r"set_output\(transform='pandas'\)"):
            self.pipeline("default").fit(table)

    def test_codes_of_an_encoder_are_declared(self, table):
        encoder = make_column_transformer(
            (OrdinalEncoder(), ["race", "sex", "stage"]),
            remainder="passthrough",
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        types = {"race": "nominal", "stage": "nominal"}
        model = make_pipeline(encoder, qwo.QWO(random_state=0, types=types)).fit(table)[-1]
        assert model.sem_.coding.has_blocks

    @pytest.mark.filterwarnings("ignore::qwo.DataWarning")
    @pytest.mark.parametrize("dtype", [object, "category", "string"])
    def test_missing_categories(self, table, dtype):
        holes = table.astype({"race": dtype})
        holes.loc[:9, "race"] = None
        with pytest.raises(qwo.InputError, match=r"'race' \(10 missing\)[^']*rows(.|\n)*drop"):
            qwo.QWO().fit(holes)
        dropped = qwo.QWO(random_state=0, missing="drop").fit(holes)
        whole = qwo.QWO(random_state=0).fit(table[10:])
        assert (dropped.cpdag_ == whole.cpdag_).all()
        filled = qwo.QWO(random_state=0, missing="em").fit(holes)
        assert filled.discovery_.params["n_samples"] > N - 10

    def test_a_level_that_was_never_seen_is_named(self, table):
        model = qwo.QWO(random_state=0).fit(table)
        with pytest.raises(qwo.InputError, match="'race' has 'new'"):
            model.score(table.assign(race="new"))


class TestWhatTheAuditSays:
    @pytest.fixture
    def codes(self, table: pd.DataFrame) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        ward, seldom = rng.integers(1, 4, N), (rng.random(N) < 0.02) * rng.integers(1, 4, N)
        return table.assign(ward=ward, seldom=seldom)

    def test_counts_are_of_all_columns_not_of_the_numbers_alone(self, codes):
        [finding] = [f for f in qwo.audit(codes).findings if f.code == "codes"]
        assert "2 of 7 columns hold few different whole numbers" in finding.message

    def test_codes_are_asked_about_beside_missing_values(self, codes):
        codes.loc[3, "x"] = np.nan
        audit = qwo.audit(codes)
        assert [finding.code for finding in audit.findings] == ["missing-values", "codes", "roots"]
        assert "2 of 7 columns" in audit.findings[1].message
        said = qwo.audit(codes, types={"ward": "nominal", "seldom": "ordinal"})
        assert [finding.code for finding in said.findings] == ["missing-values", "roots"]

    def test_no_transformation_is_advised_for_a_few_levels(self, codes):
        assert "non-gaussian" not in {finding.code for finding in qwo.audit(codes).findings}
        skewed = codes.assign(dose=np.exp(2 * np.random.default_rng(1).normal(size=N)))
        [finding] = [f for f in qwo.audit(skewed).findings if f.code == "non-gaussian"]
        assert finding.columns == ("dose",)
        assert "1 of 8 columns" in finding.message


class TestSigns:
    """Several coefficients have no sign together: neither colour says so of them."""

    def test_in_the_report(self, table):
        from qwo.report.data import report_data
        from qwo.report.pictures import sign_of

        found = qwo.discover(table, random_state=0)
        data = report_data(found, model=qwo.fit_sem(table, found))
        several = [bool(edge.get("contrasts")) for edge in data["edges"]]
        assert any(several)
        assert [not sign_of(edge) for edge in data["edges"]] == several

    def test_in_pictures(self, table):
        from qwo.drawing.layers import EdgeSet
        from qwo.drawing.style import LIGHT
        from qwo.plot import plot_adjacency
        from qwo.plot.edges import EdgeValues

        found = qwo.discover(table, random_state=0)
        sem = qwo.fit_sem(table, found)
        edges = EdgeSet.of(found.cpdag, found.order)
        values = EdgeValues.of(edges, found.names, sem, None, "sign")
        wide = [{a, b} & {"race", "stage"} for a, _, b in found.edges]
        colours = values.colours(len(wide), LIGHT)
        assert [colour == LIGHT.edge for colour in colours] == [bool(both) for both in wide]
        signed, plain = plot_adjacency(found, coefficients=sem).images
        assert (~plain.get_array().mask).sum() >= sum(map(bool, wide)) > 0
        assert (signed.get_array().mask | plain.get_array().mask).all()
