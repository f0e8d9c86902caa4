"""Insertion search: local optimality, perturbation and repair."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.errors import ArgumentError
from qwo.order.qwo import QwoEngine
from qwo.search import insertion
from tests.helpers.plain_engine import PlainEngine
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import model_covariance, random_dag, to_correlation

N_SAMPLES, CAP = 500, 12.0


def make_engine(seed, n=8):
    rng = np.random.default_rng(seed)
    correlation = to_correlation(model_covariance(rng, random_dag(rng, n, 0.4)))
    engine = PlainEngine(correlation, -np.expm1(-CAP / N_SAMPLES), weight=N_SAMPLES, cap=CAP)
    engine.reset(rng.permutation(n))
    return engine


@pytest.mark.parametrize("seed", range(4))
def test_no_insertion_improves_the_result(seed):
    engine = make_engine(seed)
    start = engine.cost
    outcome = insertion(engine, random_state=seed)
    assert outcome.status == "converged"
    assert outcome.cost < start
    assert min(engine.scan(v).min() for v in range(8)) >= -1e-6
    assert outcome.n_evaluations % 64 == 0


@pytest.mark.parametrize("seed", range(4))
def test_perturbations_only_ever_help(seed):
    costs = [
        insertion(make_engine(seed, 10), perturbations=k, random_state=seed).cost
        for k in (0, 5, 20)
    ]
    assert costs == sorted(costs, reverse=True)


def test_perturbations_leave_a_local_optimum():
    """Somewhere among a few starts the descent alone gets stuck."""
    descents = [insertion(make_engine(seed, 10), random_state=0).cost for seed in range(6)]
    iterated = [
        insertion(make_engine(seed, 10), perturbations=30, random_state=0).cost for seed in range(6)
    ]
    assert sum(iterated) < sum(descents)


class RepairRecorder(PlainEngine):
    """Notes which variables are scanned."""

    scanned: list[int]

    def scan(self, variable):
        self.scanned.append(variable)
        return super().scan(variable)


def test_repair_leaves_alone_what_was_not_touched():
    """Two unconnected halves: throwing one variable within its half scans that half only."""
    rng = np.random.default_rng(0)
    half = to_correlation(model_covariance(rng, random_dag(rng, 6, 0.5)))
    engine = RepairRecorder(np.kron(np.eye(2), half), 1e-16)
    engine.scanned = []
    insertion(engine, random_state=0)
    engine.scanned.clear()
    insertion(engine, perturbations=1, thrown=1, reach=1, random_state=1)
    repaired = engine.scanned[12:]
    assert 1 <= len(repaired) < 12
    assert len({v // 6 for v in repaired}) == 1


@pytest.mark.parametrize("seed", range(5))
def test_with_knowledge_it_converges_among_the_allowed_places(seed):
    engine = make_engine(seed)
    knowledge = random_knowledge(np.random.default_rng(seed), 8)
    engine.reset(knowledge.topological_start(engine.order))
    outcome = insertion(engine, knowledge=knowledge, random_state=seed)
    assert knowledge.allows_order(outcome.order)
    for v in range(8):
        first, last = knowledge.place_range(outcome.order, v)
        assert engine.scan(v)[first : last + 1].min() >= -1e-6
    perturbed = insertion(engine, perturbations=10, knowledge=knowledge, random_state=seed)
    assert knowledge.allows_order(perturbed.order)


def test_bad_arguments_are_refused():
    for options in ({"perturbations": -1}, {"thrown": 0}, {"reach": 0}):
        with pytest.raises(ArgumentError, match=f"{next(iter(options))} is .*; wanted a whole"):
            insertion(make_engine(0), **options)


@pytest.mark.parametrize("seed", range(3))
def test_several_scans_at_once_take_the_course_of_single_ones(seed):
    rng = np.random.default_rng(seed)
    correlation = to_correlation(model_covariance(rng, random_dag(rng, 25, 0.2)))
    outcomes = []
    for threads in (1, 2, 3):
        engine = QwoEngine(correlation, 500.0, threads=threads)
        outcomes.append(insertion(engine, perturbations=2, random_state=seed))
    for other in outcomes[1:]:
        assert other.order.tolist() == outcomes[0].order.tolist()
        assert other.n_evaluations == outcomes[0].n_evaluations
        assert other.cost == pytest.approx(outcomes[0].cost, rel=1e-12)
