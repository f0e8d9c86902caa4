"""A causal graph, or two of the same variables, as a layered drawing; or as a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qwo.drawing import axes as drawn_axes
from qwo.drawing.layers import MISSING, EdgeSet, causal_order, differences
from qwo.drawing.style import Palette, label_texts
from qwo.graph.coercion import as_graph
from qwo.names import check_choice
from qwo.plot import edges as edge_looks
from qwo.types import Adjacency, FloatArray, Mask

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

_DASHED_WIDTH = 1.1
_COMPARED_WIDTHS = np.array([1.1, 1.4, 1.8, 1.8, 1.8])


def plot_graph(
    graph: object,
    *,
    layout: drawn_axes.Direction = "layered",
    coefficients: Any = None,
    support: Any = None,
    color_by: edge_looks.ColorBy | None = "auto",
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
    with drawn_axes.local_style():
        check_choice("layout", layout, ("layered", "layered-right"))
        check_choice("color_by", color_by, ("auto", "sign", "support", None))
        shown = as_graph(graph, mixed=True)
        edges = EdgeSet.of(shown.matrix, causal_order(graph, shown))
        if coefficients is None and hasattr(graph, "standardized_coefficients"):
            coefficients = graph
        values = edge_looks.EdgeValues.of(edges, shown.names, coefficients, support, color_by)
        bright = None if highlight is None else edge_looks.variable_mask(shown, highlight)

        def looks(palette: Palette) -> drawn_axes.Looks:
            return drawn_axes.Looks(
                _node_look(
                    edge_looks.node_fills(node_colors, shown, palette.fill), bright, palette
                ),
                _edge_look(edges, values, bright, palette),
                _keys(edges, values, palette) if legend else [],
            )

        return drawn_axes.draw_picture(
            shown.names,
            edges.downward,
            looks,
            direction=layout,
            labels=labels,
            ax=ax,
            beside=values.draw_colour_bar,
        )


def _node_look(
    fills: list[ColorType], bright: Mask | None, palette: Palette
) -> drawn_axes.NodeLook:
    if bright is None:
        return drawn_axes.NodeLook.plain(fills, palette)
    kept = bright.tolist()
    return drawn_axes.NodeLook(
        fills=[fill if k else "none" for fill, k in zip(fills, kept, strict=True)],
        outlines=[palette.ink if k else palette.faint for k in kept],
        outline_widths=np.where(bright, 1.6, 0.8),
        inks=[palette.ink if k else palette.outline for k in kept],
    )


def _edge_look(
    edges: EdgeSet, values: edge_looks.EdgeValues, bright: Mask | None, palette: Palette
) -> drawn_axes.EdgeLook:
    colours = values.colours(len(edges.tails), palette)
    if bright is not None:
        kept = bright[edges.tails] & bright[edges.heads]
        colours = [c if k else palette.faint for c, k in zip(colours, kept, strict=True)]
    widths = values.widths(len(edges.tails))
    ends = edges.head_ends()
    return drawn_axes.EdgeLook(colours, widths, edges.undirected, ends, values.tosses, edges.marks)


def _keys(edges: EdgeSet, values: edge_looks.EdgeValues, palette: Palette) -> list[drawn_axes.Key]:
    keys = values.keys(palette)
    if edges.undirected.any():
        keys.append(
            drawn_axes.key("direction not determined", palette.edge, _DASHED_WIDTH, dashed=True)
        )
    return keys


def plot_comparison(
    estimated: object,
    truth: object,
    *,
    as_given: bool = False,
    layout: drawn_axes.Direction = "layered",
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
    with drawn_axes.local_style():
        check_choice("layout", layout, ("layered", "layered-right"))
        found = differences(estimated, truth, as_given=as_given)

        def looks(palette: Palette) -> drawn_axes.Looks:
            colours = (
                palette.edge,
                palette.negative,
                palette.positive,
                palette.reverse,
                palette.retyped,
            )
            nodes = drawn_axes.NodeLook.plain([palette.fill] * len(found.names), palette)
            lines = drawn_axes.EdgeLook(
                [colours[kind] for kind in found.kinds],
                _COMPARED_WIDTHS[found.kinds],
                found.kinds == MISSING,
                found.edges.head_ends(),
            )
            keys = [
                drawn_axes.key(
                    title, colours[kind], float(_COMPARED_WIDTHS[kind]), dashed=kind == MISSING
                )
                for kind, title in enumerate(found.counted())
            ]
            return drawn_axes.Looks(nodes, lines, keys if legend else [])

        return drawn_axes.draw_picture(
            found.names, found.edges.downward, looks, direction=layout, labels=labels, ax=ax
        )


_LONGEST_LABEL = 16
_FONT_SIZES = (4.5, 9.0)
_MOST_LINES = 60


def plot_adjacency(
    graph: object,
    *,
    order: Literal["causal", "input"] = "causal",
    coefficients: Any = None,
    labels: bool | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """The matrix of a causal graph: a row for each cause, a column for each effect.

    In causal order all arrows lie above the diagonal. An undirected edge has two cells, one on
    either side of it, both marked with a ring.

    Parameters
    ----------
    graph : object
        A result of `discover`, a fitted model, or anything else that `as_graph` takes.
    order : "causal" or "input"
        Variables in a causal order, that which was found if there is one, or as in the data.
    coefficients : LinearSem or n×n matrix, optional
        What the colours show; entry (i, j) belongs to i → j. Those of a fitted model are
        standardized. A model given as ``graph`` brings its own.
    labels : bool, optional
        Whether to write the names; by default, if there is room for them.
    legend : bool
        Whether to explain the colours.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure that fits.
    """
    with drawn_axes.local_style():
        check_choice("order", order, ("causal", "input"))
        shown = as_graph(graph)
        n = shown.n_variables
        places = causal_order(graph, shown) if order == "causal" else np.arange(n)
        if coefficients is None and hasattr(graph, "standardized_coefficients"):
            coefficients = graph
        values, square = None, np.ix_(places, places)
        if coefficients is not None:
            values = edge_looks.coefficient_matrix(coefficients, shown.names)[square]
        side = min(max(0.21 * n + 1.6, 3.4), 11.0)
        ax, palette = drawn_axes.open_axes(ax, side + 0.8, side)
        unsigned = edge_looks.unsigned_pairs(coefficients, shown.names)[square]
        keys = _draw_cells(ax, shown.matrix[square], values, unsigned, palette)
        if legend and values is not None:
            standardized = hasattr(coefficients, "standardized_coefficients")
            bar = ax.figure.colorbar(ax.images[0], ax=ax, fraction=0.04, shrink=0.7, pad=0.02)
            bar.set_label("standardized coefficient" if standardized else "coefficient")
        _frame(ax, n, palette)
        _label_axes(ax, [shown.names[v] for v in places], order, labels)
        if legend and keys:
            ax.legend(
                handles=keys,
                loc="upper center",
                bbox_to_anchor=(0.5, -0.01),
                ncols=2,
                fontsize=drawn_axes.SMALL,
            )
        return ax


def _draw_cells(
    ax: Axes, matrix: Adjacency, values: FloatArray | None, unsigned: Mask, palette: Palette
) -> list[Artist]:
    """Draw a cell for each entry and a ring in those of undirected edges; keys for a legend.

    What links several levels of a category has no sign, and a colour of its own.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    keys: list[Artist] = []
    if values is None:
        colours = ListedColormap(["none", palette.positive, palette.faint])
        ax.imshow(matrix, cmap=colours, vmin=0, vmax=2, interpolation="nearest")
        if (matrix == 1).any():
            keys.append(Patch(color=palette.positive, label="cause → effect"))
    else:
        # Of an undirected edge, only the member that was fitted has a coefficient.
        absent = (matrix == 0) | ((matrix == 2) & (values == 0))
        cells = np.ma.masked_where(absent | unsigned, values)
        largest = float(np.abs(values[matrix > 0]).max(initial=0.0)) or 1.0
        shades = palette.sign_colours()
        ax.imshow(cells, cmap=shades, vmin=-largest, vmax=largest, interpolation="nearest")
        several = ~absent & unsigned
        if several.any():
            plain = np.ma.masked_where(~several, several)
            ax.imshow(plain, cmap=ListedColormap([palette.edge]), interpolation="nearest")
            keys.append(Patch(color=palette.edge, label="several coefficients"))
    if (matrix == 2).any():
        keys.append(_draw_rings(ax, matrix, palette))
    return keys


