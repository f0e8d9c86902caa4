"""Scores and edge tests as objects that engines accept."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import qwo
from qwo.errors import ArgumentError
from qwo.order.bic import BicEngine
from qwo.order.edge_test import BicRule, FisherZ
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.order.score import BIC, price_of, worth_adding, worth_keeping
from qwo.search import insertion, insertion_search_of
from qwo.search.control import bic_insertion
from tests.helpers.bic_oracle import sample


@dataclass(frozen=True)
class RiskInflation:
    """Foster and George's price 2 log n: a score that is none of the package's."""

    def price(self, n_variables: int, n_samples: float) -> float:  # noqa: ARG002
        return 2 * math.log(n_variables)


@dataclass(frozen=True)
class Flat:
    """A price for the edge, however many parameters it has."""

    def price(self, n_variables: int, n_samples: float, parameters: int = 1) -> float:  # noqa: ARG002
        return 9.0


@dataclass(frozen=True)
class AtLeast:
    """An edge test that is none of the package's: partial correlations above a size."""

    size: float

    def threshold(self, n_variables: int, n_samples: float) -> float:  # noqa: ARG002
        return self.size**2


def test_the_price_is_that_of_the_extended_bic() -> None:
    assert BIC(2).price(10, 1000) == 2 * math.log(1000)
    assert BIC(1, gamma=0.5).price(10, 1000) == pytest.approx(math.log(1000) + math.log(10))


def test_worths_are_where_the_likelihood_pays_the_price() -> None:
    score, n, size = BIC(2), 10, 300.0
    r2 = worth_adding(score, n, size)
    assert -size * math.log1p(-r2) == pytest.approx(score.price(n, size))
    assert worth_keeping(score, n, size) == pytest.approx(r2 / (1 - r2))


def test_short_forms_are_the_same_score() -> None:
    moments = sample(1, 12, 200, 4.0)
    short = BicEngine(moments, penalty_discount=1.5, gamma=0.3)
    assert short.score == BIC(1.5, 0.3)
    assert BicEngine(moments, score=BIC(1.5, 0.3)).cost == short.cost
    assert BicEngine(moments).score == BIC(2.0, 0.0)


def test_any_object_with_a_price_is_a_score() -> None:
    moments = sample(2, 10, 100, 4.0)
    engine = BicEngine(moments, score=RiskInflation())
    assert engine.penalty == 2 * math.log(10)
    same_price = 2 * math.log(10) / math.log(100)
    assert engine.cost == pytest.approx(BicEngine(moments, penalty_discount=same_price).cost)


def test_a_score_may_know_what_parameters_cost() -> None:
    assert price_of(RiskInflation(), 10, 100, 3) == 6 * math.log(10)
    assert price_of(Flat(), 10, 100, 3) == 9.0
    assert price_of(BIC(1), 10, 100, 3) == 3 * math.log(100)


@pytest.mark.parametrize("engine", [QwoEngine, ReferenceEngine])
def test_any_object_with_a_threshold_is_an_edge_test(engine: type[QwoEngine]) -> None:
    moments = sample(3, 8, 100, 3.0)
    own = engine(moments, test=AtLeast(0.3))
    assert own.tau == 0.3**2
    found = qwo.discover(moments, engine=own, random_state=0)
    assert (
        0
        < found.n_edges
        < qwo.discover(moments, engine=engine(moments, test=AtLeast(0.01)), random_state=0).n_edges
    )


@pytest.mark.parametrize("engine", [QwoEngine, ReferenceEngine])
def test_engines_take_edge_tests(engine: type[QwoEngine]) -> None:
    moments = sample(3, 8, 100, 3.0)
    assert engine(moments, test=FisherZ(0.01)).tau == engine(moments, alpha=0.01).tau
    assert engine(moments, test=BicRule(3)).tau == engine(moments, penalty_discount=3).tau
    np.testing.assert_array_equal(
        engine(moments, test=BicRule(3)).dag(), engine(moments, penalty_discount=3).dag()
    )


def test_engines_name_their_insertion_search() -> None:
    moments = sample(3, 8, 100, 3.0)
    assert insertion_search_of(BicEngine(moments)) is bic_insertion
    for engine in (QwoEngine(moments), ReferenceEngine(moments)):
        assert insertion_search_of(engine) is insertion


def test_an_object_and_its_short_form_are_refused_together() -> None:
    moments = sample(3, 8, 100, 3.0)
    with pytest.raises(ArgumentError, match="short forms"):
        BicEngine(moments, score=BIC(2), gamma=0.5)
    with pytest.raises(ArgumentError, match="short forms"):
        QwoEngine(moments, test=FisherZ(0.1), alpha=0.1)


def test_what_is_no_score_or_test_is_refused_with_what_it_lacks() -> None:
    moments = sample(3, 8, 100, 3.0)
    with pytest.raises(ArgumentError, match=r"a FisherZ, has no method `price`"):
        BicEngine(moments, score=FisherZ())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"a BIC, has no method `threshold`"):
        QwoEngine(moments, test=BIC())  # type: ignore[arg-type]
