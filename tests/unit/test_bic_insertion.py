"""The compiled insertion search: optimality, reproducibility, limits."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest

from qwo.errors import ArgumentError, KnowledgeError
from qwo.graph.cpdag import to_cpdag
from qwo.graph.distances import shd
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.search import Control, Progress
from qwo.search import bic_insertion as module
from qwo.search.bic_insertion import QUIET, _Chain, bic_insertion
from qwo.search.result import SearchOutcome
from qwo.sem.score import score_graph
from qwo.simulation import Simulation, simulate
from qwo.types import Indices


def drawn(seed: int, n: int = 20, n_samples: int = 2000, degree: float = 4.0) -> Simulation:
    return simulate(
        "er", n_variables=n, n_samples=n_samples, degree=degree, standardize=True, random_state=seed
    )


def run(seed: int = 0, **options: object) -> tuple[BicEngine, SearchOutcome]:
    engine = BicEngine(Moments.from_data(drawn(seed).data))
    return engine, bic_insertion(engine, random_state=1, **options)  # type: ignore[arg-type]


def test_no_insertion_improves_the_order_found() -> None:
    engine, outcome = run()
    assert outcome.status == "converged"
    assert outcome.cost == engine.cost
    for v in range(engine.n_variables):
        assert engine.scan(v).min() > -1e-3 * engine.penalty


def test_the_order_found_scores_no_worse_than_the_truth_from_any_start() -> None:
    exact = 0
    for seed in range(8):
        simulation = drawn(seed)
        moments = Moments.from_data(simulation.data)
        engine = BicEngine(moments, order=np.random.default_rng(seed).permutation(20))
        outcome = bic_insertion(engine, restarts=50, random_state=seed)
        assert -outcome.cost >= score_graph(moments, simulation.dag).score - 1e-6
        exact += shd(to_cpdag(engine.dag()), to_cpdag(simulation.dag)) == 0
    assert exact >= 4


@pytest.mark.parametrize("restarts", [3, 50])
def test_neither_threads_nor_slices_change_the_result(
    restarts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reference = run(restarts=restarts)
    _, threaded = run(restarts=restarts, n_jobs=3)
    monkeypatch.setattr(module, "SLICE", 1e-9)
    _, sliced = run(restarts=restarts)
    for other in (threaded, sliced):
        assert other.order.tolist() == reference.order.tolist()
        assert other.cost == reference.cost


def test_restarts_never_make_it_worse() -> None:
    costs = [run(seed=7, restarts=restarts)[1].cost for restarts in (0, 5, 60)]
    assert costs[1] <= costs[0] + 1e-6
    assert costs[2] <= costs[0] + 1e-6


def test_tucks_reach_at_least_what_insertions_alone_do() -> None:
    worse = 0
    for seed in range(6):
        with_tucks = run(seed=seed, restarts=0)[1].cost
        without = run(seed=seed, restarts=0, tucks=False)[1].cost
        worse += with_tucks > without + 1.0
    assert worse <= 1


def test_a_time_limit_of_zero_returns_the_start() -> None:
    engine = BicEngine(Moments.from_data(drawn(0).data))
    start = engine.order
    outcome = bic_insertion(engine, control=Control(time_limit=0.0), random_state=0)
    assert outcome.status == "time limit"
    assert outcome.order.tolist() == start.tolist()


def test_the_callback_watches_and_stops() -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    engine = BicEngine(Moments.from_data(drawn(0, n=80).data))
    before = engine.cost
    outcome = bic_insertion(engine, control=Control(callback=stop), random_state=0)
    assert outcome.status == "stopped"
    assert len(seen) == 1
    assert outcome.cost <= before


@pytest.mark.parametrize("restarts", [5, 100])
def test_the_keyboard_interrupts_without_loss(restarts: int) -> None:
    def interrupt(progress: Progress) -> bool:
        if progress.round >= 2:
            raise KeyboardInterrupt
        return False

    engine = BicEngine(Moments.from_data(drawn(0, n=120, degree=6).data))
    before = engine.cost
    control = Control(callback=interrupt, clock=_ticking())
    outcome = bic_insertion(engine, restarts=restarts, control=control, random_state=0, n_jobs=2)
    assert outcome.status == "interrupted"
    assert outcome.cost == engine.cost <= before


def _ticking() -> object:
    """A clock on which a second passes between any two readings."""
    seconds = iter(range(10**9))
    return lambda: float(next(seconds))


def test_the_trace_falls_to_the_cost_found() -> None:
    _, outcome = run()
    seconds, costs = zip(*outcome.trace, strict=True)
    assert list(costs) == sorted(costs, reverse=True)
    assert list(seconds) == sorted(seconds)
    assert costs[-1] == pytest.approx(outcome.cost, abs=1.0)


def test_knowledge_is_kept() -> None:
    simulation = drawn(2)
    moments = Moments.from_data(simulation.data)
    tiers = [list(range(10)), list(range(10, 20))]
    knowledge = Knowledge(tiers=tiers, forbidden=[(0, 1)]).resolve(moments.names)
    engine = BicEngine(moments, knowledge=knowledge)
    outcome = bic_insertion(engine, knowledge=knowledge, random_state=0)
    assert knowledge.allows_order(outcome.order)
    knowledge.check_dag(engine.dag())


def test_a_start_against_the_knowledge_is_refused() -> None:
    moments = Moments.from_data(drawn(2).data)
    knowledge = Knowledge(required=[(1, 0)]).resolve(moments.names)
    with pytest.raises(KnowledgeError, match="topological_start"):
        bic_insertion(BicEngine(moments), knowledge=knowledge)


@pytest.mark.parametrize(("patient", "expected"), [(False, 3), (True, 2 + 4 + 3)])
def test_a_patient_chain_counts_anew_after_a_success(patient, expected):
    yes, no = True, False
    engine = Mock(cost=0.0, penalty=1.0)
    search = engine.compiled_search.return_value
    search.end_restart.side_effect = [no, yes, no, yes, no, yes, no, no, no, yes]
    chain = _Chain(engine, 0, 3, patient=patient)
    chain.run(1, 1, lambda: False)
    assert search.begin_restart.call_count == expected
    assert chain.improved


def scripted_engine(costs):
    """An engine at cost 10 whose restarts end at these costs and are taken back."""
    engine, ends = Mock(cost=10.0, penalty=1.0), iter(costs)

    def run(seconds):
        assert seconds > 0
        engine.cost = next(ends)
        return True

    def end():
        engine.cost = 10.0
        return False

    search = engine.compiled_search.return_value
    search.run, search.end_restart = run, end
    return engine


@pytest.mark.parametrize(("costs", "expected"), [([10.0] * 20, QUIET), ([15.0] + [10.0] * 19, 20)])
def test_a_chain_ends_if_nothing_moves(costs, expected):
    chain = _Chain(scripted_engine(costs), 0, 20)
    chain.run(1, 1, lambda: False)
    assert chain.search.begin_restart.call_count == expected


def test_restarts_that_end_near_are_counted():
    chain = _Chain(scripted_engine([10.0, 10.4, 10.6, 10.2, 15.0]), 0, 5)
    chain.run(1, 1, lambda: False)
    assert chain.n_near == 2
    assert not chain.improved


@pytest.mark.parametrize("near", [True, False])
def test_near_misses_call_for_patience(near, monkeypatch):
    """On data where no restart improves anything."""
    monkeypatch.setattr(module, "NEAR", (-np.inf, np.inf) if near else (np.inf, np.inf))
    insisted = []
    monkeypatch.setattr(module._Run, "insist", lambda *given: bool(insisted.append(given[2:])))
    _, outcome = run(restarts=4, patience=7, thrown=3)
    assert outcome.status == "converged"
    assert insisted == ([(3, 7)] if near else [])


@pytest.mark.parametrize("wrong", [{"restarts": -1}, {"patience": -1}, {"thrown": 0}, {"reach": 0}])
def test_wrong_parameters_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ArgumentError, match="at least"):
        run(**wrong)


def test_of_two_starts_the_better_end_counts() -> None:
    """From any rival the result is no worse than without, and one rival at least improves on it."""
    moments = Moments.from_data(drawn(3, n=40, n_samples=100, degree=8.0).data)
    start, *rivals = np.random.default_rng(0).permuted(np.tile(np.arange(40), (6, 1)), axis=1)

    def cost(rival: Indices | None) -> float:
        engine = BicEngine(moments, order=start)
        outcome = bic_insertion(engine, restarts=0, tucks=False, rival=rival, random_state=1)
        assert outcome.cost == engine.cost == pytest.approx(outcome.trace[-1][1], rel=1e-12)
        assert [c for _, c in outcome.trace] == sorted((c for _, c in outcome.trace), reverse=True)
        return outcome.cost

    alone, rivalled = cost(None), [cost(rival) for rival in rivals]
    assert max(rivalled) <= alone
    assert min(rivalled) < alone - 1.0


def test_no_rival_once_the_time_is_up() -> None:
    engine = BicEngine(Moments.from_data(drawn(0).data))
    before = engine.order
    outcome = bic_insertion(engine, rival=before[::-1].copy(), control=Control(time_limit=0.0))
    assert outcome.status == "time limit"
    np.testing.assert_array_equal(engine.order, before)