def _draw_rings(ax: Axes, matrix: Adjacency, palette: Palette) -> Artist:
    from matplotlib.collections import EllipseCollection
    from matplotlib.lines import Line2D

    rows, columns = np.nonzero(matrix == 2)
    size = np.full(len(rows), 0.45)
    ax.add_collection(
        EllipseCollection(
            size,
            size,
            np.zeros(len(rows)),
            units="xy",
            offsets=np.c_[columns, rows],
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=palette.ink,
            linewidths=0.7,
            gid="undirected",
        ),
        autolim=False,
    )
    ring = Line2D([], [], linestyle="none", marker="o", markersize=6, markeredgewidth=0.7)
    ring.set(markerfacecolor=palette.faint, markeredgecolor=palette.ink)
    ring.set_label("direction not determined")
    return ring


def _frame(ax: Axes, n: int, palette: Palette) -> None:
    """Draw the diagonal and, where the cells are large enough, lines between them."""
    ax.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color=palette.outline, lw=0.7)
    ax.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
    ax.spines[:].set(visible=True, color=palette.outline, linewidth=0.7)
    if n <= _MOST_LINES:
        between = np.arange(n - 1) + 0.5
        for draw in (ax.hlines, ax.vlines):
            draw(between, -0.5, n - 0.5, color=palette.faint, linewidth=0.5, zorder=0.5)
    ax.tick_params(which="both", length=0)


def _label_axes(ax: Axes, names: Sequence[str], order: str, labels: bool | None) -> None:
    """Write the names at rows and columns, if the cells are large enough, and what they are."""
    ax.xaxis.set_label_position("top")
    ax.xaxis.tick_top()
    ax.tick_params(which="both", length=0)
    ax.set_xticks([])
    ax.set_yticks([])
    cell = 0.8 * min(drawn_axes.size_in_points(ax)) / len(names)
    size = min(max(0.8 * cell, _FONT_SIZES[0]), _FONT_SIZES[1])
    if labels or (labels is None and 1.1 * size <= cell):
        texts = label_texts(names, _LONGEST_LABEL)
        places = range(len(names))
        ax.set_xticks(places, texts, rotation=90, fontsize=size, **drawn_axes.PLAIN_TEXT)
        ax.set_yticks(places, texts, fontsize=size, **drawn_axes.PLAIN_TEXT)
        rest = ""
    else:
        sequence = "causal order" if order == "causal" else "the order of the data"
        rest = f" ({len(names)} variables in {sequence})"
    ax.set_xlabel(f"effect{rest}")
    ax.set_ylabel(f"cause{rest}")
