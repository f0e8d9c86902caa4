"""Total effects when the graph is unsure: a DAG from the draws, coefficients given it.

Given a DAG, σ² of a variable with parents P has an inverse gamma posterior and its coefficients
given σ² a Gaussian one (conjugate to BGe), independent between variables. The effect of x on y is
the sum over directed paths of the products of coefficients: exactly zero where there is no path.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qwo.bayes.scores import FamilyScore
from qwo.errors import ArgumentError
from qwo.types import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class EffectPosterior:
    """What is known of the total effect of one variable on another: a draw for each DAG.

    Attributes
    ----------
    cause, effect : str
        The variables.
    draws : ndarray
        The change of the effect per unit of the cause, in the units of the data; exactly 0 for
        DAGs without a directed path.
    """

    cause: str
    effect: str
    draws: FloatArray

    def __post_init__(self) -> None:
        self.draws.setflags(write=False)

    @property
    def probability(self) -> float:
        """Probability that there is any effect."""
        return float((self.draws != 0).mean())

    @property
    def probability_positive(self) -> float:
        """Probability that the effect is above zero."""
        return float((self.draws > 0).mean())

    @property
    def probability_negative(self) -> float:
        """Probability that the effect is below zero."""
        return float((self.draws < 0).mean())

    @property
    def mean(self) -> float:
        """Mean over all draws, zeros included."""
        return float(self.draws.mean())

    @property
    def median(self) -> float:
        """Median over all draws, zeros included."""
        return float(np.median(self.draws))

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Equal-tailed interval that holds the effect with this probability, zeros included."""
        if not 0 < level < 1:
            raise ArgumentError(f"level is {level!r}; wanted a probability between 0 and 1")
        low, high = np.quantile(self.draws, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def to_dict(self, level: float = 0.9) -> dict[str, object]:
        """All of it but the draws, as numbers and texts."""
        low, high = self.interval(level)
        return {
            "cause": self.cause,
            "effect": self.effect,
            "probability": self.probability,
            "probability_positive": self.probability_positive,
            "probability_negative": self.probability_negative,
            "mean": self.mean,
            "median": self.median,
            "level": level,
            "low": low,
            "high": high,
            "n_draws": len(self.draws),
        }

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"<Effect of {self.cause} on {self.effect}: any with probability "
            f"{self.probability:.2f}, median {self.median:.3g}, 90 % in [{low:.3g}, {high:.3g}]>"
        )


def total_effects(
    parents: Iterable[list[list[int]]],
    score: FamilyScore,
    cause: int,
    effect: int,
    rng: np.random.Generator,
) -> FloatArray:
    """The effect of one variable on another in each DAG, of standardised data.

    Parameters
    ----------
    parents : iterable
        For each DAG, the parents of every variable.
    score : FamilyScore
        The score whose posterior the coefficients have.
    cause, effect : int
        Column numbers.
    rng : Generator
        The source of the coefficients.
    """
    regressions: dict[tuple[int, tuple[int, ...]], _Regression] = {}
    effects = []
    for families in parents:
        reached: dict[int, float] = {cause: 1.0}
        for v in _between(families, cause, effect):
            key = v, tuple(families[v])
            if key not in regressions:
                regressions[key] = _Regression.of(score, *key)
            drawn = regressions[key].draw(rng)
            reached[v] = math.fsum(
                b * reached[u] for b, u in zip(drawn, families[v], strict=True) if u in reached
            )
        effects.append(reached.get(effect, 0.0))
    return np.array(effects)


def _between(families: list[list[int]], cause: int, effect: int) -> list[int]:
    """The variables on directed paths from cause to effect but the cause, causes first."""
    order: list[int] = []
    done: dict[int, bool] = {cause: True}
    stack = [(effect, False)]
    while stack:
        v, is_left = stack.pop()
        if is_left:
            done[v] = any(done[u] for u in families[v])
            if done[v]:
                order.append(v)
        elif v not in done:
            done[v] = False
            stack.append((v, True))
            stack += [(u, False) for u in families[v] if u not in done]
    return order


@dataclass(frozen=True, eq=False)
class _Regression:
    """The coefficients of one family: σ² ~ IG(shape, scale), b ~ N(mean, σ²LLᵀ)."""

    shape: float
    scale: float
    mean: FloatArray
    lower: FloatArray

    @classmethod
    def of(cls, score: FamilyScore, child: int, parents: tuple[int, ...]) -> _Regression:
        P = list(parents)
        inverse = np.linalg.inv(score.matrix[np.ix_(P, P)])
        mean = inverse @ score.matrix[P, child]
        rest = score.matrix[child, child] - float(mean @ score.matrix[P, child])
        N = score.n_samples
        # R was divided by N: the sums of squares are N times as large.
        return cls(score.degrees(len(P)), N * rest / 2, mean, np.linalg.cholesky(inverse / N))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        variance = self.scale / rng.gamma(self.shape)
        noise = self.lower @ rng.standard_normal(len(self.mean))
        drawn: FloatArray = self.mean + math.sqrt(variance) * noise
        return drawn
