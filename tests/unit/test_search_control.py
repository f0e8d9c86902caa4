"""How searches end and what they report: deadline, callback, keyboard, trace."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import qwo
from qwo.errors import ArgumentError
from qwo.graph.resolved_knowledge import Precedence
from qwo.search import Control, hill_climbing
from tests.helpers.plain_engine import PlainEngine
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import model_covariance, random_dag, to_correlation


def make_engine():
    rng = np.random.default_rng(7)
    correlation = to_correlation(model_covariance(rng, random_dag(rng, 10, 0.3)))
    engine = PlainEngine(correlation, 1e-16)
    engine.reset(rng.permutation(10))
    return engine


def ticking():
    """A clock that goes on by one second at each reading."""
    return itertools.count().__next__


def test_the_trace_starts_at_the_start_and_falls():
    engine = make_engine()
    start = engine.cost
    outcome = hill_climbing(engine, random_state=0)
    seconds, costs = zip(*outcome.trace, strict=True)
    assert costs[0] == start
    assert costs[-1] == outcome.cost == engine.cost
    assert list(costs) == sorted(set(costs), reverse=True)
    assert list(seconds) == sorted(seconds)
    assert outcome.n_moves == len(costs) - 1
    assert not outcome.order.flags.writeable


def test_time_runs_out_between_two_evaluations():
    unlimited = hill_climbing(make_engine(), random_state=0)
    engine = make_engine()
    outcome = hill_climbing(engine, control=Control(time_limit=60, clock=ticking()), random_state=0)
    assert outcome.status == "time limit"
    assert outcome.n_evaluations < 60 < unlimited.n_evaluations
    assert outcome.trace[-1][1] == outcome.cost == engine.cost
    assert [cost for _, cost in outcome.trace] == [
        cost for _, cost in unlimited.trace[: len(outcome.trace)]
    ]


def test_no_time_at_all():
    engine = make_engine()
    start = engine.order
    outcome = hill_climbing(engine, control=Control(time_limit=0))
    assert outcome.status == "time limit"
    assert outcome.n_evaluations == 0
    np.testing.assert_array_equal(outcome.order, start)


def test_one_deadline_for_several_searches():
    control = Control(time_limit=60, clock=ticking())
    before = control.remaining
    first = hill_climbing(make_engine(), control=control, random_state=0)
    second = hill_climbing(make_engine(), control=control, random_state=0)
    assert first.status == second.status == "time limit"
    assert second.n_evaluations == 0
    assert 0 == control.remaining < before < 60
    assert Control().remaining == math.inf


def test_the_callback_sees_every_improvement_and_can_stop():
    engine = make_engine()
    seen = []

    def watch(progress):
        seen.append(progress)
        assert progress.cost == engine.cost
        return progress.best_cost <= halfway

    unlimited = hill_climbing(make_engine(), random_state=0)
    halfway = unlimited.trace[len(unlimited.trace) // 2][1]
    outcome = hill_climbing(engine, control=Control(callback=watch), random_state=0)
    assert outcome.status == "stopped"
    assert unlimited.cost < outcome.cost <= halfway
    assert {cost for _, cost in outcome.trace} == {progress.best_cost for progress in seen}
    assert {progress.search for progress in seen} == {"hill-climbing"}


def test_a_callback_is_asked_now_and_then_without_improvement():
    engine = make_engine()
    hill_climbing(engine, random_state=0)
    seen = []
    hill_climbing(engine, control=Control(callback=seen.append, clock=ticking()), random_state=1)
    assert len(seen) > 20


class InterruptedEngine(PlainEngine):
    """The keyboard strikes in the middle of the fiftieth exchange."""

    swaps = 0

    def swap(self, first, second):
        self.swaps += 1
        cost = super().swap(first, second)
        if self.swaps == 50:
            raise KeyboardInterrupt
        return cost


def test_ctrl_c_returns_the_best_so_far():
    plain = make_engine()
    engine = InterruptedEngine(plain._correlation, 1e-16)
    engine.reset(plain.order)
    outcome = hill_climbing(engine, random_state=0)
    assert outcome.status == "interrupted"
    assert 0 < outcome.n_evaluations <= 50
    assert outcome.cost == engine.cost == outcome.trace[-1][1] < outcome.trace[0][1]
    assert outcome.cost == PlainEngine(plain._correlation, 1e-16).reset(outcome.order)


def test_other_errors_pass_through():
    def fail(_):
        raise RuntimeError("callback")

    with pytest.raises(RuntimeError, match="callback"):
        hill_climbing(make_engine(), control=Control(callback=fail))


def test_a_negative_limit_is_refused():
    for limit in (-1, math.nan):
        with pytest.raises(ArgumentError, match="from 0"):
            Control(time_limit=limit)


@pytest.mark.parametrize("seed", range(20))
def test_precedence_knows_which_moves_keep_the_order_allowed(seed):
    rng = np.random.default_rng(seed)
    knowledge = random_knowledge(rng, 7)
    precedence = Precedence.of(knowledge)
    assert (precedence is None) == (not knowledge.before.any())
    if precedence is None:
        return
    order = knowledge.topological_start(rng.permutation(7)).tolist()
    for i, j in itertools.combinations(range(7), 2):
        swapped = order.copy()
        swapped[i], swapped[j] = order[j], order[i]
        assert precedence.allows_swap(order[i : j + 1]) == knowledge.allows_order(swapped)
        block = order[i : j + 1]
        movers = [v for v in block if rng.random() < 0.5]
        stayers = [v for v in block if v not in movers]
        passed = [*order[:i], *movers, *stayers, *order[j + 1 :]]
        behind = [
            (s, m) for s, m in itertools.product(stayers, movers) if order.index(s) < order.index(m)
        ]
        allowed = all(precedence.allows_passing([s], [m]) for s, m in behind)
        assert allowed == knowledge.allows_order(passed)


def test_a_search_that_was_ended_does_not_go_on_to_turn_arrows() -> None:
    data = qwo.simulate("er", n_variables=30, n_samples=200, degree=6, random_state=1).data
    found = qwo.discover(data, penalty_discount=1.0, random_state=0, callback=lambda _: True)
    assert found.status == "stopped"
    assert found.arrow_evidence is None
