"""Where to draw: axes of the caller or new ones, and matplotlib only when it is needed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from qwo.optional import optional_module

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    mpl = optional_module("matplotlib", "plots need", "qwo[plot]")
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
