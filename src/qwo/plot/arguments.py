"""What users hand to a plot: matrices over edges, variables to highlight, colours of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError, ColumnNameError, ShapeError, list_names
from qwo.graph.causal_graph import CausalGraph
from qwo.types import FloatArray, Mask

if TYPE_CHECKING:
    from matplotlib.typing import ColorType


Number = TypeVar("Number", bound=np.generic)


def check_choice(option: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise ArgumentError(f"{option} is {value!r}; wanted one of {wanted}")


def coefficient_matrix(coefficients: Any, names: Sequence[str]) -> FloatArray:
    """The coefficients in the order of the names: the standardized ones of a fitted model."""
    if hasattr(coefficients, "standardized_coefficients"):
        matrix = np.asarray(coefficients.standardized_coefficients)
        return in_order("coefficients", matrix, coefficients.names, names)
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
