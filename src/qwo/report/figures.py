"""Figures of a report, by matplotlib if it is installed, as images for light and for dark pages."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from qwo.errors import MissingPackageError
from qwo.graph.coercion import as_graph
from qwo.optional import optional_module
from qwo.plot import plot_adjacency, plot_comparison
from qwo.report.data import Contents

_GROUNDS = {"light": "#ffffff", "dark": "#161b22"}
_DARK_STYLE = {
    "text.color": "#e6e8eb",
    "axes.labelcolor": "#e6e8eb",
    "axes.edgecolor": "#75808d",
    "xtick.color": "#a9b3be",
    "ytick.color": "#a9b3be",
}
# Fixed, so that the same result gives the same bytes.
_STYLE = {"svg.hashsalt": "qwo"}
_MOST_VECTORS = 120
_MOST_ROWS = 1000
"""Of more variables the matrix is pixels, and a comparison can no longer be read."""


class Figure(NamedTuple):
    """A figure as addresses that hold the image itself."""

    title: str
    alternative: str
    light: str
    dark: str


def figures(contents: Contents) -> list[Figure]:
    """All figures; none without matplotlib."""
    try:
        optional_module("matplotlib", "plots need")
    except MissingPackageError:
        return []
    discovery, n = contents.discovery, contents.discovery.n_variables
    if n > _MOST_ROWS:
        return []
    side = min(max(0.22 * n + 1.8, 3.6), 8.0)

    def matrix(ax: Any) -> None:
        plot_adjacency(discovery, coefficients=contents.model, ax=ax)

    result = [
        _figure(
            "The matrix of the graph",
            "Heat map: a row for each cause, a column for each effect, in causal order.",
            matrix,
            (side + 0.8, side),
            vectors=n <= _MOST_VECTORS,
        )
    ]
    if contents.truth is not None and n <= _MOST_VECTORS:
        truth = as_graph(contents.truth, discovery.names)

        def comparison(ax: Any) -> None:
            plot_comparison(discovery, truth, ax=ax)

        result.append(
            _figure(
                "The graph beside the truth",
                "The graph found, with edges that are missing, extra or turned round marked.",
                comparison,
                (9.0, 6.5),
                vectors=True,
            )
        )
    return result


def _figure(
    title: str,
    alternative: str,
    draw: Callable[[Any], None],
    size: tuple[float, float],
    *,
    vectors: bool,
) -> Figure:
    images = {ground: _image(draw, size, ground, vectors) for ground in _GROUNDS}
    return Figure(title, alternative, **images)


def _image(
    draw: Callable[[Any], None], size: tuple[float, float], ground: str, vectors: bool
) -> str:
    """An image as a data address."""
    mpl = optional_module("matplotlib", "figures need")
    from matplotlib.figure import Figure as Canvas

    style = _STYLE | (_DARK_STYLE if ground == "dark" else {})
    file = io.BytesIO()
    with mpl.rc_context(style), warnings.catch_warnings():
        # A font may lack the glyphs of a name; a box in a figure is no reason to stop.
        warnings.simplefilter("ignore")
        canvas = Canvas(figsize=size, layout="constrained", facecolor=_GROUNDS[ground])
        ax = canvas.subplots()
        ax.set_facecolor(_GROUNDS[ground])
        draw(ax)
        options: dict[str, Any] = (
            {"format": "svg", "metadata": {"Date": None}}
            if vectors
            else {"format": "png", "dpi": 130}
        )
        canvas.savefig(file, **options)
    kind = "image/svg+xml" if vectors else "image/png"
    return f"data:{kind};base64,{base64.b64encode(file.getvalue()).decode()}"
