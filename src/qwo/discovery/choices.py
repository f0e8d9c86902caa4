"""Which engine and which search a call of `discover` means."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from qwo.device import to_host
from qwo.discovery.price import (
    FEWEST_SAMPLES,
    LEAST,
    edge_evidence,
    explained_in,
    price_range,
)
from qwo.errors import ArgumentError, Cure, DataWarning
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.options import DEFAULTS, SearchOptions
from qwo.order.bic import BicEngine
from qwo.order.candidates import are_crowded, block_candidates, candidate_parents
from qwo.order.edge_test import paper_level
from qwo.order.linalg import precision_matrix
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.order.score import BIC
from qwo.parallel import count_workers
from qwo.search import (
    Control,
    SearchOutcome,
    grasp,
    hill_climbing,
    insertion,
    insertion_search_of,
)
from qwo.search.bic_insertion import bic_insertion
from qwo.types import FloatArray, Indices

DENSE = ("qwo", "reference")
"""The engines that regress on all predecessors."""

RESTARTS = 20
WIDE_GAMMA = 0.5
ALL_CANDIDATES_UP_TO = 1000
"""Up to so many variables each may become a parent of every other; beyond, there are lists of
candidates (see `qwo.order.candidates`), without which memory would not suffice for 10,000."""

ALL_AT_FIRST_UP_TO = 5000
"""Up to so many variables lists wait for the end of the first descent if correlations are crowded:
till then memory holds 18 to 26 matrices of n² numbers."""

OPERATIONS_A_SECOND = 8e9
"""What a slow processor core does on dense matrices; an inverse takes n³ of them."""

_PROTOCOL = [name for name in vars(OrderEngine) if not name.startswith("_")]

Search = Callable[[OrderEngine, Control, np.random.Generator], SearchOutcome]


def choose(options: SearchOptions, moments: Moments) -> SearchOptions:
    """Fill in what is left open, and refuse what does not go together.

    The paper's searches take the paper's engine, which needs N > n samples; everything else takes
    the exact BIC.
    """
    options = expanded(options, moments.n_variables)
    _check_protocol(options.engine)
    search = "insertion" if options.search == "auto" else options.search
    engine = options.engine
    if engine == "auto":
        enough = moments.n_samples > moments.n_variables + 2
        paper = search != "insertion" and enough and not moments.has_blocks
        dense = options.alpha is not None or (paper and options.score == "bic")
        engine = "qwo" if dense else "bic"
    if options.alpha is not None and engine == "bic":
        raise ArgumentError(
            f"alpha is {options.alpha}, the level of an edge test, which the exact BIC has not",
            cures=(Cure("engine", "qwo", "has one"),),
            option="alpha",
        )
    _refuse_foreign(options, search, engine)
    restarts = options.restarts
    if restarts is None:
        restarts = 0 if search != "insertion" else RESTARTS
    penalty = options.penalty_discount
    if penalty == "auto" and not _price_shows(options.score, engine, moments):
        penalty = LEAST
    return options.settled(
        search=search,
        engine=engine,
        penalty_discount=penalty,
        gamma=_gamma(options.gamma, engine, penalty, moments),
        restarts=restarts,
    )


_PAPER = {"engine": "qwo", "objective": "edges", "start": "markov-boundary", "restarts": 0}

METHODS: dict[str, dict[str, Any]] = {
    "qwo-grasp": {**_PAPER, "search": "grasp", "version": 0, "depth": 3},
    "qwo-hc": {**_PAPER, "search": "hill-climbing", "reach": 5},
}
"""The methods of the paper by their options; the level of the edge test depends on n."""


def expanded(options: SearchOptions, n_variables: int) -> SearchOptions:
    """The options that a method of the paper stands for; those given if there is none."""
    if options.method is None:
        return options
    fixed = METHODS[options.method] | {"alpha": paper_level(n_variables)}
    for name, value in fixed.items():
        given = getattr(options, name)
        if given is not None and given not in (DEFAULTS[name], value):
            raise ArgumentError(
                f"{name} is {given!r}, but the method {options.method!r} takes {value!r}; leave "
                "one of them out",
                option=name,
            )
    return replace(options, **fixed)


def _check_protocol(engine: str | OrderEngine) -> None:
    """Raise if an engine object lacks what the protocol asks for."""
    missing = [m for m in _PROTOCOL if not isinstance(engine, str) and not hasattr(engine, m)]
    if missing:
        raise ArgumentError(
            f"engine is a {type(engine).__name__}, which does not follow the protocol of "
            f"qwo.order.protocol.OrderEngine: it has no {', '.join(missing)}",
            option="engine",
        )


def _refuse_foreign(options: SearchOptions, search: str, engine: str | OrderEngine) -> None:
    """Raise if an option is given that the search or the engine does not know."""
    if options.score != "bic":
        _refuse_beside_counts(options)
    own = {
        "version": (search == "grasp", "search", "grasp"),
        "depth": (search == "grasp", "search", "grasp"),
        "reach": (search == "hill-climbing", "search", "hill-climbing"),
        "objective": (engine in DENSE, "engine", "qwo"),
    }
    for name, (known, option, value) in own.items():
        given = getattr(options, name)
        if given is not None and not known:
            now = engine if option == "engine" else search
            raise ArgumentError(
                f"{name} is {given!r}, which {option} {now!r} does not have",
                cures=(Cure(option, value, "has it"),),
                option=name,
            )


def _refuse_beside_counts(options: SearchOptions) -> None:
    """Raise if an option is given that a score of counts has no use for."""
    for name in ("engine", "penalty_discount", "alpha", "gamma"):
        given = getattr(options, name)
        if given != DEFAULTS[name]:
            raise ArgumentError(
                f"{name} is {given!r}, but score {options.described()['score']!r} has an engine of "
                "its own and no price of an edge",
                cures=(Cure("score", "bic", "has it"),),
                option=name,
            )


def _price_shows(score: object, engine: str | OrderEngine, moments: Moments) -> bool:
    """Whether the data can show what an edge should cost; exact ones need no price."""
    if score != "bic" or engine != "bic" or moments.is_oracle:
        return False
    enough = moments.n_samples >= FEWEST_SAMPLES
    if not enough:
        warning = DataWarning(
            f"{moments.n_samples:g} samples are too few to choose the price of an edge, so that it "
            f"is {LEAST:g} log N",
            cures=(Cure("penalty_discount", LEAST, "asks for just that"),),
        )
        warnings.warn(warning, stacklevel=5)
    return enough


def _gamma(
    given: float | None, engine: str | OrderEngine, penalty: float | str, moments: Moments
) -> float:
    """Gamma of the extended BIC: 0 while N > n, where the plain BIC is what everybody means.

    A price that is chosen from the data knows how many candidates there are.
    """
    if given is not None:
        return given
    wide = moments.n_samples <= moments.n_variables
    if engine != "bic" or penalty == "auto" or not wide:
        return 0.0
    warning = DataWarning(
        f"{moments.n_variables} variables, but only {moments.n_samples:g} samples: among so many "
        f"candidates the plain BIC draws many false edges, so the extended BIC with "
        f"gamma = {WIDE_GAMMA} is used",
        cures=(Cure("gamma", 0, "takes the plain BIC"),),
    )
    warnings.warn(warning, stacklevel=5)
    return WIDE_GAMMA


class DenseAlgebra(NamedTuple):
    """What start orders and the lists of candidates share: see `dense_algebra`."""

    precision: FloatArray | None = None
    candidates: list[Indices] | None = None
    late: bool = False
    hurried: bool = False


def dense_algebra(
    choices: SearchOptions, moments: Moments, xp: Any = np, *, seconds: float = math.inf
) -> DenseAlgebra:
    """The inverse of the correlation matrix, and lists of candidates where there are to be some.

    On the host the inverse is left to those who want it, unless it is for lists. Where it would
    take longer than there is time, candidates are those with the largest correlations.

    Parameters
    ----------
    choices : SearchOptions
        The engine asked for.
    moments : Moments
        The data.
    xp : module
        The array module that computes; see `qwo.device`.
    seconds : float
        How much time there is.
    """
    n, size = moments.n_variables, moments.n_samples
    listed = choices.engine == "bic" and n > ALL_CANDIDATES_UP_TO
    if not listed and xp is np:
        return DenseAlgebra()
    matrix, sizes = moments.whitened()
    hurried = listed and xp is np and seconds < len(matrix) ** 3 / OPERATIONS_A_SECOND
    correlation = xp.asarray(matrix)
    precision = correlation if hurried else precision_matrix(correlation, size, xp)
    if not listed:
        return DenseAlgebra(to_host(precision))
    if moments.has_blocks:
        lists, crowded = block_candidates(matrix, to_host(precision), sizes, size, score=BIC())
    else:
        lists = candidate_parents(correlation, precision, size, xp=xp)
        crowded = not hurried and are_crowded(correlation, size, xp)
    if hurried:
        return DenseAlgebra(candidates=lists, hurried=True)
    return DenseAlgebra(to_host(precision), lists, n <= ALL_AT_FIRST_UP_TO and crowded)


def make_engine(
    choices: SearchOptions,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    order: Any,
    dense: DenseAlgebra,
) -> OrderEngine:
    """The engine at the order to start from."""
    if not isinstance(choices.engine, str):
        if choices.engine.n_variables != moments.n_variables:
            raise ArgumentError(
                f"the engine has {choices.engine.n_variables} variables, the data "
                f"{moments.n_variables}"
            )
        choices.engine.reset(order)
        return choices.engine
    if choices.engine == "bic":
        return BicEngine(
            moments,
            penalty_discount=choices.discount,
            gamma=choices.gamma or 0.0,
            knowledge=knowledge,
            order=order,
            candidates=dense.candidates,
            all_at_first=dense.late,
            threads=count_workers(choices.n_jobs),
        )
    test: dict[str, Any] = (
        {"alpha": choices.alpha}
        if choices.alpha is not None
        else {"penalty_discount": None if moments.is_oracle else choices.discount}
    )
    moments.require_columns(f"the engine {choices.engine!r}")
    # At N far above n the edge count guides GRaSP better, the capped likelihood everything else.
    objective = choices.objective or ("edges" if choices.search == "grasp" else "likelihood")
    if choices.engine == "reference":
        return ReferenceEngine(moments, order=order, objective=objective, **test)
    threads = count_workers(choices.n_jobs)
    return QwoEngine(
        moments, order=order, objective=objective, threads=threads, device=choices.device, **test
    )


class PriceChoice(NamedTuple):
    """The options with a price, and what the search for it has found.

    Attributes
    ----------
    options : SearchOptions
        The penalty is a number.
    weaker : ndarray
        Prices that edges could just bear, below the one taken.
    cut_short : tuple or None
        How far the search had come when it was stopped.
    """

    options: SearchOptions
    weaker: FloatArray
    cut_short: tuple[OrderEngine, SearchOutcome] | None = None


def choose_price(
    choices: SearchOptions,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    order: Indices,
    dense: DenseAlgebra,
    *,
    control: Control,
) -> PriceChoice:
    """The options with a price for "auto".

    One descent at a low price shows how strong edges are, and costs a fraction of a search: see
    `qwo.discovery.price`. It draws from a source of its own, so that the search at the price found
    is the one for which that price is given.
    """
    if choices.penalty_discount != "auto":
        return PriceChoice(choices, np.empty(0))
    unit, n = math.log(moments.n_samples), moments.n_variables
    extension = 2 * (choices.gamma or 0.0) * math.log(n)
    low, high = price_range(moments.whitened()[1], moments.n_samples, extension, knowledge)
    choices = choices.settled(penalty_discount=(low - extension) / unit)
    engine = make_engine(choices, moments, knowledge, order, dense)
    assert isinstance(engine, BicEngine)
    outcome = bic_insertion(
        engine,
        restarts=0,
        tucks=False,
        knowledge=knowledge,
        control=control,
        random_state=choices.random_state,
    )
    if outcome.status != "converged":
        return PriceChoice(choices, np.empty(0), (engine, outcome))
    strengths = explained_in(moments, engine.dag())
    evidence = edge_evidence(moments, strengths, outcome.order, low, knowledge, extension=extension)
    price = evidence.best_price(high)
    choices = choices.settled(penalty_discount=round((price - extension) / unit, 2))
    return PriceChoice(choices, evidence.worths[evidence.worths < price])


def default_start(choices: SearchOptions) -> str:
    """The order to start from if none is given."""
    return "r2" if choices.search == "insertion" else "markov-boundary"


def start_at_better(choices: SearchOptions, engine: OrderEngine, tree: Indices) -> SearchOptions:
    """The options for an engine that has gone over to the spanning tree's order if that costs less.

    GRaSP and hill climbing move single variables, and so do not mend pieces of a long and thin
    graph that are laid down in opposite directions. On other graphs that order costs more.
    """
    order, cost = engine.order, engine.cost
    if engine.reset(tree) < cost:
        return choices.settled(start="spanning-tree")
    engine.reset(order)
    return choices


def make_search(
    choices: SearchOptions,
    knowledge: ResolvedKnowledge | None,
    n_jobs: int,
) -> Search:
    """The search as a function of engine, control and randomness."""

    def run(engine: OrderEngine, control: Control, rng: np.random.Generator) -> SearchOutcome:
        restarts = choices.restarts or 0
        shared: dict[str, Any] = {
            "knowledge": knowledge,
            "control": control,
            "random_state": rng,
        }
        if choices.search == "insertion" and insertion_search_of(engine) is bic_insertion:
            assert isinstance(engine, BicEngine)
            return bic_insertion(engine, restarts=restarts, n_jobs=n_jobs, **shared)
        if choices.search == "insertion":
            return insertion(engine, perturbations=restarts, **shared)
        return _with_restarts(_once(choices), engine, restarts, shared)

    return run


def _once(choices: SearchOptions) -> Callable[..., SearchOutcome]:
    """GRaSP or hill climbing as the options have it."""
    if choices.search == "hill-climbing":
        return partial(hill_climbing, distance=choices.reach or 5)
    depth = 3 if choices.depth is None else choices.depth
    return partial(
        grasp,
        version=2 if choices.version is None else choices.version,
        depth=None if depth == math.inf else int(depth),
    )


def _with_restarts(
    once: Callable[..., SearchOutcome],
    engine: OrderEngine,
    restarts: int,
    shared: dict[str, Any],
) -> SearchOutcome:
    """A search from the given order and from random ones; the engine is left at the best."""
    best = once(engine, **shared)
    rng, knowledge = shared["random_state"], shared["knowledge"]
    for _ in range(restarts):
        if best.status != "converged":
            break
        order = rng.permutation(engine.n_variables)
        engine.reset(order if knowledge is None else knowledge.topological_start(order))
        again = once(engine, **shared)
        if again.cost < best.cost:
            best = again
        elif again.status != "converged":
            best = _ended(best, again)
    if not np.array_equal(engine.order, best.order):
        engine.reset(best.order)
    return best


def _ended(best: SearchOutcome, last: SearchOutcome) -> SearchOutcome:
    """The best outcome with the status of the one that was cut short."""
    return SearchOutcome(
        best.order.copy(), best.cost, last.status, best.trace, best.n_moves, best.n_evaluations
    )
