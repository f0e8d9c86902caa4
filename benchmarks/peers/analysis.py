"""Figures of each method on each cell, and differences on the same data sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from benchmarks.peers.cells import Cell, Profile
from benchmarks.peers.markdown import short
from benchmarks.peers.methods import METHODS, OURS
from benchmarks.peers.study import DATA, DONE, FAILED
from qwo.reproduction.aggregate import interval

REFERENCE = OURS[0].name
SAME_SCORE = 1e-3
"""Scores that differ by less belong to the same class, or are a matter of rounding."""
MEANS = (
    "shd",
    "gap",
    "exact",
    "adjacency_precision",
    "adjacency_recall",
    "arrowhead_precision",
    "arrowhead_recall",
    "aid",
    "cpu",
    "wall",
)
CONFIDENCE = 0.95
SAME_SHD = 0.5
"""By so much may the mean SHD of a peer be higher and still count as no less accurate."""
FEWEST = 3
"""Shared data sets that a difference is stated for."""


@dataclass(frozen=True)
class Difference:
    """Ours less theirs on the same data sets: mean, and half the width of its interval.

    The interval is Student's, at 95 %.
    """

    count: int
    mean: float
    half: float

    @property
    def is_positive(self) -> bool:
        return self.count >= FEWEST and self.mean - self.half > 0

    @property
    def is_negative(self) -> bool:
        return self.count >= FEWEST and self.mean + self.half < 0

    def __str__(self) -> str:
        half = f" ± {short(self.half)}" if self.count >= FEWEST else ""
        return f"{short(self.mean, 3, '+')}{half}"


class CellFigures:
    """All rows of a cell."""

    def __init__(self, cell: Cell, rows: pd.DataFrame) -> None:
        self.cell = cell
        self.best_scores = rows.groupby("seed")["score"].max()
        gap = rows["seed"].map(self.best_scores) - rows["score"]
        self._rows = rows.assign(gap=gap.where(gap.isna() | (gap > SAME_SCORE), 0.0))

    @cached_property
    def done(self) -> pd.DataFrame:
        """Runs that gave a graph."""
        return self._rows[self._rows["status"] == DONE]

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means over data sets, by method in the order of `METHODS`; memory is the largest."""
        groups = self.done.groupby("method")
        figures = self.done[list(MEANS)].astype(float)
        frame = figures.groupby(self.done["method"]).mean()
        frame["memory"] = groups["memory"].max()
        frame["runs"] = groups.size()
        order = [name for name in METHODS if name in frame.index]
        return frame.loc[order]

    @cached_property
    def statuses(self) -> pd.DataFrame:
        """Runs by method and how they ended."""
        rows = self._rows[self._rows["status"] != DATA]
        return rows.groupby(["method", "status"]).size().unstack(fill_value=0)

    def errors(self, method: str) -> list[str]:
        """What a method said when it failed."""
        rows = self._rows[(self._rows["method"] == method) & (self._rows["status"] == FAILED)]
        return [str(error) for error in rows["error"]]

    def data(self, name: str) -> float:
        """The mean of a figure of the data sets themselves."""
        return float(self._rows.loc[self._rows["status"] == DATA, name].astype(float).mean())

    def values(self, method: str, name: str) -> pd.Series:
        """A figure of a method by data set."""
        rows = self.done[self.done["method"] == method]
        return rows.set_index("seed")[name].astype(float).dropna()

    def difference(self, theirs: str, name: str = "shd", ours: str = REFERENCE) -> Difference:
        """Ours less theirs on the data sets that both have a graph of."""
        values = (self.values(ours, name) - self.values(theirs, name)).dropna().to_list()
        if not values:
            return Difference(0, math.nan, math.nan)
        found = interval(values, CONFIDENCE)
        return Difference(found.graphs, found.mean, found.half)

    def time_ratio(self, theirs: str, ours: str = REFERENCE) -> float:
        """How many times our processor time theirs is: geometric mean over shared data sets."""
        ratio = (self.values(theirs, "cpu") / self.values(ours, "cpu")).dropna()
        return float(np.exp(np.log(ratio).mean())) if len(ratio) else math.nan

    @cached_property
    def comparable_shd(self) -> pd.Series:
        """Mean SHD by method, as if all had run on the data sets of our default.

        A method that ran on fewer is as far from our mean as it is on the data sets of both, but
        no better than on the best of them.
        """
        shown = self.means["shd"].copy()
        if REFERENCE in shown.index:
            for method in shown.index[self.means["runs"] < self.means.loc[REFERENCE, "runs"]]:
                difference = self.difference(str(method))
                if difference.count:
                    best = self.values(str(method), "shd").min()
                    shown[method] = max(shown[REFERENCE] - difference.mean, best)
        return shown

    @property
    def peers(self) -> Iterator[str]:
        """Methods of others that have results here."""
        ours = {name for name, method in METHODS.items() if method.tool == "qwo"}
        return (str(name) for name in self.means.index if name not in ours)


def figures_of(profile: Profile, table: pd.DataFrame) -> list[CellFigures]:
    """The cells that there are results of."""
    found = []
    for cell in profile.cells:
        rows = table[_is_of(cell, table)]
        if (rows["status"] == DONE).any():
            found.append(CellFigures(cell, rows))
    return found


def _is_of(cell: Cell, table: pd.DataFrame) -> pd.Series:
    wanted = asdict(cell.kind) | {"penalty_discount": cell.penalty_discount}
    mask = pd.Series(True, index=table.index)
    for name, value in wanted.items():
        mask &= table[name].isna() if value is None else table[name].eq(value).fillna(False)
    return mask


@dataclass(frozen=True)
class Loss:
    """A cell on which a peer is better than our default.

    figures, peer: where, and who.
    difference: our SHD less theirs.
    gap: our score gap less theirs: above 0, our search is what is worse.
    time_ratio: their processor time over ours.
    """

    figures: CellFigures
    peer: str
    difference: Difference
    gap: Difference
    time_ratio: float

    @property
    def is_in_accuracy(self) -> bool:
        return self.difference.is_positive

    @property
    def is_in_time(self) -> bool:
        """Faster, and as accurate."""
        return self.time_ratio < 1 and self.difference.mean >= -SAME_SHD


def losses(all_figures: list[CellFigures]) -> list[Loss]:
    """All losses in accuracy, or in time at the same accuracy."""
    found = []
    for figures in all_figures:
        if REFERENCE not in figures.means.index:
            continue
        for peer in figures.peers:
            loss = Loss(
                figures,
                peer,
                figures.difference(peer),
                figures.difference(peer, "gap"),
                figures.time_ratio(peer),
            )
            if loss.difference.count and (loss.is_in_accuracy or loss.is_in_time):
                found.append(loss)
    return found
