"""What `posterior` returns."""
# Long because it is one public record, and half of it says what its members mean.

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from qwo.archives import Arrays, Layout, StoredResult, typed
from qwo.bayes.candidates import Lists, Masks
from qwo.bayes.chains import AGREED, SURE, disagreement
from qwo.bayes.draws import (
    CoefficientDraws,
    DrawnDags,
    EffectPosterior,
    PairProbability,
    class_probabilities,
    expected_shd,
    greedy_dag,
    likely_dags,
)
from qwo.bayes.scores import FamilyScore, bge_score, bic_score
from qwo.errors import ArgumentError, ColumnNameError, list_names
from qwo.graph.causal_graph import CausalGraph, Kind
from qwo.graph.display import drawn_by
from qwo.graph.marks import edge_text
from qwo.graph.resolved_knowledge import (
    KNOWLEDGE_LAYOUT,
    ResolvedKnowledge,
    knowledge_arrays,
    stored_knowledge,
)
from qwo.moments import Moments
from qwo.moments.matrices import check_stored
from qwo.names import as_column, as_pair
from qwo.text import records_frame, shown
from qwo.types import Adjacency, FloatArray, read_only

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PosteriorStatus = Literal["complete", "time limit", "interrupted"]

SHOWN_PAIRS = 20
"""Pairs in a summary, the most probable."""

