"""Where to draw, in which colours, and how nodes, edges and legends look."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from qwo.optional import optional_module
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

_STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.usetex": False,
}


def local_style() -> AbstractContextManager[None]:
    """The settings of this package's plots, for the time of a ``with`` statement.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    """
    mpl = optional_module("matplotlib", "plots need")
    context: AbstractContextManager[None] = mpl.rc_context(_STYLE)
    return context


def open_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure of so many inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    _, new = plt.subplots(figsize=(width, height), layout="constrained")
    return new


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes as they are now, once the figure's own layout has settled."""
    figure = ax.get_figure(root=True)
    if figure is not None and figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    return box.width * points, box.height * points


@dataclass(frozen=True)
class Palette:
    """The colours of one picture; the hues are those of Okabe and Ito (2008)."""

    ink: str
    edge: str
    faint: str
    fill: str
    outline: str
    positive: str
    negative: str
    reverse: str
    retyped: str
    bar: str
    pale_signs: tuple[str, str]
    support: tuple[str, ...]

    def support_colours(self) -> Colormap:
        """From pale to strong as the support goes from 0 to 1."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("support", list(self.support))

    def sign_colours(self) -> Colormap:
        """From negative to positive; small values are pale, but never as pale as no value."""
        from matplotlib.colors import LinearSegmentedColormap

        pale_negative, pale_positive = self.pale_signs
        stops = [(0, self.negative), (0.5, pale_negative), (0.5, pale_positive), (1, self.positive)]
        return LinearSegmentedColormap.from_list("sign", stops)


LIGHT = Palette(
    ink="#1f2328",
    edge="#5b6570",
    faint="#c9d0d8",
    fill="#eef2f7",
    outline="#8b97a5",
    positive="#0072b2",
    negative="#d55e00",
    reverse="#aa4499",
    retyped="#b8860b",
    bar="#a9c6dd",
    pale_signs=("#f8dcc8", "#d3e6f3"),
    support=("#d6e0ea", "#5a9bd4", "#08306b"),
)
DARK = Palette(
    ink="#e6e8eb",
    edge="#a9b3be",
    faint="#444c56",
    fill="#2b323b",
    outline="#75808d",
    positive="#56b4e9",
    negative="#e69f00",
    reverse="#cc79a7",
    retyped="#f0e442",
    bar="#3d5f7a",
    pale_signs=("#4a3510", "#1d3d50"),
    support=("#3a424c", "#4f8fc4", "#cfe8ff"),
)


def ground_of(ax: Axes) -> tuple[float, float, float, float]:
    """The colour behind the axes."""
    from matplotlib.colors import to_rgba

    ground = to_rgba(ax.get_facecolor())
    return ground if ground[3] else to_rgba(ax.figure.get_facecolor())


def palette_for(ax: Axes) -> Palette:
    """The palette that goes with what is behind the axes."""
    red, green, blue, opacity = ground_of(ax)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return DARK if opacity > 0 and luminance < 0.4 else LIGHT


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
