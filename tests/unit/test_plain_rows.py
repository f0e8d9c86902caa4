"""The core's glance at rows of which the audit has nothing to say, against its checks."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qwo
from qwo.inspection import checks
from qwo.order.bic import BicEngine


def odd(kind: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of normal columns, with something about them that may be worth a word or not quite."""
    n, size = int(rng.integers(2, 14)), int(rng.choice([49, 50, 51, 60, 100, 200, 1000]))
    rows = rng.standard_normal((size, n)) @ rng.standard_normal((n, n))
    k, other = (int(column) for column in rng.permutation(n)[:2])
    change = {
        1: lambda: np.abs(rows[:, k]) ** rng.uniform(0.8, 3.0),
        2: lambda: np.round(rows[:, k], int(rng.integers(0, 3))),
        3: lambda: rng.standard_t(4, size),
        4: lambda: rows[:, k] + rng.uniform(0, 1.5) * rows[:, other] ** 2,
        5: lambda: np.round(rows[:, other], 3),
        6: lambda: rng.integers(0, 2, size) * 1.0,
        7: lambda: np.arange(size) * 1.0,
        8: lambda: rows[:, k] + 10.0 ** rng.integers(4, 17),
        9: lambda: np.where(np.arange(size) < 50, rows[:, k], np.round(rows[:, k])),
        10: lambda: np.where(np.arange(size) == 7, -999.0, rows[:, k]),
        11: lambda: np.full(size, 0.5),
        12: lambda: rng.permutation(np.where(np.arange(size) < 0.08 * size, 0.5, rows[:, k])),
        13: lambda: np.where(rng.random(size) < 0.5, -0.0, 0.0) + (np.arange(size) < 3) * 0.5,
    }
    if kind in change:
        rows[:, k] = change[kind]()
    if kind == 14:
        rows[1:] += rng.uniform(0.1, 0.6) * rows[:-1]
    if kind == 15:
        rows[: int(size * rng.uniform(0, 0.12))] = rows[-1]
    if kind == 16:
        rows *= 10.0 ** rng.choice([-300.0, -160.0, -100.0, 60.0, 100.0, 200.0])
    if kind == 17:
        rows[rng.integers(size), k] = np.inf
    return rows


@pytest.mark.parametrize("kind", range(18))
def test_the_core_says_nothing_only_where_the_checks_find_nothing(kind, monkeypatch):
    """Findings and types are those of the checks, whatever the rows."""
    rng = np.random.default_rng([kind, 8])
    tables = [odd(kind, rng) for _ in range(60)]
    quick = [qwo.audit(rows) for rows in tables]
    monkeypatch.setattr(checks, "_are_plain", lambda _: False)
    for rows, found in zip(tables, quick, strict=True):
        assert found == qwo.audit(rows)


def test_the_core_knows_normal_rows():
    """Otherwise it would be of no use."""
    rng = np.random.default_rng(5)
    tables = [rng.standard_normal((200, int(rng.integers(2, 13)))) for _ in range(100)]
    assert sum(checks._are_plain(rows) for rows in tables) > 90


@pytest.mark.parametrize("penalty", [2.0, "auto"])
def test_worth_that_is_found_when_asked_for_is_that_found_at_once(penalty, monkeypatch):
    """Whoever asks first, from several threads, after pickling, or after a copy with changes."""
    data = qwo.simulate("er", n_variables=12, n_samples=300, degree=3, random_state=4).data
    later = [qwo.discover(data, penalty_discount=penalty, random_state=1) for _ in range(3)]
    assert callable(vars(later[0])["arrow_evidence"])
    monkeypatch.setattr(sys.modules["qwo.discovery.discover"], "ASKED_UP_TO", 0)
    once = qwo.discover(data, penalty_discount=penalty, random_state=1)
    assert not callable(vars(once)["arrow_evidence"])
    with ThreadPoolExecutor(4) as pool:
        arrows = list(pool.map(lambda _: later[1].arrow_evidence, range(4)))
    assert all(own is arrows[0] for own in arrows)
    for found in (later[0], later[1], pickle.loads(pickle.dumps(later[2]))):
        assert found.evidence.to_dict() == once.evidence.to_dict()
        assert found.arrow_evidence.to_dict() == once.arrow_evidence.to_dict()
        assert found.graph.edges == once.graph.edges


def test_an_engine_of_the_user_is_not_asked_later():
    """It may have gone elsewhere by then."""
    data = qwo.simulate("er", n_variables=6, n_samples=300, random_state=4).data
    engine = BicEngine(qwo.Moments.from_data(data))
    found = qwo.discover(data, engine=engine, random_state=1)
    assert not callable(vars(found)["evidence"])
