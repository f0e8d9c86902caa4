"""The engine for any decomposable score: parent sets, memory, knowledge, the protocol."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from qwo.errors import ArgumentError, EngineError, OrderError
from qwo.graph import Knowledge, same_equivalence_class
from qwo.order.local_score import LocalScoreEngine
from qwo.order.protocol import OrderEngine
from qwo.search import grasp
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import model_covariance, random_dag, to_correlation


def gaussian_bic(correlation, n_samples, penalty_discount=1.0):
    """Twice the log-likelihood minus the penalty, up to a constant; from determinants."""

    def score(variable, parents):
        both = np.linalg.det(correlation[np.ix_([variable, *parents], [variable, *parents])])
        alone = np.linalg.det(correlation[np.ix_(parents, parents)])
        penalty = penalty_discount * len(parents) * math.log(n_samples)
        return -n_samples * math.log(both / alone) - penalty

    return score


def make_engine(seed, n=6, **options):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n, 0.5)
    correlation = to_correlation(model_covariance(rng, dag))
    engine = LocalScoreEngine(gaussian_bic(correlation, 2000), n, **options)
    return engine, correlation, dag


def test_it_follows_the_protocol():
    assert isinstance(make_engine(0)[0], OrderEngine)


@pytest.mark.parametrize("seed", range(4))
def test_no_addition_or_removal_improves_a_parent_set(seed):
    engine, correlation, _ = make_engine(seed)
    score = gaussian_bic(correlation, 2000)
    order = np.random.default_rng(seed).permutation(6).tolist()
    engine.reset(order)
    for k, v in enumerate(order):
        parents = set(engine.parents(v).tolist())
        assert parents <= set(order[:k])
        best = score(v, tuple(sorted(parents)))
        for u in order[:k]:
            assert score(v, tuple(sorted(parents ^ {u}))) <= best


@pytest.mark.parametrize("seed", range(4))
def test_with_much_data_it_finds_the_best_parents(seed):
    """Exhaustive search over all subsets of the prefix agrees with grow–shrink."""
    engine, correlation, _ = make_engine(seed)
    score = gaussian_bic(correlation, 2000)
    order = engine.order.tolist()
    best = [
        max(
            score(v, subset)
            for size in range(k + 1)
            for subset in combinations(sorted(order[:k]), size)
        )
        for k, v in enumerate(order)
    ]
    assert engine.cost == pytest.approx(-sum(best))


@pytest.mark.parametrize("seed", range(3))
def test_the_state_depends_on_the_order_alone(seed):
    engine, correlation, _ = make_engine(seed, n=8)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        mark = engine.mark()
        before = engine.order, engine.cost, engine.dag()
        start = int(rng.integers(0, 7))
        stop = int(rng.integers(start + 1, 9))
        cost = engine.permute(start, rng.permutation(engine.order[start:stop]))
        fresh = LocalScoreEngine(gaussian_bic(correlation, 2000), 8)
        assert fresh.reset(engine.order) == cost == engine.cost
        np.testing.assert_array_equal(fresh.dag(), engine.dag())
        if rng.random() < 0.5:
            assert engine.undo(mark) == before[1]
            np.testing.assert_array_equal(engine.order, before[0])
            np.testing.assert_array_equal(engine.dag(), before[2])
        else:
            engine.release(mark)


def test_scores_are_asked_for_once():
    asked = []

    def score(variable, parents):
        asked.append((variable, parents))
        return -len(parents) + 0.1 * variable

    engine = LocalScoreEngine(score, 5)
    grasp(engine, random_state=0)
    for v in range(5):
        engine.scan(v)
    assert len(asked) == len(set(asked)) == engine.n_scores
    assert all(list(parents) == sorted(parents) for _, parents in asked)


def test_a_score_to_minimise_is_minimised():
    engine, correlation, _ = make_engine(1)
    score = gaussian_bic(correlation, 2000)
    mirrored = LocalScoreEngine(lambda v, parents: -score(v, parents), 6, maximise=False)
    assert mirrored.cost == engine.cost
    np.testing.assert_array_equal(mirrored.dag(), engine.dag())


@pytest.mark.parametrize("seed", range(5))
def test_grasp_with_a_score_finds_the_true_class(seed):
    engine, _, dag = make_engine(seed)
    grasp(engine, random_state=seed)
    assert same_equivalence_class(engine.dag(), dag)


@pytest.mark.parametrize("seed", range(8))
def test_knowledge_binds(seed):
    rng = np.random.default_rng(seed)
    knowledge = random_knowledge(rng, 7)
    engine, _, _ = make_engine(seed, n=7, knowledge=knowledge)
    knowledge.check_dag(engine.dag())
    for _ in range(10):
        engine.reset(knowledge.topological_start(rng.permutation(7)))
        knowledge.check_dag(engine.dag())
        v = int(rng.integers(7))
        first, last = knowledge.place_range(engine.order, v)
        changes = engine.scan(v)
        assert np.isfinite(changes).tolist() == [first <= place <= last for place in range(7)]
        place = int(rng.integers(first, last + 1))
        cost = engine.cost
        assert engine.move(v, place) == pytest.approx(cost + changes[place])
        knowledge.check_dag(engine.dag())


def test_bad_input_is_refused():
    with pytest.raises(EngineError, match=r"variable 1 with parents \[0\] is nan"):
        LocalScoreEngine(lambda v, parents: math.nan if v and parents else 0.0, 3)
    with pytest.raises(EngineError, match="about 2 variables, the score about 3"):
        LocalScoreEngine(lambda *_: 0.0, 3, knowledge=Knowledge().resolve(["a", "b"]))
    with pytest.raises(ArgumentError, match="n_variables is 0"):
        LocalScoreEngine(lambda *_: 0.0, 0)
    with pytest.raises(OrderError):
        LocalScoreEngine(lambda *_: 0.0, 3).reset([0, 1, 1])
