"""A causal graph, or two of the same variables, as a layered drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.drawing.axes import (
    Direction,
    EdgeLook,
    Key,
    Looks,
    NodeLook,
    draw_picture,
    key,
    local_style,
)
from qwo.drawing.layers import MISSING, EdgeSet, causal_order, differences
from qwo.drawing.style import Palette
from qwo.graph.coercion import as_graph
from qwo.plot.edges import ColorBy, EdgeValues, check_choice, node_fills, variable_mask
from qwo.types import Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

_DASHED_WIDTH = 1.1
_COMPARED_WIDTHS = np.array([1.1, 1.4, 1.8, 1.8, 1.8])


def plot_graph(
    graph: object,
    *,
    layout: Direction = "layered",
    coefficients: Any = None,
    support: Any = None,
    color_by: ColorBy | None = "auto",
    node_colors: ColorType | Sequence[ColorType] | Mapping[str, ColorType] | None = None,
    highlight: Any = None,
    labels: bool | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """A causal graph with causes above their effects.

    Parameters
    ----------
    graph : object
        A result of `discover`, a fitted model, or anything else that `as_graph` takes. Undirected
        edges, of which the data do not tell the direction, are dashed.
    layout : "layered" or "layered-right"
        Causes above their effects, or to the left of them.
    coefficients : LinearSem or n×n matrix, optional
        Entry (i, j) belongs to i → j. The wider an edge, the larger its coefficient in absolute
        value; those of a fitted model are standardized. A model given as ``graph`` brings its own.
    support : Bootstrap or n×n matrix, optional
        Of a bootstrap, the support of each link; arrows whose direction is not settled get
        hollow heads. Of a matrix, entry (i, j), between 0 and 1, says how sure i → j is. An
        undirected edge takes the larger of its two entries.
    color_by : "auto", "sign", "support" or None
        What the colour of an edge shows: the sign of its coefficient, or its support. By default
        the support if it is given, else the sign if coefficients are given.
    node_colors : colour, sequence or mapping, optional
        One colour for all nodes, one for each column, or colours by name.
    highlight : variable or sequence of variables, optional
        Names or column numbers. All else is drawn faintly, except the edges among them.
    labels : bool, optional
        Whether to write the names; by default, if they are large enough to be read.
    legend : bool
        Whether to explain colours, widths and dashes below the graph.
    ax : matplotlib.axes.Axes, optional
        Where to draw, as large as the axes are at the time; by default a new figure that fits.

    Returns
    -------
    matplotlib.axes.Axes
        One unit of its coordinates is a point (1/72 inch).
    """
    with local_style():
        check_choice("layout", layout, ("layered", "layered-right"))
        check_choice("color_by", color_by, ("auto", "sign", "support", None))
        shown = as_graph(graph, mixed=True)
        edges = EdgeSet.of(shown.matrix, causal_order(graph, shown))
        if coefficients is None and hasattr(graph, "standardized_coefficients"):
            coefficients = graph
        values = EdgeValues.of(edges, shown.names, coefficients, support, color_by)
        bright = None if highlight is None else variable_mask(shown, highlight)

        def looks(palette: Palette) -> Looks:
            return Looks(
                _node_look(node_fills(node_colors, shown, palette.fill), bright, palette),
                _edge_look(edges, values, bright, palette),
                _keys(edges, values, palette) if legend else [],
            )

        return draw_picture(
            shown.names,
            edges.downward,
            looks,
            direction=layout,
            labels=labels,
            ax=ax,
            beside=values.draw_colour_bar,
        )


def _node_look(fills: list[ColorType], bright: Mask | None, palette: Palette) -> NodeLook:
    if bright is None:
        return NodeLook.plain(fills, palette)
    kept = bright.tolist()
    return NodeLook(
        fills=[fill if k else "none" for fill, k in zip(fills, kept, strict=True)],
        outlines=[palette.ink if k else palette.faint for k in kept],
        outline_widths=np.where(bright, 1.6, 0.8),
        inks=[palette.ink if k else palette.outline for k in kept],
    )


def _edge_look(
    edges: EdgeSet, values: EdgeValues, bright: Mask | None, palette: Palette
) -> EdgeLook:
    colours = values.colours(len(edges.tails), palette)
    if bright is not None:
        kept = bright[edges.tails] & bright[edges.heads]
        colours = [c if k else palette.faint for c, k in zip(colours, kept, strict=True)]
    widths = values.widths(len(edges.tails))
    ends = edges.head_ends()
    return EdgeLook(colours, widths, edges.undirected, ends, values.tosses, edges.marks)


def _keys(edges: EdgeSet, values: EdgeValues, palette: Palette) -> list[Key]:
    keys = values.keys(palette)
    if edges.undirected.any():
        keys.append(key("direction not determined", palette.edge, _DASHED_WIDTH, dashed=True))
    return keys


def plot_comparison(
    estimated: object,
    truth: object,
    *,
    as_given: bool = False,
    layout: Direction = "layered",
    labels: bool | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Where an estimated graph differs from the true one.

    All edges of either graph are drawn, in the causal order of the truth: those missing from the
    estimate dashed, the others as the estimate has them. The colour says what is wrong with an
    edge: it is missing, extra, reversed, or directed in one graph only. The legend counts.

    Parameters
    ----------
    estimated, truth : object
        Anything that `as_graph` takes. Variables are matched by name; a bare matrix has the
        variables of the other graph, in the same order.
    as_given : bool
        Whether to compare the graphs as they are. By default their CPDAGs are compared, as
        `compare` does: what no data can tell apart is no error.
    layout, labels, legend, ax
        As for `plot_graph`.
    """
    with local_style():
        check_choice("layout", layout, ("layered", "layered-right"))
        found = differences(estimated, truth, as_given=as_given)

        def looks(palette: Palette) -> Looks:
            colours = (
                palette.edge,
                palette.negative,
                palette.positive,
                palette.reverse,
                palette.retyped,
            )
            nodes = NodeLook.plain([palette.fill] * len(found.names), palette)
            lines = EdgeLook(
                [colours[kind] for kind in found.kinds],
                _COMPARED_WIDTHS[found.kinds],
                found.kinds == MISSING,
                found.edges.head_ends(),
            )
            keys = [
                key(title, colours[kind], float(_COMPARED_WIDTHS[kind]), dashed=kind == MISSING)
                for kind, title in enumerate(found.counted())
            ]
            return Looks(nodes, lines, keys if legend else [])

        return draw_picture(
            found.names, found.edges.downward, looks, direction=layout, labels=labels, ax=ax
        )
