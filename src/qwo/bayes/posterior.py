"""`posterior`: how probable every edge is, given the data."""

# Long because it is the one road from data to draws.

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, Unpack

import numpy as np
from tqdm import tqdm

from qwo.archives import MOST_DRAWS
from qwo.arguments import ReadArguments, hinting
from qwo.bayes import candidates as candidate_lists
from qwo.bayes import scores
from qwo.bayes.chains import AGREED, ChainRecord, Chains, disagreement, edge_convergence, shares
from qwo.bayes.result import Posterior, PosteriorStatus
from qwo.compute import count_workers
from qwo.discovery.discover import discover_as
from qwo.discovery.regimes import RegimeKnowledge
from qwo.discovery.resolve import dense_algebra, make_engine, resolve
from qwo.errors import ArgumentError, Cure, DataWarning, SampleSizeError
from qwo.graph.knowledge import KnowledgeLike, as_knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments, as_moments
from qwo.names import drawn_seed
from qwo.options import ABOVE_0, WHOLE_FROM_0, InterventionName, SearchOptions, whole_number
from qwo.order.candidates import block_candidates
from qwo.order.linalg import precision_matrix, versions
from qwo.order.score import BIC
from qwo.regimes.reading import read_regimes, regime_options
from qwo.regimes.search import opened_search
from qwo.search import Control
from qwo.search.control import Stopped, bic_insertion, keyboard_heard
from qwo.types import Adjacency, FloatArray

N_CHAINS = 4
FIRST, DENSER = 2.0, 1.0
"""Penalty discounts of the two DAGs around which the lists of candidates are grown."""

WORTH_A_WARNING = 0.05
"""Probability of an edge outside the lists that users are told of."""

ATTEMPTS = 3
"""How often chains run: if their draws miss candidates, these are added and the chains run anew."""

OUTSIDE_DRAWS = 200
"""Draws over which the ratios of edges outside the lists are averaged."""


@hinting
def posterior(
    data: Any,
    *,
    score: scores.ScoreName = "bge",
    t: float | None = None,
    penalty_discount: float = 1.0,
    edge_prior: float | None = None,
    knowledge: KnowledgeLike | None = None,
    regime: str | int | None = None,
    targets: Mapping[str, Sequence[str]] | str | None = None,
    effect: InterventionName = "soft",
    n_draws: int = 2000,
    n_jobs: int = 1,
    time_limit: float | None = None,
    random_state: int | None = None,
    progress: bool = False,
    **reading: Unpack[ReadArguments],
) -> Posterior:
    """The posterior over DAGs of a linear Gaussian model: p(G | data) ∝ Π_v s(v, Pa_v) κ^edges.

    Four Markov chains from independent random orders draw DAGs exactly in proportion to their
    probability, among all whose parents come from lists of candidates; with up to 15 variables the
    lists are complete. If the chains disagree, they make more sweeps between the draws. What the
    lists leave out is measured and part of the result.

    Parameters
    ----------
    data : array-like, data frame, str or path, or Moments
        As for `discover`. The sample must be finite: exact moments have no posterior.
    score : {"bge", "bic"}
        The BGe marginal likelihood, or the BIC in its place, which has no scale to choose. BGe is
        of one population: rows from several conditions have the BIC.
    t : float, optional
        BGe's prior matrix is T = tI on standardised data. If not given, the t of a grid under
        which the graph that `discover` finds is most probable; 0.5 is customary elsewhere.
    penalty_discount : float
        For the BIC: the price of a parent is penalty_discount/2 · log N.
    edge_prior : float, optional
        κ, the prior odds of an edge; 1/(2(n - 1)) if not given. 1 makes all DAGs alike, which
        expects hundreds of false edges among a hundred variables.
    knowledge : Knowledge, mapping, str or path, optional
        Background knowledge, or a file of it in Tetrad's format; every draw respects it.
    regime, targets, effect
        Conditions, and what they touched, as for `discover`: equations may differ between them.
    n_draws : int
        DAGs that are drawn, by all four chains together.
    n_jobs : int
        Threads; -1 for one per processor. Their number does not change the draws.
    time_limit : float, optional
        Seconds after which the draws so far are returned. Ctrl-C does the same.
    random_state : int, optional
        Seed. The same seed gives the same draws.
    progress : bool
        Show a progress bar on standard error.
    **reading
        Columns to take or drop, transformations, missing values and how a text file is written, as
        for `qwo.options.ReadOptions`.

    Returns
    -------
    Posterior

    Warns
    -----
    DataWarning
        If the chains disagree, or if an edge outside the lists is not negligible.

    Examples
    --------
    >>> import qwo
    >>> data, dag, _ = qwo.simulate("er", n_variables=8, n_samples=500, degree=2, random_state=1)
    >>> sure = qwo.posterior(data, random_state=1)
    >>> bool((sure.link_probabilities[(dag + dag.T) == 1] > 0.9).all())
    True
    """
    control = Control(time_limit=time_limit)
    threads, per_chain = count_workers(n_jobs), _draws_per_chain(n_draws)
    random_state = drawn_seed() if random_state is None else random_state
    WHOLE_FROM_0.checked("random_state", random_state)
    search = SearchOptions(random_state=random_state, n_jobs=threads, knowledge=knowledge)
    of_conditions = _OfConditions.of(
        data, replace(search, regime=regime, targets=targets, effect=effect, n_jobs=1), reading
    )
    moments = _checked(of_conditions.within if of_conditions else as_moments(data, **reading))
    score = "bic" if of_conditions and score == "bge" else score
    prior = 1 / (2 * (moments.n_variables - 1)) if edge_prior is None else edge_prior
    odds = ABOVE_0.checked("edge_prior", prior)
    resolved = None
    if knowledge is not None:
        resolved = as_knowledge(knowledge).strictly("the posterior").resolve(moments.names)
    constraints = candidate_lists.Constraints.of(resolved, moments.n_variables)
    lists = candidate_lists.complete_lists(constraints)
    with keyboard_heard(control):
        made = {"score": score, "t": t, "penalty_discount": penalty_discount, "odds": odds}
        if of_conditions is None:
            needed = 2 if lists is None else int(score == "bge" and t is None)
            dags = _start_dags(moments, needed, search, control)
            family, chosen = _family(moments, dags=dags, **made)
        else:
            dags, (family, chosen) = [of_conditions.dag], of_conditions.family(**made)
        lists = lists or _block_lists(family, moments, dags, constraints)
        seeds = np.random.SeedSequence(random_state)
        sampler = _Sampler(family, constraints, seeds, threads, _asker(control))
        drawn = sampler.draw(lists, dags, per_chain, progress=progress)
    run = {"n_draws": n_draws, "n_jobs": n_jobs, "time_limit": time_limit}
    params = {"score": score, "edge_prior": odds, **run, "random_state": random_state, **chosen}
    return _result(*_of_numbers(moments, params), resolved, drawn, control)


