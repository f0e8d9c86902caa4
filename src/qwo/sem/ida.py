"""IDA: all total effects that an equivalence class of DAGs allows.

M. Maathuis, M. Kalisch and P. Bühlmann, Estimating high-dimensional intervention effects from
observational data, Annals of Statistics 37 (2009), algorithm 3: the local method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, overload

import numpy as np

from qwo.arguments import ReadArguments, hinting
from qwo.errors import GraphError
from qwo.graph.coercion import as_graph
from qwo.graph.cpdag import descendants_given, directed_at, is_cpdag
from qwo.graph.dag import v_structures
from qwo.graph.display import table_html
from qwo.graph.pdag import PartialDag, to_dag
from qwo.moments import Moments, as_moments
from qwo.names import Variable
from qwo.sem.effects import DOUBT, Effect
from qwo.sem.regression import contrast, contrasts, partial_slopes, siblings, t_test
from qwo.text import number
from qwo.types import Adjacency, FloatArray, Indices, Mask

ParentSets = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class PossibleEffects(Sequence[Effect]):
    """The total effects of a cause on an effect, one for each parent set that the cause may have.

    A sequence of `Effect`. Distinct values are those over all DAGs of the class; how often a value
    appears is not how many DAGs have it.

    Attributes
    ----------
    cause, effect : str
        The variables.
    parent_sets : tuple of tuple of str
        The possible parents of the cause, smallest set first.
    estimates, standard_errors : ndarray
        The effect for each parent set and its error by least squares given that set. Both are 0
        where the effect is itself among the parents.
    df : ndarray
        Residual degrees of freedom.
    directed : ndarray of bool
        Whether a directed path leads from the cause to the effect in the DAGs with that parent set.
        Where none does, the graph says that the effect is 0: an estimate far from 0 speaks against
        the graph, which may lack an edge.
    """

    cause: str
    effect: str
    parent_sets: tuple[tuple[str, ...], ...]
    estimates: FloatArray
    standard_errors: FloatArray
    df: FloatArray
    directed: Mask

    @property
    def lower_bound(self) -> float:
        """The smallest size of the effect: 0 unless the cause matters in every DAG."""
        return float(np.abs(self.estimates).min())

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """From the lowest to the highest end of the intervals of all parent sets."""
        low, high = zip(*(effect.interval(level) for effect in self), strict=True)
        return min(low), max(high)

    def __len__(self) -> int:
        return len(self.estimates)

    @overload
    def __getitem__(self, index: int) -> Effect: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Effect, ...]: ...

    def __getitem__(self, index: int | slice) -> Effect | tuple[Effect, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        size, error = float(self.estimates[index]), float(self.standard_errors[index])
        df, note = float(self.df[index]), ""
        if not self.directed[index]:
            note = _no_path_note(size, error, df)
        return Effect(self.cause, self.effect, size, error, df, note)

    def _repr_html_(self) -> str:
        header = (f"parents of {self.cause}", f"effect on {self.effect}", "95 %", "path")
        rows = [
            (
                ", ".join(parents) or "none",
                number(e.estimate),
                "{} to {}".format(*map(number, e.interval())),
                path,
            )
            for parents, e, path in zip(
                self.parent_sets, self, np.where(self.directed, "yes", "no"), strict=True
            )
        ]
        return table_html(header, rows)

    def __str__(self) -> str:
        lines = [f"{self.cause} → {self.effect}, by the parents that {self.cause} may have:"]
        for parents, effect in zip(self.parent_sets, self, strict=True):
            lines.append(f"  {', '.join(parents) or 'none'}: {effect.sized()}")
        return "\n".join(lines)


def _no_path_note(size: float, error: float, df: float) -> str:
    """What an estimate says of a graph in which the effect must be 0."""
    p = float(t_test(size, error, df).p_value)
    if error == 0 or p >= DOUBT:
        return "no directed path leads there in the graph, which says 0"
    return (
        "no directed path leads there in the graph, which says 0; the data speak against that: an "
        "edge may be missing"
    )


@hinting
def ida(
    data: Any, cpdag: Any, cause: Variable, effect: Variable, **reading: Unpack[ReadArguments]
) -> PossibleEffects:
    """The possible total effects of one variable on another over an equivalence class.

    Given the parents of the cause, the total effect is its coefficient in the regression of the
    effect on it and them, or 0 if the effect is one of them. In a CPDAG the parents can be the
    definite ones with any set of undirected neighbours that makes no new v-structure at the cause:
    any clique of them. Time goes with the number of cliques.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments.
    cpdag : object
        Anything that `qwo.graph.as_graph` takes, matched by name; a matrix has 1 = i → j and
        2 = undirected (both entries). A DAG stands for itself alone: take `to_cpdag`
        of it first to ask about its class. In a graph that background knowledge has directed
        further, each parent set is checked by extending the graph with it (the semi-local method
        of Perković, Kalisch and Maathuis, UAI 2017).
    cause, effect : str or int
        Variables by name or column number.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.options.ReadOptions`.
    """
    _refuse_series(cpdag)
    moments = as_moments(data, **reading)
    matrix = as_graph(cpdag, moments.names).matrix
    x, y = contrasts(moments.names, moments.coding, cause, effect)
    return possible_effects(moments, matrix, x, np.array([y]))[0]


def ida_all(
    data: Any, cpdag: Any, cause: Variable, **reading: Unpack[ReadArguments]
) -> dict[str, PossibleEffects]:
    """The possible total effects of one variable on each of the others, by their names.

    The same as `ida` for each effect in turn, with one factorisation for each parent set.
    """
    _refuse_series(cpdag)
    moments = as_moments(data, **reading)
    x = contrast(moments.names, moments.coding, cause, "cause")
    matrix = as_graph(cpdag, moments.names).matrix
    own = [x, *siblings(moments.coding, x)]
    others = np.delete(np.arange(len(moments.correlation)), own)
    return {found.effect: found for found in possible_effects(moments, matrix, x, others)}


def _refuse_series(graph: Any) -> None:
    if getattr(graph, "series", None) is not None:
        raise GraphError(
            "the graph was learnt with lags, and these effects treat rows as independent; "
            "found.effect(cause, effect) is the long-run effect, with its range over the class"
        )


def possible_effects(
    moments: Moments, graph: Adjacency, cause: int, targets: Indices
) -> list[PossibleEffects]:
    """The effects of a column on others, of the same variables or of contrasts of them."""
    coding = moments.coding
    owners = coding.owners
    variable, ends, beside = int(owners[cause]), owners[targets], siblings(coding, cause)
    sets = parent_sets(graph, variable, moments.names)
    adjust = [[*coding.columns_of(parents).tolist(), *beside] for parents in sets]
    columns = moments.as_columns()
    found = [partial_slopes(columns, cause, fixed, targets) for fixed in adjust]
    estimates = np.array([each.slopes for each in found])
    errors = np.array([each.errors for each in found])
    for row, parents in enumerate(sets):
        among = np.isin(ends, parents)
        estimates[row, among] = errors[row, among] = 0.0
    directed = np.array([descendants_given(graph, variable, parents)[ends] for parents in sets])
    names = columns.names
    labels = tuple(tuple(moments.names[p] for p in parents) for parents in sets)
    df = np.array([each.df for each in found])
    return [
        PossibleEffects(
            names[cause], names[y], labels, estimates[:, k], errors[:, k], df, directed[:, k]
        )
        for k, y in enumerate(targets.tolist())
    ]


def parent_sets(graph: Adjacency, vertex: int, names: Sequence[str]) -> ParentSets:
    """The parent sets of a vertex over the DAGs that extend a graph, by size, then by columns."""
    locally_valid = sorted(_locally_valid(graph, vertex), key=lambda found: (len(found), found))
    if is_cpdag(graph):
        return locally_valid
    colliders = v_structures(to_dag(graph, names))
    return [found for found in locally_valid if _extends(graph, vertex, found, colliders)]


def _locally_valid(graph: Adjacency, vertex: int) -> Iterator[tuple[int, ...]]:
    """The definite parents with each clique of undirected neighbours.

    Others would make a v-structure at the vertex. In a CPDAG these make none: a parent of the
    vertex is adjacent to each of its neighbours. Cliques are grown one by one, so that time goes
    with their number and not with the number of all sets of neighbours.
    """
    pdag = PartialDag.from_matrix(graph)
    stack: list[tuple[tuple[int, ...], list[int]]] = [((), sorted(pdag.neighbours[vertex]))]
    while stack:
        clique, candidates = stack.pop()
        yield tuple(sorted(pdag.parents[vertex].union(clique)))
        for k, u in enumerate(candidates):
            rest = [w for w in candidates[k + 1 :] if pdag.adjacent(u, w)]
            stack.append(((*clique, u), rest))


def _extends(
    graph: Adjacency, vertex: int, parents: tuple[int, ...], colliders: list[tuple[int, int, int]]
) -> bool:
    """Whether a DAG of the graph's class gives the vertex exactly these parents."""
    branch = directed_at(graph, vertex, set(parents))
    try:
        return v_structures(to_dag(branch)) == colliders
    except GraphError:
        return False
