"""Edge tests: thresholds from their formulas, calibration, choice by arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from qwo.errors import ArgumentError, InputError, SampleSizeError
from qwo.order.edge_test import AbsoluteTolerance, BicRule, FisherZ, edge_test, paper_level


def test_fisher_z_is_its_p_value_at_the_threshold():
    for n, n_samples, alpha in [(5, 100, 0.05), (50, 10_000, 1e-3), (3, 6, 0.5)]:
        r = math.sqrt(FisherZ(alpha).threshold(n, n_samples))
        statistic = math.sqrt(n_samples - n - 1) * math.atanh(r)
        assert 2 * stats.norm.sf(statistic) == pytest.approx(alpha)


def test_fisher_z_takes_the_level_of_the_paper_by_default():
    assert FisherZ().threshold(20, 500) == FisherZ(2 / 400).threshold(20, 500)
    assert paper_level(20) == 2 / 400
    assert FisherZ().threshold(1, 500) == 0


def test_fisher_z_holds_its_level():
    n, n_samples, alpha, repeats = 4, 60, 0.1, 4000
    data = np.random.default_rng(0).standard_normal((repeats, n_samples, n))
    centred = data - data.mean(axis=1, keepdims=True)
    precision = np.linalg.inv(np.einsum("rki,rkj->rij", centred, centred))
    r2 = precision[:, 0, 1] ** 2 / (precision[:, 0, 0] * precision[:, 1, 1])
    rejected = np.mean(r2 > FisherZ(alpha).threshold(n, n_samples))
    assert rejected == pytest.approx(alpha, abs=0.015)


def test_bic_rule_balances_likelihood_and_penalty():
    for c, n_samples in [(1, 100), (2, 10_000), (0.5, 2)]:
        tau = BicRule(c).threshold(7, n_samples)
        assert -n_samples * math.log1p(-tau) == pytest.approx(c * math.log(n_samples))


def test_thresholds_tend_to_zero():
    for rule in (FisherZ(0.01), BicRule(2)):
        taus = [rule.threshold(10, n_samples) for n_samples in (100, 1000, 10_000, math.inf)]
        assert taus == sorted(taus, reverse=True)
        assert taus[-1] == 0


def test_absolute_tolerance_is_a_threshold_on_the_square():
    assert AbsoluteTolerance().threshold(10, math.inf) == 1e-16
    assert AbsoluteTolerance(1e-6).threshold(10, 100) == 1e-6


def test_choice_by_arguments():
    assert edge_test(penalty_discount=2, n_variables=5, n_samples=100) == BicRule(2)
    assert edge_test(alpha=0.01, n_variables=5, n_samples=100) == FisherZ(0.01)
    assert edge_test(n_variables=5, n_samples=100) == FisherZ(2 / 25)
    for oracle in (None, math.inf):
        assert edge_test(n_variables=5, n_samples=oracle) == AbsoluteTolerance()
        assert edge_test(2.0, n_variables=5, n_samples=oracle) == AbsoluteTolerance()


def test_two_rules_at_once_are_refused():
    with pytest.raises(InputError, match=r"penalty_discount is 2.*a level of 0\.05"):
        edge_test(2, 0.05, n_variables=5, n_samples=100)


def test_values_out_of_range_are_refused():
    for make in (
        lambda: FisherZ(0.0),
        lambda: FisherZ(1.0),
        lambda: FisherZ(math.nan),
        lambda: BicRule(0),
        lambda: BicRule(math.inf),
        lambda: AbsoluteTolerance(0),
        lambda: edge_test(alpha=2, n_variables=5, n_samples=None),
    ):
        with pytest.raises(ArgumentError, match=r"got|wanted"):
            make()


def test_too_few_samples_are_refused():
    with pytest.raises(SampleSizeError, match=r"N ≥ n \+ 2 = 12.*N = 11"):
        FisherZ().threshold(10, 11)
    assert 0 < FisherZ().threshold(10, 12) < 1
    with pytest.raises(SampleSizeError, match="2 samples"):
        BicRule().threshold(10, 1)
