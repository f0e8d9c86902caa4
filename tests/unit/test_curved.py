"""discover(relations="curved"): what it finds, chooses, refuses and tells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.curved.sizes import curved_moments
from qwo.errors import ArgumentError
from qwo.moments.curves import RowSource
from qwo.options import ReadOptions
from tests.helpers.curved_data import additive_data

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")


def test_curves_that_a_linear_search_misses_are_found() -> None:
    rows, dag = additive_data("smooth", 8, 1000, 3)
    found = qwo.discover(rows, relations="curved", random_state=0)
    linear = qwo.discover(rows, random_state=0)
    assert (found.dag == dag).all()
    assert ((linear.dag | linear.dag.T) != (dag | dag.T)).any()
    assert found.proved
    assert found.curves is not None
    assert found.curves.size == found.params["basis"] > 1
    assert min(found.curves.costs, key=lambda k: found.curves.costs[k]) == found.curves.size


@pytest.mark.parametrize("seed", range(3))
def test_linear_data_come_out_as_the_linear_search_gives_them(seed: int) -> None:
    rows, _ = additive_data("linear", 8, 400, seed)
    found = qwo.discover(rows, relations="curved", random_state=0)
    linear = qwo.discover(rows, random_state=0)
    assert (found.dag == linear.dag).all()
    assert found.score == linear.score
    assert found.curves is not None
    assert found.curves.size == 1


def test_noise_that_bends_pairs_costs_no_search_for_curves() -> None:
    rows, _ = additive_data("linear", 8, 1000, 3, noise="exponential")
    found = qwo.discover(rows, relations="curved", random_state=0)
    assert found.params["basis"] == 1
    assert not found.curves.costs  # no number of columns was tried
    plain = qwo.discover(rows, arrows="noise", random_state=0)
    assert (found.cpdag == plain.cpdag).all()
    # Noise explains no parabola, which lines do not even join.
    rng = np.random.default_rng(1)
    x, e = rng.exponential(size=(2, 1000))
    x = x - x.mean()
    bent = np.column_stack([rows, x, (x - 0.7) ** 2 + 0.3 * e])
    assert qwo.discover(bent, relations="curved", random_state=0).params["basis"] > 1


def test_a_whole_number_asks_for_so_many_columns_and_names_for_these() -> None:
    rows, _ = additive_data("smooth", 5, 300, 1)
    frame = pd.DataFrame(rows, columns=list("abcde"))
    three = qwo.discover(frame, relations="curved", columns=3, random_state=0)
    assert three.params["columns"] == [3] * 5
    assert three.params["leading"] == [1] * 5
    assert three.n_coefficients == 3 * three.n_edges
    some = qwo.discover(frame, relations="curved", columns=["a", "c"], random_state=0)
    assert some.names == ("a", "c")
    for size in (0, 13):
        with pytest.raises(ArgumentError, match="columns is"):
            qwo.discover(frame, relations="curved", columns=size)
    with pytest.raises(qwo.InputError):
        qwo.discover(frame, columns=3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"missing": "em"}, "complete rows"),
        ({"covariance_estimator": "ledoit-wolf"}, "rows as they are"),
        ({"method": "qwo-grasp"}, "does not go with"),
        ({"engine": "qwo"}, "default search and engine"),
        ({"score": "bdeu"}, "does not go with"),
        ({"relations": "bent"}, "linear"),
    ],
)
def test_what_does_not_go_with_curves_is_refused(given: dict[str, Any], words: str) -> None:
    rows, _ = additive_data("smooth", 4, 60, 1)
    with pytest.raises(ArgumentError, match=words):
        qwo.discover(rows, **{"relations": "curved", **given})


def test_moments_alone_are_refused() -> None:
    rows, _ = additive_data("smooth", 4, 60, 1)
    with pytest.raises(ArgumentError, match="give the table itself"):
        qwo.discover(qwo.Moments.from_data(rows), relations="curved")


def test_knowledge_weights_categories_and_missing_rows_go_with_curves() -> None:
    rows, dag = additive_data("smooth", 6, 600, 5)
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    last = frame.columns[int(np.argmax(dag.sum(axis=1)))]
    told = qwo.discover(
        frame,
        relations="curved",
        random_state=0,
        knowledge={"tiers": [[c for c in frame if c != last], [last]]},
    )
    assert not told.dag[frame.columns.get_loc(last)].any()
    plain = qwo.discover(frame, relations="curved", random_state=0)
    twice = qwo.discover(
        frame.iloc[:300], relations="curved", random_state=0, weights=np.full(300, 2.0)
    )
    same = qwo.discover(pd.concat([frame.iloc[:300]] * 2), relations="curved", random_state=0)
    assert (twice.dag == same.dag).all()
    assert twice.score == pytest.approx(same.score, rel=1e-3)
    frame["level"] = np.where(np.cos(2 * frame["a"]) > 0.3, "up", "down")
    frame.loc[3, "b"] = np.nan
    found = qwo.discover(frame, relations="curved", missing="drop", random_state=0)
    assert found.params["n_samples"] == 599
    assert found.names[-1] == "level"
    assert plain.n_edges > 0


def test_a_long_file_is_read_in_pieces_and_its_functions_made_from_a_sample(
    tmp_path: Path,
) -> None:
    rows, _ = additive_data("smooth", 4, 3000, 2)
    path = tmp_path / "rows.csv"
    pd.DataFrame(rows, columns=list("abcd")).to_csv(path, index=False)
    moments = qwo.Moments.from_csv(path)
    source = RowSource(path, ReadOptions(), moments, "the test")
    sample = source.sample(most=500, seed=1)
    assert sample.n_rows == 3000
    assert len(sample.columns) == 500
    assert not sample.is_whole
    assert set(map(tuple, sample.columns)) <= set(map(tuple, rows))
    full = curved_moments(source, sample)
    assert full.n_samples == 3000
    blocks = full.whitened()[0][:6, :6]
    assert np.allclose(blocks, np.eye(6))
    columns = full.coding.columns(rows)
    assert np.allclose(np.corrcoef(columns.T), full.correlation, atol=1e-6)
    array = RowSource(rows, ReadOptions(), qwo.Moments.from_data(rows), "the test")
    assert np.allclose(array.sample(most=500, seed=1).columns, sample.columns)


def test_the_band_of_a_curve_holds() -> None:
    covered = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((800, 2))
        f = np.sin(2 * x[:, 0])
        y = f + x[:, 1] + 0.7 * rng.standard_normal(800)
        frame = pd.DataFrame({"x": x[:, 0], "u": x[:, 1], "y": y})
        found = qwo.discover(
            frame,
            relations="curved",
            columns=4,
            random_state=0,
            knowledge={"tiers": [["x", "u"], ["y"]]},
        )
        drawn = found.curve("x", "y")
        truth = np.sin(2 * drawn.x) - f.mean()
        covered.append(np.mean((drawn.low <= truth) & (truth <= drawn.high)))
        assert np.corrcoef(drawn.y, truth)[0, 1] > 0.97
    assert np.mean(covered) > 0.9


def test_shares_and_words_tell_lines_from_curves() -> None:
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((2, 2000))
    y = 0.8 * u + (x**2 - 1) / 2 + 0.5 * rng.standard_normal(2000)
    found = qwo.discover(pd.DataFrame({"x": x, "u": u, "y": y}), relations="curved", random_state=0)
    shares = found.curves.to_frame().set_index(["source", "target"])
    assert shares.loc[("x", "y"), "curved"] > 0.2
    assert shares.loc[("x", "y"), "linear"] < 0.05
    assert shares.loc[("u", "y"), "linear"] > 0.2
    assert shares.loc[("u", "y"), "curved"] < 0.05
    assert "columns a variable" in str(found)
    json.dumps(found.curves.to_dict())
    assert list(found.curve("x", "y").to_frame()) == ["x", "y", "low", "high"]
    with pytest.raises(ArgumentError, match="no edge"):
        found.curve("x", "u")
    with pytest.raises(ArgumentError, match="relations"):
        qwo.discover(rng.standard_normal((50, 3))).curve(0, 1)


def test_curves_are_drawn() -> None:
    rows, _ = additive_data("smooth", 5, 300, 1)
    found = qwo.discover(rows, relations="curved", random_state=0)
    figure = qwo.plot.plot_curves(found, most=3)
    drawn = [ax for ax in figure.axes if ax.lines]
    assert len(drawn) == min(3, found.n_edges)
    with pytest.raises(ArgumentError, match="no curves"):
        qwo.plot.plot_curves(qwo.discover(rows, random_state=0))


def test_pages_show_the_tables_of_the_results() -> None:
    from benchmarks import curved, curved_kinds

    root = Path(__file__).parents[2]
    stored = root / "benchmarks/results"
    own = stored / "curved.csv"
    tables = (
        ("curved-relations", "curved", curved.table(own)),
        ("curved-relations", "curved-peers", curved.beside(own, stored / "curved-peers.csv")),
        ("arrows-from-noise", "curved-kinds", curved_kinds.table(stored / "curved-kinds.csv")),
    )
    for page, name, table in tables:
        text = (root / f"docs/howto/{page}.md").read_text(encoding="utf-8")
        assert text.split(f"{name}.csv -->\n")[1].split("\n<!-- end")[0] == table


def test_time_limit_threads_and_seed() -> None:
    rows, _ = additive_data("smooth", 20, 400, 7)
    a, b = (qwo.discover(rows, relations="curved", random_state=3, n_jobs=jobs) for jobs in (1, 2))
    assert (a.dag == b.dag).all()
    assert a.score == b.score
    assert qwo.discover(rows, relations="curved", time_limit=0).status == "time limit"


def test_lines_seen_through_bent_scales_are_found_by_normal_scores() -> None:
    rows, _ = additive_data("linear", 6, 1000, 3)
    bent = np.exp(0.8 * rows)
    found = qwo.discover(bent, relations="curved", random_state=0)
    assert found.noise is not None
    assert found.noise.scores
    assert not found.noise.supported.any()
    plain = qwo.discover(bent, transform="rank-normal", random_state=0)
    assert (found.cpdag == plain.cpdag).all()
    assert "normal scores" in found.noise.summary()
    assert found.noise.to_dict()["normal_scores"]
    assert found.curves is not None
    for kind, noise in (("linear", "gauss"), ("linear", "exponential"), ("smooth", "gauss")):
        straight, _ = additive_data(kind, 6, 1000, 3, noise=noise)
        told = qwo.discover(straight, relations="curved", random_state=0).noise
        assert told is not None
        assert not told.scores


def test_the_likelihood_of_normal_scores_is_that_of_a_gaussian_copula() -> None:
    from qwo.columns.recipes import Coding, rank_normal
    from qwo.curved.noise import NoiseModel
    from qwo.discovery.curved import in_scores, scores_ahead
    from qwo.moments.curves import RowSample

    rows = np.exp(additive_data("linear", 4, 400, 2)[0])
    coding, sample = Coding.plain(4), RowSample(rows, None, 400)
    scores = in_scores(sample, coding)
    assert np.allclose(scores.columns, np.column_stack([rank_normal(x) for x in rows.T]))
    whole, none = np.triu(np.ones((4, 4), np.int8), 1), np.zeros((4, 4), np.int8)
    model = NoiseModel.of((sample, np.ones(4, bool)), coding, coding, 2.0)
    z = (scores.columns - scores.columns.mean(axis=0)) / scores.columns.std(axis=0)
    inverse = np.linalg.inv(np.corrcoef(z.T))
    by_row = np.linalg.slogdet(np.corrcoef(z.T))[1] + np.einsum("ij,jk,ik->i", z, inverse, z)
    copula = by_row - (z**2).sum(axis=1)
    gain = -copula.sum() - 6 * model.price
    wanted = gain / np.sqrt(((copula - copula.mean()) ** 2).sum())
    assert scores_ahead(model, none, scores, coding, whole) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("kind", "noise", "told"),
    [("smooth", "gauss", True), ("linear", "gauss", False), ("linear", "t5", False)],
)
def test_the_audit_names_relations_that_bend(*, kind: str, noise: str, told: bool) -> None:
    for seed in range(3):
        rows, _ = additive_data(kind, 8, 800, seed, noise=noise)
        found = [f for f in qwo.audit(rows).findings if f.code == "curved"]
        assert bool(found) == told
        for own in found:
            assert [(cure.option, cure.value) for cure in own.cures] == [("relations", "curved")]
            assert " over 'X" in own.message


def test_the_audit_proposes_arrows_from_the_noise_where_columns_are_far_from_normal() -> None:
    rows = np.random.default_rng(0).exponential(size=(500, 3)) ** 2
    cures = {c.option: c.value for f in qwo.audit(rows).findings for c in f.cures}
    assert cures["arrows"] == "noise"


def test_the_search_ends_where_one_row_rules_all_columns() -> None:
    """Columns nearly dependent: moves cost more although less is expected, again and again."""
    code = """
import qwo, warnings
from benchmarks.curved_kinds import data_set
warnings.simplefilter("ignore")
found = qwo.discover(data_set("bent scales", 9)[0], relations="curved", random_state=0)
print(found.status, found.params["basis"])
"""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout.split() == ["converged", "6"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("waves", [1, 2])
def test_a_curve_between_two_variables_is_no_line_the_other_way(*, waves: int, seed: int) -> None:
    """E[x given y] is nearly a line, whose residuals depend on y in other ways than by their mean.

    The search took the line, or the graph of normal scores, in its place.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(800)
    y = np.sin(waves * x) + 0.4 * rng.standard_normal(800)
    found = qwo.discover(np.column_stack([x, y]), relations="curved", random_state=0)
    assert found.curves is not None
    assert found.noise is not None
    assert found.curves.size > 2
    assert not found.noise.scores
    assert found.edges == (("X0", "-->", "X1"),)
