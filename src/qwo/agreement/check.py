"""`check`: how far data and a graph agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack, overload

import numpy as np

from qwo.agreement.conditions import ConditionChecks, check_conditions
from qwo.agreement.families import (
    Change,
    Correlations,
    CyclicFit,
    Independences,
    cyclic_independences,
    deviance,
    failing,
    implied_independences,
    wanted_changes,
)
from qwo.agreement.residuals import (
    ShuffledNoise,
    StandardRows,
    family_fits,
    held_out,
    influential_rows,
    least_linear,
    noise_dependence,
)
from qwo.agreement.result import Check, Evidenced, evidence_tests
from qwo.agreement.subsets import contradictions, draw_subsets, permuted, quick_dag, some_edges
from qwo.arguments import ReadArguments, hinting
from qwo.compute import one_blas_thread
from qwo.discovery import Discovery
from qwo.errors import ArgumentError, SampleSizeError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.knowledge import KnowledgeLike, as_knowledge
from qwo.graph.pdag import to_dag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.names import at_least, between, generator
from qwo.options import SHARE
from qwo.resample.options import DataRows
from qwo.types import Adjacency, FloatArray, Indices, Mask

INFLUENTIAL = 5
"""Rows that are named."""

MOST_SHUFFLED = 10_000
"""Rows up to which draws have the noise of the data: with more, sums of any noise are normal."""


@overload
def check(
    data: Any,
    graph: Any,
    *,
    alpha: float = 0.05,
    penalty_discount: float | None = None,
    learnt: bool | None = None,
    knowledge: KnowledgeLike | None = None,
    n_draws: int = 100,
    n_subsets: int = 5,
    random_state: int | None = None,
    regime: None = None,
    **reading: Unpack[ReadArguments],
) -> Check: ...


@overload
def check(
    data: Any,
    graph: Any,
    *,
    alpha: float = 0.05,
    penalty_discount: float | None = None,
    knowledge: KnowledgeLike | None = None,
    n_draws: int = 100,
    n_subsets: int = 5,
    random_state: int | None = None,
    regime: str | int,
    **reading: Unpack[ReadArguments],
) -> ConditionChecks: ...


@hinting
def check(
    data: Any,
    graph: Any,
    *,
    alpha: float = 0.05,
    penalty_discount: float | None = None,
    learnt: bool | None = None,
    knowledge: KnowledgeLike | None = None,
    n_draws: int = 100,
    n_subsets: int = 5,
    random_state: int | None = None,
    regime: str | int | None = None,
    **reading: Unpack[ReadArguments],
) -> Check | ConditionChecks:
    """How far data and a graph agree.

    The graph implies independences, which are tested; the same is done with graphs whose nodes
    are permuted. Data drawn from the graph with its fitted coefficients say what is to be expected
    by chance: of the overall fit, of the worst independence, and of the agreement between the
    graph of all variables and graphs of some of them. If the graph was learnt from the same data,
    the search is repeated on each draw, so that its choosing counts too.

    Parameters
    ----------
    data : Moments, array-like, data frame, str or path
        Samples in rows and variables in columns, or their moments; equations and rows are looked
        at only where there are rows.
    graph : object
        Anything that `qwo.graph.as_graph` takes: a DAG; a CPDAG, of which one member is checked; or
        a directed graph with cycles, of which independences, fit and changes are looked at.
    alpha : float
        The probability of an alarm if the graph is right, and the false discovery rate of the
        implied independences.
    penalty_discount : float, optional
        c of the price c log N of an edge, for the changes that the data want and for searches; if
        not given, that of the `Discovery`, or 2.
    learnt : bool, optional
        Whether the graph was learnt from these data; if not given, whether it is a `Discovery`.
    knowledge : Knowledge, mapping, str or path, optional
        Background knowledge with which the graph was learnt: no change is proposed that it does
        not allow, and the searches respect it.
    n_draws : int
        Data sets drawn from the graph, permuted graphs, and random graphs.
    n_subsets : int
        Subsets of variables; 0 leaves them out.
    random_state : int, optional
        Seed.
    regime : str or int, optional
        A column that says under which condition a row was taken. The rows of each are checked by
        themselves, with coefficients of their own: the result is a `ConditionChecks`. A mapping
        from conditions to tables as the data does the same.
    **reading
        How data are read, as for `Moments.from_data`: ``columns``, ``drop``, ``transform``,
        ``missing`` and so on.
    """
    _refuse_series(graph)
    SHARE.checked("alpha", alpha)
    at_least("n_draws", n_draws, 0)
    at_least("n_subsets", n_subsets, 0)
    if regime is not None or isinstance(data, Mapping):
        drawn = {"n_draws": n_draws, "n_subsets": n_subsets, "random_state": random_state}
        told = {"penalty_discount": penalty_discount, "knowledge": knowledge, "alpha": alpha}
        return check_conditions(data, graph, regime, {**told, **drawn}, **reading)
    given = DataRows.of(data, reading)
    moments = _sampled(given)
    wanted = as_graph(graph, moments.names, kind="dag")
    cyclic, matrix = wanted.kind == "cyclic", wanted.matrix
    if cyclic:
        _check_cyclic(moments, wanted)
    dag = matrix if cyclic else to_dag(matrix, moments.names)
    known = None if knowledge is None else as_knowledge(knowledge).resolve(moments.names)
    if known is not None and not cyclic:
        known.check_dag(dag)
    rng = generator(random_state)
    # Graphs of subsets are those of searches without cycles.
    subsets = [] if cyclic else draw_subsets(len(dag), n_subsets, rng)
    learnt = isinstance(graph, Discovery) if learnt is None else learnt
    if penalty_discount is None:
        # A score of counts has no price of an edge.
        found = graph.params if isinstance(graph, Discovery) else {}
        penalty_discount = found.get("penalty_discount") or 2.0
    penalty_discount = between("penalty_discount", penalty_discount, 0.0, 1e6)
    # All matrices are small: threads of BLAS would cost more than they bring.
    with one_blas_thread(0.0):
        # A search says nothing of arrows that its class leaves open: its DAG is one of many.
        said = graph.cpdag if isinstance(graph, Discovery) and not cyclic else matrix
        data = Correlations.of(moments)
        how = alpha, penalty_discount, subsets, learnt, known
        work = (_CyclicWork if cyclic else _Work)(moments.names, data, dag, said, *how)
        # Each equation of a cycle has causes that its noise acts upon: no regression.
        rows = None if cyclic else _standardised(given.data, moments)
        return work.check(rows, n_draws, rng)


def _refuse_series(graph: Any) -> None:
    if isinstance(graph, Discovery) and graph.series is not None:
        raise ArgumentError(
            "the graph was learnt with lags, and a check treats rows as independent; what "
            "speaks against lagged graphs is tested as they are learnt (warnings, found.series."
            "notes), and found.series.supports() tells how often edges are found again"
        )


def _sampled(given: DataRows) -> Moments:
    """The moments of rows that are samples each."""
    if getattr(given.data, "clusters", None) is not None:
        raise ArgumentError(
            "cluster is given, but the check takes each row for a sample of its own; give it one "
            "row of each cluster instead",
            option="cluster",
        )
    moments = given.moments or as_moments(
        given.data, missing=given.missing, covariance_estimator=given.covariance_estimator
    )
    moments.require_seen("the check")
    if moments.is_oracle:
        raise SampleSizeError("exact moments (N = ∞) leave nothing to test; wanted a sample")
    return moments


def _check_cyclic(moments: Moments, graph: CausalGraph) -> None:
    """Refuse what a model with cycles cannot be fitted to."""
    moments.require_columns("the check of a graph with cycles")
    graph.require_directed()
    if moments.n_samples <= moments.n_variables + 2:
        raise SampleSizeError("the check of a graph with cycles takes more samples than variables")


@dataclass(frozen=True, eq=False)
class _Work:
    """Data, graph, and what they are looked at with."""

    names: tuple[str, ...]
    data: Correlations
    dag: Adjacency
    said: Adjacency
    alpha: float
    penalty_discount: float
    subsets: list[Indices]
    learnt: bool
    knowledge: ResolvedKnowledge | None

    @property
    def settled(self) -> Mask:
        """The variables whose parents are the same in every graph of the class."""
        return np.asarray(~(self.said == 2).any(axis=0))

    def check(self, rows: StandardRows | None, n_draws: int, rng: np.random.Generator) -> Check:
        """Everything together."""
        data, dag, alpha = self.data, self.dag, self.alpha
        seen, shuffled = self.look(data, dag), None
        if rows is not None:
            # Where the class leaves an arrow open, that of its member is no claim to be held
            # against, but some member has to be linear.
            seen = replace(seen, bend=least_linear(rows, dag, self.said))
            if len(rows) == data.n_samples and len(rows) <= MOST_SHUFFLED:
                shuffled = ShuffledNoise.of(rows, dag)
        drawn = [self.look_at_draw(rng, shuffled) for _ in range(n_draws)]
        fits = () if rows is None else tuple(family_fits(rows, dag, self.settled))
        noise = math.nan
        if rows is not None:
            noise = noise_dependence(rows, dag, self.settled, max(n_draws, 199), rng)
        tests = evidence_tests(seen, drawn, noise, alpha)
        fails = failing(seen.independences.p_values, alpha)
        return Check(
            alarm=any(test.alarm for test in tests),
            tests=tests,
            independences=seen.independences,
            failing=fails,
            permuted=self.share_as_good(int(fails.sum()), n_draws, rng, permuted),
            random=self.share_as_good(int(fails.sum()), n_draws, rng, self.random_graph),
            changes=tuple(self.wanted_changes()),
            subsets=seen.subsets,
            families=fits,
            influential=() if rows is None else tuple(influential_rows(rows, dag, INFLUENTIAL)),
            held_out=None if rows is None else held_out(rows, dag, rng),
            dag=dag,
            names=self.names,
            n_samples=data.n_samples,
            learnt=self.learnt,
            params={
                "alpha": alpha,
                "penalty_discount": self.penalty_discount,
                "n_draws": n_draws,
                "n_subsets": len(self.subsets),
            },
            n_open=int((self.said == 2).sum()) // 2,
        )

    @property
    def price(self) -> float:
        """Of an edge."""
        return self.penalty_discount * math.log(self.data.n_samples)

    def wanted_changes(self) -> list[Change]:
        return wanted_changes(self.data, self.dag, self.price, self.knowledge)

    def independences(self, data: Correlations, graph: Adjacency) -> Independences:
        return implied_independences(data, graph)

    def look(self, data: Correlations, dag: Adjacency) -> Evidenced:
        how = self.penalty_discount, self.subsets, self.knowledge
        compatible = contradictions(data, dag, *how) if self.subsets else None
        return Evidenced(implied_independences(data, dag), deviance(data, dag), compatible)

    def look_at_draw(self, rng: np.random.Generator, shuffled: ShuffledNoise | None) -> Evidenced:
        """What data drawn from the graph say of it, or of the graph learnt from them.

        They have normal noise, or that of the data.
        """
        bend = math.nan
        if shuffled is None:
            drawn = self.data.drawn(self.implied, rng)
        else:
            rows = shuffled.drawn(rng)
            centred = rows.values - rows.values.mean(axis=0)
            drawn = self.data.like(centred.T @ centred)
            bend = least_linear(rows, self.dag, self.said)
        dag = self.dag
        if self.learnt:
            dag = quick_dag(drawn, self.penalty_discount, self.knowledge)
        return replace(self.look(drawn, dag), bend=bend)

    @cached_property
    def implied(self) -> FloatArray:
        """The covariance matrix under the graph with its fitted coefficients."""
        return self.data.implied(self.dag)

    def share_as_good(
        self,
        count: int,
        draws: int,
        rng: np.random.Generator,
        other_graph: Callable[[Adjacency, np.random.Generator], Adjacency],
    ) -> float:
        """Share of graphs of which at most so many implied independences fail."""
        if not draws:
            return math.nan
        as_good = 0
        for _ in range(draws):
            other = other_graph(self.dag, rng)
            found = self.independences(self.data, other)
            as_good += int(failing(found.p_values, self.alpha).sum()) <= count
        return as_good / draws

    def random_graph(self, dag: Adjacency, rng: np.random.Generator) -> Adjacency:
        """A random DAG with as many edges, in a random order."""
        pairs = np.column_stack(np.triu_indices(len(dag), 1))
        return permuted(some_edges(dag, pairs, rng), rng)


class _CyclicWork(_Work):
    """The same of a graph with cycles: other independences, another likelihood, no subsets."""

    def fit(self, data: Correlations, graph: Adjacency) -> CyclicFit:
        return CyclicFit(data, graph, self.price)

    def wanted_changes(self) -> list[Change]:
        known = self.knowledge
        limits = (None, None) if known is None else (known.allowed_parents, known.required)
        return self.fit(self.data, self.dag).wanted_changes(*limits)

    def independences(self, data: Correlations, graph: Adjacency) -> Independences:
        return cyclic_independences(data, graph)

    def look(self, data: Correlations, dag: Adjacency) -> Evidenced:
        return Evidenced(self.independences(data, dag), self.fit(data, dag).deviance(), None)

    def look_at_draw(self, rng: np.random.Generator, _: ShuffledNoise | None) -> Evidenced:
        """Of a graph that was learnt, the search is repeated from there by single edges."""
        drawn = self.data.drawn(self.implied, rng)
        graph = self.fit(drawn, self.dag).improved() if self.learnt else self.dag
        return self.look(drawn, graph)

    @cached_property
    def implied(self) -> FloatArray:
        return self.fit(self.data, self.dag).implied()

    def random_graph(self, dag: Adjacency, rng: np.random.Generator) -> Adjacency:
        return some_edges(dag, np.argwhere(~np.eye(len(dag), dtype=bool)), rng)


def _standardised(data: Any, moments: Moments) -> StandardRows | None:
    """The complete rows in standard deviations, where the data have rows."""
    if isinstance(data, Moments):
        return None
    kept = data.values[np.isfinite(data.values).all(axis=1)]
    columns = moments.coding.recoded(kept, data.coding)
    return StandardRows.of((columns - moments.means) / moments.scales, moments.coding)
