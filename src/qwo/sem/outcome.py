"""Total effects on one outcome, over all graphs of a class or over draws of a posterior."""

# Long because effects over a class, over lines and over draws share their records and words.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from qwo.graph.dag import ancestors, descendants
from qwo.graph.display import drawn_by, table_html
from qwo.moments import Moments
from qwo.names import Variable, between
from qwo.sem.effects import Effect, total_effect
from qwo.sem.fit import fit_sem
from qwo.sem.ida import possible_effects
from qwo.sem.regression import contrast, partial_slopes, siblings
from qwo.text import aligned, count, number, records_frame
from qwo.types import Adjacency

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Source = Literal["one graph", "all graphs left open", "posterior"]

FIELDS = (
    *("cause", "low", "high", "interval_low", "interval_high"),
    *("standardized", "share", "source"),
)
"""Columns of the table of effects on an outcome."""


@dataclass(frozen=True, slots=True)
class TotalEffect:
    """The total effect of one variable on another, as far as the graph determines it.

    Attributes
    ----------
    cause, effect : str
        The variables; contrasts of categories such as ``"race=black"``.
    low, high : float
        The smallest and the largest estimate over the graphs of the class, equal where they agree;
        0 for graphs without a path. From a posterior both are the median over its draws.
    interval : (float, float)
        Confidence interval; over a class from the lowest to the highest end of all intervals. From
        a posterior, the central part of the draws.
    standardized : float
        The larger of both ends in standard deviations of the effect per one of the cause.
    source : str
        ``"one graph"``: all graphs agree; ``"all graphs left open"``: the estimates range over
        those of the class (IDA), or over the directions that the data do not support;
        ``"posterior"``.
    share : float
        For how many of the sets of parents that the cause may have a path leads to the effect; from
        a posterior, the probability of one.
    possible : tuple of Effect
        The estimate for each such set; none from a posterior.
    level : float
        Of the interval.
    """

    cause: str
    effect: str
    low: float
    high: float
    interval: tuple[float, float]
    standardized: float
    source: Source
    share: float = 1.0
    possible: tuple[Effect, ...] = ()
    level: float = 0.95

    @property
    def identified(self) -> bool:
        """Whether there is one estimate."""
        return self.low == self.high

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval leaves zero out, on whichever side."""
        return self.interval[0] > 0 or self.interval[1] < 0

    @property
    def per_deviation(self) -> tuple[float, float, float, float]:
        """Ends of the interval and of the range, in standard deviations of cause and effect."""
        largest = self.high if abs(self.high) >= abs(self.low) else self.low
        unit = self.standardized / largest if largest else 1.0
        low, high = self.interval
        return low * unit, high * unit, self.low * unit, self.high * unit

    def __float__(self) -> float:
        return self.low if self.identified else float("nan")

    def __str__(self) -> str:
        low, high = map(number, self.interval)
        percent = f"{100 * self.level:.3g} %"
        return f"{self.cause} → {self.effect}: {self.sized()}, {percent} interval {low} to {high}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

    def sized(self) -> str:
        """The estimate, or the range of estimates."""
        return number(self.low) if self.identified else f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True, slots=True, eq=False)
class Causes(Sequence[TotalEffect]):
    """The total effects of all possible causes of an outcome, the largest first.

    Variables from which no directed path can lead to the outcome are not listed: of these the graph
    says that they have no effect.

    Attributes
    ----------
    outcome : str
        The variable.
    effects : tuple of TotalEffect
        Ranked by whether the interval leaves zero out, then by standardised size.
    level : float
        Of the intervals.
    others : tuple of str
        The variables that have no effect according to the graph.
    """

    outcome: str
    effects: tuple[TotalEffect, ...]
    level: float
    others: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.effects)

    @overload
    def __getitem__(self, index: int) -> TotalEffect: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[TotalEffect, ...]: ...

    def __getitem__(self, index: int | slice) -> TotalEffect | tuple[TotalEffect, ...]:
        return self.effects[index]

    @property
    def from_posterior(self) -> bool:
        """Whether intervals are those of a posterior."""
        return any(effect.source == "posterior" for effect in self.effects)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The effects as texts below the header of their table."""
        path = "P(effect)" if self.from_posterior else "path in"
        yield "cause", "effect of one unit", f"{100 * self.level:.3g} % interval", "per SD", path
        for effect in self.effects:
            low, high = map(number, effect.interval)
            per_sd, share = f"{effect.standardized:.2f}", f"{100 * effect.share:.0f} %"
            yield effect.cause, effect.sized(), f"{low} to {high}", per_sd, share

    @property
    def headline(self) -> str:
        """How many possible causes there are, in a line."""
        if not self.effects:
            return f"According to the graph, none of the variables has an effect on {self.outcome}."
        clear = sum(effect.excludes_zero for effect in self.effects)
        return (
            f"{count(len(self.effects), 'possible cause')} of {self.outcome}, the clearest first; "
            f"{clear} with an interval that excludes zero."
        )

    def summary(self) -> str:
        """A table with what it means."""
        if not self.effects:
            return self.headline
        lines = [self.headline, *aligned(list(self.rows())), self.meaning]
        return "\n".join(lines)

    @property
    def meaning(self) -> str:
        """How to read the numbers."""
        said = "Effects are total: by all paths, in the units of the data."
        if self.from_posterior:
            return f"{said} Medians and intervals over draws of graphs; no path counts as 0."
        if all(effect.identified for effect in self.effects):
            return f"{said} They hold if the graph is right and nothing hidden causes both."
        return (
            f"{said} A range: the data leave directions open, and each possible set of causes of "
            "the cause gives another estimate ('path in': the share of these sets with a path)."
        )

    def to_frame(self) -> pd.DataFrame:
        """A data frame with one row for each possible cause."""
        return records_frame(FIELDS, [tuple(row.values()) for row in self.records()])

    def records(self) -> list[dict[str, Any]]:
        """The same as numbers and texts by name."""
        return [
            dict(
                zip(
                    FIELDS,
                    (e.cause, e.low, e.high, *e.interval, e.standardized, e.share, e.source),
                    strict=True,
                )
            )
            for e in self.effects
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "outcome": self.outcome,
            "level": self.level,
            "effects": self.records(),
            "without_effect": list(self.others),
        }

    def plot(self, **options: Any) -> Axes:
        """The effects with their intervals, by `qwo.plot.plot_causes`."""
        return drawn_by("plot_causes", self, **options)

    def __repr__(self) -> str:
        return f"<Causes of {self.outcome}: {len(self.effects)}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        header, *rows = self.rows()
        table = table_html(header, rows) if rows else ""
        return f"<div><p>{escape(self.headline)}</p>{table}<p>{escape(self.meaning)}</p></div>"