class _Drawn(NamedTuple):
    """The draws of all chains, the lists of candidates they come from, and what these leave out."""

    record: ChainRecord
    lists: candidate_lists.ParentLists
    ratios_outside: FloatArray


@dataclass(frozen=True, eq=False)
class _Sampler:
    """What is drawn from, and whom to ask whether there is time left."""

    family: scores.FamilyScore | scores.BlockFamilies
    constraints: candidate_lists.Constraints
    seeds: np.random.SeedSequence
    threads: int
    go_on: Callable[[], bool]

    def draw(
        self,
        lists: candidate_lists.ParentLists | None,
        dags: list[Adjacency],
        per_chain: int,
        *,
        progress: bool,
    ) -> _Drawn:
        """Run chains in complete lists, or in ones that are grown until the draws miss nothing."""
        rng = np.random.default_rng(self.seeds.spawn(1)[0])
        grown = None
        if lists is None:
            assert isinstance(self.family, scores.FamilyScore)
            grown = candidate_lists.grow_lists(
                self.family, dags, self.constraints, rng, threads=self.threads, go_on=self.go_on
            )
            lists = grown.lists
        chain_seeds = [int(seed) for seed in self.seeds.generate_state(N_CHAINS, np.uint64)]
        for left in reversed(range(ATTEMPTS)):
            tables = lists.tables(self.family, self.constraints, self.threads)
            before = candidate_lists.precedence(lists.core_mask, self.constraints)
            orders = [candidate_lists.random_extension(before, rng) for _ in range(N_CHAINS)]
            enough = _enough(grown if left else None, tables, lists)
            chains = Chains(tables, orders, chain_seeds, self.threads)
            with tqdm(
                total=per_chain, unit=" draws", desc="posterior", disable=not progress
            ) as bar:
                told: Any = lambda done, bar=bar: bar.update(done - bar.n)  # noqa: E731
                record = chains.run(per_chain, self.go_on, told, _agree(lists, enough))
            if not record.complete or enough(record.masks):
                break
            assert grown is not None, "complete lists are enough"
            lists = grown.lists
        possible = np.ascontiguousarray(self.constraints.possible, dtype=np.uint8)
        if isinstance(self.family, scores.BlockFamilies):
            return _Drawn(record, lists, np.zeros(possible.shape))
        return _Drawn(record, lists, tables.ratios_outside(_some(record.masks), possible)[0])


