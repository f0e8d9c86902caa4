"""What `bootstrap` returns: how often each edge was found, and the graphs that follow from it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from qwo.archives import Arrays, Layout, StoredResult, typed
from qwo.discovery import Discovery
from qwo.discovery.price import Evidence
from qwo.errors import list_names
from qwo.graph.cpdag import to_cpdag, to_mpdag
from qwo.graph.dag import check_dag
from qwo.graph.display import as_html
from qwo.graph.pdag import check_pdag
from qwo.graph.resolved_knowledge import (
    KNOWLEDGE_LAYOUT,
    ResolvedKnowledge,
    knowledge_arrays,
    stored_knowledge,
)
from qwo.options import UP_TO_1
from qwo.resample import support
from qwo.text import records_frame
from qwo.types import Adjacency, FloatArray, Mask, read_only

if TYPE_CHECKING:
    import pandas as pd

BootstrapStatus = Literal["complete", "interrupted", "stopped", "incomplete"]

SHOWN_THRESHOLDS = (0.95, 0.8, 0.5)
SHOWN_PAIRS = 20

_REFERENCE = ("score", "n_edges", "trace", "status", "seconds", "params", "versions")


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(StoredResult):
    """Support of every edge over resamples of the data; made by `bootstrap`. Arrays are read-only.

    Attributes
    ----------
    names : tuple of str
        The variables, in input column order.
    reference : Discovery
        The graph of all data.
    directed_counts : ndarray of int32, n×n
        Entry (i, j) counts the replicates whose CPDAG has i → j.
    undirected_counts : ndarray of int32, n×n
        Entry (i, j), like (j, i), counts those that have i — j.
    outcomes : ndarray of int8
        For each replicate: 0 not run, 1 converged, 2 ended by the time limit (its best graph
        counts), 3 without a graph, because of a constant column or the like.
    status : str
        ``"complete"``; ``"interrupted"`` by the keyboard; ``"stopped"`` by the callback;
        ``"incomplete"`` where a run has not ended yet or shards are missing.
    params : mapping
        Every parameter as it was used, the seed included.
    fingerprint : str
        Of the data and of all parameters that the replicates depend on: what can be resumed and
        merged.
    knowledge : ResolvedKnowledge or None
        The background knowledge that all replicates and the consensus respect.
    """

    names: tuple[str, ...]
    reference: Discovery
    directed_counts: support.Counts
    undirected_counts: support.Counts
    outcomes: support.Outcomes
    status: BootstrapStatus
    params: Mapping[str, Any]
    fingerprint: str
    knowledge: ResolvedKnowledge | None = None

    FIELDS: ClassVar[tuple[str, ...]] = support.PairSupport._fields
    FORMAT: ClassVar[str] = "qwo bootstrap 1"
    LAYOUT: ClassVar[Layout] = {
        "directed_counts": ("int32", "nn"),
        "undirected_counts": ("int32", "nn"),
        "outcomes": ("int8", "r"),
        "reference_cpdag": ("int8", "nn"),
        "reference_dag": ("int8", "nn"),
        "reference_order": ("int64", "n"),
        **KNOWLEDGE_LAYOUT,
    }

    def plus(self, batch: support.Replicates) -> Self:
        """The result with the replicates of a batch: sums of integers, whose order does not matter.

        A new record, so that an interrupt finds either the one or the other and nothing between.
        """
        outcomes = self.outcomes.copy()
        outcomes[batch.numbers] = batch.outcomes
        return replace(
            self,
            directed_counts=support.counted(self.directed_counts, batch.directed),
            undirected_counts=support.counted(self.undirected_counts, batch.undirected),
            outcomes=outcomes,
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_resamples(self) -> int:
        """Number of replicates asked for."""
        return len(self.outcomes)

    @property
    def n_done(self) -> int:
        """Number of replicates that have come to an end."""
        return int(np.count_nonzero(self.outcomes))

    @property
    def n_counted(self) -> int:
        """Number of replicates with a graph: what all shares refer to."""
        return self.n_done - self.n_degenerate

    @property
    def n_degenerate(self) -> int:
        """Number of replicates without a graph, as where a column is constant in the resample."""
        return int(support.have(self.outcomes, support.Outcome.DEGENERATE).sum())

    @property
    def n_time_limit(self) -> int:
        """Number of replicates that the time limit has ended; their best graphs count."""
        return int(support.have(self.outcomes, support.Outcome.TIME_LIMIT).sum())

    @cached_property
    def link_support(self) -> FloatArray:
        """Symmetric n×n matrix: the share of replicates in which i and j are adjacent."""
        return self._shares(self._adjacent())

    @cached_property
    def arrow_support(self) -> FloatArray:
        """n×n matrix: entry (i, j) is the share of replicates whose CPDAG has i → j."""
        return self._shares(self.directed_counts)

    @cached_property
    def undirected_support(self) -> FloatArray:
        """Symmetric n×n matrix: the share of replicates whose CPDAG has i — j."""
        return self._shares(self.undirected_counts)

    @cached_property
    def coin_tosses(self) -> Mask:
        """n×n matrix: whether i → j, if the graph has it, is not settled.

        It is, unless more than half of the replicates have i → j, and at least twice as many of
        them as have j → i; or unless background knowledge rules j → i out.
        """
        return support.coin_tosses(self.arrow_support, self.knowledge)

    @cached_property
    def margin(self) -> float:
        """Half the width of the 95 % interval (Wilson's) of the least certain share."""
        total = self.n_counted
        counts = (self._adjacent(), self.directed_counts, self.undirected_counts)
        # It is largest for the share that is nearest to a half.
        nearest = min(int(np.abs(2 * c - total).min(initial=total)) for c in counts)
        return support.half_width((total - nearest) / 2, total)

    def n_links(self, threshold: float = 0.5) -> int:
        """How many pairs are adjacent in at least this share of the replicates."""
        reached = self.link_support >= UP_TO_1.checked("threshold", threshold) - 1e-12
        return int(np.triu(reached, 1).sum())

    def consensus_dag(self, threshold: float = 0.5) -> Adjacency:
        """A DAG of the pairs that are adjacent in at least this share of the replicates.

        Each pair takes its most frequent mark. Of arrows that form a cycle the least supported
        loses its direction, and undirected edges are oriented without new v-structures as far as
        that is possible. Background knowledge is kept. Entry (i, j) is 1 for i → j.
        """
        UP_TO_1.checked("threshold", threshold)
        return support.consensus(
            self.arrow_support, self.undirected_support, threshold, self.knowledge
        )

    def consensus_cpdag(self, threshold: float = 0.5) -> Adjacency:
        """The equivalence class of `consensus_dag`: 1 = i → j, 2 = undirected (both entries).

        With background knowledge, edges that it orients are directed.
        """
        dag = self.consensus_dag(threshold)
        return to_cpdag(dag) if self.knowledge is None else to_mpdag(dag, self.knowledge)

    def to_records(self, threshold: float = 0.0) -> tuple[support.PairSupport, ...]:
        """The pairs adjacent in at least this share of the replicates, the surest links first.

        An arrow of the graph of all data goes from ``first`` to ``second``. Pairs that are never
        adjacent, neither in a replicate nor in the graph of all data, are left out.
        """
        UP_TO_1.checked("threshold", threshold)
        reference = self.reference.cpdag
        seen = (self.link_support > 0) | (reference + reference.T > 0)
        wanted = seen & (self.link_support >= threshold - 1e-12)
        pairs = support.ranked_pairs(self.link_support, reference, wanted)
        return tuple(support.pair_supports(self, reference, *pairs))

    def to_frame(self, threshold: float = 0.0) -> pd.DataFrame:
        """`to_records` as a pandas data frame."""
        return records_frame(self.FIELDS, self.to_records(threshold))

    def to_dict(self) -> dict[str, Any]:
        """What there is to know, as numbers, texts, lists and dicts."""
        told = ("status", "n_resamples", "n_counted", "n_degenerate", "n_time_limit", "margin")
        return {
            "variables": list(self.names),
            **{name: getattr(self, name) for name in told},
            "support": [record._asdict() for record in self.to_records()],
            "params": dict(self.params),
            "fingerprint": self.fingerprint,
            "versions": dict(self.reference.versions),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)

    def _header(self) -> dict[str, Any]:
        reference = {name: getattr(self.reference, name) for name in _REFERENCE}
        evidence = self.reference.evidence
        reference["evidence"] = None if evidence is None else evidence.to_dict()
        own = ("names", "status", "params", "fingerprint")
        return {name: getattr(self, name) for name in own} | {"reference": reference}

    def _arrays(self) -> Arrays:
        arrays: Arrays = {
            "directed_counts": self.directed_counts,
            "undirected_counts": self.undirected_counts,
            "outcomes": self.outcomes,
        }
        for name in ("cpdag", "dag", "order"):
            arrays[f"reference_{name}"] = getattr(self.reference, name)
        return arrays | knowledge_arrays(self.knowledge)

    @classmethod
    def _of(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        names, order = header["names"], arrays["reference_order"].astype(np.intp)
        if not np.array_equal(np.sort(order), np.arange(len(names))):
            raise ValueError("the order of the reference is no order of the variables")
        reference = typed(
            header["reference"], n_edges=int, status=str, seconds=float, params=dict, versions=dict
        )
        score, evidence = (header["reference"].get(name) for name in ("score", "evidence"))
        return cls(
            names=names,
            reference=Discovery(
                cpdag=check_pdag(arrays["reference_cpdag"], names),
                dag=check_dag(arrays["reference_dag"], names),
                order=order,
                names=names,
                score=math.nan if score is None else float(score),
                trace=tuple((float(t), float(s)) for t, s in header["reference"]["trace"]),
                evidence=None if evidence is None else Evidence.from_dict(evidence),
                **reference,
            ),
            directed_counts=arrays["directed_counts"],
            undirected_counts=arrays["undirected_counts"],
            outcomes=arrays["outcomes"],
            knowledge=stored_knowledge(names, arrays),
            **typed(header, status=str, params=dict, fingerprint=str),
        )

    def __repr__(self) -> str:
        lost = f", {self.n_degenerate} without a graph" if self.n_degenerate else ""
        late = f", {self.n_time_limit} ended by the time limit" if self.n_time_limit else ""
        kind = "parametric replicates" if self.params["method"] == "parametric" else "replicates"
        return (
            f"<Bootstrap: {self.n_variables} variables ({list_names(self.names)}), "
            f"{self.n_done} of {self.n_resamples} {kind}{lost}{late}, {self.status}, "
            f"supports ± {self.margin:.2g}>"
        )

    def summary(self) -> str:
        """The gist: how many links and arrows hold, or marks, and the surest pairs."""
        links = ", ".join(f"{self.n_links(s)} in {s:.0%}" for s in SHOWN_THRESHOLDS)
        records = self.to_records()
        hidden = len(records) - SHOWN_PAIRS
        return "\n".join(
            [
                repr(self),
                f"links: {links} or more of the resamples",
                *self._table(records[:SHOWN_PAIRS]),
                *([f"… {hidden} more pairs: to_frame() has them all"] if hidden > 0 else []),
            ]
        )

    def _table(self, records: Sequence[Any]) -> list[str]:
        """How many arrows hold, and the shares of some pairs."""
        head = " link  arrow  reverse  undirected  pair"
        return [f"arrows: {self._arrows()}", head, *map(_line, records)]

    def _repr_html_(self) -> str:
        records = self.to_records()
        rows = [
            (record.edge, *(f"{share:.0%}" for share in record.shares.values()))
            for record in records
        ]
        size = self.n_variables, len(records)
        header = ("pair", *support.SHARES)
        headline = f"{repr(self)[1:-1]}; arrows: {self._arrows()}"
        return as_html(headline, self.reference, size, header, rows, support=self)

    def _arrows(self) -> str:
        """How many arrows of the graph of all data hold."""
        arrows = self.reference.cpdag == 1
        total, tosses = int(arrows.sum()), int((arrows & self.coin_tosses).sum())
        if not total:
            return "none in the graph of all data"
        rest = f"; the other {tosses} (?) are not settled" if tosses else ""
        return f"{total - tosses} of {total} of the graph of all data hold{rest}"

    def _adjacent(self) -> support.Counts:
        return self.directed_counts + self.directed_counts.T + self.undirected_counts

    def _shares(self, counts: support.Counts) -> FloatArray:
        return read_only(counts / max(self.n_counted, 1))


def _line(record: support.PairSupport) -> str:
    shares = zip((5, 6, 8, 11), record.shares.values(), strict=True)
    cells = " ".join(f"{share:{width}.0%}" for width, share in shares)
    return f"{cells}  {record.edge}"
