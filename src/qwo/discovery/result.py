"""What `discover` returns."""

# Long because it is one public record, and half of it says what its members mean.

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.discovery.arrows import SURE, ArrowEvidence, leaning
from qwo.discovery.follow_up import FollowUp, Origin
from qwo.discovery.price import Evidence, WeakEdge
from qwo.discovery.readings import AssumptionReading, broken
from qwo.errors import ArgumentError, list_names
from qwo.graph.causal_graph import EDGE_HEADER, TARGETS, VARIABLES, CausalGraph, Edge, edges_of
from qwo.graph.display import as_html, edge_lines
from qwo.graph.marks import ARROW, LINE, MARKS
from qwo.names import Variable, as_column
from qwo.order.blocks import n_coefficients
from qwo.regimes.classes import next_experiments
from qwo.regimes.result import Regimes
from qwo.search.control import Status
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray, Indices

if TYPE_CHECKING:
    import pandas as pd

    from qwo.curved.arrows import NoiseArrows
    from qwo.curved.partial import PartialEffect
    from qwo.curved.result import CurvedRelations
    from qwo.feedback.result import Feedback
    from qwo.hidden.result import HiddenCauses
    from qwo.report.page import InlineReport
    from qwo.series.result import LaggedEffects

_ASKED = RLock()
"""The worth of edges and arrows is found on an engine, by one thread at a time."""


class Asked:
    """A field, None by default, whose value may be a function: called once, by whoever asks."""

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, held: Any, _: Any = None) -> Any:
        if held is None:
            return None
        value = held.__dict__[self.name]
        if callable(value):
            with _ASKED:
                value = held.__dict__[self.name] = value()
        return value

    def __set__(self, held: Any, value: Any) -> None:
        held.__dict__[self.name] = value


LATER: tuple[Any, Any] = Asked(), Asked()


