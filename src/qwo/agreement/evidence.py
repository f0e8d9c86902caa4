"""Kinds of evidence against a graph: what data show, beside what data drawn from it show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qwo.agreement.families import Independences
from qwo.agreement.result import Test
from qwo.agreement.subsets import Contradictions


@dataclass(frozen=True, eq=False)
class Evidenced:
    """What one data set says of one graph."""

    independences: Independences
    deviance: float
    subsets: Contradictions | None
    bend: float = math.nan

    @property
    def worst(self) -> float:
        """The smallest p-value of an implied independence."""
        return float(self.independences.p_values.min(initial=1.0))


def evidence_tests(
    seen: Evidenced, drawn: list[Evidenced], noise: float, alpha: float
) -> tuple[Test, ...]:
    """Each kind of evidence at its share of alpha."""
    found = {
        "implied independences": rank_of(-seen.worst, [-d.worst for d in drawn]),
        "overall fit": rank_of(seen.deviance, [d.deviance for d in drawn]),
    }
    if seen.subsets is not None:
        rates = [d.subsets.rate for d in drawn if d.subsets is not None]
        found["subsets of variables"] = rank_of(seen.subsets.rate, rates)
    if not math.isnan(seen.bend):
        bends = [d.bend for d in drawn if not math.isnan(d.bend)]
        # The p-value itself counts on normal noise.
        found["linear equations"] = _beyond(seen.bend, bends) if bends else seen.bend
    if not math.isnan(noise):
        found["independent noise"] = noise
    level = alpha / len(found)
    return tuple(Test(name, p, bool(p <= level)) for name, p in found.items())


def rank_of(value: float, others: list[float]) -> float:
    """Share of values at least as large, the value itself counted."""
    if not others:
        return math.nan
    return (1 + sum(other >= value for other in others)) / (1 + len(others))


def _beyond(p_value: float, others: list[float]) -> float:
    """Share of p-values at most as large; beyond all of them, as far as their tail goes.

    Logarithms of p-values have exponential tails, if not those of their own model.
    """
    seen, drawn = -math.log(max(p_value, 1e-300)), -np.log(np.maximum(others, 1e-300))
    most, count = float(drawn.max()), 1 + len(others)
    if seen <= most:
        return (1 + int((drawn >= seen).sum())) / count
    scale = max(1.0, (most - float(np.median(drawn))) / math.log(max(count / 2, 2)))
    return math.exp(-(seen - most) / scale) / count