class Setting(NamedTuple):
    """What effects are estimated from.

    `graph` is what is shown: the class of `dag`, or the class with lines for arrows that the data
    do not support. Then each line may point either way, whatever the others do.
    """

    moments: Moments
    cpdag: Adjacency
    dag: Adjacency
    graph: Adjacency
    level: float

    @property
    def is_class(self) -> bool:
        """Whether the graph is the class itself."""
        return bool((self.graph == self.cpdag).all())


def effect_between(setting: Setting, cause: Variable, effect: Variable) -> TotalEffect:
    """The total effect of one variable on another over the graphs that are left open.

    Where all of them give the cause the same parents, it is the sum over the paths of one member.
    """
    moments = setting.moments
    x = contrast(moments.names, moments.coding, cause, "cause")
    y = contrast(moments.names, moments.coding, effect, "effect")
    between("level", setting.level, 0.0, 1.0)
    return _effects(setting, x, y)


def _effects(setting: Setting, x: int, y: int) -> TotalEffect:
    moments, level = setting.moments, setting.level
    columns = moments.as_columns()
    if setting.is_class:
        found = possible_effects(moments, setting.cpdag, x, np.array([y]))[0]
        paths = found.directed.tolist()
        # Without a path the graph says 0, whatever a regression gives.
        possible = [
            effect if path else Effect(effect.cause, effect.effect, 0.0, 0.0)
            for effect, path in zip(found, paths, strict=True)
        ]
    else:
        _, possible, paths = _open_effects(setting, x, y)
    if len(possible) == 1 and paths[0]:
        model = fit_sem(moments, setting.dag)
        possible = [total_effect(model, columns.names[x], columns.names[y])]
    sizes = [effect.estimate for effect in possible]
    ends = [effect.interval(level) for effect in possible]
    unit = float(columns.scales[x] / columns.scales[y])
    return TotalEffect(
        columns.names[x],
        columns.names[y],
        min(sizes),
        max(sizes),
        (min(low for low, _ in ends), max(high for _, high in ends)),
        max(sizes, key=abs) * unit,
        "one graph" if len(possible) == 1 else "all graphs left open",
        sum(paths) / len(paths),
        tuple(possible),
        level,
    )


MOST_OPEN = 6
"""Lines at a cause of which all subsets are tried; of more, none, each one, and all of them."""


def open_effects(
    setting: Setting, cause: Variable, effect: Variable
) -> list[tuple[tuple[str, ...], Effect, bool]]:
    """The parents that the cause may have, the effect with them, and whether a path leads there.

    One for each graph that is left open where arrows that the data do not support may point either
    way: what `effect_between` sums up.
    """
    moments = setting.moments
    x = contrast(moments.names, moments.coding, cause, "cause")
    y = contrast(moments.names, moments.coding, effect, "effect")
    return list(zip(*_open_effects(setting, x, y), strict=True))


