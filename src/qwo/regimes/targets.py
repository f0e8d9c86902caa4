"""Which equations a regime has changed, and which of these changes are its targets.

`qwo.regimes.surprise` says how far each equation is from its base. Regimes also differ by what
nobody aimed at: instruments drift, batches differ, effects bend where causes leave their usual
range. A target has to exceed all that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qwo.regimes.sums import RegimeSums
from qwo.regimes.surprise import LEAST_VARIANCE, Bases, Families, Surprise, families_of
from qwo.types import Adjacency, FloatArray, Indices, Mask

TargetStatus = Literal[
    "target",
    "may be curvature",
    "drift",
    "absorbed",
    "same",
    "known",
    "known, does not show",
    "set",
]

FALSE_SHARE = 0.02
"""Share of the targets reported that may be false: by Benjamini and Hochberg, over all pairs."""

LEVEL = 0.05
"""Probability that any unchanged equation is kept out of a base."""

KEPT_OUT = 0.01
"""Probability that a regime is kept out of a base that it belongs to: one too many in it hides
changes, one too few costs some rows."""

DRIFTED_OUT = 0.1
"""The same where all regimes drift, which a change may exceed by little."""

QUIET = 0.35
"""The quantile of statistics by which drift is judged. Below the median: a third or more of the
equations may be targets."""

BASES = 3
"""Bases that allow for the drift that was seen against those before."""

ROUNDS = 5
"""Targets are left out where the drift is judged, which may show more of them."""

UNSETTLED = 0.7
"""Share of equations that differ from their base beyond which regimes differ by more than targets:
all but the largest changes are then drift."""

LEAST_ODDS = 0.1
"""A regime that touches most equations still has a small vote."""

MOST_VOTES = 3.0
"""Votes of a regime with many rows, in those of one with as many as the mean: few rows agree with
everything, but many are no sign that nothing was touched."""

STRONGER = 0.3
"""Share of all votes that a base has for free in which causes explain most: what touches a variable
cuts or weakens the influence of its causes more often than it strengthens it."""

NEAR = 0.25
"""Regimes' votes that a misfit at the limit outweighs: it decides between bases of equal votes."""

FEWEST_ALIKE = 3
"""Regimes that share a changed equation, all others having the usual one: drift does not do so."""

FEWEST_FOR_DRIFT = 4
"""Regimes from which on a drift of all of them can be told from targets of some."""

