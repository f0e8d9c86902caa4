"""What ``qwo learn`` knows in the end, in words and as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from qwo.cli.invocation import command_line
from qwo.cli.reading import DataRead
from qwo.cli.wording import count, table, wrapped_list
from qwo.text import about

if TYPE_CHECKING:
    from qwo.discovery import Discovery
    from qwo.graph import CausalGraph, Knowledge
    from qwo.resample import Bootstrap, PairSupport
    from qwo.sem import LinearSem

__all__ = ["Learnt", "command_line"]

WEAK_SUPPORT = 0.5


@dataclass(frozen=True)
class Learnt:
    """A graph with everything that belongs to it.

    Attributes
    ----------
    data : DataRead
    knowledge : Knowledge or None
    found : Discovery
    model : LinearSem or None
        The linear model on ``found.dag``; None where it cannot be fitted.
    n_resamples : int
        How many were asked for.
    bootstrap : Bootstrap or None
        None also where Ctrl-C came first.
    warnings : list of str
        What was warned of on the way.
    cut_short : bool
        Whether Ctrl-C came between search and bootstrap.
    """

    data: DataRead
    knowledge: Knowledge | None
    found: Discovery
    model: LinearSem | None
    n_resamples: int
    bootstrap: Bootstrap | None
    warnings: list[str]
    cut_short: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C cut the search or the bootstrap short."""
        return self.cut_short or "interrupted" in (self.found.status, self._bootstrap_status)

    @property
    def _bootstrap_status(self) -> str:
        if self.bootstrap is not None:
            return self.bootstrap.status
        return "interrupted" if self.n_resamples else "not asked for"

    def cpdag(self) -> CausalGraph:
        """The equivalence class, with names."""
        from qwo.graph import CausalGraph

        return CausalGraph.from_matrix(self.found.cpdag, self.found.names, kind="cpdag")

    def dag(self) -> CausalGraph:
        """One member of it."""
        from qwo.graph import CausalGraph

        return CausalGraph.from_matrix(self.found.dag, self.found.names, kind="dag")

    def edge_list(self, most: int | None = None) -> str:
        """One edge a line, with its support if there was a bootstrap."""
        edges = self.found.edges[:most]
        supports = self._supports()
        rows = [[*edge, _support_text(supports[edge])] if supports else [*edge] for edge in edges]
        hidden = len(self.found.edges) - len(rows)
        shown = table(rows)
        return f"{shown}\n… {count(hidden, 'more edge')}" if hidden else shown

    def headline(self) -> str:
        """What was found, in a line."""
        found = self.found
        directed = sum(mark == "-->" for _, mark, _ in found.edges)
        parts = [
            count(found.n_edges, "edge") + self._chance(),
            f"{directed} directed and {found.n_edges - directed} undirected",
            "" if self.data.moments.is_oracle else f"score {found.score:.2f}",
            f"{found.status} after {found.seconds:.2f} s",
        ]
        return f"found {', '.join(part for part in parts if part)}"

    def _chance(self) -> str:
        """How many of the edges chance alone would give."""
        if self.found.evidence is None or not self.found.n_edges:
            return ""
        return f" (chance alone would give {about(self.found.expected_false_edges)})"

    def notes(self) -> Iterator[str]:
        """What to think of before the graph is believed."""
        found = self.found
        undirected = sum(mark == "---" for _, mark, _ in found.edges)
        if found.status != "converged":
            reason = "the time limit" if found.status == "time limit" else "Ctrl-C"
            yield f"the search was cut short by {reason}: a better graph may exist"
        elif self._bootstrap_status == "interrupted":
            done = 0 if self.bootstrap is None else self.bootstrap.n_done
            yield f"the bootstrap was cut short by Ctrl-C, after {done} of {self.n_resamples} runs"
        if not found.n_edges:
            yield "no edge is worth its price; a lower --penalty (1 is the BIC) finds weaker ones"
        if undirected:
            yield (
                f"{undirected} of {count(found.n_edges, 'edge')} could point either way: the data "
                "fit both equally well. What you know can decide (--tiers, --require)"
            )
        yield from self._support_notes()
        yield "taken for granted: linear relations, no hidden common causes, no feedback"

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        found = self.found
        return {
            "kind": "result",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": command_line(),
            "data": {
                **self.data.summary(),
                "sha256": self.data.sha256,
                "names": found.names,
                "means": self.data.moments.means,
                "standard_deviations": self.data.moments.scales,
            },
            "audit": [asdict(finding) for finding in self.data.audit.findings],
            "warnings": self.warnings,
            "notes": list(self.notes()),
            "knowledge": None if self.knowledge is None else asdict(self.knowledge),
            "n_variables": found.n_variables,
            "n_edges": found.n_edges,
            "score": found.score,
            "status": "interrupted" if self.interrupted else found.status,
            "seconds": found.seconds,
            "edges": [list(edge) for edge in found.edges],
            "expected_false_edges": found.expected_false_edges,
            "edge_strengths": found.edge_strengths,
            "edge_false_rates": found.edge_false_rates,
            "dag_edges": [list(edge) for edge in self.dag().edges],
            "order": [found.names[v] for v in found.order],
            "coefficients": None
            if self.model is None
            else [edge._asdict() for edge in self.model.edges],
            "fit": None if self.model is None else asdict(self.model.fit),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "trace": found.trace,
            "params": found.params,
            "versions": found.versions,
        }

    def _supports(self) -> dict[tuple[str, str, str], PairSupport]:
        """The supports of the edges found; nothing without a bootstrap."""
        import numpy as np

        from qwo.resample.support import pair_supports

        if self.bootstrap is None:
            return {}
        place = {name: k for k, name in enumerate(self.found.names)}
        ends = np.array([(place[a], place[b]) for a, _, b in self.found.edges], dtype=np.intp)
        pairs = pair_supports(self.bootstrap, self.found.cpdag, *ends.reshape(-1, 2).T)
        return dict(zip(self.found.edges, pairs, strict=True))

    def _support_notes(self) -> Iterator[str]:
        supports = list(self._supports().values())
        weak = sorted((pair.link, pair.edge) for pair in supports if pair.link < WEAK_SUPPORT)
        if weak:
            links = [f"{edge} ({100 * link:.0f} %)" for link, edge in weak]
            yield f"links found again in fewer than half of the resamples: {wrapped_list(links, 6)}"
        tosses = [pair for pair in supports if pair.coin_toss]
        if tosses:
            arrows = [
                f"{pair.first} --> {pair.second} (arrow {100 * pair.arrow:.0f} %, reverse "
                f"{100 * pair.reverse:.0f} %)"
                for pair in tosses
            ]
            yield f"arrows little surer than a coin toss (?): {wrapped_list(arrows, 6)}"


def _support_text(pair: PairSupport) -> str:
    """Such as ``link 100 %, arrow 46 % ?``."""
    mark = "arrow" if pair.reference == "-->" else "undirected"
    share = 100 * getattr(pair, mark)
    return f"link {100 * pair.link:3.0f} %, {mark} {share:.0f} %{' ?' * pair.coin_toss}"
