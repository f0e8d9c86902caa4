"""What the widths and colours of edges show, as users give it: checked, and in column order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from qwo.drawing.axes import Key, hollow_key, key
from qwo.drawing.layers import EdgeSet
from qwo.drawing.scene import FIGURE_FONT, line_widths
from qwo.drawing.style import Palette
from qwo.errors import ArgumentError, ColumnNameError, ShapeError, list_names
from qwo.graph.causal_graph import CausalGraph
from qwo.types import FloatArray, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

Number = TypeVar("Number", bound=np.generic)


def coefficient_matrix(coefficients: Any, names: Sequence[str]) -> FloatArray:
    """The coefficients in the order of the names: the standardized ones of a fitted model."""
    if hasattr(coefficients, "standardized_coefficients"):
        matrix = np.asarray(coefficients.edge_sizes)
        return in_order("coefficients", matrix, coefficients.variables.names, names)
    return edge_matrix("coefficients", coefficients, names)


def support_matrix(support: Any, names: Sequence[str]) -> FloatArray:
    """The support of each edge, between 0 and 1, in the order of the names."""
    matrix = edge_matrix("support", support, names)
    if matrix.size and (matrix.min() < 0 or matrix.max() > 1):
        worst = matrix.min() if matrix.min() < 0 else matrix.max()
        raise ArgumentError(f"support has an entry {worst:g}; wanted shares between 0 and 1")
    return matrix


def edge_matrix(option: str, given: Any, names: Sequence[str]) -> FloatArray:
    """A square matrix of finite numbers, entry (i, j) for i → j; a frame is matched by name."""
    labels = [str(name) for name in given.columns] if hasattr(given, "columns") else names
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (len(labels), len(labels)):
        raise ShapeError(
            f"{option} has shape {matrix.shape}; wanted {(len(names), len(names))}, a row and a "
            "column for each variable of the graph"
        )
    if not np.isfinite(matrix).all():
        raise ArgumentError(f"{option} has entries that are not finite; give 0 where no edge is")
    return in_order(option, matrix, labels, names)


def in_order(
    option: str, matrix: npt.NDArray[Number], labels: Sequence[str], names: Sequence[str]
) -> npt.NDArray[Number]:
    """The matrix with rows and columns in the order of the names."""
    if tuple(labels) == tuple(names):
        return matrix
    unknown = [name for name in names if name not in set(labels)]
    if unknown:
        raise ColumnNameError(
            f"{option} has no row and column for {list_names(unknown)}", columns=unknown
        )
    place = {label: k for k, label in enumerate(labels)}
    order = [place[name] for name in names]
    return matrix[np.ix_(order, order)]


def variable_mask(graph: CausalGraph, variables: Any) -> Mask:
    """Which variables are meant by a name, a column number, or several of these."""
    listed = [variables] if isinstance(variables, str | int | np.integer) else list(variables)
    mask = np.zeros(graph.n_variables, dtype=np.bool_)
    for variable in listed:
        mask[graph.index(variable if isinstance(variable, str) else int(variable))] = True
    return mask


def node_fills(colours: Any, graph: CausalGraph, default: ColorType) -> list[ColorType]:
    """The colour of each node: one for all, one for each column, or some by name."""
    from matplotlib.colors import is_color_like

    n = graph.n_variables
    if colours is None:
        return [default] * n
    if isinstance(colours, Mapping):
        chosen = [default] * n
        for variable, colour in colours.items():
            chosen[graph.index(variable)] = _checked(colour)
        return chosen
    if is_color_like(colours):
        return [colours] * n
    if isinstance(colours, str) or not isinstance(colours, Iterable):
        raise ArgumentError(f"node_colors is {colours!r}, which is not a colour")
    listed = [_checked(colour) for colour in colours]
    if len(listed) != n:
        raise ShapeError(f"node_colors has {len(listed)} entries; wanted one for each of {n} nodes")
    return listed


def _checked(colour: Any) -> ColorType:
    from matplotlib.colors import is_color_like

    if not is_color_like(colour):
        raise ArgumentError(f"node_colors has {colour!r}, which is not a colour")
    checked: ColorType = colour
    return checked


ColorBy = Literal["auto", "sign", "support"]


@dataclass(frozen=True, eq=False)
class EdgeValues:
    """The coefficient and the support of each edge, where they are known."""

    coefficients: FloatArray | None
    support: FloatArray | None
    tosses: Mask | None
    """Which arrows are not settled; known from a bootstrap."""
    standardized: bool
    color_by: Literal["sign", "support"] | None
    unsigned: Mask
    """Which edges have several coefficients, of categories, and so no sign."""

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
        unsigned = unsigned_pairs(coefficients, names)[edges.tails, edges.heads]
        return cls(slopes, shares, tosses, standardized, color_by, unsigned)

    def colours(self, n_edges: int, palette: Palette) -> list[ColorType]:
        """The colour of each edge."""
        if self.color_by == "sign" and self.coefficients is not None:
            signs = np.where(self.coefficients >= 0, palette.positive, palette.negative)
            colours: list[ColorType] = np.where(self.unsigned, palette.edge, signs).tolist()
            return colours
        if self.color_by == "support" and self.support is not None:
            shades = palette.support_colours()
            return [shades(share) for share in self.support.tolist()]
        return [palette.edge] * n_edges

    def widths(self, n_edges: int) -> FloatArray:
        """The width of each edge: linear in the absolute coefficient, from a hairline on."""
        known = np.full(n_edges, np.nan) if self.coefficients is None else self.coefficients
        return line_widths(known, self._largest, FIGURE_FONT)

    def keys(self, palette: Palette) -> list[Key]:
        """Entries of a legend for the signs, the widths and the heads."""
        keys = []
        if self.tosses is not None and self.tosses.any():
            keys.append(hollow_key("direction not settled", palette.edge))
        if self.coefficients is None or not self.coefficients.size:
            return keys
        if self.color_by == "sign":
            if ((self.coefficients >= 0) & ~self.unsigned).any():
                keys.append(key("positive", palette.positive, 1.8))
            if ((self.coefficients < 0) & ~self.unsigned).any():
                keys.append(key("negative", palette.negative, 1.8))
            if self.unsigned.any():
                keys.append(key("several coefficients", palette.edge, 1.8))
        large = float(f"{self._largest:.1g}")
        small = large / 4
        widths = line_widths(np.array([small, large]), self._largest, FIGURE_FONT).tolist()
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


def unsigned_pairs(coefficients: Any, names: Sequence[str]) -> Mask:
    """Between which variables a fitted model has several coefficients, of levels of a category."""
    wide = np.zeros(len(names), dtype=np.bool_)
    if hasattr(coefficients, "coding"):
        sizes = coefficients.coding.sizes.tolist()
        several = dict(zip(coefficients.variables.names, sizes, strict=True))
        wide |= [several.get(name, 1) > 1 for name in names]
    return np.asarray(wide[:, None] | wide)


def _larger(matrix: FloatArray, edges: EdgeSet) -> FloatArray:
    """The entry of each edge; of an undirected one, that which is larger in absolute value."""
    forth = matrix[edges.tails, edges.heads]
    back = matrix[edges.heads, edges.tails]
    return np.where(edges.undirected & (np.abs(back) > np.abs(forth)), back, forth)
