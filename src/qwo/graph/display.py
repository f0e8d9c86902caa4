"""How a graph shows itself: as lines of text, and in a notebook as a picture and a short table."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from qwo.errors import MissingPackageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 100
"""Edges of a text beyond this are counted, not shown."""

MOST_ROWS = 20
"""Rows of a notebook's table beyond this are counted, not shown."""

MOST_VARIABLES, MOST_EDGES = 60, 200
"""Larger graphs have no picture in a notebook, where nobody could read it."""


def drawn_by(name: str, shown: object, **options: Any) -> Axes:
    """A function of `qwo.plot`, which is above this package and imported only when wanted."""
    axes: Axes = getattr(import_module("qwo.plot"), name)(shown, **options)
    return axes


def table_html(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook."""
    body = "".join(_row("td", row) for row in rows)
    return f"<table><thead>{_row('th', header)}</thead><tbody>{body}</tbody></table>"


def edge_lines(edges: Sequence[Sequence[str]]) -> list[str]:
    """The edges as ``a --> b``, one a line; of very many the first, and how many more there are."""
    lines = [" ".join(edge) for edge in edges[:MOST_LINES]]
    hidden = len(edges) - len(lines)
    return [*lines, f"… and {hidden:,} more edges; all are in .edges"] if hidden else lines


def as_html(
    headline: str,
    graph: object,
    size: tuple[int, int],
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    **drawing: Any,
) -> str:
    """What a notebook shows: a line, a picture if it can be read, and the first rows of a table.

    ``size`` is how many variables and edges the graph has; the table has one row for each edge; the
    options in ``drawing`` are those of the picture.
    """
    n_variables, n_edges = size
    shown = n_variables <= MOST_VARIABLES and 0 < n_edges <= MOST_EDGES
    parts = [f"<p>{escape(headline)}</p>", _picture(graph, drawing) if shown else ""]
    cells = list(islice(rows, MOST_ROWS))
    if cells:
        parts.append(table_html(header, cells))
    if n_edges > MOST_ROWS:
        parts.append(f"<p>… and {n_edges - MOST_ROWS:,} more edges</p>")
    return f"<div>{''.join(parts)}</div>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _picture(graph: object, drawing: dict[str, Any]) -> str:
    """The picture as an image inside the page; nothing without matplotlib."""
    try:
        figure = drawn_by("plot_graph", graph, **drawing).get_figure(root=True)
    except MissingPackageError:
        return ""
    if figure is None:
        return ""
    from matplotlib import pyplot as plt

    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    plt.close(figure)  # else a notebook would show it a second time
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<img alt="the graph" src="data:image/png;base64,{data}">'
