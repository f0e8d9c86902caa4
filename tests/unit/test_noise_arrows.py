"""discover(arrows="noise"): which edges it directs, and which it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError
from tests.helpers.curved_data import additive_data, standardised

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")


@pytest.mark.parametrize("noise", ["exponential", "uniform", "laplace"])
def test_noise_that_is_not_normal_directs_linear_edges(noise: str) -> None:
    rows, dag = additive_data("linear", 8, 1500, 11, noise=noise, degree=2)
    found = qwo.discover(rows, arrows="noise", random_state=0)
    plain = qwo.discover(rows, random_state=0)
    assert (found.dag == dag).all()
    assert (plain.cpdag == 2).sum() > (found.cpdag == 2).sum()
    wrong = (found.cpdag == 1) & (dag.T == 1)
    assert not wrong.any()
    assert found.noise.supported[dag != 0].mean() > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_normal_noise_directs_nothing_beyond_the_class(seed: int) -> None:
    rows, _ = additive_data("linear", 8, 800, seed)
    plain = qwo.discover(rows, random_state=0)
    for options in ({"arrows": "noise"}, {"relations": "curved"}):
        found = qwo.discover(rows, random_state=0, **options)
        assert (found.cpdag == plain.cpdag).all()
        assert found.score == plain.score


def test_noise_mends_what_the_first_column_breaks() -> None:
    rows, dag = additive_data("linear", 8, 1500, 4, noise="exponential")
    found = qwo.discover(rows, relations="curved", random_state=0)
    alone = qwo.discover(rows, relations="curved", arrows="class", random_state=0)
    assert (found.dag == dag).all()
    assert (alone.dag != dag).any()
    assert found.curves.size == found.params["basis"] == 1
    assert "no curve pays" in str(found)


def test_a_spread_that_goes_with_a_cause_is_part_of_the_model() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(3000)
    y = standardised(0.8 * x + np.exp(0.4 * x) * 0.7 * rng.standard_normal(3000))
    z = standardised(0.7 * y + np.exp(0.3 * y) * 0.7 * rng.standard_normal(3000))
    rows = np.column_stack([x, y, z])
    for options in ({"arrows": "noise"}, {"relations": "curved"}):
        found = qwo.discover(rows, random_state=0, **options)
        assert found.edges == (("X0", "-->", "X1"), ("X1", "-->", "X2"))


@pytest.mark.parametrize("seed", range(6))
def test_what_a_model_leaves_unexplained_counts_against_its_arrows(seed: int) -> None:
    """A product of causes is in no model here: residuals of every direction depend on something."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 2000))
    c = standardised(0.6 * a + 0.6 * b + 0.9 * a * b + 0.7 * rng.standard_normal(2000))
    d = standardised(0.6 * c + 0.6 * a + 0.9 * a * c + 0.7 * rng.standard_normal(2000))
    noise = qwo.discover(np.column_stack([a, b, c, d]), relations="curved", random_state=0).noise
    truth = np.zeros((4, 4), bool)
    truth[[0, 1, 0, 2], [2, 2, 3, 3]] = True
    assert not (noise.supported & truth.T).any()
    if noise.unfit:
        assert f"{noise.unfit} further arrow" in noise.summary()
        assert (noise.lacks[noise.dag != 0] > 0).any()


def test_curves_direct_under_normal_noise_and_evidence_is_told() -> None:
    rows, dag = additive_data("smooth", 6, 1000, 21, degree=2)
    found = qwo.discover(rows, relations="curved", random_state=0)
    assert (found.dag == dag).all()
    frame = found.noise.to_frame()
    assert list(frame) == ["source", "target", "gain", "lack", "z"]
    assert len(frame) == found.n_edges
    told = found.noise.to_dict()
    json.dumps(told)
    assert told["level"] == 3.0
    strict = qwo.discover(rows, relations="curved", random_state=0, level=1e9)
    assert (strict.dag == found.dag).all()
    assert (strict.cpdag == qwo.to_cpdag(dag)).all()
    with pytest.raises(ArgumentError, match="noise is not asked"):
        qwo.discover(rows, level=2.0)


def test_knowledge_is_kept_and_categories_are_not_turned() -> None:
    rows, dag = additive_data("linear", 6, 900, 11, noise="exponential", degree=2)
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    i, j = next(zip(*np.nonzero(dag), strict=True))
    a, b = frame.columns[i], frame.columns[j]
    found = qwo.discover(frame, arrows="noise", random_state=0, knowledge={"forbidden": [(a, b)]})
    assert not found.dag[i, j]
    frame["kind"] = np.where(frame["a"] + frame["b"] > 0, "up", "down")
    found = qwo.discover(frame, arrows="noise", random_state=0)
    assert np.isnan(found.noise.z[-1]).all()
    assert np.isnan(found.noise.z[:, -1]).all()


def test_a_long_table_is_looked_at_in_a_sample_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from qwo.moments.curves import RowSource

    monkeypatch.setattr(RowSource.sample, "__defaults__", (300, 0))
    rows, _ = additive_data("linear", 5, 1000, 3, noise="exponential")
    found = qwo.discover(rows, arrows="noise", random_state=0)
    assert (found.noise.rows, found.noise.n_rows) == (300, 1000)
    assert "300 of 1,000 rows" in str(found)


def test_the_command_line_has_it(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from qwo.cli.application import app

    rows, _ = additive_data("linear", 5, 600, 3, noise="exponential")
    path, out = tmp_path / "rows.csv", tmp_path / "out"
    pd.DataFrame(rows, columns=list("abcde")).to_csv(path, index=False)
    run = CliRunner().invoke(
        app, ["learn", str(path), "--relations", "curved", "--level", "4", "-o", str(out)]
    )
    assert run.exit_code == 0, run.output
    told = json.loads((out / "result.json").read_text())
    assert told["noise"]["level"] == 4
    assert "edges" in told["curves"]
    refused = CliRunner().invoke(app, ["learn", str(path), "--arrows", "noise", "--posterior"])
    assert refused.exit_code != 0


def test_rounded_numbers_have_a_density_and_counts_have_none() -> None:
    rows, dag = additive_data("linear", 5, 2000, 3, noise="exponential")
    rounded = rows.copy()
    rounded[:, 2] = np.round(rows[:, 2] / 0.2) * 0.2
    found = qwo.discover(rounded, arrows="noise", random_state=0)
    assert (found.cpdag == dag).all()
    assert not np.isnan(found.noise.z[dag != 0]).any()
    few = rows.copy()
    few[:, 2] = np.round(rows[:, 2])
    coarse = qwo.discover(few, arrows="noise", random_state=0).noise
    ends = (coarse.dag != 0) & (np.eye(5)[2] + np.eye(5)[2][:, None] > 0)
    assert np.isnan(coarse.z[ends]).all()


@pytest.mark.parametrize("asked", [{"arrows": "noise"}, {"relations": "curved"}])
def test_too_few_rows_for_a_density_are_told(asked: dict[str, str]) -> None:
    rows, _ = additive_data("linear", 4, 40, 1, noise="exponential")
    found = qwo.discover(rows, random_state=0, **asked)
    assert found.noise is not None
    assert not found.noise.supported.any()
    assert "40 rows are too few" in str(found)
    assert found.noise.to_dict()["rows"] == 40
    plain = qwo.discover(rows, random_state=0, relations="curved", arrows="class")
    assert plain.noise is None
