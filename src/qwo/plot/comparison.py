"""Two graphs over the same variables in one drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qwo.graph.coercion import as_graph, is_nameless
from qwo.graph.cpdag import as_cpdag
from qwo.plot.edges import EdgeSet, causal_order, check_choice
from qwo.plot.picture import Direction, draw_picture
from qwo.plot.style import EdgeLook, Key, Looks, NodeLook, Palette, key, local_style
from qwo.types import Adjacency, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

_CORRECT, _MISSING, _EXTRA, _REVERSED, _RETYPED = range(5)
_TITLES = ("correct", "missing", "extra", "reversed", "directed in one graph only")
_WIDTHS = np.array([1.1, 1.4, 1.8, 1.8, 1.8])


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

    Returns
    -------
    matplotlib.axes.Axes
    """
    with local_style():
        check_choice("layout", layout, ("layered", "layered-right"))
        named = next((g for g in (truth, estimated) if not is_nameless(g)), None)
        true = as_graph(truth, None if named is None else as_graph(named).names)
        claimed = as_graph(estimated, true.names)
        order = causal_order(truth, true)
        ours, theirs = claimed.matrix, true.matrix
        if not as_given:
            ours, theirs = as_cpdag(ours, true.names), as_cpdag(theirs, true.names)
        union = np.where((ours == 0) & (ours.T == 0), theirs, ours)
        edges = EdgeSet.of(union, order)
        kind = _kinds(edges, ours, theirs)

        def looks(palette: Palette) -> Looks:
            nodes = NodeLook.plain([palette.fill] * true.n_variables, palette)
            colours = _colours(palette)
            lines = EdgeLook(
                [colours[k] for k in kind], _WIDTHS[kind], kind == _MISSING, edges.head_ends()
            )
            return Looks(nodes, lines, _keys(kind, colours) if legend else [])

        return draw_picture(
            true.names, edges.downward, looks, direction=layout, labels=labels, ax=ax
        )


def _kinds(edges: EdgeSet, ours: Adjacency, theirs: Adjacency) -> Indices:
    """What each edge of the union is, given the estimated and the true matrix."""
    i, j = edges.tails, edges.heads
    kind = np.full(len(i), _CORRECT)
    kind[(ours[i, j] == 2) != (theirs[i, j] == 2)] = _RETYPED
    kind[(ours[i, j] == 1) & (theirs[j, i] == 1)] = _REVERSED
    kind[(theirs[i, j] == 0) & (theirs[j, i] == 0)] = _EXTRA
    kind[(ours[i, j] == 0) & (ours[j, i] == 0)] = _MISSING
    return kind


def _colours(palette: Palette) -> tuple[ColorType, ...]:
    return (palette.edge, palette.negative, palette.positive, palette.reverse, palette.retyped)


def _keys(kind: Indices, colours: tuple[ColorType, ...]) -> list[Key]:
    count = np.bincount(kind, minlength=len(_TITLES))
    return [
        key(f"{count[k]} {title}", colours[k], float(_WIDTHS[k]), dashed=k == _MISSING)
        for k, title in enumerate(_TITLES)
    ]
