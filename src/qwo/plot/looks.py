"""How the parts of a graph look, and the entries of the legend that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from qwo.plot.palette import Palette
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType


DASHES: tuple[float, Sequence[float]] = (0.0, (3.2, 2.2))
SOLID: Literal["solid"] = "solid"


@dataclass(frozen=True)
class EdgeLook:
    """How each edge looks, in the order of the edges.

    Attributes
    ----------
    colours : sequence of colours
    widths : ndarray
        In points, at the nominal size of the nodes.
    dashed : ndarray of bool
    heads : ndarray of int
        1 for an arrowhead at the lower end, -1 for one at the upper end, 0 for none.
    hollow : ndarray of bool, optional
        Which arrowheads are outlines only; none if not given.
    """

    colours: Sequence[ColorType]
    widths: FloatArray
    dashed: Mask
    heads: Indices
    hollow: Mask | None = None


@dataclass(frozen=True)
class NodeLook:
    """How each node looks, in the order of the variables."""

    fills: Sequence[ColorType]
    outlines: Sequence[ColorType]
    outline_widths: FloatArray
    inks: Sequence[ColorType]

    @classmethod
    def plain(cls, fills: Sequence[ColorType], palette: Palette) -> NodeLook:
        """All alike but for what fills them."""
        n = len(fills)
        return cls(fills, [palette.outline] * n, np.full(n, 0.9), [palette.ink] * n)


class Key(NamedTuple):
    """An entry of a legend."""

    label: str
    lines: tuple[Line2D, ...]


class Looks(NamedTuple):
    """The looks of a graph, and the entries of a legend that explains them."""

    nodes: NodeLook
    edges: EdgeLook
    legend: Sequence[Key]


def hollow_key(label: str, colour: ColorType) -> Key:
    """An entry for arrows with a hollow head."""
    from matplotlib.lines import Line2D

    head = Line2D([], [], color=colour, marker=">", markerfacecolor="none", markersize=5.5)
    head.set_linestyle("none")
    return Key(label, (head,))


def key(label: str, colour: ColorType, *widths: float, dashed: bool = False) -> Key:
    """An entry of a legend: a line, or lines of several widths side by side."""
    from matplotlib.lines import Line2D

    lines = tuple(Line2D([], [], color=colour, linewidth=width) for width in widths)
    for line in lines:
        line.set_linestyle(DASHES if dashed else SOLID)
    return Key(label, lines)
