"""What is known of a result: the graph, and whatever was found out beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qwo.discovery import Discovery
from qwo.discovery.readings import Assumption, assumptions_of
from qwo.drawing.layers import downward_ends
from qwo.errors import ArgumentError, Wording, python_wording
from qwo.graph.marks import ARROW, BY_CODE
from qwo.inspection.audit import Audit
from qwo.moments import Moments
from qwo.resample.support import PairSupport, Shares, Supports, pair_supports
from qwo.sem import Causes, LinearSem, fit_sem
from qwo.types import Adjacency, Indices, Mask

if TYPE_CHECKING:
    from qwo.agreement import Check, ConditionChecks
    from qwo.bayes import EffectPosterior, Posterior
    from qwo.graph import CausalGraph
    from qwo.resample import Bootstrap
    from qwo.sem.cyclic import CyclicSem

MOST_EFFECTS = 500
LIKELY_PATH = 0.5
"""Effects in the table, and the probability of a path from which on they are there."""

NEAR_COPY = 0.97
"""The correlation with another column from which on links are not judged by false rates."""


def model_of(moments: Moments, found: Discovery) -> LinearSem | CyclicSem | None:
    """The linear model on the graph found; none of series and with hidden causes."""
    if found.series is not None or found.hidden_causes is not None:
        return None
    if found.feedback is not None:
        return fit_sem(moments, found)
    usual = None if found.regimes is None else found.regimes.usual
    return fit_sem(moments if usual is None else usual, found.dag)


class EdgeDoubt(NamedTuple):
    """The chance that a link is none, and that an arrow is not so, from the best source at hand.

    None where it is not known: of the arrow of a line, and where what the numbers assume is known
    not to hold.
    """

    link: float | None
    arrow: float | None


@dataclass(frozen=True, eq=False)
class Contents:
    """A discovery and what is known beside it, as `write_report` takes it; None for what is not."""

    discovery: Discovery
    audit: Audit | None = None
    model: LinearSem | CyclicSem | None = None
    bootstrap: Bootstrap | None = None
    posterior: Posterior | None = None
    truth: object | None = None
    command: str | None = None
    title: str | None = None
    data_summary: Mapping[str, Any] | None = None
    check: Check | ConditionChecks | None = None
    outcome: Causes | None = None
    """The total effects on the variable that the user asks about."""
    wording: Wording = python_wording

    def __post_init__(self) -> None:
        names = tuple(self.discovery.names)
        model = self.model
        parts = {
            "model": None if model is None else model.variables,
            "bootstrap": self.bootstrap,
            "posterior": self.posterior,
            "check": self.check,
        }
        for what, part in parts.items():
            if part is not None and tuple(part.names) != names:
                raise ArgumentError(
                    f"the variables of the {what} are not those of the discovery, in the same "
                    f"order; make both from the same data"
                )
        own = self.discovery.dag if self.member is None else self.member
        if model is not None and not np.array_equal(model.variable_dag, own):
            raise ArgumentError(
                "the model was fitted to another graph; fit it with qwo.fit_sem(data, discovery)"
            )

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """Cause and effect of every edge of the DAG, in row order: the order of all edge lists."""
        if self.discovery.pag is not None:
            return downward_ends(self.discovery.pag)
        own = self.discovery.dag if self.member is None else self.member
        tails, heads = np.nonzero(own)
        return tails, heads

    @property
    def linear(self) -> LinearSem | None:
        """The model, where it follows an order."""
        return self.model if isinstance(self.model, LinearSem) else None

    @property
    def cyclic(self) -> CausalGraph | None:
        """The graph with cycles, where there are any."""
        found = getattr(self.discovery, "feedback", None)
        return None if found is None else found.graph

    @property
    def member(self) -> Adjacency | None:
        """The same with all edges directed."""
        found = getattr(self.discovery, "feedback", None)
        return None if self.cyclic is None or found is None else found.member

    @cached_property
    def types(self) -> list[str]:
        """The mark of every edge, from its cause."""
        shown = self.discovery.shown if self.cyclic is None else self.cyclic.matrix
        codes = shown[self.ends].tolist()
        return [ARROW if code == 1 else BY_CODE[max(code, 2)] for code in codes]

    @cached_property
    def directed(self) -> Mask:
        """For each edge whether the equivalence class determines its direction."""
        return np.array([mark == ARROW for mark in self.types], dtype=np.bool_)

    @cached_property
    def probabilities(self) -> Shares | None:
        """What the posterior says of classes of graphs, as a bootstrap says it of resamples."""
        found = self.posterior
        if found is None:
            return None
        links, arrows = found.link_probabilities, found.arrow_probabilities
        return Shares(found.names, found.n_draws, links, arrows, found.knowledge)

    @cached_property
    def edge_supports(self) -> list[PairSupport]:
        """How often resamples have each of the edges found; nothing without a bootstrap."""
        return self._judged(self.bootstrap)

    @cached_property
    def edge_probabilities(self) -> list[PairSupport]:
        """How probable each of the edges found is; nothing without a posterior."""
        return self._judged(self.probabilities)

    def _judged(self, judge: Supports | None) -> list[PairSupport]:
        if judge is None:
            return []
        place = {name: k for k, name in enumerate(self.discovery.names)}
        ends = [(place[a], place[b]) for a, _, b in self.discovery.edges]
        pairs = np.array(ends, dtype=np.intp).reshape(-1, 2)
        return pair_supports(judge, self.discovery.shown, *pairs.T)

    @property
    def doubt_source(self) -> str:
        """Where doubts come from: what takes account of most is believed first."""
        if self.posterior is not None:
            return "posterior"
        return "bootstrap" if self.bootstrap is not None else "false rate"

    @cached_property
    def doubts(self) -> list[EdgeDoubt]:
        """One number of doubt for the link and one for the arrow of each of the edges found."""
        pairs = self.edge_probabilities or self.edge_supports
        if pairs:
            return [
                EdgeDoubt(1 - pair.link, 1 - pair.arrow if pair.reference == ARROW else None)
                for pair in pairs
            ]
        found = self.discovery
        rates, arrows = found.edge_false_rates.tolist(), found.arrow_chances.tolist()
        withdrawn, near = bool(found.doubted_rates), set(self.near_copies)

        def doubt(a: str, mark: str, b: str, rate: float, sure: float) -> EdgeDoubt:
            unclear = {a, b} & near and {a, b} not in self._copies
            if withdrawn or unclear or math.isnan(rate):
                return EdgeDoubt(None, None)
            # An arrow is right if there is a link, and if it points that way.
            known = mark == ARROW and not math.isnan(sure)
            return EdgeDoubt(rate, 1 - (1 - rate) * sure if known else None)

        known = zip(found.edges, rates, arrows, strict=True)
        return [doubt(*edge, rate, sure) for edge, rate, sure in known]

    @property
    def near_copies(self) -> list[str]:
        """Variables that are nearly copies of another, by their correlation.

        What tells them apart is rounding, bends and causes alike, and so whatever else they have
        links with: in rows drawn from the model on the graph of scikit-learn's breast cancer table
        6 % of the links with a false rate below 10 % were false, three times as many as expected.
        """
        near = set[str]().union(*self._copies)
        return [name for name in self.discovery.names if name in near]

    @cached_property
    def _copies(self) -> list[set[str]]:
        origin = self.discovery.origin
        held = None if origin is None else origin.held
        if held is None or held.has_blocks or tuple(held.names) != tuple(self.discovery.names):
            return []
        names = held.names
        pairs = np.argwhere(np.triu(np.abs(held.correlation), 1) > NEAR_COPY).tolist()
        return [{names[i], names[j]} for i, j in pairs]

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the graph assumes, with what audit and check say of it."""
        origin = self.discovery.origin
        dropped = () if origin is None else origin.dropped
        known = None if origin is None else origin.audit
        alarms = () if self.check is None else [t.name for t in self.check.tests if t.alarm]
        return assumptions_of(dropped, self.audit or known, alarms)

    @cached_property
    def effects(self) -> list[EffectPosterior]:
        """The effects along the edges and likely paths; nothing without a posterior."""
        if self.posterior is None or not self.posterior.tells_effects:
            return []
        return likely_effects(self.posterior, self.discovery.dag, self.discovery.cpdag)


def likely_effects(found: Posterior, dag: Adjacency, cpdag: Adjacency) -> list[EffectPosterior]:
    """The effects along the edges of a graph and of pairs with a likely path, likeliest first.

    An edge without direction has effects both ways.
    """
    paths = found.path_probabilities
    edges = (dag == 1) | (cpdag == 2)
    wanted = edges | (paths > LIKELY_PATH)
    np.fill_diagonal(wanted, val=False)
    causes, targets = np.nonzero(wanted)
    first = np.lexsort((-paths[causes, targets], ~edges[causes, targets]))[:MOST_EFFECTS]
    chosen: dict[int, list[int]] = {}
    for k in first.tolist():
        chosen.setdefault(int(causes[k]), []).append(int(targets[k]))
    effects = [effect for x, ys in chosen.items() for effect in found.effects(x, ys)]
    return sorted(effects, key=lambda effect: -effect.probability)
