"""The edges of a graph from above to below, and what their widths and colours show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError, ColumnNameError, GraphError, ShapeError, list_names
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.dag import is_topological, topological_order
from qwo.graph.extension import to_dag
from qwo.layout.layers import Pairs
from qwo.plot.style import Key, Palette, hollow_key, key
from qwo.types import Adjacency, FloatArray, Indices, Mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """Edges in a fixed sequence.

    Attributes
    ----------
    tails, heads : ndarray of int
        The ends of each edge; those of an undirected one in either order.
    undirected : ndarray of bool
    downward : ndarray of int, m×2
        The ends of each edge by their places in a causal order; together without a cycle.
    """

    tails: Indices
    heads: Indices
    undirected: Mask
    downward: Pairs

    @classmethod
    def of(cls, matrix: Adjacency, order: Indices) -> EdgeSet:
        """The edges of a partially directed graph in row order."""
        i, j = np.nonzero(matrix)
        once = (matrix[i, j] == 1) | (i < j)
        return cls.between(i[once], j[once], matrix[i, j][once] == 2, order)

    @classmethod
    def between(cls, tails: Indices, heads: Indices, undirected: Mask, order: Indices) -> EdgeSet:
        """The edges with the given ends."""
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        forth = place[tails] < place[heads]
        upper, lower = np.where(forth, tails, heads), np.where(forth, heads, tails)
        return cls(tails, heads, undirected, np.column_stack([upper, lower]))

    def head_ends(self) -> Indices:
        """1 where the arrowhead is at the lower end, -1 at the upper end, 0 without one."""
        pointing = np.where(self.downward[:, 1] == self.heads, 1, -1)
        return np.where(self.undirected, 0, pointing)


def causal_order(source: Any, graph: CausalGraph) -> Indices:
    """An order that all arrows of the graph follow: that of the source if it has one that does.

    Otherwise that of a member of the equivalence class, or, if the graph stands for no class, any
    that the arrows allow.
    """
    arrows = graph.matrix == 1
    given = getattr(source, "order", None)
    if (
        isinstance(given, np.ndarray)
        and np.array_equal(np.sort(given), range(len(arrows)))
        and is_topological(given, arrows)
    ):
        return given
    try:
        return topological_order(to_dag(graph.matrix))
    except GraphError:
        return topological_order(arrows)


Number = TypeVar("Number", bound=np.generic)


def check_choice(option: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise ArgumentError(f"{option} is {value!r}; wanted one of {wanted}", option=option)


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
    unsigned : ndarray of bool or None
        Which edges have several coefficients, of categories, and so no sign.
    """

    coefficients: FloatArray | None
    support: FloatArray | None
    tosses: Mask | None
    standardized: bool
    color_by: Literal["sign", "support"] | None
    unsigned: Mask | None = None

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
        slopes = shares = tosses = unsigned = None
        if coefficients is not None:
            slopes = _larger(coefficient_matrix(coefficients, names), edges)
            unsigned = _unsigned(coefficients, names, edges)
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
        return cls(slopes, shares, tosses, standardized, color_by, unsigned)

    def colours(self, n_edges: int, palette: Palette) -> list[ColorType]:
        """The colour of each edge."""
        if self.color_by == "sign" and self.coefficients is not None:
            signs = [palette.positive if b >= 0 else palette.negative for b in self.coefficients]
            several = self._several.tolist()
            return [palette.edge if k else sign for sign, k in zip(signs, several, strict=True)]
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
            if ((self.coefficients >= 0) & ~self._several).any():
                keys.append(key("positive", palette.positive, 1.8))
            if ((self.coefficients < 0) & ~self._several).any():
                keys.append(key("negative", palette.negative, 1.8))
            if self._several.any():
                keys.append(key("several coefficients", palette.edge, 1.8))
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
    def _several(self) -> Mask:
        """Which edges have no sign."""
        if self.unsigned is not None:
            return self.unsigned
        return np.zeros(0 if self.coefficients is None else len(self.coefficients), dtype=bool)

    @property
    def _largest(self) -> float:
        """The largest absolute coefficient, or 1 where there is none."""
        if self.coefficients is None:
            return 1.0
        return float(np.abs(self.coefficients).max(initial=0.0)) or 1.0


def _unsigned(coefficients: Any, names: Sequence[str], edges: EdgeSet) -> Mask | None:
    """The edges from or to categories of a fitted model that have several columns."""
    coding = getattr(coefficients, "coding", None)
    if coding is None:
        return None
    sizes = dict(zip(coefficients.variables.names, coding.sizes.tolist(), strict=True))
    wide = np.array([sizes[name] > 1 for name in names])
    return np.asarray(wide[edges.tails] | wide[edges.heads])


def _larger(matrix: FloatArray, edges: EdgeSet) -> FloatArray:
    """The entry of each edge; of an undirected one, that which is larger in absolute value."""
    forth = matrix[edges.tails, edges.heads]
    back = matrix[edges.heads, edges.tails]
    return np.where(edges.undirected & (np.abs(back) > np.abs(forth)), back, forth)


def _width(size: FloatArray, largest: float) -> FloatArray:
    return _THINNEST + (_THICKEST - _THINNEST) * size / largest
