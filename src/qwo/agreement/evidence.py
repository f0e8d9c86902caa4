"""Kinds of evidence against a graph: what data show, beside what data drawn from it show."""

from __future__ import annotations

import math
from dataclasses import dataclass

from qwo.agreement.families import Independences
from qwo.agreement.result import Test
from qwo.agreement.subsets import Contradictions


@dataclass(frozen=True, eq=False)
class Evidenced:
    """What one data set says of one graph."""

    independences: Independences
    deviance: float
    subsets: Contradictions | None

    @property
    def worst(self) -> float:
        """The smallest p-value of an implied independence."""
        return float(self.independences.p_values.min(initial=1.0))


def evidence_tests(
    seen: Evidenced, drawn: list[Evidenced], bends: list[float], noise: float, alpha: float
) -> tuple[Test, ...]:
    """Each kind of evidence at its share of alpha."""
    found = {
        "implied independences": rank_of(-seen.worst, [-d.worst for d in drawn]),
        "overall fit": rank_of(seen.deviance, [d.deviance for d in drawn]),
    }
    if seen.subsets is not None:
        rates = [d.subsets.rate for d in drawn if d.subsets is not None]
        found["subsets of variables"] = rank_of(seen.subsets.rate, rates)
    linear = [p for p in bends if not math.isnan(p)]
    if linear:
        found["linear equations"] = min(1.0, min(linear) * len(linear))
    if not math.isnan(noise):
        found["independent noise"] = noise
    level = alpha / len(found)
    return tuple(Test(name, p, bool(p <= level)) for name, p in found.items())


def rank_of(value: float, others: list[float]) -> float:
    """Share of values at least as large, the value itself counted."""
    if not others:
        return math.nan
    return (1 + sum(other >= value for other in others)) / (1 + len(others))