_MATRICES = ("edge_probabilities", "rhat", "ess", "outside_ratios")
_ARRAYS = ("masks", "log_scores", *_MATRICES)
_MOMENTS = ("means", "scales", "correlation")
_TYPES = {"acceptance": dict, "status": str, "seconds": float, "params": dict, "versions": dict}


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(StoredResult):
    """DAGs drawn in proportion to their probability given the data; made by `posterior`.

    Arrays are read-only. Entry (i, j) of a matrix concerns i → j.

    Attributes
    ----------
    moments : Moments
        What the data had to say.
    edge_probabilities : ndarray, n×n
        P(i → j). Means of exact conditional probabilities rather than counts; pairs outside the
        lists of candidates have r / (1 + r), see ``outside_ratios``.
    candidates, core : list of lists
        For each variable its candidate parents, and the parents that are in every draw.
    masks : ndarray of uint32, chains × draws × n
        The draws: bit b of entry v says that ``candidates[v][b]`` is a parent of v.
    log_scores : ndarray, chains × draws
        log p(data, G) up to a constant.
    rhat, ess : ndarray, n×n
        Split R̂ and effective sample size over the chains; 1 and all draws for edges that are sure.
    outside_ratios : ndarray, n×n
        For pairs outside the lists, the mean r of p(G with that edge) / p(G), where no draw counts
        for more than 1: a rare one may have a ratio of fifty, and be alone in having it.
    acceptance : mapping
        Share of the moves that were accepted: of order and graph jointly, of the reversals of an
        edge, and of a path.
    status : str
        ``"complete"``, ``"time limit"``, or ``"interrupted"`` by the keyboard: the draws are those
        made till then.
    seconds : float
        Wall time of the whole call.
    params, versions : mapping
        Every parameter as it was used, the seed included; versions of the packages that took part.
    knowledge : ResolvedKnowledge or None
        The background knowledge that every draw respects.
    """

    moments: Moments
    edge_probabilities: FloatArray
    candidates: Lists
    core: Lists
    masks: Masks
    log_scores: FloatArray
    rhat: FloatArray
    ess: FloatArray
    outside_ratios: FloatArray
    acceptance: Mapping[str, float]
    status: PosteriorStatus
    seconds: float
    params: Mapping[str, Any]
    versions: Mapping[str, Any]
    knowledge: ResolvedKnowledge | None = None

    FORMAT: ClassVar[str] = "qwo posterior 1"
    LAYOUT: ClassVar[Layout] = {
        **dict.fromkeys(_MATRICES, ("float64", "nn")),
        "masks": ("uint32", "cdn"),
        "log_scores": ("float64", "cd"),
        "moments_means": ("float64", "n"),
        "moments_scales": ("float64", "n"),
        "moments_correlation": ("float64", "nn"),
        **KNOWLEDGE_LAYOUT,
    }

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in input column order."""
        return self.moments.names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_chains(self) -> int:
        """Number of independent chains."""
        return int(self.masks.shape[0])

    @property
    def n_draws(self) -> int:
        """Number of DAGs drawn, by all chains together."""
        return int(self.masks.shape[0] * self.masks.shape[1])

    @property
    def largest_outside(self) -> float:
        """Probability of the likeliest edge outside the lists of candidates: r / (1 + r)."""
        return float((self.outside_ratios / (1 + self.outside_ratios)).max())

    @property
    def outside_mass(self) -> float:
        """Mass of the DAGs with exactly one edge from outside the lists, per mass of those drawn.

        With many variables a large sum may consist of negligible pairs: `largest_outside` tells
        more.
        """
        return float(self.outside_ratios.sum())

    @cached_property
    def link_probabilities(self) -> FloatArray:
        """Symmetric n×n matrix: the probability that i and j are adjacent."""
        return read_only(np.minimum(self.edge_probabilities + self.edge_probabilities.T, 1.0))

    def draws(self) -> Iterator[Adjacency]:
        """The DAGs, one matrix after the other, chain by chain."""
        yield from self._drawn

    def average(self, function: Callable[[Adjacency], npt.ArrayLike]) -> FloatArray:
        """The posterior mean of any function of the DAG: of an indicator, its probability.

        Parameters
        ----------
        function : callable
            Gets the matrix of a DAG; returns a number or an array, the same shape for each.
        """
        total: Any = 0.0
        for dag in self.draws():
            total = total + np.asarray(function(dag), dtype=np.float64)
        return np.asarray(total / self.n_draws)

    @property
    def path_probabilities(self) -> FloatArray:
        """n×n matrix: the probability of a directed path from i to j."""
        return self._drawn.relations[0]

    @property
    def blanket_probabilities(self) -> FloatArray:
        """Symmetric n×n matrix: the probability that j is in the Markov blanket of i."""
        return self._drawn.relations[1]

    @property
    def arrow_probabilities(self) -> FloatArray:
        """n×n matrix: the probability that the equivalence class of the graph has i → j.

        The probability of the link times a share of the draws that have it: of all, or of about
        400 where there is background knowledge.
        """
        return np.asarray(self._class_shares[1])

    @property
    def undirected_probabilities(self) -> FloatArray:
        """Symmetric n×n matrix: the probability that the class has i — j."""
        return np.asarray(self._class_shares[3])

    @cached_property
    def median_graph(self) -> CausalGraph:
        """The DAG of the edges with P > 1/2, the surest first, none that would close a cycle."""
        return self.beside(greedy_dag(self.edge_probabilities), "dag")

    @cached_property
    def least_shd_graph(self) -> CausalGraph:
        """The CPDAG of least expected structural Hamming distance among many.

        They are the classes of the draws, of the DAG of the edges with P > 1/2, and of a DAG of
        the links with P > 1/2. With knowledge, edges that it orients are directed.
        """
        drawn, known = self._drawn, (self.edge_probabilities, self.link_probabilities)
        pool = [drawn.class_of(dag) for dag in likely_dags(*known, self.knowledge)]
        pool += drawn.some_classes[0]
        costs = [expected_shd(graph, self._class_shares) for graph in pool]
        return self.beside(pool[int(np.argmin(costs))].copy(), "cpdag")

    def beside(self, matrix: Adjacency, kind: Kind) -> CausalGraph:
        """A graph over the same variables with the probabilities of its edges as their values.

        They are those of the link, of the edge as directed, and of the class having that arrow.
        """
        values = {
            "link_probability": self.link_probabilities,
            "edge_probability": self.edge_probabilities,
            "arrow_probability": self.arrow_probabilities,
        }
        return CausalGraph(self.names, matrix, kind, values=values)

    @property
    def expected_shd(self) -> float:
        """Expected structural Hamming distance of `least_shd_graph` from the class of the truth."""
        return expected_shd(self.least_shd_graph.matrix, self._class_shares)

    def effect(
        self, cause: str | int, effect: str | int, *, held: Sequence[str | int] = ()
    ) -> EffectPosterior:
        """What is known of the total effect of one variable on another, the graph being unsure.

        One draw for each DAG: coefficients from their posterior given it, multiplied along the
        directed paths. In the units of the data; exactly zero where there is no path.

        Parameters
        ----------
        cause, effect : str or int
            The variables, by name or column number.
        held : sequence of str or int
            Variables that are set as well, and stay where they are when the cause changes. All
            questions share their draws: if a and b are set together, a one higher and b two, y
            changes by ``effect(a, y, held=[b]).draws + 2 * effect(b, y, held=[a]).draws``.
        """
        x, y = as_pair(self.names, cause, effect)
        fixed = [as_column(self.names, variable, "held") for variable in held]
        for z in fixed:
            if z in (x, y):
                raise ColumnNameError(
                    f"{shown(self.names[z])} is held, and the cause or the effect as well; wanted "
                    "other variables",
                    [self.names[z]],
                )
        return self._effects(x, [y], fixed)[0]

    def effects(
        self, cause: str | int, effects: Sequence[str | int]
    ) -> tuple[EffectPosterior, ...]:
        """`effect` of one variable on each of others, in less time than one by one."""
        pairs = [as_pair(self.names, cause, effect) for effect in effects]
        return self._effects(pairs[0][0], [y for _, y in pairs]) if pairs else ()

    @property
    def tells_effects(self) -> bool:
        """Whether effects can be drawn: where every variable is a number."""
        return "columns" not in self.params

    def _effects(
        self, x: int, targets: Sequence[int], held: Sequence[int] = ()
    ) -> tuple[EffectPosterior, ...]:
        if not self.tells_effects:
            raise ArgumentError(
                "effects under an unsure graph are told for numbers of one population, not with "
                "categories or conditions; found.effect(cause, effect) tells those of the graph "
                "found"
            )
        found = self._coefficients.effects(x, targets, held)
        scales = self.moments.scales
        return tuple(
            EffectPosterior(self.names[x], self.names[y], found[y] * (scales[y] / scales[x]))
            for y in targets
        )

    @cached_property
    def _coefficients(self) -> CoefficientDraws:
        return CoefficientDraws(
            masks=self._drawn.masks,
            candidates=self.candidates,
            core=self.core,
            paths=self.path_probabilities,
            score=self._score,
            seed=self.params["random_state"],
        )

    def to_records(self, threshold: float = 0.01) -> tuple[PairProbability, ...]:
        """The pairs that are linked with at least this probability, the surest first."""
        if not 0 <= threshold <= 1:
            raise ArgumentError(f"threshold is {threshold!r}; wanted a probability")
        graph = self.least_shd_graph.matrix
        pairs = np.argwhere(np.triu(self.link_probabilities >= threshold, 1))
        surest = np.argsort(-self.link_probabilities[tuple(pairs.T)], kind="stable")
        return tuple(self._pair(i, j, graph) for i, j in pairs[surest].tolist())

    def _pair(self, i: int, j: int, graph: Adjacency) -> PairProbability:
        edge, (arrow, reverse, undirected) = self.edge_probabilities, self._class_shares[1:, i, j]
        return PairProbability(
            self.names[i],
            self.names[j],
            float(self.link_probabilities[i, j]),
            float(edge[i, j]),
            float(edge[j, i]),
            float(arrow),
            float(reverse),
            float(undirected),
            edge_text(int(graph[i, j]), int(graph[j, i])),
            float(max(self.rhat[i, j], self.rhat[j, i])),
        )

    def to_frame(self, threshold: float = 0.01) -> pd.DataFrame:
        """`to_records` as a pandas data frame."""
        return records_frame(PairProbability._fields, self.to_records(threshold))

    def to_dict(self, threshold: float = 0.01) -> dict[str, Any]:
        """What there is to know but the draws, as numbers, texts, lists and dicts."""
        return {
            "variables": list(self.names),
            "status": self.status,
            "seconds": self.seconds,
            "n_draws": self.n_draws,
            "n_chains": self.n_chains,
            "rhat_99": self._rhat_99,
            "least_ess": self._least_ess,
            "acceptance": dict(self.acceptance),
            "largest_outside": self.largest_outside,
            "outside_mass": self.outside_mass,
            "expected_shd": self.expected_shd,
            "pairs": [record._asdict() for record in self.to_records(threshold)],
            "params": dict(self.params),
            "versions": dict(self.versions),
        }

    def summary(self) -> str:
        """The gist: how the chains did, and the surest pairs."""
        records = self.to_records()
        hidden = len(records) - SHOWN_PAIRS
        edges = self.edge_probabilities
        unsure = int(((edges > SURE) & (edges < 1 - SURE)).sum())
        return "\n".join(
            [
                repr(self),
                f"expected number of edges: {edges.sum():.1f}; unsure edges: {unsure}",
                self._diagnosis(),
                "  link    -->   <--   pair",
                *(record.line for record in records[:SHOWN_PAIRS]),
                *([f"… {hidden} more pairs: to_frame() has them all"] if hidden > 0 else []),
            ]
        )

    def _diagnosis(self) -> str:
        complete = all(len(own) >= self.n_variables - 1 for own in self.candidates)
        left = f"likeliest edge left out {self.largest_outside:.2g}"
        if not self.tells_effects and not complete:
            left = f"of edges, {max(map(len, self.candidates))} candidates for each variable"
        return (
            f"R̂ of 99 % of them at most {self._rhat_99:.3f}; effective draws at least "
            f"{self._least_ess:.0f}; {left}"
        )

    def plot(self, **options: Any) -> Axes:
        """`qwo.plot.plot_graph` of `least_shd_graph`, with edges coloured by P(link)."""
        return drawn_by(
            "plot_graph", self.least_shd_graph, support=self.link_probabilities, **options
        )

    def _header(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("candidates", "core", *_TYPES)}
        said = {name: getattr(self.moments, name) for name in ("names", "n_samples", "estimator")}
        return said | own

    def _arrays(self) -> Arrays:
        arrays: Arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"moments_{name}": getattr(self.moments, name) for name in _MOMENTS}
        return arrays | knowledge_arrays(self.knowledge)

    @classmethod
    def _of(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        names, n = header["names"], len(header["names"])
        candidates, core = (_lists(header[name], n) for name in ("candidates", "core"))
        widths = np.array([len(listed) for listed in candidates])
        if (arrays["masks"].astype(np.uint64) >> widths.astype(np.uint64)).any():
            raise ValueError("draws have parents outside the lists of candidates")
        said = typed(header, n_samples=float, estimator=str)
        means, scales, correlation = (arrays[f"moments_{name}"] for name in _MOMENTS)
        size, estimator = float(said["n_samples"]), said["estimator"]
        moments = Moments(names, size, means, scales, correlation, estimator)
        check_stored("it", moments)
        values: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
        return cls(
            moments=moments,
            candidates=candidates,
            core=core,
            knowledge=stored_knowledge(names, arrays),
            **values,
            **typed(header, **_TYPES),
        )

    def __repr__(self) -> str:
        return (
            f"<Posterior: {self.n_variables} variables ({list_names(self.names)}), "
            f"{self.n_draws} DAGs by {self.n_chains} chains, {self.status} in "
            f"{self.seconds:.3g} s>"
        )

    @property
    def _rhat_99(self) -> float:
        return disagreement(self.rhat[self._varies])

    @property
    def apart(self) -> str:
        """What is to be said of chains that disagree; empty where they agree."""
        if math.isinf(rhat := self._rhat_99):
            why = "some edges are in all draws of one chain and in none of another (R̂ is infinite)"
            return f"the chains of the posterior do not mix: {why}. Probabilities may be far off"
        text = f"the chains of the posterior disagree (R̂ {rhat:.2f}): probabilities may be off"
        return text if rhat > AGREED else ""

    @property
    def _least_ess(self) -> float:
        return float(self.ess[self._varies].min(initial=self.n_draws))

    @property
    def _varies(self) -> npt.NDArray[np.bool_]:
        return (self.edge_probabilities > SURE) & (self.edge_probabilities < 1 - SURE)

    @cached_property
    def _score(self) -> FamilyScore:
        odds = self.params["edge_prior"]
        if self.params["score"] == "bge":
            return bge_score(self.moments, self.params["t"], odds)
        return bic_score(self.moments, self.params["penalty_discount"], odds)

    @cached_property
    def _drawn(self) -> DrawnDags:
        masks = self.masks.reshape(-1, self.n_variables)
        told = self.knowledge, "conditions" in self.params
        return DrawnDags(masks, self.candidates, self.core, *told)

    @cached_property
    def _class_shares(self) -> FloatArray:
        return class_probabilities(self._drawn, self.link_probabilities)


def _lists(given: Any, n: int) -> Lists:
    """Lists of variables, one for each, as a file has them."""
    if len(given) != n or any(u not in range(n) for listed in given for u in listed):
        raise ValueError(f"lists of parents do not belong to {n} variables")
    return [[int(u) for u in listed] for listed in given]
