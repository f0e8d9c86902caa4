"""What rows from several regimes have told, beside the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.errors import list_names
from qwo.moments.moments import Moments
from qwo.regimes.classes import Reason
from qwo.regimes.targets import Changes, TargetStatus
from qwo.text import count, records_frame
from qwo.types import Mask

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    *("regime", "variable", "status"),
    *("surprise", "statistic", "bar", "shift", "variance_ratio"),
)

REPORTED: tuple[TargetStatus, ...] = ("target", "known", "set")
"""What counts as a target where arrows are directed and in short lists."""

DIFFERENT: tuple[TargetStatus, ...] = ("target", "may be curvature", "drift", "known", "set")

ROWS_PER_PARAMETER = 10
"""Of the largest equation; a condition with fewer rows is named."""

MOST_LISTED = 30
"""Of more regimes, a summary shows those that changed something first, and says how many more."""


@dataclass(frozen=True, eq=False)
class Regimes:
    """Which equations changed in which regime, and what follows for arrows.

    Attributes
    ----------
    labels : tuple of str
        The regimes.
    rows : tuple of int
        How many rows each has.
    names : tuple of str
        The variables.
    changes : Changes
        How much each equation differs from its base in each regime.
    status : tuple of tuple of str
        What is said of each regime (rows) and variable: ``"target"``; ``"may be curvature"`` (its
        causes moved beyond where they were seen otherwise); ``"drift"`` (no more than all regimes
        differ); ``"absorbed"`` or ``"same"``; ``"known"``, ``"known, does not show"`` and ``"set"``
        for targets that were given.
    reasons : mapping
        Why each arrow has its direction: ``"collider"``, ``"regime"`` with the regime's name,
        ``"knowledge"``, ``"rule"``, or ``"noise"`` where that was asked.
    class_before, class_after : int
        How many DAGs the data of one regime would leave open, and how many are left.
    within : Moments or None
        Moments of the rows less the mean of their regime.
    usual : Moments or None
        Moments of the usual equations: that of each variable is taken from the regimes that leave
        it alone. Coefficients, effects and the fit of a linear model are those of these.
    n_causes : tuple of int
        How many causes each variable has.
    reference : str or None
        The regime in which nothing was touched, if one was named.
    not_set : tuple of (str, str)
        Regimes and variables that ``effect="perfect"`` said were set there, although their causes
        still explain them: they count as known changes.
    """

    labels: tuple[str, ...]
    rows: tuple[int, ...]
    names: tuple[str, ...]
    changes: Changes
    status: tuple[tuple[TargetStatus, ...], ...]
    reasons: Mapping[tuple[str, str], tuple[Reason, str | None]]
    class_before: int
    class_after: int
    within: Moments | None = None
    n_causes: tuple[int, ...] = ()
    reference: str | None = None
    usual: Moments | None = None
    not_set: tuple[tuple[str, str], ...] = ()

    @property
    def targets(self) -> Mask:
        """The equations that count as touched: regimes by variables."""
        return np.array([[status in REPORTED for status in row] for row in self.status])

    @property
    def graph(self) -> None:
        """None: the graph is the class that the targets leave."""

    def listed(self) -> dict[str, list[str]]:
        """The targets of each regime by name, the most changed first."""
        found = {}
        for r, label in enumerate(self.labels):
            order = np.argsort(-self.changes.divergences[r], kind="stable").tolist()
            found[label] = [self.names[v] for v in order if self.targets[r, v]]
        return found

    def records(self) -> list[tuple[Any, ...]]:
        """One row for each regime and variable, as `to_frame` has them."""
        c = self.changes
        numbers = np.stack([c.divergences, c.statistics, c.bars, c.shifts, c.ratios], axis=-1)
        return [
            (label, name, self.status[r][v], *numbers[r, v].tolist())
            for r, label in enumerate(self.labels)
            for v, name in enumerate(self.names)
        ]

    def to_frame(self) -> pd.DataFrame:
        """Every regime and variable: status, surprise per row, statistic and its bar, changes.

        The shift is the mean residual of the usual equation, in its standard deviations; the
        variance ratio is that of the residuals.
        """
        return records_frame(COLUMNS, self.records())

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs; `targets` has a row for each regime and variable."""
        return {
            "labels": list(self.labels),
            "rows": list(self.rows),
            "targets": [dict(zip(COLUMNS, row, strict=True)) for row in self.records()],
            "reasons": [
                {"source": cause, "target": effect, "reason": why, "regime": regime}
                for (cause, effect), (why, regime) in self.reasons.items()
            ],
            "class_before": self.class_before,
            "class_after": self.class_after,
            "remarks": list(self.remarks),
        }

    def summary(self) -> str:
        """The targets of each regime, in a line each."""
        shown = list(zip(self.labels, self.rows, self.listed().values(), strict=True))
        more = len(shown) - MOST_LISTED
        if more > 0:
            shown = sorted(shown, key=lambda own: not own[2])[:MOST_LISTED]
        width = max(len(label) for label, *_ in shown)
        lines = [
            f"  {label:<{width}}  {rows:>6} rows  {', '.join(targets) or '–'}"
            for label, rows, targets in shown
        ]
        lines += [f"  and {more} more, those without changes last"] if more > 0 else []
        kept = (
            f"{count(self.class_before, 'graph')} would fit the rows of one condition alone, "
            f"{self.class_after} fit them all"
        )
        head = "Conditions, and variables whose equations they changed:"
        whose = "Coefficients and effects are of the usual equations: "
        whose += "conditions that touch a variable do not count for its own"
        notes = [f"Note: {remark}" for remark in self.remarks]
        return "\n".join([head, *lines, kept, whose, *notes])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What speaks against reading much into the targets, in sentences."""
        found = []
        differ = np.array([[s in DIFFERENT for s in row] for row in self.status])
        if differ.mean() > 0.5:
            found.append(
                f"{differ.sum()} of {differ.size} equations differ, so conditions differ by more "
                "than what they were meant to touch (batch effects?); only changes far above the "
                "usual are listed"
            )
        shares = self.targets.mean(axis=0)
        often = [name for name, share in zip(self.names, shares, strict=True) if share >= 0.5]
        if often and self.reference is None:
            found.append(
                f"half of the conditions or more touch {list_names(often)}: which equation is the "
                "usual one is a guess; name the condition in which nothing was touched (reference=)"
            )
        if self.not_set:
            told = [f"{name} in {label}" for label, name in self.not_set]
            found.append(
                f"causes still explain {list_names(told)}, so nothing set "
                f"{'it' if len(told) == 1 else 'these'} there: taken as changed, not as set"
            )
        wanted = ROWS_PER_PARAMETER * (max(self.n_causes, default=0) + 2)
        few = [label for label, n in zip(self.labels, self.rows, strict=True) if n < wanted]
        if few:
            found.append(
                f"{list_names(few)} {'has' if len(few) == 1 else 'have'} fewer than {wanted} rows: "
                "small changes cannot be seen there"
            )
        return tuple(found)
