"""Adjustment sets, against the effect that they are to identify."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from qwo.errors import ArgumentError, GraphError, InputError
from qwo.graph import descendants
from qwo.graph.adjustment import adjustment_set, is_adjustment_set
from tests.oracles.random_models import model_covariance, random_dag

# Z → X → M → Y, Z → Y, W → Y
Z, X, M, Y, W = range(5)
CONFOUNDED = np.zeros((5, 5), dtype=np.int8)
CONFOUNDED[[Z, X, M, Z, W], [X, M, Y, Y, Y]] = 1


def test_an_example_by_hand():
    assert adjustment_set(CONFOUNDED, X, Y).tolist() == [Z]
    assert adjustment_set(CONFOUNDED, X, Y, "parents").tolist() == [Z]
    assert adjustment_set(CONFOUNDED, X, Y, "optimal").tolist() == [Z, W]
    assert adjustment_set(CONFOUNDED, W, Y).tolist() == []
    assert is_adjustment_set(CONFOUNDED, X, Y, [Z, W])
    assert not is_adjustment_set(CONFOUNDED, X, Y, [])
    assert not is_adjustment_set(CONFOUNDED, X, Y, [Z, M])
    assert not is_adjustment_set(CONFOUNDED, X, Y, [Z, Y])


def test_no_effect_against_the_arrows():
    assert adjustment_set(CONFOUNDED, Y, M, "minimal") is None
    assert adjustment_set(CONFOUNDED, Y, M, "parents") is None


def regression_coefficient(covariance, cause, effect, covariates):
    chosen = [cause, *covariates]
    return np.linalg.solve(covariance[np.ix_(chosen, chosen)], covariance[chosen, effect])[0]


@pytest.mark.parametrize("seed", range(25))
def test_valid_sets_are_those_that_give_the_effect(seed):
    """In a random linear model, just the valid sets give the total effect by regression."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 5, 0.6)
    covariance = model_covariance(np.random.default_rng(seed + 1000), dag)
    cause, effect = (int(v) for v in rng.choice(5, 2, replace=False))
    # Only a regression on the cause's parents is right whatever the graph.
    parents = np.flatnonzero(dag[:, cause])
    truth = 0.0
    if effect in descendants(dag, cause):
        truth = regression_coefficient(covariance, cause, effect, parents)
    others = [v for v in range(5) if v not in (cause, effect)]
    subsets = chain.from_iterable(combinations(others, k) for k in range(4))
    for covariates in map(list, subsets):
        right = np.isclose(regression_coefficient(covariance, cause, effect, covariates), truth)
        assert is_adjustment_set(dag, cause, effect, covariates) == right


@pytest.mark.parametrize("seed", range(25))
def test_sets_that_are_found(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 7, 0.4)
    for cause, effect in ((c, e) for c in range(7) for e in descendants(dag, c).tolist()):
        for kind in ("minimal", "parents", "optimal"):
            assert is_adjustment_set(dag, cause, effect, adjustment_set(dag, cause, effect, kind))
        least = adjustment_set(dag, cause, effect).tolist()
        for k in range(len(least)):
            assert not is_adjustment_set(dag, cause, effect, least[:k] + least[k + 1 :])


def test_what_is_refused():
    with pytest.raises(GraphError, match="two different variables"):
        adjustment_set(CONFOUNDED, X, X)
    with pytest.raises(InputError, match="no column 9"):
        adjustment_set(CONFOUNDED, X, 9)
    with pytest.raises(ArgumentError, match="choose one of minimal, parents, optimal"):
        adjustment_set(CONFOUNDED, X, Y, "all")
    with pytest.raises(GraphError, match="to_dag first"):
        adjustment_set([[0, 2], [2, 0]], 0, 1)
