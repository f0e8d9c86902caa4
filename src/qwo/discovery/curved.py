"""The graph of relations that need not be lines: how many columns pay, and the search with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from qwo.arguments import ReadArguments
from qwo.curved.result import CurvedRelations, edge_shares
from qwo.curved.sizes import SizeChoice, best_size, curved_moments, wanted_columns
from qwo.discovery.price import LEAST
from qwo.discovery.resolve import resolved_knowledge
from qwo.discovery.result import Discovery
from qwo.errors import ArgumentError
from qwo.moments import as_moments
from qwo.moments.curves import MOST_COLUMNS, leading_columns
from qwo.moments.moments import Moments
from qwo.moments.row_sample import RowSource, refuse_rowless
from qwo.options import ReadOptions, SearchOptions, is_whole
from qwo.search.control import Control

WHAT = 'relations="curved"'

MOST_ASKED = 12
"""Columns of each variable that can be asked for."""


def discover_curved(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``relations="curved"``: linear search, screen, number of columns, search."""
    from qwo.discovery.discover import discover_as

    asked, reading = asked_columns(reading)
    read = ReadOptions(**reading)
    refuse_rowless(data, read, WHAT)
    moments = as_moments(data, **reading)
    source = RowSource(data, read, moments, WHAT)
    plain = replace(options, relations="linear")
    found = discover_as(moments, plain, control=control)
    seed = found.params["random_state"]
    plain = replace(plain, random_state=seed)
    sample = source.sample(seed=seed)
    full = curved_moments(source, sample, asked or MOST_COLUMNS)
    chosen = _chosen(full, found, options, asked, control)
    searched = moments
    if chosen.size > 1:
        searched, _ = leading_columns(full, chosen.size)
        found = discover_as(searched, plain, control=control)
    linear, curved = edge_shares(searched, found.dag)
    relations = CurvedRelations(
        names=moments.names,
        dag=found.dag,
        size=chosen.size,
        costs=chosen.costs,
        linear=linear,
        curved=curved,
        sample=sample,
        coding=moments.coding,
    )
    params = {**found.params, "relations": options.relations, "basis": chosen.size}
    return replace(found, params=params, curves=relations)


def asked_columns(reading: ReadArguments) -> tuple[int | None, ReadArguments]:
    """The number of columns of each variable that is asked for, and what else is said of reading.

    A whole number in the place of names is that number; names are those of the columns to take.
    """
    given = reading.get("columns")
    if not is_whole(given):
        return None, reading
    size = int(cast("int", given))
    if not 1 <= size <= MOST_ASKED:
        raise ArgumentError(
            f"columns is {size}; wanted 1 to {MOST_ASKED} columns of each variable, or a list of "
            "the columns to take",
            option="columns",
        )
    return size, cast("ReadArguments", {k: v for k, v in reading.items() if k != "columns"})


def _chosen(
    full: Moments, found: Discovery, options: SearchOptions, asked: int | None, control: Control
) -> SizeChoice:
    """How many columns to search with: those asked for, 1 where no pair wants more, or by cost."""
    given = options.penalty_discount
    penalty = LEAST if isinstance(given, str) else given
    if asked is not None or found.status != "converged":
        return SizeChoice(asked or 1, {}, found.order)
    if wanted_columns(full, penalty).max() == 1:
        return SizeChoice(1, {}, found.order)
    return best_size(
        full,
        found.order,
        penalty,
        resolved_knowledge(options, full.names),
        seed=found.params["random_state"],
        control=control,
    )
