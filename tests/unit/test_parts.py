"""More variables than all sets can be gone through of: tables of parent sets, and parts."""

from itertools import combinations

import numpy as np
import pytest

import qwo
from qwo import _core
from qwo.errors import DataWarning
from qwo.order.bic import BicEngine
from qwo.search import exact as parts

NONE = np.empty(0, dtype=np.int64)


def costs_of_all(correlation, v, rows, price, required=()):
    others = [u for u in range(len(correlation)) if u != v]
    costs = {}
    for size in range(len(others) + 1):
        for chosen in map(list, combinations(others, size)):
            if not set(required) <= set(chosen):
                continue
            cross = correlation[chosen, v]
            inner = correlation[np.ix_(chosen, chosen)]
            left = 1 - (cross @ np.linalg.solve(inner, cross) if chosen else 0.0)
            costs[sum(1 << u for u in chosen)] = rows * np.log(left) + price * size
    return costs


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.5, 2.0])
def test_all_sets_that_no_subset_beats_are_listed(seed, penalty):
    rows, n = 200, 7
    data = qwo.simulate("er", n_variables=n, n_samples=rows, degree=3, random_state=seed).data
    correlation, price = np.corrcoef(data.T), penalty * np.log(rows)
    v, required = seed, [(seed + 1) % n] if seed % 2 else []
    may = np.array([u for u in range(n) if u != v and u not in required])
    complete, sets, costs = _core.family_table(
        correlation,
        v,
        may,
        np.array(required, dtype=np.int64),
        samples=float(rows),
        price=price,
        most_parents=n,
        most_nodes=10**6,
    )
    every = costs_of_all(correlation, v, rows, price, required)
    unbeaten = {
        own for own in every if all(every[own] < every[s] for s in every if s & own == s != own)
    }
    found = dict(zip(sets.tolist(), costs.tolist(), strict=True))
    assert complete
    assert unbeaten <= set(found)
    assert all(found[own] == pytest.approx(every[own], abs=1e-8) for own in found)


def test_a_table_may_be_cut_off():
    correlation = np.corrcoef(
        qwo.simulate("er", n_variables=9, n_samples=99, degree=4, random_state=0).data.T
    )
    how = {"samples": 99.0, "price": 1.0, "most_parents": 9}
    assert not _core.family_table(correlation, 0, np.arange(1, 9), NONE, most_nodes=3, **how)[0]


def by_parts(monkeypatch, data, **options):
    monkeypatch.setattr(parts, "MOST", 2)
    return qwo.discover(data, search="exact", penalty_discount=2, random_state=0, **options)


@pytest.mark.parametrize("seed", range(8))
def test_parts_find_what_all_sets_find(seed, monkeypatch):
    data = qwo.simulate(
        "er", n_variables=9, n_samples=150, degree=(1, 3)[seed % 2], random_state=seed
    ).data
    knowledge = {"tiers": [["X0", "X1", "X2", "X3"], ["X4", "X5", "X6", "X7", "X8"]]}
    options = {"knowledge": knowledge} if seed % 4 > 1 else {}
    best = qwo.discover(data, search="exact", penalty_discount=2, **options)
    found = by_parts(monkeypatch, data, **options)
    assert found.proved
    assert found.score == pytest.approx(best.score, abs=1e-6)


@pytest.mark.parametrize(("n", "degree", "rows"), [(12, 4, 80), (16, 3, 1000), (20, 2, 300)])
def test_larger_parts_find_what_all_sets_find(n, degree, rows, monkeypatch):
    data = qwo.simulate("er", n_variables=n, n_samples=rows, degree=degree, random_state=n).data
    best = qwo.discover(data, search="exact", penalty_discount=2)
    found = by_parts(monkeypatch, data)
    assert found.proved
    assert found.score == pytest.approx(best.score, abs=1e-6)


