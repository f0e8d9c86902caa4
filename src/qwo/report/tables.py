"""The tables of a report: cells with a text to read and a value to sort by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from qwo import text
from qwo.graph.marks import MARKS
from qwo.report import remarks

_MARKS = {text: mark.symbol for text, mark in MARKS.items()} | {"": "absent"}
_MEANINGS = {text: mark.words for text, mark in MARKS.items()} | {"": "not in the graph"}
_MARK_HELP = "→ directed; →? direction not settled; — the data cannot tell the direction"


class Column(NamedTuple):
    """A column: what heads it, the key of its values, and how they are written.

    The kind is ``"name"``, ``"mark"`` or ``"number"``; only numbers have a writer.
    """

    title: str
    key: str
    kind: str = "number"
    write: Callable[[Any], str] = text.number
    help: str = ""


class TableCell(NamedTuple):
    """A cell; sort is None where the text is what to sort by, or where there is no value."""

    text: str
    kind: str
    sort: float | None = None
    spoken: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table to show, by what the page calls it."""

    key: str
    caption: str
    columns: list[Column]
    rows: list[list[TableCell]]
    target: str = ""
    """``"edge"`` or ``"variable"`` if row k is about that with number k, else empty."""


_ENDS = [
    Column("From", "source", "name"),
    Column("Edge", "type", "mark", help=_MARK_HELP),
    Column("To", "target", "name"),
]
_PAIR = [
    Column("From", "first", "name"),
    Column("In the graph", "reference", "mark", help=_MARK_HELP),
    Column("To", "second", "name"),
]
_ESTIMATES = [
    Column("Coefficient", "coefficient", help="in the units of the data"),
    Column("Std. error", "standard_error", help="of the coefficient"),
    Column("p", "p_value", write=text.p_value, help="of a test that the coefficient is zero"),
    Column("Standardized", "standardized", help="both variables in standard deviations"),
]


def _share(title: str, key: str, text: str) -> Column:
    return Column(title, key, write=remarks.percent, help=text)


_STRENGTH = Column("Strength", "strength", help="what it adds to twice the log-likelihood")
_DOUBTED = {
    "posterior": "by the posterior: over all graphs, weighed by their probability",
    "bootstrap": "the share of resamples without it. Each resample has fewer rows than the table, "
    "so that this is rather too large",
    "false rate": "by its strength, given that rows are independent and relations linear",
}


def _doubts(source: str) -> list[Column]:
    """One number of doubt each for link and arrow, from the best source at hand."""
    how = _DOUBTED[source]
    return [
        _share("Link wrong", "link_doubt", f"chance that there is no such link, {how}"),
        _share("Arrow wrong", "arrow_doubt", f"chance that the arrow is not as written, {how}"),
    ]


_SUPPORTS = [
    _share("Link", "link", "resamples that join the two"),
    _share("Arrow", "arrow", "resamples that direct it as written"),
    _share("Reverse", "reverse", "that direct it the other way"),
    _share("Undirected", "undirected", "that leave it undirected"),
]
_PROBABILITIES = [
    _share("Link", "link", "probability of an edge between the two"),
    _share("Arrow", "arrow", "that the data direct it as written"),
    _share("Reverse", "reverse", "that they direct it the other way"),
    _share("Undirected", "undirected", "that they cannot tell the direction"),
]
_END_SUPPORTS = [
    *_SUPPORTS[:3],
    _share("↔", "spouses", "with a hidden cause of both"),
    _share("o→", "open_arrow", "with a circle at the first, an arrowhead at the second"),
    _share("←o", "open_reverse", "with these the other way"),
    _share("o–o", "circles", "with two circles"),
]
_EFFECTS = [
    Column("Cause", "cause", "name"),
    Column("Effect", "effect", "name"),
    _share("Any effect", "probability", "probability of a path"),
    _share("Above zero", "probability_positive", "of the draws"),
    _share("Below zero", "probability_negative", "of the draws"),
    Column("Median", "median", help="in the units of the data, graphs without a path included"),
    Column("5 %", "low", help="lower end of the 90 % interval"),
    Column("95 %", "high", help="upper end of the 90 % interval"),
]
FURTHER = {
    "supports": ("bootstrap", "pairs", "Pairs that resamples joined", [*_PAIR, *_SUPPORTS]),
    "probabilities": ("posterior", "pairs", "How probable each edge is", [*_PAIR, *_PROBABILITIES]),
    "effects": ("posterior", "effects", "Total effects, the graph being unsure", _EFFECTS),
}
"""Tables that need a bootstrap or a posterior: section and records, caption, columns."""

