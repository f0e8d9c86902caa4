"""What a search with hidden causes has told: the class, its evidence, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.graph.causal_graph import CausalGraph
from qwo.graph.marks import HEAD, MARKS, SPOUSES, TAIL
from qwo.graph.pag import dag_marks, definite_causes, pag_of_mag, possible_causes
from qwo.hidden.effects import adjustment_in_pag, effect_of, separation_of, visible_edges
from qwo.hidden.search import FARTHEST, MagOutcome, MagProblem, MagStep
from qwo.moments.moments import Moments
from qwo.names import Variable, as_pair
from qwo.sem.effects import Effect
from qwo.text import aligned, count, first_few, records_frame
from qwo.types import Adjacency, FloatArray

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

_LINKS = ("", "-->", "<--", SPOUSES)
"""Kinds of edges by the numbers that the search gives them."""

CHANGES = ("source", "before", "target", "after", "colliders", "saving")


@dataclass(frozen=True, eq=False)
class HiddenCauses:
    """A class of graphs in which common causes may be hidden, and how it was found.

    Attributes
    ----------
    marks : ndarray
        The marks of the class, `pag`.
    outcome : MagOutcome
        The graph of the class that was found, and how the search came there.
    score : float
        Its score, 2·loglik - penalty, less that of the empty graph.
    moments : Moments
        What the data say, for partial correlations and effects.
    problem : MagProblem
        What graphs are scored by.
    dag : ndarray
        The best DAG, which the search began with.
    conditions : tuple of str
        The variables that are indicators of conditions, which nothing measured or hidden causes.
    """

    marks: Adjacency
    outcome: MagOutcome
    score: float
    moments: Moments
    problem: MagProblem
    dag: Adjacency
    conditions: tuple[str, ...] = ()

    @cached_property
    def pag(self) -> CausalGraph:
        """What all graphs with the same independences share.

        ``-->`` is a cause, ``<->`` a hidden common cause, ``o->`` one of the two or both, ``o-o`` a
        link and nothing more. Its values have what each ↔ is worth: how much the score falls if it
        is another edge, or none.
        """
        spouses = (self.marks == HEAD) & (self.marks.T == HEAD)
        values = {"worth": np.where(spouses, self.outcome.worths, np.nan)} if spouses.any() else {}
        return CausalGraph.from_marks(self.marks, self.names, "pag", values)

    @property
    def graph(self) -> CausalGraph:
        """The graph to show: the class."""
        return self.pag

    @property
    def saving(self) -> float:
        """By how much a graph with ↔ is better than the best DAG; 0 if nothing hidden pays."""
        return self.outcome.dag_cost - self.outcome.least

    @property
    def steps(self) -> tuple[MagStep, ...]:
        """The changes that led from the best DAG to the best graph, with what each has saved."""
        return self.outcome.steps

    @property
    def undoing(self) -> tuple[MagStep, ...]:
        """The changes from the best graph to `mag`, with what each has saved: less than 0.

        Two arrows that meet, of variables without an edge, direct all around them. Where few do and
        the data do not support them (`Discovery.arrow_evidence`), an edge is likelier missed there,
        or one turned, than that they are true.
        """
        return self.outcome.undoing

    @cached_property
    def removed(self) -> tuple[tuple[str, str, float], ...]:
        """Edges of the best DAG that are gone, and how much the score falls if one comes back."""
        gone = np.argwhere((self.dag != 0) & (self.outcome.marks == 0)).tolist()
        name, worths = self.names, self.outcome.worths
        return tuple((name[i], name[j], float(worths[i, j])) for i, j in gone)

    @cached_property
    def mag(self) -> CausalGraph:
        """The graph of the class that was found: edges ``-->`` and ``<->``."""
        return CausalGraph.from_marks(self.outcome.marks, self.names, "mag")

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.moments.names

    @property
    def confounded(self) -> list[tuple[str, str]]:
        """Pairs with a hidden common cause, neither causing the other: ↔ in every graph."""
        return [(a, b) for a, mark, b in self.pag.edges if mark == SPOUSES]

    @cached_property
    def visible(self) -> list[tuple[str, str]]:
        """Arrows beside which no common cause can be hidden (Zhang's visible edges)."""
        found = np.argwhere(visible_edges(self.marks, self.problem.clear)).tolist()
        return [(self.names[i], self.names[j]) for i, j in found]

    @cached_property
    def mark_worths(self) -> FloatArray:
        """For each arrowhead and tail, at [i, j] for the end at j, what it is worth.

        By how much the score falls in the best graph near by whose class has the edge, but not that
        mark, as `Discovery.arrow_evidence` has it for arrows. Below 0 where that graph is better
        and was not taken, since it needs more changes than its score warrants; infinite above 80;
        NaN for circles and where there is no edge. Worked out when asked for.
        """
        problem, marks = self.problem, self.marks
        worths = problem.search(self.outcome.marks, self.dag).mark_worths(FARTHEST)
        plain = pag_of_mag(dag_marks(self.dag), problem.knowledge, problem.clear)
        differs = (plain != 0) & (plain != marks)
        worths[differs] = np.minimum(worths[differs], self.outcome.dag_cost - self.outcome.cost)
        worths[~np.isin(marks, (HEAD, TAIL))] = np.nan
        return worths

    def mark_evidence(self) -> list[tuple[str, str, str, float, float]]:
        """The edges of the class with what the mark at each end is worth; NaN for circles."""
        at, index = self.mark_worths, self.pag.index
        ends = [(edge, index(edge.source), index(edge.target)) for edge in self.pag.edges]
        return [(*edge, float(at[j, i]), float(at[i, j])) for edge, i, j in ends]

    def causes_of(self, outcome: Variable, *, possible: bool = False) -> list[str]:
        """Variables that cause an outcome in every graph of the class, or in some of them."""
        causes = (possible_causes if possible else definite_causes)(self.marks)
        return [self.names[i] for i in np.flatnonzero(causes[:, self.pag.index(outcome)])]

    def effect(self, cause: Variable, effect: Variable) -> Effect:
        """The total effect of one variable on another, in spite of whatever is hidden.

        It is a slope given an adjustment set that is valid in every graph of the class. Where there
        is none the estimate is not a number, and the note says why.
        """
        x, y = as_pair(self.names, cause, effect)
        return effect_of(self._adjusted(x, y), self.moments, x, y)

    def adjustment_set(self, cause: Variable, effect: Variable) -> list[str] | None:
        """What to adjust for in every graph of the class; None where there is no such set."""
        chosen, _ = self._adjusted(*as_pair(self.names, cause, effect))
        return None if chosen is None else [self.names[v] for v in chosen]

    def _adjusted(self, x: int, y: int) -> tuple[list[int] | None, str]:
        return adjustment_in_pag(self.marks, self.outcome.marks, x, y, self.problem.clear)

    def to_networkx(self) -> nx.DiGraph[str]:
        """A DAG with its hidden causes, as DoWhy and others take it.

        The arrows of `mag`, and a vertex U1, U2, … with ``observed="no"`` behind each ↔, and beside
        each arrow that a hidden cause may accompany. What is identified in it is so in whatever the
        class leaves open about hidden causes; of open directions it has one of those possible.
        """
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names, observed="yes")
        seen, k = {*self.visible}, 0
        for a, mark, b in self.mag.edges:
            if mark != SPOUSES:
                graph.add_edge(a, b)
            if mark == SPOUSES or (a, b) not in seen:
                k += 1
                while f"U{k}" in self.names:
                    k += 1
                graph.add_node(f"U{k}", observed="no")
                graph.add_edges_from([(f"U{k}", a), (f"U{k}", b)])
        return graph

    def separation(self, first: Variable, second: Variable) -> tuple[list[str], float]:
        """A set that separates two variables without an edge, and their partial correlation."""
        x, y = as_pair(self.names, first, second)
        chosen, size = separation_of(self.outcome.marks, self.moments, x, y)
        return [self.names[v] for v in chosen], size

    def records(self) -> list[tuple[str, str, str, str, str, float]]:
        """The changes from the best DAG by name: edge before and after, new colliders, saving.

        Those that undo doubtful colliders come last, with what they lose as a saving below 0.
        """
        rows, name = [], self.names
        for first, second, before, after, colliders, saving, _ in (*self.steps, *self.undoing):
            links = name[first], _LINKS[before], name[second], _LINKS[after]
            rows.append((*links, ", ".join(name[z] for z in colliders), saving))
        return rows

    def to_frame(self) -> pd.DataFrame:
        """The changes from the best DAG, as a pandas data frame."""
        return records_frame(CHANGES, self.records())

    def summary(self) -> str:
        """What it tells, in some lines, with the meaning of every mark that occurs."""
        return "\n".join([self.headline(), *self._touched(), *aligned(self.legend(), left=None)])

    def headline(self) -> str:
        """What was saved against the best DAG, and which pairs share a hidden cause."""
        text = "no sign of hidden causes: no graph with ↔ is better than the best DAG"
        if self.steps:
            text = f"{count(len(self.steps), 'change')} from the best DAG"
            text += f" {'saves' if len(self.steps) == 1 else 'save'} {self.saving:.1f} of the score"
        if self.confounded:
            pairs = first_few([f"{a} ↔ {b}" for a, b in self.confounded], 8)
            text += f"; hidden common causes: {pairs}"
        if self.undoing:
            lost = self.outcome.cost - self.outcome.least
            text += (
                f"; {count(len(self.undoing), 'edge')} added or turned at a loss of {lost:.1f}, "
            )
            text += "so that no arrowhead hangs on a collider that the data do not support"
        return text

    def legend(self) -> list[tuple[str, str]]:
        """The marks that occur, and what each says."""
        used = {edge.mark for edge in self.pag.edges}
        return [(mark.symbol, meaning(text)) for text, mark in MARKS.items() if text in used]

    def _touched(self) -> list[str]:
        """What each condition acts on, in a line each."""
        told = [(a, [y for x, _, y in self.pag.edges if x == a]) for a in self.conditions]
        return [f"{a} acts on {first_few(found, 8) if found else 'nothing'}" for a, found in told]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "score": self.score,
            "saving": self.saving,
            "confounded": [list(pair) for pair in self.confounded],
            "visible": [list(pair) for pair in self.visible],
            "pag": [list(edge) for edge in self.pag.edges],
            "mag": [list(edge) for edge in self.mag.edges],
            "removed": [list(edge) for edge in self.removed],
            "separations": [[a, b, *self.separation(a, b)] for a, b, _ in self.removed],
            "changes": [dict(zip(CHANGES, row, strict=True)) for row in self.records()],
        }


def meaning(text: str) -> str:
    """What a mark says where causes may be hidden; an arrow then says less than in a DAG."""
    if text == "-->":
        return "The first causes the second, perhaps through others; both may share a hidden cause."
    return MARKS[text].meaning
