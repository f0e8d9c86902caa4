"""Curves of rows from several regimes, and what the shape of their noise says of open arrows.

Columns of functions are those of all rows; each regime may have slopes of its own on all of them.
The noise directs only what the regimes leave open: residuals are those of each regime's own
equations, in their own deviations, with one density for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qwo.arguments import ReadArguments
from qwo.columns.curves import MOST_COLUMNS
from qwo.columns.recipes import Coding, with_curves
from qwo.compute import one_blas_thread
from qwo.curved.arrows import NoiseArrows
from qwo.curved.noise import (
    NoiseModel,
    TurnedGraph,
    arrow_strengths,
    best_member,
    directed_by,
    unrounded,
)
from qwo.curved.result import CurvedRelations
from qwo.curved.sizes import curved_columns
from qwo.discovery.curved import chosen_size
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.graph.dag import parents_of
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.curves import MOST_ROWS, RowSample, leading_columns, moments_of, orthonormal
from qwo.moments.moments import Moments
from qwo.options import SearchOptions
from qwo.regimes.classes import n_members
from qwo.regimes.reading import RegimeData, regime_rows
from qwo.regimes.sums import RegimeSums
from qwo.search.control import Control
from qwo.types import Adjacency, FloatArray, Indices


@dataclass(frozen=True, slots=True, eq=False)
class SortedRows:
    """Rows regime by regime, in the columns of a coding; where each regime ends."""

    sample: RowSample
    ends: tuple[int, ...]
    coding: Coding

    @classmethod
    def of(
        cls, data: Any, options: SearchOptions, reading: ReadArguments, given: RegimeData
    ) -> SortedRows:
        """All rows, which are held in memory."""
        if reading.get("weights") is not None:
            raise ArgumentError(
                "weights do not go with curves or noise of several conditions, whose rows are "
                "looked at as they are; leave weights out",
                option="weights",
            )
        table, labels = regime_rows(data, options, reading)
        coding = given.moments.coding
        columns = coding.recoded(table.values, table.coding)
        parts = [columns[labels == label] for label in given.labels]
        ends = tuple(np.cumsum([len(part) for part in parts]).tolist())
        return cls(RowSample(np.concatenate(parts), None, len(columns)), ends, coding)

    def centred(self, columns: FloatArray) -> FloatArray:
        """Columns less their means in each regime."""
        parts = np.split(columns, self.ends[:-1])
        return np.concatenate([part - part.mean(axis=0) for part in parts])

    def thinned(self) -> SortedRows:
        """At most so many rows as a density is made from, evenly from all regimes."""
        step = -(-len(self.sample.columns) // MOST_ROWS)
        if step == 1:
            return self
        parts = [part[::step] for part in np.split(self.sample.columns, self.ends[:-1])]
        ends = tuple(np.cumsum([len(part) for part in parts]).tolist())
        return replace(self, sample=replace(self.sample, columns=np.concatenate(parts)), ends=ends)


Search = Callable[[RegimeSums, Moments], Discovery]
"""The graph by sums over regimes, given what varies within these, and its reading."""


@one_blas_thread()
def looked_at(
    linear: Discovery,
    rows: SortedRows,
    given: RegimeData,
    options: SearchOptions,
    search: Search,
    *,
    asked: int | None,
    knowledge: ResolvedKnowledge | None,
    control: Control,
) -> Discovery:
    """The graph by curves where these pay, with arrows from the noise where they are asked."""
    found, within, costs = linear, given.within, {}
    noise = found.params["arrows"] == "noise" and found.status == "converged"
    if options.relations == "curved":
        full = _full_columns(rows, given.moments.names, asked or MOST_COLUMNS)
        choice = chosen_size(full, linear, options, asked, control)
        costs = choice.costs
        if choice.size > 1:
            own = leading_columns(full, choice.size)
            bent = search(_sums(rows, own), own)
            # Noise that is not normal makes lines look like curves; its density tells.
            if not (noise and _likelier(linear, given.within, bent, own, rows)):
                found, within = bent, own
    if noise and found.status == "converged":
        found = regime_noise(found, rows, within, options, knowledge)
    if options.relations != "curved":
        return found
    curves = CurvedRelations.of(within, found.dag, costs, rows.thinned().sample, rows.coding)
    return replace(found, curves=curves, params={**found.params, "basis": curves.size})


def _full_columns(rows: SortedRows, names: tuple[str, ...], size: int) -> Moments:
    """The moments, within regimes, of each variable and of so many functions of it."""
    coding, columns = rows.coding, rows.sample.columns
    curved = with_curves(coding, columns, size)
    inside = rows.centred(curved_columns(rows.sample, coding, curved))
    return orthonormal(moments_of(names, curved, inside, None))


def _sums(rows: SortedRows, within: Moments) -> RegimeSums:
    """Sums of the columns of each regime."""
    own = curved_columns(rows.sample, rows.coding, within.coding)
    sizes, leading = within.coding.sizes.tolist(), within.leading().tolist()
    return RegimeSums.of(np.split(own, rows.ends[:-1]), sizes, leading)


def _likelier(
    first: Discovery, lines: Moments, second: Discovery, curves: Moments, rows: SortedRows
) -> bool:
    """Whether a graph of lines has a likelier noise than one of curves."""
    rows, penalty = rows.thinned(), first.params["penalty_discount"]
    even = unrounded(rows.sample, rows.coding)
    costs = [
        NoiseModel.of(even, rows.coding, own.coding, penalty, rows.ends).of_dag(
            parents_of(found.dag)
        )
        for found, own in ((first, lines), (second, curves))
    ]
    return costs[0] < costs[1]


def regime_noise(
    found: Discovery,
    rows: SortedRows,
    within: Moments,
    options: SearchOptions,
    knowledge: ResolvedKnowledge | None,
) -> Discovery:
    """The result with the arrows that the noise directs among those that regimes leave open."""
    whole, rows = rows.sample, rows.thinned()
    penalty, seed = (found.params[name] for name in ("penalty_discount", "random_state"))
    even = unrounded(rows.sample, rows.coding)
    model = NoiseModel.of(even, rows.coding, within.coding, penalty, rows.ends)
    told = model.numbers[:, None] & model.numbers[None, :]
    allowed = (found.cpdag != 0) & (told | (found.dag != 0))
    search = best_member(model, found.dag, allowed, knowledge=knowledge, seed=seed)
    dag, order = search.dag(), search.order().astype(np.intp)
    strengths: Any = arrow_strengths(TurnedGraph(model, search, order, dag, False), dag)
    strengths["z"][found.cpdag != 2] = np.nan
    arrows = NoiseArrows.none(found.names, options.level, replace(rows.sample, n_rows=whole.n_rows))
    arrows = replace(arrows, dag=dag, opened=int((found.cpdag == 2).sum()) // 2, **strengths)
    return _directed(found, arrows, dag, order)


def _directed(found: Discovery, arrows: NoiseArrows, dag: Adjacency, order: Indices) -> Discovery:
    graph = directed_by(found.cpdag, arrows.supported)
    assert found.regimes is not None
    names, reasons = found.names, dict(found.regimes.reasons)
    for i, j in np.argwhere((graph == 1) & (found.cpdag == 2)):
        reasons[names[i], names[j]] = ("noise", None)
    regimes = replace(found.regimes, reasons=reasons, class_after=n_members(graph))
    own: Any = {"cpdag": graph, "dag": dag, "order": order, "noise": arrows, "regimes": regimes}
    return replace(found, **own)
