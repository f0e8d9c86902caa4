"""Scores: what a parent costs, and so what it must be worth.

The exact BIC engine minimises Σ_v [ N log σ²(v | pa(v)) + price · |pa(v)| ]. A score says what the
price is; everything else follows from it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from qwo.errors import ArgumentError
from qwo.options import ABOVE_0, FROM_0

ORACLE_SAMPLES = 1e10
"""N that stands for infinity: the BIC needs a finite one to weigh fit against edges. At 1e8, one
random model in a hundred looked as if it had an edge less; far above 1e10, rounding counts as
fit."""


@runtime_checkable
class Score(Protocol):
    """A rule that becomes the price of an edge for a given problem."""

    def price(self, n_variables: int, n_samples: float) -> float:
        """What one parent adds to the cost of its child, in units of -2 log-likelihood.

        A score for variables with several columns may take a third argument, the number of
        parameters of the edge.
        """
        ...


@dataclass(frozen=True)
class BIC:
    """The score 2·loglik - c·k·log N, extended by Chen and Chen (2008) for many variables.

    Parameters
    ----------
    penalty_discount : float
        The factor c > 0; 1 is the textbook BIC.
    gamma : float
        The extended BIC adds 2·gamma·log n to the price of an edge, which makes up for the number
        of edges that could be there; 0 is the plain BIC.
    """

    penalty_discount: float = 2.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        ABOVE_0.checked("penalty_discount", self.penalty_discount)
        FROM_0.checked("gamma", self.gamma)

    def price(self, n_variables: int, n_samples: float, parameters: int = 1) -> float:
        """The penalty_discount times log N for each parameter, and 2 gamma log n for the edge."""
        fit = self.penalty_discount * parameters * math.log(n_samples)
        return fit + 2 * self.gamma * math.log(n_variables)


def price_of(score: Score, n_variables: int, n_samples: float, parameters: int) -> float:
    """The price of an edge with so many parameters: that of one each, unless the score knows."""
    price: Callable[..., float] = score.price
    if isinstance(score, BIC) or len(inspect.signature(price).parameters) > 2:
        return price(n_variables, n_samples, parameters)
    return parameters * price(n_variables, n_samples)


def worth_adding(score: Score, n_variables: int, n_samples: float) -> float:
    """The squared partial correlation above which an edge pays: 1 - exp(-price / N).

    Adding a parent with r² lowers N log σ² by -N log(1 - r²).
    """
    return -math.expm1(-score.price(n_variables, n_samples) / n_samples)


def worth_keeping(score: Score, n_variables: int, n_samples: float) -> float:
    """The share of σ² by which dropping a parent must raise it for it to stay: exp(price / N) - 1.

    It is r² / (1 - r²) of the r² at which adding begins to pay.
    """
    return math.expm1(score.price(n_variables, n_samples) / n_samples)


def score_from(score: Score | None, penalty_discount: float | None, gamma: float | None) -> Score:
    """The score that is given, or the BIC that the short forms ask for.

    Parameters
    ----------
    score : Score, optional
        A score as an object.
    penalty_discount, gamma : float, optional
        Short forms of ``BIC(penalty_discount, gamma)``; 2 and 0 if nothing is given.
    """
    if score is None:
        return BIC(2.0 if penalty_discount is None else penalty_discount, gamma or 0.0)
    if penalty_discount is not None or gamma is not None:
        raise ArgumentError(
            "a score was given, and a penalty or gamma besides, which are short forms of one; "
            "give either"
        )
    if not isinstance(score, Score):
        raise ArgumentError(
            f"the score, a {type(score).__name__}, has no method `price` of two numbers, those of "
            "variables and of samples"
        )
    return score
