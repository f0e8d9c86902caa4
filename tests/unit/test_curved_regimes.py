"""Curves and arrows from the noise where rows come from several conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo import _core
from qwo.errors import ArgumentError
from qwo.regimes.sums import RegimeSums

pytestmark = pytest.mark.filterwarnings("ignore::qwo.DataWarning")
NAMES = list("abcdg")
DAG = np.zeros((5, 5), np.int8)
DAG[0, 1] = DAG[1, 2] = DAG[2, 3] = DAG[0, 3] = 1


def _bent(x: np.ndarray) -> np.ndarray:
    return np.sin(1.5 * x) + 0.5 * x


def _table(effect: Callable[[np.ndarray], np.ndarray], seed: int, *, normal: bool) -> pd.DataFrame:
    """a → b → c → d ← a, and g alone; the drug raises c."""
    rng = np.random.default_rng(seed)
    parts = []
    for shift in (0.0, 1.5):
        e = rng.normal(size=(5, 500)) if normal else rng.exponential(size=(5, 500)) - 1
        a, g = e[0], e[4]
        b = effect(a) + 0.6 * e[1]
        c = effect(b) + 0.6 * e[2] + shift
        d = 0.5 * effect(c) + 0.5 * effect(a) + 0.6 * e[3]
        parts.append(np.column_stack([a, b, c, d, g]))
    table = pd.DataFrame(np.concatenate(parts), columns=NAMES)
    return table.assign(condition=np.repeat(["none", "drug"], 500))


def test_curves_and_conditions_find_what_lines_do_not() -> None:
    table = _table(_bent, 0, normal=True)
    lines = qwo.discover(table, regime="condition", random_state=0)
    found = qwo.discover(table, regime="condition", relations="curved", random_state=0)
    assert (found.cpdag == DAG).all()
    assert (lines.cpdag != DAG).any()
    assert found.regimes.listed() == {"none": [], "drug": ["c"]}
    assert found.curves.size > 1
    assert found.regimes.reasons["b", "c"] == ("regime", "drug")
    assert "noise" in {why for why, _ in found.regimes.reasons.values()}
    assert found.regimes.class_after == 1
    assert "Relations:" in str(found)
    assert found.curve("a", "b").y.std() > 0.5
    assert float(found.effect("a", "b", values=(-1, 1))) == pytest.approx(2.99, abs=0.3)


@pytest.mark.parametrize("how", [{"relations": "curved"}, {"arrows": "noise"}])
def test_several_tables_are_conditions_of_one(how: dict[str, Any]) -> None:
    """They were said to be no data."""
    table = _table(_bent, 0, normal=True)
    parts = {
        label: own.drop(columns="condition")
        for label, own in table.groupby("condition", sort=False)
    }
    found, same = (
        qwo.discover(data, random_state=0, **how, **one)
        for data, one in ((parts, {}), (table, {"regime": "condition"}))
    )
    assert found.edges == same.edges
    assert found.regimes.listed() == same.regimes.listed()
    with pytest.raises(ArgumentError, match="several conditions are searched by lines"):
        qwo.bootstrap(parts, n_resamples=2, **how)


def test_noise_directs_what_conditions_leave_open() -> None:
    table = _table(lambda x: x, 1, normal=False)
    lines = qwo.discover(table, regime="condition", random_state=0)
    assert (lines.cpdag == 2).sum() == 2
    for how in ({"arrows": "noise"}, {"relations": "curved"}):
        found = qwo.discover(table, regime="condition", random_state=0, **how)
        assert (found.cpdag == DAG).all()
        assert found.noise.opened == 1
        assert found.regimes.reasons["a", "b"] == ("noise", None)
    table = _table(lambda x: x, 0, normal=True)
    open_ = qwo.discover(table, regime="condition", arrows="noise", random_state=0)
    assert (open_.cpdag == 2).sum() == 2


def test_what_does_not_go_with_it_is_refused() -> None:
    table = _table(_bent, 0, normal=True)
    asked = {"regime": "condition", "arrows": "noise", "weights": np.ones(len(table))}
    with pytest.raises(ArgumentError, match="weights do not go"):
        qwo.discover(table, **asked)
    with pytest.raises(ArgumentError, match="resamples of several conditions"):
        qwo.bootstrap(table, regime="condition", relations="curved", n_resamples=2)


def test_a_child_is_explained_in_its_leading_columns() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(60, 4)), 1 + rng.normal(size=(50, 4))]

    def cost(sums: RegimeSums, variable: int, parents: list[int]) -> float:
        n, flags = sums.n_variables, np.zeros((2, sums.n_variables), np.uint8)
        search = _core.RegimeSearch(
            np.ascontiguousarray(sums.products()),
            list(sums.sizes),
            list(sums.explained),
            known=flags,
            dropped=flags,
            edge=5.0,
            target=4.0,
            slopes=0.5,
            order=np.arange(n),
            may_cause=np.ones((n, n), np.uint8),
            precedes=np.zeros((n, n), np.uint8),
            required=[[] for _ in range(n)],
            restarts=0,
            seed=0,
        )
        return search.family_cost(variable, parents)

    bent = RegimeSums.of(parts, (2, 2), (1, 1))
    # The second column of the child is not there at all.
    alone = RegimeSums.of([part[:, :3] for part in parts], (2, 1), (1, 1))
    assert cost(bent, 1, [0]) == pytest.approx(cost(alone, 1, [0]))
    assert cost(bent, 1, []) == pytest.approx(cost(alone, 1, []))


def test_blocks_of_rows_have_equations_of_their_own_and_one_density() -> None:
    rng = np.random.default_rng(1)
    ends, columns = (80, 200), rng.exponential(size=(2, 200))
    columns[1] += np.where(np.arange(200) < 80, 0.5, -2.0) * columns[0]
    parts = np.split(columns, ends[:-1], axis=1)
    parts = [(p - p.mean(axis=1)[:, None]) / p.std(axis=1)[:, None] for p in parts]
    grams = [p @ p.T / p.shape[1] for p in parts]
    own = np.ascontiguousarray(np.concatenate(parts, axis=1))
    kinds = [1.0] * 200, [1, 1], [True, True], 7.0
    cost = _core.NoiseCost.create(own, np.concatenate(grams), list(ends), *kinds)
    left = [p[1] - g[0, 1] * p[0] for p, g in zip(parts, grams, strict=True)]
    deviations = [part.std() for part in left]
    z = np.concatenate([part / s for part, s in zip(left, deviations, strict=True)])
    one = np.ascontiguousarray(np.stack([z, z]))
    alone = _core.NoiseCost.create(one, np.ones((2, 2)), [200], *kinds)
    logs = sum(2 * len(part) * np.log(s) for part, s in zip(left, deviations, strict=True))
    assert cost.cost(1, [0]) == pytest.approx(alone.cost(0, []) + logs + 7.0, abs=1e-5)
    assert cost.rows(1, [0]).sum() == pytest.approx(cost.cost(1, [0]) - 7.0)
