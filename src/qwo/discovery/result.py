"""What `discover` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.discovery.price import Evidence
from qwo.errors import ArgumentError, list_names
from qwo.graph.causal_graph import EDGE_HEADER, VARIABLES, CausalGraph, Edge, edges_of
from qwo.graph.display import as_html, edge_lines
from qwo.graph.marks import MARKS
from qwo.order.blocks import n_coefficients
from qwo.regimes.classes import next_experiments
from qwo.regimes.result import Regimes
from qwo.search.control import Status
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray, Indices

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Discovery:
    """A causal graph learnt from data, and how it came about. All arrays are read-only.

    Attributes
    ----------
    cpdag : ndarray of int8, n×n
        The equivalence class: entry (i, j) is 1 for i → j, and 2, like (j, i), where the data do
        not tell the direction. With background knowledge, edges that it orients are directed.
    dag : ndarray of int8, n×n
        One member of the class: entry (i, j) is 1 for i → j.
    order : ndarray of int
        The causal order found: ``order[k]`` is the column at place k.
    names : tuple of str
        The variables, in input column order.
    score : float
        BIC in Tetrad's unit, 2·loglik - penalty_discount·edges·log N, less the same of the empty
        graph; higher is better. NaN for exact moments (N = ∞).
    n_edges : int
        Number of edges.
    trace : tuple of (float, float)
        Seconds and score of the search objective at the start and after each improvement.
    status : str
        ``"converged"``, ``"time limit"``, ``"interrupted"`` by the keyboard, or ``"stopped"`` by
        the callback; in the latter cases the graph is the best so far.
    seconds : float
        Wall time of the whole call.
    params : mapping
        Every parameter as it was used, the seed included.
    versions : mapping
        Versions of the packages that took part, and how the compiled core was built.
    evidence : Evidence or None
        How strong the edges are, beside what chance alone gives at their price; None for exact
        moments and for engines other than the exact BIC.
    proved : bool
        Whether no graph has a better score: of all that the knowledge allows, with at most N / 3
        parents a variable. The default search proves it for up to 16 variables, unless some of them
        all but determine another.
    regimes : Regimes or None
        Which equations changed under which condition, where ``regime=`` was given.
    """

    cpdag: Adjacency
    dag: Adjacency
    order: Indices
    names: tuple[str, ...]
    score: float
    n_edges: int
    trace: tuple[tuple[float, float], ...]
    status: Status
    seconds: float
    params: Mapping[str, Any]
    versions: Mapping[str, Any]
    evidence: Evidence | None = None
    proved: bool = False
    regimes: Regimes | None = None

    def __post_init__(self) -> None:
        for array in (self.cpdag, self.dag, self.order):
            array.setflags(write=False)
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled; the constructor makes them again.
        values = (getattr(self, field.name) for field in fields(self))
        return Discovery, tuple(dict(v) if isinstance(v, Mapping) else v for v in values)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_coefficients(self) -> int:
        """Coefficients of the edges: one each, or as many as their columns have pairs."""
        sizes = self.params.get("columns")
        return self.n_edges if sizes is None else n_coefficients(self.dag, sizes)

    @cached_property
    def graph(self) -> CausalGraph:
        """The equivalence class as a graph with names, which can be drawn, compared and written.

        Its metadata have the types and levels of categories, which formats write with the nodes.
        """
        known = self.params.get(VARIABLES)
        metadata = {} if known is None else {VARIABLES: known}
        return CausalGraph(self.names, self.cpdag, "cpdag", metadata)

    @cached_property
    def edges(self) -> tuple[tuple[str, str, str], ...]:
        """The edges of the CPDAG as (name, ``"-->"`` or ``"---"``, name), by column."""
        return tuple((a, mark, b) for a, mark, b in edges_of(self.names, self.cpdag))

    def to_frame(self) -> pd.DataFrame:
        """The edges as a pandas data frame: source, mark, target, strength and false_rate.

        The strength is what the edge adds to twice the log-likelihood, the false rate the chance
        that an edge of its strength is none; NaN where they are not known.
        """
        columns = (*Edge._fields, "strength", "false_rate")
        evidence = zip(self.edge_strengths.tolist(), self.edge_false_rates.tolist(), strict=True)
        rows = [(*edge, *known) for edge, known in zip(self.edges, evidence, strict=True)]
        return records_frame(columns, rows)

    @property
    def expected_false_edges(self) -> float:
        """How many of the edges found are false, as far as one can expect: the sum of their rates.

        By chance, or in the place of real ones nearby.

        0 for exact moments; NaN for engines other than the exact BIC.
        """
        if self.evidence is not None:
            return self.evidence.expected_false
        return 0.0 if math.isinf(self.params.get("n_samples", 0)) else math.nan

    @property
    def edge_strengths(self) -> FloatArray:
        """What each of the `edges` adds to twice the log-likelihood; NaN where it is not known."""
        return self._of_edges("strengths")

    @property
    def edge_false_rates(self) -> FloatArray:
        """The chance that an edge of its strength is none, for each of the `edges`."""
        return self._of_edges("false_rates")

    def _of_edges(self, name: str) -> FloatArray:
        if self.evidence is None:
            return np.full(self.n_edges, math.nan)
        pairs = np.sort([self.evidence.causes, self.evidence.effects], axis=0)
        values = dict(
            zip(zip(*pairs.tolist(), strict=True), getattr(self.evidence, name), strict=True)
        )
        places = {v: k for k, v in enumerate(self.names)}
        ends = (sorted((places[a], places[b])) for a, _, b in self.edges)
        return np.array([values[i, j] for i, j in ends], dtype=np.float64)

    @property
    def targets(self) -> pd.DataFrame:
        """Which equations changed under which condition; see `qwo.regimes.Regimes.to_frame`."""
        if self.regimes is None:
            raise ArgumentError(
                "there are no targets: the graph was learnt without conditions; name the column "
                "that says under which condition a row was taken: regime=",
            )
        return self.regimes.to_frame()

    def next_experiment(self) -> dict[str, float]:
        """Variables by how many undirected edges setting one of them would direct, most first.

        The number is the mean over the graphs that the data leave open, the first 2000 if there are
        more; empty where every edge is directed.
        """
        return {self.names[v]: edges for v, edges in next_experiments(self.cpdag).items()}

    def __repr__(self) -> str:
        directed = int((self.cpdag == 1).sum())
        return (
            f"<Discovery: {self.n_variables} variables ({list_names(self.names)}), "
            f"{self.n_edges} edges ({directed} directed), score {self.score:.2f}, "
            f"{self.status} in {self.seconds:.3g} s>"
        )

    def __str__(self) -> str:
        told = [] if self.regimes is None else [self.regimes.summary()]
        return "\n".join([repr(self), *edge_lines(self.edges), *told])

    def _repr_html_(self) -> str:
        rows = ((source, MARKS[mark].symbol, target) for source, mark, target in self.edges)
        return as_html(repr(self)[1:-1], self, (self.n_variables, self.n_edges), EDGE_HEADER, rows)