def _of_numbers(moments: Moments, params: dict[str, Any]) -> tuple[Moments, dict[str, Any]]:
    """What a result keeps of moments: where some variables are categories, no numbers of them.

    Effects under a graph that is not sure are told of numbers only.
    """
    told = {"n_samples": moments.n_samples, "covariance_estimator": moments.estimator}
    params = {**params, **told, "n_chains": N_CHAINS}
    if not moments.has_blocks and "columns" not in params:
        return moments, params
    n, sizes = moments.n_variables, moments.whitened()[1].tolist()
    plain = Moments(moments.names, moments.n_samples, np.zeros(n), np.ones(n), np.eye(n))
    return plain, {**params, "columns": sizes}


def _result(
    moments: Moments,
    params: dict[str, Any],
    knowledge: ResolvedKnowledge | None,
    drawn: _Drawn,
    control: Control,
) -> Posterior:
    record, lists, ratios = drawn
    status: PosteriorStatus = "complete" if record.complete else "time limit"
    status = "interrupted" if control.interrupted else status
    varies, rhat, ess = edge_convergence(record.masks, lists.candidates)
    result = Posterior(
        moments=moments,
        edge_probabilities=np.where(lists.inside, record.edges, ratios / (1 + ratios)),
        candidates=lists.candidates,
        core=lists.core,
        masks=record.masks,
        log_scores=record.log_scores,
        rhat=_filled(varies, rhat, 1.0),
        ess=_filled(varies, ess, float(record.log_scores.size)),
        outside_ratios=ratios,
        acceptance=record.acceptance,
        status=status,
        seconds=control.seconds,
        params={**params, "sweeps_per_draw": record.thin},
        versions=versions(),
        knowledge=knowledge,
    )
    _warn(result)
    return result


def _checked(moments: Moments) -> Moments:
    """The moments of a sample, which leave something unsure."""
    if moments.coding.has_curves:
        moments.require_columns("the posterior")
    if moments.is_oracle:
        raise SampleSizeError(
            "these are the exact moments of a distribution (N = ∞), which leave nothing unsure; "
            "wanted those of a sample"
        )
    if moments.n_samples < 4:
        raise SampleSizeError(f"a posterior takes at least 4 samples; got {moments.n_samples:g}")
    return moments


