"""Conditions beside hidden causes: indicators of the regimes as known exogenous causes.

Joint causal inference: J. M. Mooij, S. Magliacane, T. Claassen, Joint causal inference from
multiple contexts, JMLR 21 (2020). Each regime but the reference has an indicator, 1 in its rows.
Nothing measured causes an indicator, nothing hidden causes one and a variable, and indicators go
together by design. What an arrow from one says is that the condition shifts a variable's mean.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.discovery.regimes import RegimeKnowledge
from qwo.errors import ArgumentError
from qwo.graph.knowledge import Knowledge, as_knowledge
from qwo.moments import Moments
from qwo.moments.sums import split_covariance
from qwo.options import SearchOptions
from qwo.regimes.reading import COLUMN, RegimeData, read_regimes, regime_options
from qwo.types import Mask


@dataclass(frozen=True, eq=False)
class Conditions:
    """Variables and indicators: their moments, what is known, which pairs nothing hidden joins."""

    moments: Moments
    options: SearchOptions
    names: tuple[str, ...]

    @property
    def clear(self) -> Mask:
        """Pairs of an indicator with anything."""
        own = np.isin(self.moments.names, self.names)
        return np.asarray(own[:, None] | own[None, :])


def read_conditions(data: Any, options: SearchOptions, reading: ReadArguments) -> Conditions:
    """The rows with indicators of their regimes, as moments, and the options for these."""
    if options.effect == "perfect":
        raise ArgumentError(
            "effect is 'perfect', which does not go with hidden_causes: a variable that was set "
            "has no hidden cause in those rows, and one elsewhere; leave effect out, or learn from "
            "the rows of the other conditions",
            option="effect",
        )
    options = regime_options(data, options)
    given = read_regimes(data, options, reading)
    known = RegimeKnowledge.of(options, given.labels, given.moments.names)
    chosen = [k for k in range(len(given.labels)) if k != (known.reference or 0)]
    column = COLUMN if options.regime is None else str(options.regime)
    names = tuple(f"{column}={given.labels[k]}" for k in chosen)
    moments = given.moments if given.moments.has_blocks else _moments(given, chosen, names)
    # A regime of which nothing is said may have touched anything.
    touched = known.touched[chosen]
    touched = touched | ~touched.any(axis=1, keepdims=True)
    edges = _knowledge(as_knowledge(options.knowledge or {}), given.moments.names, names, touched)
    plain = replace(options, knowledge=edges, regime=None, targets=None, reference=None)
    return Conditions(moments, plain, names)


def _moments(given: RegimeData, chosen: list[int], names: tuple[str, ...]) -> Moments:
    """The moments of the variables and of indicators, from the sums of each regime."""
    total, means, covariance = given.sums.pooled()
    shares = given.sums.rows[chosen] / total
    across = (shares[:, None] * (given.sums.means[chosen] - means)).T
    own = np.diag(shares) - np.outer(shares, shares)
    scales, correlation = split_covariance(np.block([[covariance, across], [across.T, own]]))
    both = (*given.moments.names, *names)
    twice = sorted({name for name in names if name in given.moments.names})
    if twice:
        raise ArgumentError(f"there is a column {twice[0]!r} already; rename it", twice)
    return Moments(both, given.moments.n_samples, np.append(means, shares), scales, correlation)


def _knowledge(
    known: Knowledge, names: tuple[str, ...], conditions: tuple[str, ...], touched: Mask
) -> Knowledge:
    """What is known, and that conditions are causes of what they may touch and effects of none."""
    given: dict[str, Any] = {field.name: getattr(known, field.name) for field in fields(known)}
    into = [(name, condition) for name in names for condition in conditions]
    beside = [
        (condition, name)
        for condition, row in zip(conditions, touched, strict=True)
        for name, may in zip(names, row, strict=True)
        if not may
    ]
    given["forbidden"] = [*known.forbidden, *into, *beside]
    given["required"] = [*known.required, *combinations(conditions, 2)]
    return Knowledge(**given)
