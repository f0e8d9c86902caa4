"""What the widths and the colours of edges show: coefficients and support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qwo.errors import ArgumentError
from qwo.plot.arguments import coefficient_matrix, in_order, support_matrix
from qwo.plot.edges import EdgeSet
from qwo.plot.looks import Key, hollow_key, key
from qwo.plot.palette import Palette
from qwo.types import FloatArray, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

ColorBy = Literal["auto", "sign", "support"]

PLAIN_WIDTH = 1.1
_THINNEST, _THICKEST = 0.6, 3.0


@dataclass(frozen=True, eq=False)
class EdgeValues:
    """The coefficient and the support of each edge, where they are known.

    Attributes
    ----------
    coefficients, support : ndarray or None
    tosses : ndarray of bool or None
        Which arrows are little surer than a coin toss; known from a bootstrap.
    standardized : bool
        Whether the coefficients are known to be standardized.
    color_by : "sign", "support" or None
    """

    coefficients: FloatArray | None
    support: FloatArray | None
    tosses: Mask | None
    standardized: bool
    color_by: Literal["sign", "support"] | None

    @classmethod
    def of(
        cls,
        edges: EdgeSet,
        names: tuple[str, ...],
        coefficients: Any,
        support: Any,
        color_by: ColorBy | None,
    ) -> EdgeValues:
        """The values of the edges in matrices over the variables, as the user gave them."""
        slopes = shares = tosses = None
        if coefficients is not None:
            slopes = _larger(coefficient_matrix(coefficients, names), edges)
        if hasattr(support, "coin_tosses"):
            unsure = in_order("support", support.coin_tosses, support.names, names)
            tosses = unsure[edges.tails, edges.heads] & ~edges.undirected
            support = in_order("support", support.link_support, support.names, names)
        if support is not None:
            shares = _larger(support_matrix(support, names), edges)
        if color_by == "auto":
            color_by = "support" if shares is not None else "sign" if slopes is not None else None
        if (color_by == "sign" and slopes is None) or (color_by == "support" and shares is None):
            option = "coefficients" if color_by == "sign" else "support"
            raise ArgumentError(f"color_by={color_by!r} needs {option}; give it as well")
        standardized = hasattr(coefficients, "standardized_coefficients")
        return cls(slopes, shares, tosses, standardized, color_by)

    def colours(self, n_edges: int, palette: Palette) -> list[ColorType]:
        """The colour of each edge."""
        if self.color_by == "sign" and self.coefficients is not None:
            return [palette.positive if b >= 0 else palette.negative for b in self.coefficients]
        if self.color_by == "support" and self.support is not None:
            colours = palette.support_colours()
            return [colours(share) for share in self.support.tolist()]
        return [palette.edge] * n_edges

    def widths(self, n_edges: int) -> FloatArray:
        """The width of each edge: linear in the absolute coefficient, from a hairline on."""
        if self.coefficients is None:
            return np.full(n_edges, PLAIN_WIDTH)
        return _width(np.abs(self.coefficients), self._largest)

    def keys(self, palette: Palette) -> list[Key]:
        """Entries of a legend for the signs, the widths and the heads."""
        keys = []
        if self.tosses is not None and self.tosses.any():
            keys.append(hollow_key("direction little surer than a coin toss", palette.edge))
        if self.coefficients is None or not self.coefficients.size:
            return keys
        if self.color_by == "sign":
            if (self.coefficients >= 0).any():
                keys.append(key("positive", palette.positive, 1.8))
            if (self.coefficients < 0).any():
                keys.append(key("negative", palette.negative, 1.8))
        large = float(f"{self._largest:.1g}")
        small = large / 4
        widths = _width(np.array([small, large]), self._largest).tolist()
        kind = "standardized coefficient" if self.standardized else "coefficient"
        keys.append(key(f"|{kind}| {small:.2g} and {large:.2g}", palette.edge, *widths))
        return keys

    def draw_colour_bar(self, ax: Axes, palette: Palette) -> None:
        """Draw a scale of the support beside the axes, if that is what the colours show."""
        if self.color_by != "support":
            return
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        scale = ScalarMappable(Normalize(0, 1), palette.support_colours())
        bar = ax.figure.colorbar(scale, ax=ax, fraction=0.025, shrink=0.6, aspect=22, pad=0.02)
        what = "link" if self.tosses is not None else "edge"
        bar.set_label(f"support of the {what}", color=palette.ink)
        bar.outline.set_visible(False)

    @property
    def _largest(self) -> float:
        """The largest absolute coefficient, or 1 where there is none."""
        if self.coefficients is None:
            return 1.0
        return float(np.abs(self.coefficients).max(initial=0.0)) or 1.0


def _larger(matrix: FloatArray, edges: EdgeSet) -> FloatArray:
    """The entry of each edge; of an undirected one, that which is larger in absolute value."""
    forth = matrix[edges.tails, edges.heads]
    back = matrix[edges.heads, edges.tails]
    return np.where(edges.undirected & (np.abs(back) > np.abs(forth)), back, forth)


def _width(size: FloatArray, largest: float) -> FloatArray:
    return _THINNEST + (_THICKEST - _THINNEST) * size / largest