_VARIABLES = [
    Column("Variable", "name", "name"),
    Column("Place", "place", write=str, help="in the causal order found"),
    Column("Causes", "parents", write=str, help="arrows into it"),
    Column("Effects", "children", write=str, help="arrows out of it"),
    Column("Undirected", "undirected", write=str, help="edges without direction, or ↔"),
]
_EQUATIONS = [
    Column("R²", "r_squared", help="share of the variance that its parents explain"),
    Column("Residual variance", "residual_variance", help="what its parents leave"),
    Column("Intercept", "intercept", help="its mean where all its parents are zero"),
]


MOST_LISTED = 2000
"""Rows of the tables of edges and variables where the graph is too large to be drawn."""


def first_rows(data: dict[str, Any]) -> dict[str, Any]:
    """The same with the strongest edges and the variables with most of them alone."""
    edges = sorted(data["edges"], key=lambda edge: -(edge.get("strength") or 0.0))
    variables = sorted(
        data["variables"], key=lambda v: -(v["parents"] + v["children"] + v["undirected"])
    )
    return {**data, "edges": edges[:MOST_LISTED], "variables": variables[:MOST_LISTED]}


def edges_table(data: dict[str, Any]) -> PageTable:
    """One row for each edge."""
    columns = list(_ENDS)
    if any(edge["type"] not in ("-->", "---") for edge in data["edges"]):
        columns[1] = columns[1]._replace(help="what each mark says stands under Hidden causes")
    if any(edge["link_doubt"] is not None for edge in data["edges"]):
        columns += _doubts(data["doubt"])
    if data["price"] is not None:
        columns.append(_STRENGTH)
    if data["fit"] is not None:
        columns += _ESTIMATES
    return _table("edges", "Edges of the graph", columns, data["edges"], "edge")


def contrast_table(data: dict[str, Any]) -> PageTable | None:
    """One row for each coefficient of an edge from or to a category."""
    rows = [pair for edge in data["edges"] for pair in edge.get("contrasts", [])]
    if not rows:
        return None
    ends = [Column("Cause", "source", "name"), Column("Effect", "target", "name")]
    return _table(
        "contrasts", "Categories: contrasts against the reference", [*ends, *_ESTIMATES], rows
    )


def _texts(record: dict[str, Any]) -> dict[str, Any]:
    """A variable with its levels as a text, the reference first."""
    return {**record, "levels": ", ".join(record.get("levels", [])), "kind": record["kind"] or ""}


def variables_table(data: dict[str, Any]) -> PageTable:
    """One row for each variable."""
    kinds = []
    if any(record.get("kind") not in (None, "continuous") for record in data["variables"]):
        known = any(record.get("levels") for record in data["variables"])
        kinds = [Column("Type", "kind", "text"), Column("Levels", "levels", "text")][: 1 + known]
    equations = _EQUATIONS if data["fit"] is not None else []
    columns = [*_VARIABLES[:1], *kinds, *_VARIABLES[1:], *equations]
    records = list(map(_texts, data["variables"]))
    return _table("variables", "Variables", columns, records, "variable")


def further_table(data: dict[str, Any], key: str) -> PageTable | None:
    """One row for each pair that a resample joined, that may be linked, or that has an effect."""
    section, records, caption, columns = FURTHER[key]
    if data[section] is None:
        return None
    if any("spouses" in record for record in data[section][records]):
        columns = [*_PAIR, *_END_SUPPORTS]
    return _table(key, caption, columns, data[section][records])


def _table(
    key: str,
    caption: str,
    columns: Sequence[Column],
    records: Sequence[dict[str, Any]],
    target: str = "",
) -> PageTable:
    rows = [[_cell(column, record) for column in columns] for record in records]
    return PageTable(key, caption, list(columns), rows, target)


def _cell(column: Column, record: dict[str, Any]) -> TableCell:
    value = record[column.key]
    if column.kind in ("name", "text"):
        return TableCell(value, column.kind)
    if column.kind == "mark":
        toss = record.get("coin_toss", False)
        spoken = f"{_MEANINGS[value]}, direction not settled:" if toss else _MEANINGS[value]
        return TableCell(_MARKS[value] + "?" * toss, "mark", spoken=spoken)
    return TableCell(column.write(value), "number", value)
