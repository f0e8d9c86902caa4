"""causal-learn's scores in our units. Runs in `.venv-compare`, where causal-learn is installed."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.graph import to_cpdag
from qwo.moments import Moments
from qwo.reproduction.methods import (
    PENALTY_DISCOUNT,
    bdeu_of_raw_values,
    bic,
    cv_general,
    cv_general_centred,
    own_grasp,
)
from qwo.sem import score_graph
from qwo.simulation import simulate

pytest.importorskip("causallearn")


def test_its_bic_is_half_of_ours():
    data, _, _ = simulate(n_variables=4, n_samples=300, degree=3, random_state=0)
    moments, score = Moments.from_data(data), bic(data)
    empty = np.zeros((4, 4), dtype=np.int8)
    drawn = empty.copy()
    drawn[[0, 2], 1] = 1
    gain = score_graph(moments, drawn, PENALTY_DISCOUNT).score
    gain -= score_graph(moments, empty, PENALTY_DISCOUNT).score
    assert 2 * (score(1, (0, 2)) - score(1, ())) == pytest.approx(gain, rel=1e-9)


def test_its_grasp_finds_an_easy_graph():
    data, dag, _ = simulate(n_variables=8, n_samples=5000, degree=2, random_state=1)
    np.testing.assert_array_equal(own_grasp(data, 0), to_cpdag(dag))


def test_bdeu_of_raw_values_does_not_see_the_data():
    rng = np.random.default_rng(0)
    scores = [bdeu_of_raw_values(rng.normal(size=(60, 3)))(0, (1,)) for _ in range(3)]
    assert scores == pytest.approx([scores[0]] * 3)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_cv_general_sees_the_data_only_when_centred():
    data, dag, _ = simulate(
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]], n_samples=120, weights=(1.5, 2.0), random_state=0
    )
    assert dag[0, 1]
    true, false = (0,), (2,)
    as_it_is, centred = cv_general(data), cv_general_centred(data)
    assert as_it_is(1, true) == pytest.approx(as_it_is(1, false), rel=1e-6)
    assert centred(1, true) > centred(1, false) + 1