def _draws_per_chain(n_draws: int) -> int:
    wanted = whole_number("n_draws", n_draws)
    if not 4 * N_CHAINS <= wanted <= MOST_DRAWS:
        raise ArgumentError(
            f"n_draws is {n_draws}; wanted at least {4 * N_CHAINS}, and {MOST_DRAWS:,} at most",
            option="n_draws",
        )
    return -(-wanted // N_CHAINS)


def _family(
    moments: Moments,
    *,
    score: str,
    t: float | None,
    penalty_discount: float,
    odds: float,
    dags: list[Adjacency],
) -> tuple[scores.FamilyScore | scores.BlockFamilies, dict[str, float]]:
    """The score that was asked for, and the parameter that it was made with."""
    blocks = moments.has_blocks
    if score == "bge":

        def make(chosen: float) -> scores.FamilyScore | scores.BlockFamilies:
            return (scores.block_bge if blocks else scores.bge_score)(moments, chosen, odds)

        chosen = scores.choose_t(make, dags[0]) if t is None else ABOVE_0.checked("t", t)
        return make(chosen), {"t": chosen}
    if score == "bic":
        if t is not None:
            raise ArgumentError(
                f"t is {t!r}, but only the score 'bge' has one; leave it out",
                option="t",
                cures=[Cure("score", "bge", "has it")],
            )
        discount = ABOVE_0.checked("penalty_discount", penalty_discount)
        bic = (scores.block_bic if blocks else scores.bic_score)(moments, discount, odds)
        return bic, {"penalty_discount": discount}
    raise ArgumentError(f"score is {score!r}; wanted 'bge' or 'bic'", option="score")


@dataclass(frozen=True, eq=False)
class _OfConditions:
    """Rows of several conditions: moments within these, the DAG found, and what families cost."""

    within: Moments
    dag: Adjacency
    opened: Callable[[float], Any]

    @classmethod
    def of(cls, data: Any, options: SearchOptions, reading: ReadArguments) -> Self | None:
        """Nothing for rows of one population."""
        if not isinstance(data, Mapping) and not {"regime", "targets"} & set(options.dropped):
            return None
        options = regime_options(data, options)
        given, found = read_regimes(data, options, reading), discover_as(data, options, reading)
        known = RegimeKnowledge.of(options, given)
        known = known.as_in(found.regimes)
        told: dict[str, Any] = {"known": known.touched, "dropped": known.set}
        sums = given.sums.standardised()
        return cls(
            given.within,
            found.dag,
            lambda penalty: opened_search(sums, found.order, penalty_discount=penalty, **told),
        )

    def family(
        self, *, score: str, t: float | None, penalty_discount: float, odds: float
    ) -> tuple[scores.ConditionFamilies, dict[str, Any]]:
        """The score, and what it was made with."""
        if score != "bic" or t is not None:
            raise ArgumentError(
                "conditions go with the score 'bic', which has no t; leave both out",
                option="score",
                cures=[Cure("score", "bic", "gives each condition that differs its own equation")],
            )
        discount = ABOVE_0.checked("penalty_discount", penalty_discount)
        sizes = self.within.whitened()[1]
        numbers = np.zeros((1, 1)), sizes, self.within.n_samples, math.log(odds), np.zeros(1)
        cost = self.opened(discount).family_cost
        chosen = {"penalty_discount": discount, "conditions": True, "columns": sizes.tolist()}
        return scores.ConditionFamilies("bic", *numbers, cost=cost), chosen


def _block_lists(
    family: scores.FamilyScore | scores.BlockFamilies,
    moments: Moments,
    dags: list[Adjacency],
    constraints: candidate_lists.Constraints,
) -> candidate_lists.ParentLists | None:
    """Lists for categories, of others by what they explain; those of numbers are grown."""
    if isinstance(family, scores.FamilyScore):
        return None
    matrix, sizes = moments.whitened()
    precision, rows = precision_matrix(matrix, moments.n_samples), moments.n_samples
    how: Any = {"score": BIC(DENSER), "partial": 8, "marginal": 8}
    likely = block_candidates(matrix, precision, sizes, rows, **how)[0]
    return candidate_lists.lists_around(dags, likely, constraints)


def _start_dags(
    moments: Moments, how_many: int, options: SearchOptions, control: Control
) -> list[Adjacency]:
    """The DAG of a search, and if two are asked for, that of a descent from it at a low penalty.

    The second is there for what the first leaves out, and need not be the best. Ctrl-C and the
    time limit hold for both.
    """
    if not how_many:
        return []
    gamma = 0.0 if moments.n_samples > moments.n_variables else 0.5
    options = replace(options, penalty_discount=FIRST, gamma=gamma)
    left = None if math.isinf(control.remaining) else control.remaining / 4
    found = discover_as(
        moments, replace(options, time_limit=left), callback=lambda _: control.interrupted
    )
    if how_many == 1:
        return [found.dag]
    low = resolve(replace(options, penalty_discount=DENSER), moments)
    engine = make_engine(low, moments, found.order, dense_algebra(low, moments))
    bic_insertion(
        engine, restarts=0, tucks=False, control=control, random_state=options.random_state
    )
    return [found.dag, engine.dag()]


def _asker(control: Control) -> Callable[[], bool]:
    def go_on() -> bool:
        try:
            control.is_due()
        except Stopped:
            return False
        return True

    return go_on


def _enough(
    grown: candidate_lists.GrownLists | None, tables: Any, lists: candidate_lists.ParentLists
) -> Callable[[candidate_lists.Masks], bool]:
    """Whether draws miss no candidate; if they do, the grown lists are others then."""

    def enough(masks: candidate_lists.Masks) -> bool:
        if grown is None:
            return True
        if grown.lists is not lists:
            return False
        return grown.satisfy(tables, _some(masks), shares(masks, lists.candidates))

    return enough


def _agree(
    lists: candidate_lists.ParentLists, enough: Callable[[candidate_lists.Masks], bool]
) -> Callable[[candidate_lists.Masks], bool]:
    """Whether chains need no more sweeps: they agree, or must start anew with other lists."""

    def agree(masks: candidate_lists.Masks) -> bool:
        rhat = edge_convergence(masks, lists.candidates)[1]
        return disagreement(rhat) <= AGREED or not enough(masks)

    return agree


def _some(masks: candidate_lists.Masks) -> candidate_lists.Masks:
    """Enough of the draws of all chains to see what lies outside the lists."""
    draws = masks.reshape(-1, masks.shape[2])
    return np.ascontiguousarray(draws[:: max(1, len(draws) // OUTSIDE_DRAWS)])


def _filled(where: Any, values: FloatArray, other: float) -> FloatArray:
    matrix = np.full(where.shape, other)
    matrix[where] = values
    return matrix


def _warn(result: Posterior) -> None:
    if result.apart:
        more = "More draws, or more time, help"
        warnings.warn(f"{result.apart}. {more}", DataWarning, stacklevel=5)
    missing = result.largest_outside
    if missing > WORTH_A_WARNING:
        warnings.warn(
            f"an edge outside the lists of candidate parents has probability {missing:.2f}, so "
            "that draws, paths and effects lack it; edge probabilities hold an estimate of it",
            DataWarning,
            stacklevel=5,
        )
