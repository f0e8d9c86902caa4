"""`discover` with conditions, and what changed between two tables."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo import _core
from qwo.errors import ArgumentError, ColumnNameError, DataWarning, InputError
from qwo.graph.dag import is_acyclic
from qwo.options import SearchOptions
from qwo.regimes.compared import compared_equations
from qwo.regimes.search import opened_search
from qwo.regimes.sums import RegimeSums, usual_moments
from qwo.resample.dropped import regime_plan

N = 200


def table(seed: int = 0, n_regimes: int = 6) -> pd.DataFrame:
    """a → b → c; the second condition shifts b, the fourth triples the noise of c."""
    rng = np.random.default_rng(seed)
    parts = []
    for r in range(n_regimes):
        a = rng.normal(size=N)
        b = a + rng.normal(size=N) + 2 * (r == 1)
        c = b + rng.normal(size=N) * (3 if r == 3 else 1)
        parts.append(pd.DataFrame({"a": a, "b": b, "c": c, "batch": f"day {r}"}))
    return pd.concat(parts, ignore_index=True)


def test_conditions_direct_what_one_population_cannot() -> None:
    frame = table()
    assert (qwo.discover(frame[frame.batch == "day 0"].drop(columns="batch")).cpdag != 1).all()
    found = qwo.discover(frame, regime="batch", random_state=0)
    assert found.names == ("a", "b", "c")
    assert found.edges == (("a", "-->", "b"), ("b", "-->", "c"))
    assert found.regimes is not None
    targets = {label: own for label, own in found.regimes.listed().items() if own}
    assert targets == {"day 1": ["b"], "day 3": ["c"]}
    assert found.regimes.labels == tuple(f"day {r}" for r in range(6))
    assert (found.regimes.class_before, found.regimes.class_after) == (3, 1)
    assert found.regimes.reasons["a", "b"] == ("regime", "day 1")
    assert "day 3" in str(found)
    assert found.next_experiment() == {}
    assert len(found.targets) == 18


def test_rows_in_any_order_files_and_parts_give_the_same(tmp_path: Path) -> None:
    frame = table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    first = qwo.discover(frame, regime="batch", random_state=0)
    shuffled = frame.sample(frac=1, random_state=1)
    parts = {str(k): part.drop(columns="batch") for k, part in frame.groupby("batch")}
    for data, regime in ((tmp_path / "t.csv", "batch"), (shuffled, "batch"), (parts, None)):
        again = qwo.discover(data, regime=regime, random_state=0)
        assert np.array_equal(again.cpdag, first.cpdag)
        assert again.score == pytest.approx(first.score, rel=1e-9)


def test_parts_are_transformed_once() -> None:
    frame = table().drop(columns="batch").abs() + 0.1
    parts = {"a": frame[:600], "b": frame[600:]}
    whole = frame.assign(part=["a"] * 600 + ["b"] * 600)
    first = qwo.discover(parts, transform="log", random_state=0)
    other = qwo.discover(whole, regime="part", transform="log", random_state=0)
    assert first.score == pytest.approx(other.score, rel=1e-9)


def test_known_targets_are_said_to_show_or_not() -> None:
    known = {"day 1": ["b"], "day 2": ["a"]}
    found = qwo.discover(table(), regime="batch", targets=known, random_state=0)
    status = found.targets.set_index(["regime", "variable"]).status
    assert status["day 1", "b"] == "known"
    assert status["day 2", "a"] == "known, does not show"
    assert status["day 3", "c"] == "target"


def test_what_its_causes_still_explain_was_not_set() -> None:
    known, frame = {"day 1": ["b"], "day 2": ["a"]}, table()
    how: dict[str, Any] = {"regime": "batch", "targets": known, "random_state": 0}
    frame.loc[frame.batch == "day 1", "b"] = np.random.default_rng(1).normal(size=N)
    found = qwo.discover(frame, **how, effect="perfect")
    status = found.targets.set_index(["regime", "variable"]).status
    assert [status["day 1", "b"], status["day 2", "a"]] == ["set", "set"]
    assert found.regimes is not None
    assert found.regimes.not_set == ()
    soft = qwo.discover(table(), **how, effect="perfect")
    assert soft.regimes is not None
    assert soft.regimes.not_set == (("day 1", "b"),)
    assert soft.targets.set_index(["regime", "variable"]).status["day 1", "b"] == "known"
    assert "causes still explain 'b in day 1', so nothing set it there" in str(soft)
    plan = regime_plan(table(), SearchOptions(**how, effect="perfect"), {}, "halves", None)
    known: Any = plan.replication(0, soft).search
    assert [int(known.args[1].touched.sum()), int(known.args[1].set.sum())] == [1, 1]


def test_what_was_set_must_be_named() -> None:
    asked: list[dict[str, Any]] = [{"regime": "batch"}, {}]
    for told in asked:
        with pytest.raises(qwo.InputError, match=r"effect is 'perfect'.* none is given; name them"):
            qwo.discover(table(), effect="perfect", **told)


def test_settings_that_are_constant_elsewhere_direct_their_effects() -> None:
    rng = np.random.default_rng(0)
    parts = {}
    for label in ("rest", "lamp", "fan", "lens"):
        lamp, fan = (
            rng.uniform(0, 9, N) if label == own else np.full(N, 4.0) for own in ("lamp", "fan")
        )
        light = lamp * (0.5 if label == "lens" else 1.0) + 0.3 * rng.normal(size=N)
        parts[label] = pd.DataFrame(
            {"lamp": lamp, "light": light, "fan": fan, "noise": fan + light + rng.normal(size=N)}
        )
    with np.errstate(all="raise"):
        found = qwo.discover(parts, random_state=0, reference="rest")
    assert set(found.edges) >= {("lamp", "-->", "light"), ("fan", "-->", "noise")}
    assert found.regimes is not None
    assert found.regimes.listed() == {
        "rest": [],
        "lamp": ["lamp"],
        "fan": ["fan"],
        "lens": ["light"],
    }


def test_one_change_shared_by_most_conditions_is_no_drift() -> None:
    rng = np.random.default_rng(3)
    parts = {}
    for r in range(11):
        rows, effect = rng.normal(size=(N, 5)), 0.8 if r < 3 else -0.4
        for v in range(1, 5):
            rows[:, v] += effect * rows[:, v - 1]
        parts[str(r)] = rows
    found = qwo.discover(parts, random_state=0, reference="0")
    assert found.regimes is not None
    assert found.regimes.targets.sum(axis=0).tolist() == [0, 8, 8, 8, 8]


def test_a_reference_has_no_targets() -> None:
    found = qwo.discover(table(), regime="batch", reference="day 1", random_state=0)
    assert found.regimes is not None
    assert found.regimes.listed()["day 1"] == []


def test_what_speaks_against_targets_is_said() -> None:
    """Batches that differ in everything, a variable that most touch, a condition of few rows."""
    rng = np.random.default_rng(0)
    frame = table(n_regimes=6)
    moved = frame.copy()
    for label in frame.batch.unique():
        moved.loc[frame.batch == label, ["a", "b", "c"]] += rng.normal(size=3)
    [said] = qwo.discover(moved, regime="batch", random_state=0).readings.values()
    assert "batch effects" in said.summary()
    touched = frame.copy()
    touched.loc[frame.batch > "day 2", "c"] += 20 * frame.batch.str[-1].astype(int)
    found = qwo.discover(touched, regime="batch", random_state=0)
    assert found.regimes is not None
    assert any("touch 'c'" in remark for remark in found.regimes.remarks)
    short = frame.drop(index=frame.index[frame.batch == "day 4"][20:])
    found = qwo.discover(short, regime="batch", random_state=0)
    assert found.regimes is not None
    assert any("'day 4' has fewer than 30 rows" in r for r in found.regimes.remarks)
    assert not qwo.discover(frame, regime="batch", random_state=0).regimes.remarks


def test_knowledge_is_kept() -> None:
    knowledge = qwo.Knowledge(tiers=[["c"], ["b"], ["a"]])
    found = qwo.discover(table(), regime="batch", knowledge=knowledge, random_state=0)
    assert not np.triu(found.dag, 1).any()


def test_categories_are_blocks() -> None:
    frame = table()
    rng = np.random.default_rng(3)
    frame["kind"] = np.where(frame.c + rng.normal(size=len(frame)) > 0, "x", "y")
    frame.loc[rng.random(len(frame)) < 0.2, "kind"] = "z"
    found = qwo.discover(frame, regime="batch", random_state=0)
    assert found.names == ("a", "b", "c", "kind")
    assert found.dag[[0, 1], [1, 2]].all()
    assert found.dag[2, 3] or found.dag[3, 2]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"regime": "day"}, ColumnNameError, "day"),
        ({"regime": "bacth"}, ColumnNameError, "did you mean 'batch'?"),
        ({"regime": "a"}, ArgumentError, "fewer than 5 rows"),
        ({"regime": "batch", "targets": {"day 9": ["a"]}}, ArgumentError, "day 9"),
        ({"regime": "batch", "targets": {"day 1": ["d"]}}, ColumnNameError, "'d'"),
        ({"regime": "batch", "targets": 3}, ArgumentError, "targets is 3"),
        ({"regime": "batch", "reference": "night"}, ArgumentError, "night"),
        ({"regime": "batch", "missing": "em"}, ArgumentError, "drop"),
        ({"regime": "batch", "search": "grasp"}, ArgumentError, "search"),
        ({"regime": "batch", "covariance_estimator": "oas"}, ArgumentError, "oas"),
    ],
)
def test_what_cannot_be_is_said(
    options: dict[str, Any], error: type[InputError], words: str
) -> None:
    with pytest.raises(error, match=words):
        qwo.discover(table(), **options)


@pytest.mark.parametrize(
    ("parts", "options", "words"),
    [
        ({1: "ab", "1": "ab"}, {}, "two conditions have one name"),
        ({"x": "ab", "y": "ac"}, {}, "the columns of 'y' are not those of 'x'"),
        ({"x": "ab", "y": ""}, {}, "the table of 'y' has no rows"),
        ({"x": "ab", "y": "ab"}, {"regime": "batch"}, "told apart by a column"),
    ],
)
def test_tables_that_do_not_go_together_are_refused(
    parts: dict[Any, str], options: dict[str, Any], words: str
) -> None:
    """Of two tables of one name the second took the place of the first; an empty one was lost."""
    frame = table()
    tables = {
        k: frame[list(own)] if own else frame[["a", "b"]].iloc[:0] for k, own in parts.items()
    }
    with pytest.raises(InputError, match=words):
        qwo.discover(tables, **options)


def test_columns_of_tables_may_stand_in_any_order() -> None:
    parts = {name: own.drop(columns="batch") for name, own in table().groupby("batch")}
    turned = {
        name: own[own.columns[:: 1 - 2 * (k % 2)]] for k, (name, own) in enumerate(parts.items())
    }
    found, same = (qwo.discover(own, random_state=0) for own in (turned, parts))
    assert (found.names, found.score) == (same.names, same.score)
    before, after = list(parts.values())[:2]
    there, back = (qwo.changes(before, own) for own in (after, after[["c", "b", "a"]]))
    assert there.to_dict() == back.to_dict()


def test_many_conditions_are_listed_in_part() -> None:
    frame = table()
    frame["batch"] += (np.arange(len(frame)) % 20).astype(str)
    told = qwo.discover(frame, regime="batch", random_state=0).regimes.summary().splitlines()
    n_labels = frame.batch.nunique()
    shown = [line for line in told if " rows  " in line]
    assert n_labels > len(shown) == 30
    assert f"  and {n_labels - 30} more, those without changes last" in told
    changed = [not line.endswith("–") for line in shown]
    assert changed == sorted(changed, reverse=True)


def test_columns_constant_within_conditions_are_refused() -> None:
    frame = table()
    frame["level"] = frame.batch.str[-1].astype(float)
    with (
        pytest.warns(qwo.DataWarning, match="level"),
        pytest.raises(ArgumentError, match="'level' is constant within every regime"),
    ):
        qwo.discover(frame, regime="batch")


@pytest.mark.parametrize("kind", ["dates", "days", "truth", "numbers"])
def test_any_column_tells_conditions_apart(kind: str) -> None:
    """A column of dates was called missing; True is 1 in a column of numbers."""
    frame = table()
    day = pd.Timestamp("2024-03-01") + pd.to_timedelta(frame.batch.str[-1].astype(int), "D")
    columns = {
        "dates": (day, "2024-03-02", "2024-03-01"),
        "days": (day.dt.date, "2024-03-02", day[0].date()),
        "truth": (frame.batch == "day 1", "1", False),
        "numbers": (frame.batch.str[-1].astype(float), "1", 0),
    }
    column, touched, reference = columns[kind]
    found = qwo.discover(frame.assign(batch=column), regime="batch", reference=reference)
    assert found.regimes is not None
    assert "b" in found.regimes.listed()[touched]
    assert ("a", "-->", "b") in found.edges


def test_rows_without_a_condition_are_left_out_where_that_is_asked() -> None:
    frame, kept = table(), table().drop(index=[3, 250])
    frame.loc[[3, 250], "batch"] = None
    with pytest.raises(ArgumentError, match="2 rows have no regime") as caught:
        qwo.discover(frame, regime="batch")
    assert "missing='drop'" in str(caught.value)
    same = qwo.discover(kept, regime="batch", random_state=0)
    with pytest.warns(DataWarning, match="2 rows are left out: the value that names"):
        found = qwo.discover(frame, regime="batch", missing="drop", random_state=0)
    assert found.score == pytest.approx(same.score, rel=1e-12)
    assert found.regimes.rows == same.regimes.rows
    checked = qwo.check(frame, found, regime="batch", missing="drop", n_draws=0, n_subsets=0)
    assert list(checked.checks) == [f"day {r}" for r in range(6)]


def test_conditions_of_a_row_or_two_are_left_out() -> None:
    """A screen of many conditions is not refused for one of them."""
    frame, short = table(), table(1)[[r in (0, 205, 801) for r in range(6 * N)]]
    short.batch = ["day 6", "day 7", "day 7"]
    short.a = 1e6
    targets = {"day 1": ["b"], "day 7": ["c"]}
    same = qwo.discover(frame, regime="batch", targets={"day 1": ["b"]}, random_state=0)
    with pytest.warns(DataWarning, match=r"2 of 8 conditions left out.*'day 6', 'day 7'"):
        found = qwo.discover(
            pd.concat([frame, short]), regime="batch", targets=targets, random_state=0
        )
    assert found.score == pytest.approx(same.score, rel=1e-9)
    assert found.regimes is not None
    assert found.regimes.labels == same.regimes.labels


def test_no_moments_are_proposed_that_conditions_cannot_take() -> None:
    with pytest.warns(DataWarning, match="the time limit was over") as caught:
        qwo.discover(table(), regime="batch", time_limit=1e-6, random_state=0)
    assert not any(own.message.cures for own in caught if isinstance(own.message, DataWarning))


def test_an_array_is_no_name_of_a_column() -> None:
    frame = table()
    with pytest.raises(ArgumentError, match=r"assign\(condition=values\)"):
        qwo.discover(frame.drop(columns="batch"), regime=frame.batch.to_numpy())


def test_no_targets_without_conditions() -> None:
    found = qwo.discover(table().drop(columns="batch"), random_state=0)
    with pytest.raises(ArgumentError, match="condition"):
        _ = found.targets
    assert found.next_experiment()


def test_the_next_experiment_of_a_chain_is_its_middle() -> None:
    found = qwo.discover(table().query("batch == 'day 0'").drop(columns="batch"), random_state=0)
    assert next(iter(found.next_experiment())) == "b"


def test_a_column_of_targets_tells_conditions_apart() -> None:
    frame = table()
    names = {"day 1": "b", "day 3": "c", "day 4": "a, c"}
    touched = frame.drop(columns="batch").assign(touched=frame.batch.map(names))
    found = qwo.discover(touched, targets="touched", random_state=0)
    status = found.targets.set_index(["regime", "variable"]).status
    assert status["b", "b"] == status["c", "c"] == "known"
    assert status["a, c", "a"] == "known, does not show"
    assert set(status["nothing touched"]) == {"same"}
    as_mapping = {"day 1": ["b"], "day 3": ["c"], "day 4": ["a", "c"]}
    one = frame.assign(batch=frame.batch.where(frame.batch.isin(list(as_mapping)), "none"))
    again = qwo.discover(one, regime="batch", targets=as_mapping, random_state=0)
    assert again.score == pytest.approx(found.score, rel=1e-12)
    with pytest.raises(ArgumentError, match="give one of these"):
        qwo.discover(frame, regime="batch", targets="touched")
    with pytest.raises(ColumnNameError, match="no variables: 'day 0'"):
        qwo.discover(frame, targets="batch")


def test_the_untouched_of_a_column_of_targets_may_have_a_name() -> None:
    frame = table()
    blank = frame.assign(batch=frame.batch.map({"day 1": "b", "day 3": "c"}))
    named = blank.fillna("non-targeting")
    with pytest.raises(ColumnNameError, match="reference=… names the condition"):
        qwo.discover(named, targets="batch")
    how: dict[str, Any] = {"targets": "batch", "random_state": 0}
    found, same = qwo.discover(named, reference="non-targeting", **how), qwo.discover(blank, **how)
    assert found.score == pytest.approx(same.score, rel=1e-12)
    assert found.regimes is not None
    assert found.regimes.reference == "non-targeting"
    assert {label: own for label, own in found.regimes.listed().items() if own} == {
        "b": ["b"],
        "c": ["c"],
    }


@pytest.mark.parametrize("options", [{"targets": {"day 1": ["b"]}}, {"reference": "day 1"}])
def test_nothing_said_of_conditions_is_left_unheard(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="regime="):
        qwo.discover(table().drop(columns="batch"), **options)


def test_resamples_are_drawn_within_conditions() -> None:
    frame = table().drop(index=range(100))  # the first condition has half as many rows
    drawn = qwo.bootstrap(frame, regime="batch", n_resamples=12, random_state=1)
    assert drawn.link_support[0, 1] == drawn.link_support[1, 2] == 1.0
    assert drawn.directed_counts[0, 1] >= 11
    source = regime_plan(frame, SearchOptions(regime="batch"), {}, "halves", None).prepared.source
    halves: list[Any] = [source.draw(1, number) for number in (0, 1)]
    assert halves[0].rows.tolist() == halves[1].rows.tolist() == [50, *[100] * 5]
    whole = RegimeSums.of(
        [own.drop(columns="batch").to_numpy() for _, own in frame.groupby("batch")]
    )
    np.testing.assert_allclose(sum(half.products() for half in halves), whole.products())
    again = qwo.bootstrap(frame, regime="batch", n_resamples=12, random_state=1, n_jobs=2)
    assert np.array_equal(again.directed_counts, drawn.directed_counts)


def test_resamples_know_what_the_graph_was_told() -> None:
    known = {"targets": {"day 1": ["b"]}, "effect": "perfect"}
    found = qwo.discover(table(), regime="batch", reference="day 0", random_state=1, **known)
    drawn = qwo.bootstrap(
        table(), regime="batch", n_resamples=4, random_state=1, reference=found, **known
    )
    assert drawn.params["targets"] == known["targets"]
    assert drawn.params["reference"] == "day 0"


def test_weights_count_rows() -> None:
    """A row of weight 2 is that row twice."""
    frame = table(n_regimes=4)
    rng = np.random.default_rng(0)
    frame["n"] = rng.integers(1, 3, len(frame))
    twice = frame.loc[frame.index.repeat(frame.n)].drop(columns="n")
    weighted = qwo.discover(frame, regime="batch", weights="n", random_state=0)
    with pytest.warns(qwo.DataWarning, match="repeat others"):
        repeated = qwo.discover(twice, regime="batch", random_state=0)
    assert weighted.score == pytest.approx(repeated.score, rel=1e-9)
    assert weighted.edges == repeated.edges


def test_the_penalty_is_chosen_by_what_varies_within_conditions() -> None:
    frame = table()
    found = qwo.discover(frame, regime="batch", penalty_discount="auto", random_state=0)
    within = frame.drop(columns="batch") - frame.groupby("batch").transform("mean")
    alone = qwo.discover(within, penalty_discount="auto", random_state=0)
    assert found.params["penalty_discount"] == alone.params["penalty_discount"]
    assert found.edges == (("a", "-->", "b"), ("b", "-->", "c"))


@pytest.mark.parametrize("name", ["json", "graphml", "gml"])
def test_formats_keep_targets(name: str, tmp_path: Path) -> None:
    graph = qwo.discover(table(), regime="batch", random_state=0).graph
    assert graph.targets["day 1"] == ["b"]
    path = tmp_path / f"graph.{name}"
    qwo.graph.write_graph(graph, path)
    assert qwo.graph.read_graph(path).targets == graph.targets
    assert graph.renamed({"b": "B"}).targets["day 1"] == ["B"]


def test_the_audit_knows_columns_of_conditions() -> None:
    notes = [found for found in qwo.audit(table()).findings if found.code == "conditions"]
    assert [found.columns for found in notes] == [("batch",)]
    assert notes[0].cures[0].value == "batch"
    renamed = table().rename(columns={"batch": "colour"})
    assert not [found for found in qwo.audit(renamed).findings if found.code == "conditions"]


def test_targets_are_drawn() -> None:
    plot = pytest.importorskip("qwo.plot")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = qwo.discover(table(), regime="batch", random_state=0)
    ax = plot.plot_targets(found)
    marked = {tuple(point) for own in ax.collections[:1] for point in own.get_offsets().tolist()}
    assert marked == {(1.0, 1.0), (2.0, 3.0)}
    assert [text.get_text() for text in ax.get_yticklabels()][:2] == ["day 0", "day 1"]
    pyplot.close(ax.figure)
    with pytest.raises(ArgumentError, match="regime="):
        plot.plot_targets(qwo.discover(table().drop(columns="batch"), random_state=0))


class TestSimulatedConditions:
    kinds = ("shift", "perfect", "variance", "slopes")

    def test_what_was_simulated_is_found(self) -> None:
        touched = {"none": [], **{kind: {"X3": kind} for kind in self.kinds}, "also none": []}
        data, dag, _ = qwo.simulate(
            np.diag(np.ones(3), 1), n_samples=400, interventions=touched, random_state=0
        )
        assert list(data) == list(touched)
        assert {part.shape for part in data.values()} == {(400, 4)}
        found = qwo.discover(data, reference="none", random_state=0)
        assert found.regimes is not None
        assert found.regimes.listed() == {
            "none": [],
            **{kind: ["X3"] for kind in self.kinds},
            "also none": [],
        }
        assert found.dag[2, 3] == dag[2, 3]

    def test_the_mean_moves_by_a_standard_deviation(self) -> None:
        data, _, weights = qwo.simulate(
            np.diag(np.ones(2), 1),
            n_samples=50_000,
            interventions={"a": [], "b": ["X1"], "c": {1: "perfect"}},
            random_state=3,
        )
        usual, moved, fixed = data.values()
        assert moved[:, 1].mean() == pytest.approx(usual[:, 1].std(), rel=0.03)
        assert moved[:, 2].mean() == pytest.approx(usual[:, 1].std() * weights[1, 2], rel=0.05)
        assert np.corrcoef(fixed[:, 0], fixed[:, 1])[0, 1] == pytest.approx(0, abs=0.02)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({}, "control"),
            ({"a": ["X9"]}, "X9"),
            ({"a": {"X1": "push"}}, "one of 'shift'"),
        ],
    )
    def test_what_cannot_be_is_said(self, given: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            qwo.simulate("er", n_variables=3, interventions=given)
        with pytest.raises(ArgumentError, match="standardize"):
            qwo.simulate("er", n_variables=3, interventions={"a": []}, standardize=True)


class TestChanges:
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(5)
        found = []
        for after in (False, True):
            a = rng.normal(size=800) + after
            b = a + rng.normal(size=800)
            c = (2 if after else 1) * b + rng.normal(size=800)
            d = c + rng.normal(size=800) * (2 if after else 1)
            found.append(np.column_stack([a, b, c, d]))
        return found[0], found[1]

    dag = np.diag(np.ones(3, np.int8), 1)

    def test_each_change_is_called_by_its_name(self) -> None:
        found = qwo.changes(*self.tables(), graph=self.dag)
        kinds = {own.variable: own.kinds for own in found.equations}
        assert kinds == {"X0": ("mean",), "X1": (), "X2": ("slopes",), "X3": ("variance",)}
        assert set(found.changed) == {"X0", "X2", "X3"}
        by_name = {own.variable: own for own in found.equations}
        assert by_name["X1"].moved == pytest.approx(1 / np.sqrt(2), abs=0.1)
        assert by_name["X1"].own == pytest.approx(0, abs=0.1)
        assert by_name["X3"].variance_ratio == pytest.approx(4, rel=0.2)
        [slope] = by_name["X2"].slopes
        assert (slope.cause, round(slope.before), round(slope.after)) == ("X1", 1, 2)
        assert "moved with their causes" in found.summary()
        assert len(found.to_frame()) == 4

    def test_the_graph_is_learnt_if_none_is_given(self) -> None:
        found = qwo.changes(*self.tables(), random_state=0)
        assert set(found.changed) == {"X0", "X2", "X3"}

    def test_nothing_changes_by_chance(self) -> None:
        rng = np.random.default_rng(0)
        alarms, names = 0, ("a", "b", "c", "d")
        for _ in range(100):
            rows = rng.normal(size=(400, 4)) @ np.linalg.inv(np.eye(4) - 0.7 * self.dag)
            sums = RegimeSums.of([rows[:200], rows[200:]])
            found = compared_equations(sums, self.dag, names, dict(enumerate(names)))
            alarms += any(own.changed for own in found)
        assert alarms <= 12  # 5 are expected

    def test_other_columns_are_refused(self) -> None:
        before, after = self.tables()
        with pytest.raises(InputError, match="columns"):
            qwo.changes(before, after[:, :3])


class TestCheckOfConditions:
    def test_each_condition_is_checked_with_coefficients_of_its_own(self) -> None:
        frame = table()
        frame.loc[frame.batch == "day 4", "c"] *= -2  # another slope; the independence holds
        found = qwo.discover(frame, regime="batch", random_state=0)
        checked = found.check(n_draws=5, n_subsets=1, random_state=0)
        assert list(checked.checks) == [f"day {r}" for r in range(6)]
        assert not checked.alarm
        assert checked["day 4"].n_samples == N
        assert "day 4" in checked.summary()
        assert set(checked.to_frame()["condition"]) == set(checked.checks)
        assert set(checked.to_dict()["conditions"]) == set(checked.checks)
        again = qwo.check(
            frame, found, regime="batch", n_draws=5, n_subsets=1, random_state=0
        ).tests
        assert [t.p_value for t in again] == [t.p_value for t in checked.tests]

    def test_a_wrong_graph_is_flagged(self) -> None:
        """Pooled rows of conditions would hide it; the rows of each do not."""
        wrong = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], np.int8)
        parts = {str(k): part.drop(columns="batch") for k, part in table().groupby("batch")}
        checked = qwo.check(parts, wrong, n_draws=100, n_subsets=0, random_state=0)
        assert checked.alarm
        assert all(own.alarm for own in checked.checks.values())
        assert checked.summary().startswith("Alarm: the rows of 6 conditions contradict the graph")

    def test_what_cannot_be_checked_is_said(self) -> None:
        frame = table(n_regimes=3)
        frame.loc[frame.batch == "day 1", "b"] = 4.0
        graph = np.diag(np.ones(2, np.int8), 1)
        checked = qwo.check(frame, graph, regime="batch", n_draws=0, n_subsets=0)
        assert list(checked.left_out) == ["day 1"]
        assert "not checked" in checked.summary()
        with pytest.raises(ArgumentError, match="weights"):
            qwo.check(frame.assign(w=1.0), graph, regime="batch", weights="w")
        with pytest.raises(InputError, match="4 variables"):
            qwo.check(frame, np.zeros((4, 4), np.int8), regime="batch")


class TestUsualEquations:
    def test_coefficients_are_of_the_conditions_that_leave_an_equation_alone(self) -> None:
        frame = table(n_regimes=4)
        turned = frame.batch.isin(["day 2"])
        rng = np.random.default_rng(1)
        frame.loc[turned, "b"] = -2 * frame.a[turned] + rng.normal(size=turned.sum())
        frame.loc[turned, "c"] = frame.b[turned] + rng.normal(size=turned.sum())
        found = qwo.discover(frame, regime="batch", random_state=0)
        assert found.regimes is not None
        assert found.regimes.listed()["day 2"] == ["b"]
        calm = frame[frame.batch.isin(["day 0", "day 3"])]
        within = calm.drop(columns="batch") - calm.groupby("batch").transform("mean")
        slope = (within.a @ within.b) / (within.a @ within.a)
        [edge] = [e for e in found.fit().edges if (e.cause, e.effect) == ("a", "b")]
        assert edge.coefficient == pytest.approx(slope, abs=0.02)
        assert edge.coefficient == pytest.approx(1, abs=0.15)  # all rows together: about 0.25
        assert found.effect("a", "c").low == pytest.approx(1, abs=0.2)
        # No more rows are counted than the least of the equations has.
        assert found.regimes.usual is not None
        assert found.regimes.usual.n_samples == 2 * N

    def test_where_nothing_changed_they_are_those_of_all_rows(self) -> None:
        parts = [part.drop(columns="batch").to_numpy() for _, part in table().groupby("batch")]
        sums = RegimeSums.of(parts)
        dag, order = np.diag(np.ones(2, np.int8), 1), np.arange(3)
        moments = qwo.Moments.from_data(np.concatenate(parts))
        usual = usual_moments(moments, sums, dag, order, np.zeros((6, 3), bool))
        rows = np.concatenate([part - part.mean(axis=0) for part in parts])
        np.testing.assert_allclose(usual.correlation, np.corrcoef(rows.T), atol=1e-7)
        np.testing.assert_allclose(usual.scales, rows.std(axis=0), rtol=1e-7)
        np.testing.assert_allclose(usual.means, np.concatenate(parts).mean(axis=0), atol=1e-9)
        assert usual.n_samples == 6 * N


def test_changes_do_not_depend_on_where_zero_is() -> None:
    rng = np.random.default_rng(4)
    parts = [rng.normal(size=(300, 1)) @ [[1.0, 0.7]] + rng.normal(size=(300, 2)) for _ in "ab"]
    found = [
        qwo.changes(*(part + shift for part in parts), graph=[[0, 1], [0, 0]]).to_frame()
        for shift in (0.0, 1e4)
    ]
    numbers = ["p_value", "mean_p", "variance_p", "slopes_p"]
    np.testing.assert_allclose(found[0][numbers], found[1][numbers], rtol=1e-5)


def test_one_graph_for_several_data_sets() -> None:
    """Where every equation is of its own in every table, the cost is the sum of their BICs."""
    parts = [
        part.drop(columns="batch").to_numpy() for _, part in table(n_regimes=3).groupby("batch")
    ]
    sums = RegimeSums.of(parts)
    unit = np.log(sums.rows.sum())
    search = _core.RegimeSearch(
        sums.products(),
        [1, 1, 1],
        [1, 1, 1],
        known=np.ones((3, 3), np.uint8),
        dropped=np.zeros((3, 3), np.uint8),
        edge=2 * unit,
        target=unit,
        slopes=0.0,
        order=np.arange(3),
        may_cause=np.ones((3, 3), np.uint8),
        precedes=np.zeros((3, 3), np.uint8),
        required=[[], [], []],
        restarts=2,
        seed=0,
    )

    def cost(child: int, parents: list[int]) -> float:
        total = 2 * unit * len(parents)
        for part in parts:
            design = np.column_stack([np.ones(len(part)), part[:, parents]])
            left = part[:, child] - design @ np.linalg.lstsq(design, part[:, child], rcond=None)[0]
            total += len(part) * np.log(left @ left / len(part))
        return float(total)

    for child, parents in ((0, []), (1, [0]), (2, [1]), (2, [0, 1]), (0, [1, 2])):
        assert search.family_cost(child, parents) == pytest.approx(cost(child, parents), abs=1e-4)
    while not search.run(0.05):
        pass
    costs = {(0, 1, 2): cost(0, []) + cost(1, [0]) + cost(2, [1])}
    assert search.cost == pytest.approx(min(costs.values()), abs=1e-3)


def test_the_report_says_why_arrows_point_as_they_do(tmp_path: Path) -> None:
    """Arrows are coloured by their reason, with a legend of the reasons there are."""
    from qwo.report import report_data, write_report

    frame = table()
    rng = np.random.default_rng(7)
    frame["d"] = rng.normal(size=len(frame))
    frame["c"] += 2 * frame.d
    found = qwo.discover(frame, regime="batch", random_state=0)
    records = {(e["source"], e["target"]): e["reason"] for e in report_data(found)["edges"]}
    assert records["a", "b"] == "regime"
    assert records["d", "c"] == "collider"
    text = write_report(tmp_path / "r.html", found, model=found.fit()).read_text("utf-8")
    assert 'class="edge by-regime"' in text
    assert "directed by a condition" in text
    assert "by a collider" in text
    assert "follows from other arrows" not in text
    assert "usual equations" in text


def test_a_posterior_of_conditions_is_that_of_all_graphs() -> None:
    frame = table(n_regimes=4)[::4]
    parts = {str(k): part.drop(columns="batch") for k, part in frame.groupby("batch")}
    how: dict[str, Any] = {"random_state": 0, "n_draws": 8000}
    sure = qwo.posterior(frame, regime="batch", **how)
    own = qwo.discover(parts, random_state=0)
    sums = RegimeSums.of([part.to_numpy() for part in parts.values()]).standardised()

    def exact(known: np.ndarray) -> np.ndarray:
        nothing = np.zeros((4, 3), dtype=bool)
        costs = opened_search(
            sums, own.order, penalty_discount=1.0, known=known, dropped=nothing
        ).family_cost
        weights, graphs = [], []
        for bits in product((0, 1), repeat=6):
            dag = np.zeros((3, 3), dtype=np.int8)
            dag[~np.eye(3, dtype=bool)] = bits
            if is_acyclic(dag):
                cost = sum(costs(v, np.flatnonzero(dag[:, v]).tolist()) for v in range(3))
                weights.append(-0.5 * cost + dag.sum() * np.log(1 / 4))
                graphs.append(dag)
        shares = np.exp(np.array(weights) - max(weights))
        return np.einsum("g,gij->ij", shares / shares.sum(), np.array(graphs))

    nothing = np.zeros((4, 3), dtype=bool)
    np.testing.assert_allclose(sure.edge_probabilities, exact(nothing), atol=0.02)
    np.testing.assert_allclose(sure.arrow_probabilities, sure.edge_probabilities, atol=0.1)
    assert sure.least_shd_graph.edges == (("a", "-->", "b"), ("b", "-->", "c"))
    assert sure.params["score"] == "bic"
    again = qwo.posterior(parts, n_jobs=2, **how)
    assert np.array_equal(again.edge_probabilities, sure.edge_probabilities)
    known = qwo.posterior(parts, targets={"day 1": ["a"]}, **how)
    touched = nothing.copy()
    touched[1, 0] = True
    assert abs(exact(touched) - exact(nothing)).max() > 0.05
    np.testing.assert_allclose(known.edge_probabilities, exact(touched), atol=0.02)
    with pytest.raises(ArgumentError, match="score 'bic'"):
        qwo.posterior(parts, t=0.5)
    with pytest.raises(ArgumentError, match="conditions"):
        sure.effect("a", "c")


def chamber(
    seed: int, n: int, red: float | None = None, angle: float | None = None, off: float = 0.0
) -> pd.DataFrame:
    """An actuator each for light and angle, of which either may be set; sensors round and bend."""
    rng = np.random.default_rng(seed)
    lamp = rng.uniform(0, 255, n).round() if red is None else np.full(n, red)
    turned = rng.uniform(-90, 90, n).round(1) if angle is None else np.full(n, angle)
    near = (1.2 * lamp + 9 * rng.normal(size=n) + off).round()
    far = (0.5 * near + 2e-4 * near**2 + 4 * rng.normal(size=n)).round()
    sensor = (4.5 * turned + 5 * rng.normal(size=n)).round()
    columns = {"red": lamp, "angle": turned, "near": near, "far": far, "sensor": sensor}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def parts() -> dict[str, pd.DataFrame]:
    return {
        "usual": chamber(0, 500),
        "red": chamber(1, 150, red=200.0),
        "angle": chamber(2, 150, angle=45.0),
        "shade": chamber(3, 150, off=-60.0),
        "short": chamber(4, 12, red=100.0),
    }


class TestChamber:
    @pytest.mark.parametrize(
        "told",
        [
            {},
            {"reference": "usual"},
            {"targets": {"red": ["red"], "angle": ["angle"], "short": ["red"]}},
            {"targets": {"red": ["red"], "short": ["red"]}, "effect": "perfect"},
        ],
    )
    def test_columns_that_are_constant_in_a_condition(self, parts, told) -> None:
        found = qwo.discover(parts, random_state=0, **told)
        edges = {(e.source, e.target) for e in found.graph.edges if e.mark == "-->"}
        assert edges == {("red", "near"), ("near", "far"), ("angle", "sensor")}
        listed = found.regimes.listed()
        assert listed["red"] == listed["short"] == ["red"]
        assert (listed["angle"], listed["shade"]) == (["angle"], ["near"])
        [remark] = found.regimes.remarks
        assert "'short' has fewer than" in remark
        fewer = {label: own for label, own in parts.items() if label != "short"}
        if not told:
            again = qwo.discover(fewer, random_state=0).regimes
            assert {k: own for k, own in listed.items() if k in fewer} == again.listed()
        checked = found.check()
        assert "constant: 'red'" in checked.left_out["red"]
        assert "Try" not in checked.summary()

    def test_actuators_at_one_level_in_each_condition_are_named(self) -> None:
        parts = {f"{red}": chamber(red, 100, red=red) for red in (0, 100, 200)}
        with (
            pytest.warns(DataWarning),
            pytest.raises(ArgumentError, match=r"(?s)'red' is constant.*drop=\['red'\]"),
        ):
            qwo.discover(parts)

    def test_empty_targets_are_the_reference_however_they_are_written(self, parts) -> None:
        for empty in ("", " ", None):
            touched = {"usual": empty, "red": "red", "angle": "angle", "shade": "near"}
            frame = pd.concat([parts[k].assign(what=v) for k, v in touched.items()])
            found = qwo.discover(frame, targets="what", random_state=0)
            assert found.regimes.reference == "nothing touched"

    def test_changes_of_what_one_table_holds_constant(self, parts) -> None:
        graph = qwo.discover(parts, random_state=0).dag
        for before, after in (("usual", "red"), ("red", "usual")):
            found = qwo.changes(parts[before], parts[after], graph)
            assert found.changed == ("red",)
            assert all(np.isfinite(own.moved) for own in found.equations)

    def test_a_fix_that_conditions_refuse_is_not_proposed(self, parts) -> None:
        frame = pd.concat([own.assign(what=k) for k, own in parts.items()], ignore_index=True)
        frame.loc[3, "far"] = np.nan
        with pytest.raises(InputError) as caught:
            qwo.discover(frame, regime="what")
        assert "missing='drop'" in str(caught.value)
        assert "em" not in str(caught.value).split("Try")[1]


@pytest.mark.parametrize(("spread", "status"), [(1.0, "may be curvature"), (3.0, "target")])
def test_a_bend_explains_no_change_of_the_variance(spread: float, status: str) -> None:
    rng = np.random.default_rng(0)
    tables = {}
    for day, moved in {"day 0": 0, "day 1": 0, "day 2": 0, "day 3": 8}.items():
        a = moved + rng.normal(size=400)
        noise = rng.normal(size=400) * (spread if moved else 1)
        tables[day] = pd.DataFrame({"a": a, "b": 4 * a + 0.02 * a**2 + noise})
    found = qwo.discover(tables, reference="day 0", knowledge={"required": [("a", "b")]})
    assert found.regimes is not None
    frame = found.targets
    assert frame[(frame.regime == "day 3") & (frame.variable == "b")].status.item() == status