def _open_effects(
    setting: Setting, x: int, y: int
) -> tuple[list[tuple[str, ...]], list[Effect], list[bool]]:
    """The effect for each set of neighbours that may be parents of the cause.

    Where a path to the effect has lines further on, it may not be directed: then 0 counts as well.
    """
    moments, graph = setting.moments, setting.graph
    coding, columns = moments.coding, moments.as_columns()
    cause, target = (int(coding.owners[k]) for k in (x, y))
    parents = np.flatnonzero((graph[:, cause] == 1) & (graph[cause] == 0)).tolist()
    beside = np.flatnonzero(graph[cause] == 2).tolist()
    few = len(beside) <= MOST_OPEN
    sizes = range(len(beside) + 1) if few else (0, 1, len(beside))
    none = Effect(columns.names[x], columns.names[y], 0.0, 0.0)
    sets, effects, paths = [], [], []
    for chosen in chain.from_iterable(combinations(beside, size) for size in sizes):
        fixed = [*parents, *chosen]
        onward = graph.copy()
        onward[:, cause] = 0
        onward[cause, fixed] = 0
        likely = target not in fixed and target in descendants((onward != 0).astype(np.int8), cause)
        # Lines at the cause that it is no effect of point away from it.
        onward[cause, onward[cause] == 2] = 1
        sure = likely and target in descendants((onward == 1).astype(np.int8), cause)
        if likely:
            own = [*coding.columns_of(fixed).tolist(), *siblings(coding, x)]
            given = partial_slopes(columns, x, own, np.array([y]))
            size, error = float(given.slopes[0]), float(given.errors[0])
            effects.append(Effect(columns.names[x], columns.names[y], size, error, given.df))
            paths.append(True)
        if not sure:
            effects.append(none)
            paths.append(False)
        sets += [tuple(moments.names[v] for v in fixed)] * (int(likely) + int(not sure))
    return sets, effects, paths


def causes_of(setting: Setting, outcome: Variable, posterior: Any = None) -> Causes:
    """The total effects on an outcome of all that may cause it."""
    moments, level = setting.moments, between("level", setting.level, 0.0, 1.0)
    y = contrast(moments.names, moments.coding, outcome, "outcome")
    target = int(moments.coding.owners[y])
    label = moments.as_columns().names[y]
    if posterior is not None and posterior.tells_effects:
        found, others = _drawn(moments, posterior, target, level)
        return Causes(label, tuple(sorted(found, key=_rank)), level, others)
    # Along a line a path may lead either way.
    possible = ancestors((setting.graph != 0).astype(np.int8), target).tolist()
    owned = {v: moments.coding.columns_of([v]).tolist() for v in possible}
    effects = {v: [_effects(setting, x, y) for x in columns] for v, columns in owned.items()}
    kept = {v: own for v, own in effects.items() if any(effect.share > 0 for effect in own)}
    others = tuple(n for v, n in enumerate(moments.names) if v != target and v not in kept)
    listed = sorted((effect for own in kept.values() for effect in own), key=_rank)
    return Causes(label, tuple(listed), level, others)


def causes_among(outcome: str, effects: Sequence[TotalEffect], level: float) -> Causes:
    """Of effects on one outcome those that the graph has."""
    kept = sorted((effect for effect in effects if effect.share > 0), key=_rank)
    others = tuple(effect.cause for effect in effects if not effect.share)
    return Causes(outcome, tuple(kept), level, others)


LEAST_SHARE = 0.05
"""Probability of a path below which a variable is not listed."""


def _drawn(
    moments: Moments, posterior: Any, target: int, level: float
) -> tuple[list[TotalEffect], tuple[str, ...]]:
    """The effects of a posterior, and the variables that hardly any draw has a path from."""
    found, others = [], []
    for x, name in enumerate(moments.names):
        if x == target:
            continue
        drawn = posterior.effect(x, target)
        if drawn.probability < LEAST_SHARE:
            others.append(name)
            continue
        unit = float(moments.scales[x] / moments.scales[target])
        ends, middle = drawn.interval(level), drawn.median
        found.append(
            TotalEffect(
                drawn.cause,
                drawn.effect,
                middle,
                middle,
                ends,
                middle * unit,
                "posterior",
                drawn.probability,
                level=level,
            )
        )
    return found, tuple(others)


def _rank(effect: TotalEffect) -> tuple[bool, float, str]:
    return not effect.excludes_zero, -abs(effect.standardized), effect.cause