@dataclass(frozen=True, eq=False)
class Discovery(FollowUp):
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
        parents a variable. The default search proves it up to 16 variables (18 in dense graphs), if
        none is all but determined by others.
    least_cost : float
        What no graph costs less than, as far as ``search="exact"`` came: `bound` is its opposite.
    regimes : Regimes or None
        Which equations changed under which condition, where ``regime=`` was given.
    curves : CurvedRelations or None
        The curves of the edges, and how many columns were used, where ``relations="curved"``.
    hidden_causes : HiddenCauses or None
        The class of graphs with hidden common causes and what follows from it, where
        ``hidden_causes=True`` was given; `cpdag` and `dag` are those without, then.
    noise : NoiseArrows or None
        What the shape of the noise says of arrows, where ``arrows="noise"``.
    arrow_evidence : ArrowEvidence or None
        What the arrows are worth, and how likely they are; None where `evidence` is, with more than
        1000 variables, and where time was up.
    weak_edges : tuple of WeakEdge
        Edges that are more likely false than true, which a search whose penalty the data choose
        leaves out: a lower ``penalty_discount`` has them.
    origin : Origin or None
        The data as they were given and how they were read, for `fit`, `effect`, `causes_of` and
        `check`. A pickled result keeps them only if they are a file.
    series : LaggedEffects or None
        Effects of earlier rows on later ones, where ``lags=`` was given; the graph is then that of
        effects within one step of time.
    feedback : Feedback or None
        What the data tell of cycles, where ``feedback=True`` was given. If there are any, `graph`,
        `score` and `n_edges` are those of the graph with cycles, `dag` and `cpdag` of the best
        without.
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
    evidence: Evidence | None = LATER[0]
    proved: bool = False
    least_cost: float = -math.inf
    regimes: Regimes | None = None
    hidden_causes: HiddenCauses | None = None
    arrow_evidence: ArrowEvidence | None = LATER[1]
    weak_edges: tuple[WeakEdge, ...] = ()
    curves: CurvedRelations | None = None
    origin: Origin | None = None
    series: LaggedEffects | None = None
    feedback: Feedback | None = None
    noise: NoiseArrows | None = None

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
        sizes, leading = self.params.get("columns"), self.params.get("leading")
        return self.n_edges if sizes is None else n_coefficients(self.dag, sizes, leading)

    @property
    def readings(self) -> dict[str, AssumptionReading]:
        """What was learnt beside the graph, by name, where an assumption was dropped."""
        held: dict[str, AssumptionReading | None] = {
            "regimes": self.regimes,
            "curves": self.curves,
            "series": self.series,
            "feedback": self.feedback,
            "hidden_causes": self.hidden_causes,
            "noise": self.noise,
        }
        return {name: reading for name, reading in held.items() if reading is not None}

    @property
    def pag(self) -> CausalGraph | None:
        """The class of graphs with hidden causes; None unless ``hidden_causes=True`` was given."""
        return None if self.hidden_causes is None else self.hidden_causes.pag

    @property
    def mag(self) -> CausalGraph | None:
        """The member of the `pag` that the search ended in."""
        return None if self.hidden_causes is None else self.hidden_causes.mag

    @property
    def confounded(self) -> list[tuple[str, str]]:
        """Pairs with a hidden common cause, neither causing the other."""
        if self.hidden_causes is None:
            raise ArgumentError(
                "nothing is known of hidden causes: the graph was learnt without; ask for them by "
                "hidden_causes=True"
            )
        return self.hidden_causes.confounded

    @cached_property
    def shown(self) -> Adjacency:
        """The matrix of the `graph`: the class, with 2 for arrows that the data do not support."""
        if self.pag is not None:
            return self.pag.matrix
        if self.arrow_evidence is None:
            return self.cpdag
        shown, arrows = self.cpdag.copy(), self.arrow_evidence
        causes, effects = arrows.causes[~arrows.supported], arrows.effects[~arrows.supported]
        shown[causes, effects] = shown[effects, causes] = 2
        shown.setflags(write=False)
        return shown

    @cached_property
    def graph(self) -> CausalGraph:
        """The graph to show: the class, with a line for each arrow that the data do not support.

        That is the one of the fewest wrong marks to expect; `cpdag` is the class of `dag`, whatever
        its arrows are worth. Its values have the probability of each arrow, its metadata the types
        and levels of categories, which formats write with the nodes.
        """
        for reading in self.readings.values():
            if reading.graph is not None:
                return reading.graph
        known = self.params.get(VARIABLES)
        metadata = {} if known is None else {VARIABLES: known}
        if self.regimes is not None:
            metadata[TARGETS] = self.regimes.listed()
        arrows, values = self.arrow_evidence, {}
        if arrows is not None:
            forward = np.full(self.cpdag.shape, math.nan)
            forward[arrows.causes, arrows.effects] = arrows.probabilities[:, 0]
            values = {"arrow_probability": forward}
        if self.curves is not None:
            # Behind the variables there may be their lagged copies.
            own = slice(len(self.names))
            values["linear_share"] = self.curves.linear[own, own]
            values["curved_share"] = self.curves.curved[own, own]
        if self.noise is not None:
            values |= {"noise_z": self.noise.z}
        return CausalGraph(self.names, self.shown, "cpdag", metadata, values, self.dag)

    @cached_property
    def edges(self) -> tuple[tuple[str, str, str], ...]:
        """The edges of the `graph` as (name, ``"-->"`` or ``"---"``, name), by column.

        A line in place of an arrow that is not supported begins where the arrow would.
        """
        if any(reading.graph is not None for reading in self.readings.values()):
            return self.graph.edges
        doubted = set(self.leans)
        return tuple(
            (a, LINE if (a, b) in doubted else mark, b)
            for a, mark, b in edges_of(self.names, self.cpdag)
        )

    @cached_property
    def leans(self) -> dict[tuple[str, str], float]:
        """The arrows of the class that are not supported, with their odds against the reverse."""
        arrows = self.arrow_evidence
        if arrows is None:
            return {}
        doubted = np.flatnonzero(~arrows.supported)
        return {
            (self.names[arrows.causes[k]], self.names[arrows.effects[k]]): float(arrows.leans[k])
            for k in doubted
        }

    def hanging_on(self, cause: Variable, effect: Variable) -> tuple[Edge, ...]:
        """The arrows that hang on one: they are open or reversed in the best graph without it.

        That is, where it points the other way, all else searched anew near by.
        """
        a, b = as_column(self.names, cause, "cause"), as_column(self.names, effect, "effect")
        arrows = self.arrow_evidence
        if arrows is None or self.cpdag[a, b] != 1:
            raise ArgumentError(
                f"{self.names[a]} --> {self.names[b]} is no arrow of the class, or nobody knows "
                "what it is worth"
            )
        row = np.flatnonzero((arrows.causes == a) & (arrows.effects == b))[0]
        return tuple(
            Edge(self.names[i], ARROW, self.names[j])
            for i, j in zip(
                arrows.causes[arrows.hanging[row]], arrows.effects[arrows.hanging[row]], strict=True
            )
            if (i, j) != (a, b)
        )

    def to_frame(self) -> pd.DataFrame:
        """The edges as a pandas data frame: source, mark, target and how sure they are.

        The strength is what the edge adds to twice the log-likelihood, the false rate the chance
        that an edge of its strength is none. The worth of an arrow of the class, source to target,
        is the score that is lost if it must point the other way; then come its odds against that,
        and the probability that the true class has it, if there is an edge. NaN where they are not
        known, and for edges that the class leaves open.
        """
        columns = (*Edge._fields, "strength", "false_rate", "arrow_worth", "arrow_odds")
        known = (self.edge_strengths, self.edge_false_rates, *self._of_arrows().T)
        numbers = zip(*(column.tolist() for column in known), strict=True)
        rows = [(*edge, *own) for edge, own in zip(self.edges, numbers, strict=True)]
        return records_frame((*columns, "arrow_probability"), rows)

    @property
    def arrow_chances(self) -> FloatArray:
        """The probability of each arrow of the `edges`, if there is an edge; NaN where unknown."""
        return self._of_arrows()[:, 2]

    def _of_arrows(self) -> FloatArray:
        """Worth, odds and probability of each of the `edges`."""
        known, arrows = np.full((self.n_edges, 3), math.nan), self.arrow_evidence
        if arrows is None:
            return known
        numbers = np.stack([arrows.worths, arrows.leans, arrows.probabilities[:, 0]], axis=1)
        own = dict(zip(zip(arrows.causes, arrows.effects, strict=True), numbers, strict=True))
        place = {v: k for k, v in enumerate(self.names)}
        for k, (a, _, b) in enumerate(self.edges):
            known[k] = own.get((place[a], place[b]), math.nan)
        return known

    @property
    def expected_false_edges(self) -> float:
        """How many of the edges found are false, as far as one can expect: the sum of their rates.

        By chance, or in the place of real ones nearby.

        It speaks of links, not of directions. 0 for exact moments; NaN for engines other than the
        exact BIC, and where the audit of the data tells that rates mean nothing: rows that depend
        on each other or are repeated, very few rows, copies of columns.
        """
        if self.evidence is not None:
            if self.n_edges and self.doubted_rates:
                return math.nan
            return self.evidence.expected_false
        return 0.0 if math.isinf(self.params.get("n_samples", 0)) else math.nan

    @property
    def doubted_rates(self) -> str:
        """Why false rates mean nothing for these data; empty where nothing speaks against them."""
        return broken(None if self.origin is None else self.origin.audit)

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
                "that says under which condition a row was taken: regime="
            )
        return self.regimes.to_frame()

    def curve(self, cause: Variable, effect: Variable, **drawn: Any) -> PartialEffect:
        """The curve of an edge, with its band; see `qwo.curved.result.CurvedRelations.curve`."""
        if self.curves is None:
            raise ArgumentError(
                "there are no curves: the graph was learnt with linear relations; "
                'relations="curved" learns others'
            )
        return self.curves.curve(cause, effect, **drawn)

    @property
    def lagged(self) -> pd.DataFrame:
        """Effects of earlier rows: cause, effect, lag, coefficient, standard error, false rate.

        And support, the share of 100 resamples by blocks of rows, or units, whose graph has the
        edge, up to 100 columns with their lags and 10,000 rows; of more by
        ``found.series.supports()``.
        """
        if self.series is None:
            raise ArgumentError(
                "there are no lagged effects: the rows were taken for independent ones; ask for "
                'them: lags="auto"'
            )
        return self.series.table

    def next_experiment(self) -> dict[str, float]:
        """Variables by how many undirected edges setting one of them would direct, most first.

        The number is the mean over the graphs that the data leave open, the first 2000 if there are
        more; empty where every edge is directed.
        """
        if self.hidden_causes is not None:
            raise ArgumentError(
                "the graph was learnt with hidden_causes, where setting a variable tells more than "
                "the direction of its edges; ask for it without"
            )
        return {self.names[v]: edges for v, edges in next_experiments(self.cpdag).items()}

    def explore(self, *, height: int = 720, **beside: Any) -> InlineReport:
        """The interactive view of the report, inline in a notebook, without a server.

        ``model``, ``audit``, ``bootstrap``, ``posterior`` and ``check`` are shown along with the
        graph, as in `qwo.report.write_report`.
        """
        from qwo.report.page import InlineReport

        return InlineReport(self, height=height, **beside)

    def __repr__(self) -> str:
        directed = sum(mark == ARROW for _, mark, _ in self.edges)
        return (
            f"<Discovery: {self.n_variables} variables ({list_names(self.names)}), "
            f"{self.n_edges} edges ({directed} directed), score {self.score:.2f}, "
            f"{self.status} in {self.seconds:.3g} s>"
        )

    def __str__(self) -> str:
        beside = zip(self.edges, self.unsure(leans=True), strict=True)
        lines = [(*edge, f" {said}") if said else edge for edge, said in beside]
        told = [reading.summary() for reading in self.readings.values()]
        return "\n".join([repr(self), *edge_lines(lines), *told])

    def unsure(self, *, leans: bool = False) -> Iterator[str]:
        """How sure the direction of each edge is, where it is not; with what a line leans to."""
        for (a, mark, b), sure in zip(self.edges, self.arrow_chances.tolist(), strict=True):
            if leans and (a, b) in self.leans:
                yield f"(leans {a} {ARROW} {b}, {leaning(self.leans[a, b])})"
            else:
                yield f"({math.floor(100 * sure)} % sure)" if mark == ARROW and sure < SURE else ""

    def _repr_html_(self) -> str:
        rows = ((source, MARKS[mark].symbol, target) for source, mark, target in self.edges)
        return as_html(repr(self)[1:-1], self, (self.n_variables, self.n_edges), EDGE_HEADER, rows)
