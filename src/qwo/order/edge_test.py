"""Edge tests: when a partial correlation is taken for an edge of G^π.

All of them draw i → j if the squared partial correlation r² of i and j, given everything else
before j in the order, exceeds one threshold τ. One τ for all places keeps the order engine free of
special cases; each class says what that costs in exactness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from scipy.special import ndtri

from qwo.errors import ArgumentError, SampleSizeError
from qwo.options import ABOVE_0, SHARE


@runtime_checkable
class EdgeTest(Protocol):
    """A rule that becomes a threshold on r² for a given problem."""

    def threshold(self, n_variables: int, n_samples: float) -> float:
        """τ in [0, 1): an edge is drawn where r² > τ."""
        ...


@dataclass(frozen=True)
class FisherZ:
    """Fisher's z-test of a zero partial correlation at level ``alpha``, two-sided.

    √(N - k - 3) |artanh r| is compared with the normal quantile z(1 - alpha/2), where k counts the
    variables conditioned on. The threshold takes k = n - 2, that is N - n - 1 degrees of freedom,
    which is exact at the last place of the order and slightly conservative before it.

    Parameters
    ----------
    alpha : float, optional
        Level in (0, 1); if not given 2/n², that of the authors' code: the paper's text has none.
    """

    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            SHARE.checked("alpha", self.alpha)

    def threshold(self, n_variables: int, n_samples: float) -> float:
        """τ = tanh²(z(1 - alpha/2) / √(N - n - 1))."""
        freedom = n_samples - n_variables - 1
        if freedom < 1:
            raise SampleSizeError(
                f"Fisher's z-test given all other variables needs N ≥ n + 2 = {n_variables + 2} "
                f"samples for n = {n_variables} variables; got N = {n_samples:g}; use fewer "
                f"variables, or the exact BIC engine, which conditions on few"
            )
        alpha = paper_level(n_variables) if self.alpha is None else self.alpha
        quantile = -float(ndtri(alpha / 2))
        return math.tanh(quantile / math.sqrt(freedom)) ** 2


@dataclass(frozen=True)
class BicRule:
    """The drop-one rule of the BIC: an edge stays if losing it costs more than its penalty.

    Dropping one regressor changes twice the log-likelihood by -N log(1 - r²); the penalty of one
    edge is c log N.

    Parameters
    ----------
    penalty_discount : float
        The factor c > 0; 1 is the textbook BIC.
    """

    penalty_discount: float = 2.0

    def __post_init__(self) -> None:
        ABOVE_0.checked("penalty_discount", self.penalty_discount)

    def threshold(self, n_variables: int, n_samples: float) -> float:  # noqa: ARG002
        """τ = 1 - exp(-c log(N) / N)."""
        if n_samples < 2:
            raise SampleSizeError(f"the BIC rule needs at least 2 samples; got {n_samples:g}")
        if math.isinf(n_samples):
            return 0.0
        return -math.expm1(-self.penalty_discount * math.log(n_samples) / n_samples)


@dataclass(frozen=True)
class AbsoluteTolerance:
    """For an exact covariance: r² counts as zero up to rounding.

    Where r² is zero, rounding leaves less than (machine epsilon × condition number)²: 1e-19 for a
    condition number of 1e6, and measured 1e-22. Where it is not, products of many weights can make
    it small: in random models of 60 variables, 5e-12 was seen. The default, |r| = 1e-8, lies
    between. A covariance that was rounded, say to 6 digits, needs a larger tolerance.

    Parameters
    ----------
    tolerance : float
        The threshold on r² itself, in (0, 1).
    """

    tolerance: float = 1e-16

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise ArgumentError(f"tolerance must be between 0 and 1; got {self.tolerance}")

    def threshold(self, n_variables: int, n_samples: float) -> float:  # noqa: ARG002
        """τ = tolerance, whatever the size of the problem."""
        return self.tolerance


def paper_level(n_variables: int) -> float:
    """The level 2/n² of the authors' code: about one false edge among the n(n - 1)/2 pairs."""
    return min(2 / max(n_variables, 1) ** 2, 1.0)


def edge_test(
    penalty_discount: float | None = None,
    alpha: float | None = None,
    *,
    n_variables: int,
    n_samples: float | None,
    test: EdgeTest | None = None,
) -> EdgeTest:
    """The edge test that the arguments ask for.

    Parameters
    ----------
    penalty_discount : float, optional
        Ask for the BIC rule.
    alpha : float, optional
        Ask for Fisher's z-test at this level. If neither is given, the level is 2/n².
    n_variables : int
        Number of variables n.
    n_samples : float or None
        Number of samples N; infinite or None for an exact (oracle) covariance. The thresholds of
        both tests tend to zero as N grows, so that an oracle has only rounding to allow for.
    test : EdgeTest, optional
        A test as an object, which is taken as it is; the others are short forms of one.
    """
    if test is not None:
        return _given_test(test, penalty_discount, alpha)
    if penalty_discount is not None and alpha is not None:
        raise ArgumentError(
            f"penalty_discount is {penalty_discount}, which asks for the BIC rule, and a level of "
            f"{alpha} for Fisher's z-test; give one of them",
            option="penalty_discount",
        )
    asked: EdgeTest
    if penalty_discount is not None:
        asked = BicRule(penalty_discount)
    else:
        asked = FisherZ(paper_level(n_variables) if alpha is None else alpha)
    oracle = n_samples is None or math.isinf(n_samples)
    return AbsoluteTolerance() if oracle else asked


def _given_test(test: EdgeTest, penalty_discount: float | None, alpha: float | None) -> EdgeTest:
    if penalty_discount is not None or alpha is not None:
        raise ArgumentError(
            "a test was given, and a penalty or a level besides, which are short forms of one; "
            "give one of them"
        )
    if not isinstance(test, EdgeTest):
        raise ArgumentError(
            f"the test, a {type(test).__name__}, has no method `threshold` of two numbers, those "
            "of variables and of samples"
        )
    return test
