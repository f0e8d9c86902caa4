"""The bound on the score of any graph holds, and is met where it must be."""

import dataclasses
import math

import numpy as np
import pytest

import qwo
from qwo.order.linalg import score_bound


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("penalty", [0.5, 2.0, 5.0])
def test_no_graph_scores_more(seed, penalty):
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(2, 9)), int(rng.integers(30, 400))
    data, _, _ = qwo.simulate(
        "er", n_variables=n, n_samples=rows, degree=min(n - 1, 3), random_state=seed
    )
    best = qwo.discover(data, search="exact", penalty_discount=penalty, random_state=0)
    assert best.proved
    correlation = np.corrcoef(data.T)
    assert best.score <= score_bound(correlation, rows, penalty * math.log(rows)) + 1e-8


def test_two_variables_meet_it():
    data, _, _ = qwo.simulate(
        "er", n_variables=2, n_samples=300, degree=1, shuffle=False, random_state=3
    )
    best = qwo.discover(data, penalty_discount=2, random_state=0)
    bound = score_bound(np.corrcoef(data.T), 300, 2 * math.log(300))
    assert bound == pytest.approx(max(best.score, 0.0), abs=1e-8)


def test_noise_is_bounded_by_all_edges_less_what_a_tree_of_them_explains():
    data = np.random.default_rng(0).standard_normal((200, 5))
    correlation = np.corrcoef(data.T)
    whole = -200 * np.linalg.slogdet(correlation)[1]
    assert 0 <= score_bound(correlation, 200, 2 * math.log(200)) < whole


def test_singular_correlations_have_none():
    assert score_bound(np.ones((2, 2)), 100, 10.0) == math.inf


class TestResult:
    def test_proved_is_the_score_itself(self):
        data, _, _ = qwo.simulate("er", n_variables=6, n_samples=300, random_state=1)
        found = qwo.discover(data, penalty_discount=2, random_state=0)
        assert found.proved
        assert found.bound == found.score

    @pytest.mark.parametrize(("n", "degree"), [(18, 3), (40, 0.8)])
    def test_where_a_second_tells_it_is_the_best_score_of_all(self, n, degree):
        data, _, _ = qwo.simulate("er", n_variables=n, n_samples=500, degree=degree, random_state=2)
        found = qwo.discover(data, penalty_discount=2, random_state=0)
        best = qwo.discover(data, penalty_discount=2, search="exact", random_state=0)
        assert best.proved
        assert not found.proved
        assert found.bound == pytest.approx(best.score, abs=1e-6)
        assert found.how_far() == "no graph scores better"
        short = dataclasses.replace(found, score=found.score - 10)
        assert short.how_far().startswith("at most 10 points")

    def test_others_are_not_far_from_it(self):
        data, _, _ = qwo.simulate("er", n_variables=25, n_samples=2000, random_state=1)
        found = qwo.discover(data, random_state=0)
        assert not found.proved
        assert found.score < found.bound < 1.05 * found.score
        assert "at most" in found.how_far()

    def test_of_what_has_no_score_it_is_nan(self):
        data, _, _ = qwo.simulate("er", n_variables=5, n_samples=300, random_state=1)
        precision = np.linalg.inv(np.corrcoef(data.T))
        found = qwo.discover(qwo.Moments.from_precision(precision), random_state=0)
        assert math.isnan(found.bound)
        assert found.how_far() == ""