class TestBoundOfAPart:
    """Branch and bound over orders, stopped wherever it may be."""

    @pytest.fixture(params=range(4))
    def engine(self, request):
        data = qwo.simulate(
            "er", n_variables=11, n_samples=200, degree=3, random_state=request.param
        ).data
        return BicEngine(qwo.Moments.from_data(data), penalty_discount=1)

    def search(self, engine, best_known):
        everyone = np.arange(11)
        tables = parts._tables(engine, lambda: None, None)
        return engine.sink_search(everyone, tables, best_known)

    def test_it_never_exceeds_the_best_and_reaches_it_in_the_end(self, engine):
        assert engine.take_best()
        best, ends = engine.cost, []
        for states in (1, 5, 20, 80, 10_000):
            search = self.search(engine, best + 300)
            assert search.bound <= best + 1e-6
            search.run(states, lambda: None)
            assert search.bound <= best + 1e-6
            ends.append(search.bound)
        assert search.is_proved
        assert ends == sorted(ends)
        assert ends[-1] == pytest.approx(best, abs=1e-6)

    def test_the_families_of_a_better_graph_are_told(self, engine):
        assert engine.take_best()
        search = self.search(engine, engine.cost + 1)
        search.run(10_000, lambda: None)
        parents = [[u for u in range(11) if own >> u & 1] for own in search.chosen().tolist()]
        cost = sum(engine.family_cost(v, np.array(own, int)) for v, own in enumerate(parents))
        assert cost == pytest.approx(engine.cost, abs=1e-6)
        again = self.search(engine, engine.cost)
        again.run(10_000, lambda: None)
        assert again.is_proved
        assert len(again.chosen()) == 0


def test_a_search_that_ends_too_early_keeps_its_bound(monkeypatch):
    data = qwo.simulate("er", n_variables=26, n_samples=1000, degree=2, random_state=0).data
    monkeypatch.setattr(parts, "MOST_STATES", 1000)
    with pytest.warns(DataWarning, match="that hang together have too many graphs"):
        found = qwo.discover(data, search="exact", penalty_discount=2, random_state=0)
    wide = qwo.discover(data, penalty_discount=2, random_state=0)
    assert not found.proved
    assert found.score < found.bound < wide.bound


def test_it_can_be_stopped():
    data = qwo.simulate("er", n_variables=30, n_samples=1000, degree=2, random_state=1).data
    seen = []
    options = {"search": "exact", "penalty_discount": 2, "random_state": 0}
    found = qwo.discover(data, callback=lambda p: seen.append(p) or p.search == "exact", **options)
    assert found.status == "stopped"
    assert not found.proved


def test_a_better_graph_is_taken_over(monkeypatch):
    data = qwo.simulate("er", n_variables=8, n_samples=300, degree=3, random_state=2).data
    best = qwo.discover(data, search="exact", penalty_discount=2)

    def poor(engine, **_):
        engine.reset(best.order[::-1])
        return parts.SearchOutcome(engine.order, engine.cost, "converged", (), 0, 0)

    monkeypatch.setattr(parts, "bic_insertion", poor)
    found = by_parts(monkeypatch, data)
    assert found.proved
    assert found.score == pytest.approx(best.score, abs=1e-6)


def test_many_variables_that_fall_into_parts_are_proved():
    data = qwo.simulate("er", n_variables=40, n_samples=1000, degree=0.8, random_state=40).data
    found = qwo.discover(data, search="exact", penalty_discount=2, random_state=0)
    assert found.proved
    assert found.bound == found.score


def test_what_hangs_together_is_said_and_searched(monkeypatch):
    monkeypatch.setattr(parts, "MOST_STATES", 3)
    data = qwo.simulate("er", n_variables=18, n_samples=500, degree=2, random_state=1).data
    with pytest.warns(DataWarning, match="that hang together have too many graphs"):
        found = by_parts(monkeypatch, data)
    assert not found.proved
    assert found.score == pytest.approx(
        qwo.discover(data, penalty_discount=2, random_state=0).score
    )


def test_tables_that_are_too_long_are_said(monkeypatch):
    monkeypatch.setattr("qwo.order.bic.MOST_NODES", 2)
    data = qwo.simulate("er", n_variables=18, n_samples=500, degree=2, random_state=1).data
    with pytest.warns(DataWarning, match="too many parent sets"):
        assert not by_parts(monkeypatch, data).proved


def test_what_it_takes_is_said_before(caplog):
    data = qwo.simulate("er", n_variables=5, n_samples=100, random_state=1).data
    with caplog.at_level("INFO", "qwo"):
        qwo.discover(data, search="exact")
    assert "all graphs of 5 variables take about" in caplog.text
    with pytest.raises(qwo.InputError, match="or of 64 numbers that fall into small parts"):
        qwo.discover(np.random.default_rng(0).normal(size=(200, 65)), search="exact")