SHARED = 30.0
"""As many regimes as the other variables together count for, where the drift of one is estimated:
one variable's median over ten regimes says little, and not all variables drift alike."""


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of all equations: regimes in rows, variables in columns.

    `bars` has what the statistic of a target must exceed, `significant` what chance alone hardly
    reaches in the equation of each variable.
    """

    statistics: FloatArray
    divergences: FloatArray
    excused: FloatArray
    shifts: FloatArray
    ratios: FloatArray
    bars: FloatArray
    significant: FloatArray

    @property
    def targets(self) -> Mask:
        """Above the bar, and more than curvature may explain."""
        return (self.statistics - self.excused) > self.bars

    def status(self, absorbed: Mask, known: Mask, dropped: Mask) -> list[list[TargetStatus]]:
        """What is to be said of each pair, in words."""
        shows, above = self.statistics > self.significant, self.statistics > self.bars
        words: dict[TargetStatus, Mask] = {"set": dropped, "known": known & shows}
        words |= {"known, does not show": known, "target": self.targets}
        words |= {"may be curvature": above, "drift": shows, "absorbed": absorbed}
        said: Any = np.select(list(words.values()), list(words), "same").tolist()
        return list(said)


def changes_of(
    sums: RegimeSums,
    dag: Adjacency,
    dropped: Mask | None = None,
    reference: int | None = None,
    known: Mask | None = None,
) -> Changes:
    """The changes of every equation of a DAG in every regime; sums are standardised.

    The base of an equation is the reference and what agrees with it, or else the regimes with most
    rows that agree, none that is known to touch it if there are others; of two regimes only one can
    have changed, the second if nothing else is known.
    Mean, slopes and variance may each drift: where what they add to the statistic of equations
    that are no targets is above chance, it is divided by as much (as genomic control does).
    """
    usable = np.ones((sums.n_regimes, sums.n_variables), dtype=bool)
    asked = usable if dropped is None else ~dropped
    asked = asked & (asked.sum(axis=0) >= 2)
    asks = asked.any(axis=0)
    able = np.where(asks, asked, usable)
    free = able if known is None else able & ~known
    free = np.where(free.any(axis=0), free, able)
    # Equations of which nothing is asked, such as those of given variables, have no say in others.
    wanted = np.flatnonzero(asks if asks.any() else ~asks)
    groups = families_of(sums, dag, wanted)
    pairs, limits = asked.copy(), _limits(groups, np.ones((*asked.shape, 3)))
    if reference is not None:
        pairs[reference] = False
    for _ in range(BASES):
        seen, degrees, unsettled, alike = _surprises(groups, limits, sums.rows, free, reference)
        usual, quiet = degrees.sum(axis=-1), asked & ~alike
        for _ in range(1 if unsettled else ROUNDS):
            inflation = _inflation(seen, degrees, quiet, 0.5 if unsettled else QUIET)
            parts = np.where(asked[..., None], seen.parts / inflation, 0.0)
            # A bend moves means and slopes; what the variance tells is no part of it.
            calm, bent = parts.sum(axis=-1), parts[..., :2].sum(axis=-1)
            excused = np.minimum(seen.excused / inflation[..., 0], bent)
            level = _level(np.maximum(calm - excused, 0.0), usual, pairs)
            significant = _quantile(usual, level)
            left = asked & ~(pairs & (calm - excused > significant))
            if np.array_equal(left, quiet):
                break
            quiet = left
        # Regimes that drift agree with no other; what they share shows where that is allowed for.
        before, limits = limits, _limits(groups, inflation)
        if unsettled or all(map(np.array_equal, limits, before)):
            break
    statistics = np.where(asked, seen.parts.sum(axis=-1), 0.0)
    raised = np.divide(statistics, calm, out=np.ones_like(calm), where=calm > 0.0)
    told = seen.divergence, excused * raised, seen.shift, seen.ratio
    chance = np.where(asked.any(axis=0), significant, np.inf)
    bars = np.where(asked, significant * raised, np.inf)
    found: Any = (statistics, *(np.where(asked, own, 0.0) for own in told), bars, chance)
    return Changes(*found)


def still_explained(sums: RegimeSums, dag: Adjacency, pairs: Mask) -> Mask:
    """Which of some pairs of a regime and a variable it sets do not look so: its causes explain it.

    Bartlett's test of independence in the rows of that regime.
    """
    from scipy.special import chdtrc

    owned = np.repeat(np.arange(sums.n_variables), sums.sizes)
    found = np.zeros_like(pairs)
    for r, v in np.argwhere(pairs).tolist():
        covariance, moves = sums.covariances[r], np.diagonal(sums.covariances[r]) > LEAST_VARIANCE
        own, causes = np.flatnonzero(moves & (owned == v)), np.flatnonzero(moves & dag[owned, v])
        both = np.concatenate([own, causes])
        spare = sums.rows[r] - 1 - (len(both) + 1) / 2
        if not len(own) or not len(causes) or spare <= 0:
            continue
        logs = [np.linalg.slogdet(covariance[np.ix_(k, k)])[1] for k in (own, causes, both)]
        p = chdtrc(len(own) * len(causes), spare * max(0.0, logs[0] + logs[1] - logs[2]))
        found[r, v] = p < KEPT_OUT / pairs.sum()
    return found


def _surprises(
    groups: list[tuple[Indices, Families]],
    limits: list[FloatArray],
    rows: FloatArray,
    usable: Mask,
    reference: int | None,
) -> tuple[Surprise, FloatArray, bool, Mask]:
    """Each regime against the base of each variable, and degrees of freedom of the three parts.

    Also whether regimes differ in nearly everything, and which share a changed equation where all
    others have the usual one. Regimes whose statistics are within the limits may share a base.
    """
    sharing = [  # sets of regimes that may share the equation of each variable
        (variables, families.agreeing(usable[:, variables].T, limit))
        for (variables, families), limit in zip(groups, limits, strict=True)
    ]
    if reference is None:
        base = _elected(sharing, rows, np.zeros_like(usable))
    else:
        base = np.zeros_like(usable)
        for (variables, families), limit in zip(groups, limits, strict=True):
            base[:, variables] = families.joined(usable[:, variables].T, reference, limit).T
    base, unsettled = _settled(groups, base, usable, reference)
    seen: Surprise | None = None
    degrees = np.zeros((usable.shape[1], 3))
    for variables, families in groups:
        degrees[variables] = families.degrees
        own = families.against(base[:, variables].T)
        if seen is None:
            seen = Surprise(*(np.zeros((*usable.shape, *of.shape[2:])) for of in own))
        for whole, found in zip(seen, own, strict=True):
            whole[:, variables] = np.swapaxes(found, 0, 1)
    assert seen is not None, "there is a variable"
    alike = np.zeros_like(usable)
    for variables, sets in sharing:
        usual = (base | ~usable)[:, variables].T[:, None]
        others = sets.members & ~usual
        two = ((others | usual).all(axis=-1)) & (others.sum(axis=-1) >= FEWEST_ALIKE)
        alike[:, variables] = (others & two[..., None]).any(axis=1).T
    return seen, degrees, unsettled, alike


def _limits(groups: list[tuple[Indices, Families]], inflation: FloatArray) -> list[FloatArray]:
    """Up to where the statistics of each group of equations, V × R, may be chance and drift.

    A sum of multiples of χ² is taken for one of the same mean and variance (Satterthwaite).
    """
    found = []
    for variables, families in groups:
        degrees = np.array(families.degrees, dtype=float)
        own = np.swapaxes(inflation[:, variables], 0, 1)
        first, second = own @ degrees, own**2 @ degrees
        drifted = second / first * _quantile(first**2 / second, DRIFTED_OUT)
        found.append(np.maximum(drifted, _chance(families, KEPT_OUT)))
    return found


def _chance(families: Families, level: float) -> float:
    """What the statistic of an unchanged equation exceeds with a probability."""
    return float(_quantile(np.array(float(sum(families.degrees))), level))


def _settled(
    groups: list[tuple[Indices, Families]], base: Mask, usable: Mask, reference: int | None
) -> tuple[Mask, bool]:
    """The regimes that share the equation of each variable, R × n, and whether hardly any do.

    Then, without a reference, the base is the majority that agrees best.
    """
    told = np.concatenate([variables for variables, _ in groups])
    unsettled = bool((usable & ~base)[:, told].sum() > UNSETTLED * usable[:, told].sum())
    if unsettled and reference is None:
        for variables, families in groups:
            chance = _chance(families, LEVEL / usable.size)
            base[:, variables] = families.majority(usable[:, variables].T, chance).T
    for v in np.flatnonzero(usable.sum(axis=0) == 2).tolist():
        places = np.flatnonzero(usable[:, v]).tolist()
        base[:, v] = False
        base[reference if reference in places else places[0], v] = True
    return base, unsettled


def _elected(sharing: list[tuple[Indices, Bases]], rows: FloatArray, base: Mask) -> Mask:
    """Of the bases of each variable the one with most votes: rows times the log-odds of a base.

    A regime that leaves the other equations alone is more likely to leave this one alone: its
    log-odds are from how many variables it is in the base of. Bases in which causes explain more
    have a bonus.
    """
    weights = votes = np.minimum(rows / rows.mean(), MOST_VOTES)
    n_voters = sum(len(variables) for variables, _ in sharing)
    for _ in range(ROUNDS):
        found, touched = np.zeros_like(base), np.zeros(len(rows))
        for variables, own in sharing:
            bonus = STRONGER * votes.sum() * own.strengths - NEAR * own.misfits
            best = np.argmax(own.members @ votes + bonus, axis=1)
            members = own.members[np.arange(len(variables)), best]
            found[:, variables] = members.T
            touched += (~members).sum(axis=0)
        if np.array_equal(found, base):
            break
        base, out = found, (touched + 0.5) / (n_voters + 1)
        votes = weights * np.maximum(np.log((1 - out) / out), LEAST_ODDS)
    return base


def _inflation(seen: Surprise, degrees: FloatArray, asked: Mask, share: float) -> FloatArray:
    """By how much drift inflates the parts of each statistic: 1 + rows · ψ of variable and part.

    ψ is the one at which a quantile over regimes is that of chance. A quantile of a few regimes
    says little: the other variables have a say, in units of their own variance.
    """
    inflation = np.ones_like(seen.parts)
    n_regimes, n_variables = asked.shape
    if n_regimes < FEWEST_FOR_DRIFT:
        return inflation
    for part in range(3):
        rows = seen.weight * (seen.spread if part < 2 else 1.0)
        told = asked & (degrees[:, part] > 0) & (rows > 0)  # a constant does not drift
        if not told.any():
            continue
        usual = _quantile(np.maximum(degrees[:, part], 1.0), 1.0 - share)
        drift = (seen.parts[..., part] / usual - 1.0)[told] / rows[told]
        order = np.argsort(drift)
        owner = np.broadcast_to(np.arange(n_variables), told.shape)[told][order]
        for v in np.flatnonzero(degrees[:, part] > 0).tolist():
            others = max(1, int((owner != v).sum()))
            reached = np.cumsum(np.where(owner == v, 1.0, min(1.0, SHARED / others)))
            place = int(np.searchsorted(reached, share * reached[-1]))
            inflation[:, v, part] += rows[:, v] * max(0.0, drift[order[place]])
    return inflation


def _level(statistics: FloatArray, degrees: FloatArray, pairs: Mask) -> float:
    """The p-value up to which the share of false targets is the one allowed."""
    from scipy.special import chdtrc

    p = np.sort(chdtrc(np.broadcast_to(degrees, statistics.shape), statistics)[pairs])
    if not len(p):
        return LEVEL
    steps = FALSE_SHARE * np.arange(1, len(p) + 1) / len(p)
    below = np.flatnonzero(p <= steps)
    return float(steps[below[-1] if len(below) else 0])


def _quantile(degrees: FloatArray, level: float) -> FloatArray:
    """The χ² quantile that is exceeded with a probability."""
    from scipy.special import chdtri

    return np.asarray(chdtri(degrees, level))
