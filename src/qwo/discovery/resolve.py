"""What a call of `discover` means: options and data become one record with nothing left open.

The policy of the search that depends on the size of the data stands here and, for what happens
within a search, in the core (`cpp/qwo`); no other module has a threshold of it.
"""

# Long because every choice that depends on the data stands in one place.

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from qwo.compute import array_module, count_workers, to_host
from qwo.discovery.price import FEWEST_SAMPLES, LEAST, price_range
from qwo.errors import ArgumentError, Cure, DataWarning, SampleSizeError, list_names
from qwo.graph.knowledge import as_knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.names import drawn_seed
from qwo.options import DEFAULTS, SearchOptions
from qwo.order.bdeu import counting_engine
from qwo.order.bic import BicEngine
from qwo.order.candidates import are_crowded, block_candidates, candidate_parents
from qwo.order.edge_test import paper_level
from qwo.order.linalg import precision_matrix, swept_inverse
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.order.score import BIC
from qwo.search import Control, SearchOutcome, grasp, hill_climbing, insertion
from qwo.search.control import bic_insertion
from qwo.search.exact import check_exact, exact
from qwo.types import FloatArray, Indices

# The policy: what is chosen by the size of the data where nothing is asked for.

RESTARTS = 20
"""Restarts of an insertion search. `benchmarks.thin`: more change few graphs, and the search
makes more by itself where they do."""

WIDE_GAMMA = 0.5
"""Gamma of the extended BIC for N ≤ n, as Chen and Chen (2008) advise: `benchmarks.wide`."""

ALL_CANDIDATES_UP_TO = 1000
"""Up to so many variables each may become a parent of every other; beyond, there are lists of
candidates (see `qwo.order.linalg`), without which memory would not suffice for 10,000:
`benchmarks.wide`."""

ALL_AT_FIRST_UP_TO = 5000
"""Up to so many variables lists wait for the end of the first descent if correlations are crowded:
till then memory holds 18 to 26 matrices of n² numbers. `benchmarks.wide`."""

HURRIED = 20
"""Candidates of a variable where there is no time for more."""

CALM = 20.0
"""So many times the forecast time of an inverse there must be for it to be computed in one go."""

OPERATIONS_A_SECOND = 8e9
"""What a slow processor core does on dense matrices; an inverse takes n³ of them."""

REACH, DEPTH, VERSION = 5, 3, 2
"""Places that hill climbing exchanges over, and tucks in a row and kind of tuck of GRaSP: the first
two are the paper's."""

_PAPER = {"engine": "qwo", "objective": "edges", "start": "markov-boundary", "restarts": 0}

METHODS: dict[str, dict[str, Any]] = {
    "qwo-grasp": {**_PAPER, "search": "grasp", "version": 0, "depth": 3},
    "qwo-hc": {**_PAPER, "search": "hill-climbing", "reach": 5},
}
"""The methods of the paper by their options; the level of the edge test depends on n."""

_PROTOCOL = [name for name in vars(OrderEngine) if not name.startswith("_")]


@dataclass(frozen=True, eq=False)
class Resolved:
    """A search with nothing left open, and the options that it was `asked` for by.

    The `penalty` discount is that of the first descent where the data are to choose it, from there
    to the `highest` price of an edge, which is None if they are not asked. Where variables are
    `listed`, they have lists of candidates.
    """

    asked: SearchOptions
    search: str
    engine: str | OrderEngine
    start: Any
    gamma: float
    restarts: int
    penalty: float
    highest: float | None
    seed: int
    threads: int
    knowledge: ResolvedKnowledge | None
    listed: bool

    @property
    def start_is_open(self) -> bool:
        """Whether another order may be started from: none was given, and there is time."""
        return self.asked.start is None and isinstance(self.start, str)


def resolve(
    options: SearchOptions,
    moments: Moments,
    table: Table | None = None,
    known: ResolvedKnowledge | None = None,
) -> Resolved:
    """Fill in what is left open, and refuse what does not go together.

    The paper's searches take the paper's engine, which needs N > n samples; everything else takes
    the exact BIC. The rows are there for scores that count them.
    """
    if options.method is not None:
        options = expanded(options, moments.n_variables)
    search = "insertion" if options.search == "auto" else options.search
    engine, n = cast("Any", options.engine), moments.n_variables
    if isinstance(engine, str) and engine == "auto":
        enough = moments.n_samples > n + 2
        paper = search in ("grasp", "hill-climbing") and enough and not moments.has_blocks
        dense = options.alpha is not None or (paper and options.score == "bic")
        engine = "qwo" if dense else "bic"
    _refuse_foreign(options, search, engine)
    if search == "exact":
        plain = not moments.has_blocks and not moments.coding.given.size
        check_exact(n, engine, options.score, options.restarts, plain=plain)
    if options.knowledge is not None:
        known = resolved_knowledge(options, moments.names)
    if known is not None and known.required.any():
        _refuse_undetermined(known, moments)
    if table is not None:
        engine = counting_engine(options.score, table, moments, known)
    penalty, highest, gamma = _penalty(options, engine, moments, known)
    seed, restarts = options.random_state, options.restarts
    if restarts is None:
        restarts = RESTARTS if search == "insertion" else 0
    start = "markov-boundary" if search in ("grasp", "hill-climbing") else "r2"
    return Resolved(
        options,
        search,
        engine,
        start if options.start is None else options.start,
        gamma,
        restarts,
        penalty,
        highest,
        drawn_seed() if seed is None else seed,
        count_workers(options.n_jobs),
        known,
        engine == "bic" and n * (n - len(moments.coding.given)) > ALL_CANDIDATES_UP_TO**2,
    )


def _refuse_undetermined(known: ResolvedKnowledge, moments: Moments) -> None:
    """Refuse required parents that leave nothing to estimate a variable's equation from."""
    counts = known.required.sum(axis=0)
    child = int(np.argmax(counts))
    if counts[child] + 1 >= moments.n_samples:
        names = [moments.names[u] for u in np.flatnonzero(known.required[:, child])]
        raise SampleSizeError(
            f"{len(names)} required causes of {moments.names[child]!r} ({list_names(names)}) need "
            f"more than {len(names) + 1} samples; got {moments.n_samples:g}. Require fewer, or "
            "give more data",
            names,
        )


def resolved_knowledge(options: SearchOptions, names: Sequence[str]) -> ResolvedKnowledge | None:
    """The knowledge about variables of these names, if there is any."""
    return None if options.knowledge is None else as_knowledge(options.knowledge).resolve(names)


def expanded(options: SearchOptions, n_variables: int) -> SearchOptions:
    """The options that a method of the paper stands for; those given if there is none."""
    if options.method is None:
        return options
    fixed = METHODS[options.method] | {"alpha": paper_level(n_variables)}
    for name, value in fixed.items():
        given = getattr(options, name)
        plain = isinstance(given, str | float | int | None)
        if not plain or given not in (None, DEFAULTS[name], value):
            raise ArgumentError(
                f"{name} is {given!r}, but the method {options.method!r} takes {value!r}; leave "
                "one of them out",
                option=name,
            )
    return replace(options, **fixed)


def _refuse_foreign(options: SearchOptions, search: str, engine: str | OrderEngine) -> None:
    """Raise if an option is given that the search, the engine or the score does not know."""
    missing = [m for m in _PROTOCOL if not isinstance(engine, str) and not hasattr(engine, m)]
    if missing:
        raise ArgumentError(
            f"engine is a {type(engine).__name__}, which does not follow the protocol of "
            f"qwo.order.protocol.OrderEngine: it has no {', '.join(missing)}",
            option="engine",
        )
    if options.alpha is not None and engine == "bic":
        raise ArgumentError(
            f"alpha is {options.alpha}, the level of an edge test, which the exact BIC has not",
            cures=(Cure("engine", "qwo", "has one"),),
            option="alpha",
        )
    for name in ("engine", "penalty_discount", "alpha", "gamma"):
        given = getattr(options, name)
        if options.score != "bic" and given != DEFAULTS[name]:
            raise ArgumentError(
                f"{name} is {given!r}, but score {options.described()['score']!r} has an engine of "
                "its own and no penalty of an edge",
                cures=(Cure("score", "bic", "has it"),),
                option=name,
            )
    for name, option, value, now in (
        ("version", "search", "grasp", search),
        ("depth", "search", "grasp", search),
        ("reach", "search", "hill-climbing", search),
        ("objective", "engine", "qwo", "qwo" if engine == "reference" else engine),
    ):
        given = getattr(options, name)
        if given is not None and now != value:
            raise ArgumentError(
                f"{name} is {given!r}, which {option} {now!r} does not have",
                cures=(Cure(option, value, "has it"),),
                option=name,
            )


def _penalty(
    options: SearchOptions,
    engine: str | OrderEngine,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
) -> tuple[float, float | None, float]:
    """The penalty, the highest price that the data may choose in its place, and gamma.

    The data choose for the exact BIC alone; exact moments need no choice. Gamma is 0 while N > n,
    where the plain BIC is what everybody means, and where the data choose, which know how many
    candidates there are.
    """
    asked, gamma = options.penalty_discount, options.gamma
    size, n = moments.n_samples, moments.n_variables
    chosen = asked == "auto" and engine == "bic" and not moments.is_oracle
    if chosen and size < FEWEST_SAMPLES:
        chosen = False
        warning = DataWarning(
            f"{size:g} samples are too few to choose the penalty of an edge, so that it is "
            f"{LEAST:g} log N",
            cures=(Cure("penalty_discount", LEAST, "asks for just that"),),
        )
        warnings.warn(warning, stacklevel=5)
    if gamma is None:
        gamma = WIDE_GAMMA if engine == "bic" and size <= n and not chosen else 0.0
        if gamma:
            warning = DataWarning(
                f"{n} variables, but only {size:g} samples: among so many candidates the plain BIC "
                f"draws many false edges, so the extended BIC with gamma = {WIDE_GAMMA} is used",
                cures=(Cure("gamma", 0, "takes the plain BIC"),),
            )
            warnings.warn(warning, stacklevel=5)
    if not chosen:
        return (LEAST if isinstance(asked, str) else asked), None, gamma
    extension = 2 * gamma * math.log(n)
    sizes, leading = moments.blocks
    low, high = price_range(sizes, size, extension, knowledge, leading)
    return (low - extension) / math.log(size), high, gamma


class DenseAlgebra(NamedTuple):
    """What start orders and the lists of candidates share: see `dense_algebra`."""

    precision: FloatArray | None = None
    candidates: list[Indices] | None = None
    late: bool = False
    hurried: bool = False


def dense_algebra(plan: Resolved, moments: Moments, control: Control | None = None) -> DenseAlgebra:
    """The inverse of the correlation matrix, and lists of candidates where there are to be some.

    On the host the inverse is left to those who want it, unless it is for lists. Where it would
    take longer than there is time, candidates are those with the largest correlations.
    """
    if not plan.listed and plan.asked.device == "cpu":
        return DenseAlgebra()
    xp, size = array_module(plan.asked.device), moments.n_samples
    seconds = math.inf if control is None else control.remaining
    matrix, sizes = moments.whitened()
    hurried = plan.listed and xp is np and seconds < len(matrix) ** 3 / OPERATIONS_A_SECOND
    correlation = xp.asarray(matrix)
    precision = correlation
    if not hurried and xp is np and seconds < CALM * len(matrix) ** 3 / OPERATIONS_A_SECOND:
        # A machine with other work is slower than any forecast: the inverse can be given up.
        assert control is not None
        swept = swept_inverse(matrix, size, lambda: control.remaining > 0)
        hurried, precision = swept is None, matrix if swept is None else swept
    elif not hurried:
        precision = precision_matrix(correlation, size, xp)
    if not plan.listed:
        return DenseAlgebra(to_host(precision))
    if moments.has_blocks:
        lists, crowded = block_candidates(
            matrix, to_host(precision), sizes, size, score=BIC(), leading=moments.leading()
        )
    else:
        # In a hurry both are the same, and few candidates will be looked at.
        few = {"partial": 0, "marginal": HURRIED} if hurried else {}
        lists = candidate_parents(correlation, precision, size, xp=xp, **few)
        crowded = not hurried and are_crowded(correlation, size, xp)
    if hurried:
        return DenseAlgebra(candidates=lists, hurried=True)
    late = moments.n_variables <= ALL_AT_FIRST_UP_TO and crowded
    return DenseAlgebra(to_host(precision), lists, late)


def make_engine(plan: Resolved, moments: Moments, order: Indices, dense: DenseAlgebra) -> Any:
    """The engine at the order to start from: a `BicEngine`, unless the plan has another."""
    if plan.engine == "bic":
        return BicEngine(
            moments,
            penalty_discount=plan.penalty,
            gamma=plan.gamma,
            knowledge=plan.knowledge,
            order=order,
            candidates=dense.candidates,
            all_at_first=dense.late,
            threads=plan.threads,
        )
    if not isinstance(plan.engine, str):
        if plan.engine.n_variables != moments.n_variables:
            raise ArgumentError(
                f"the engine has {plan.engine.n_variables} variables, the data "
                f"{moments.n_variables}"
            )
        plan.engine.reset(order)
        return plan.engine
    asked = plan.asked
    test: dict[str, Any] = {"alpha": asked.alpha}
    if asked.alpha is None:
        test = {"penalty_discount": None if moments.is_oracle else plan.penalty}
    moments.require_columns(f"the engine {plan.engine!r}")
    # At N far above n the edge count guides GRaSP better, the capped likelihood everything else.
    objective = asked.objective or ("edges" if plan.search == "grasp" else "likelihood")
    if plan.engine == "reference":
        return ReferenceEngine(moments, order=order, objective=objective, **test)
    return QwoEngine(
        moments, order=order, objective=objective, threads=plan.threads, device=asked.device, **test
    )


def run_search(
    plan: Resolved, engine: OrderEngine, control: Control, rng: np.random.Generator
) -> SearchOutcome:
    """The search on an engine, which is left at the best order."""
    shared: dict[str, Any] = {"knowledge": plan.knowledge, "control": control, "random_state": rng}
    if plan.search == "exact":
        assert isinstance(engine, BicEngine)
        return exact(engine, n_jobs=plan.threads, **shared)
    if plan.search == "insertion":
        if getattr(engine, "insertion_search", "") == "compiled":
            own = cast("BicEngine", engine)
            return bic_insertion(own, restarts=plan.restarts, n_jobs=plan.threads, **shared)
        return insertion(engine, perturbations=plan.restarts, **shared)
    asked = plan.asked
    once: Callable[..., SearchOutcome] = partial(hill_climbing, distance=asked.reach or REACH)
    if plan.search == "grasp":
        version = VERSION if asked.version is None else asked.version
        depth = DEPTH if asked.depth is None else asked.depth
        once = partial(grasp, version=version, depth=None if depth == math.inf else int(depth))
    best = once(engine, **shared)
    for _ in range(plan.restarts):
        if best.status != "converged":
            break
        order = rng.permutation(engine.n_variables)
        known = plan.knowledge
        engine.reset(order if known is None else known.topological_start(order))
        again = once(engine, **shared)
        if again.cost < best.cost:
            best = again
        elif again.status != "converged":
            best = replace(best, order=best.order.copy(), status=again.status)
    if not np.array_equal(engine.order, best.order):
        engine.reset(best.order)
    return best


def start_at_better(plan: Resolved, engine: OrderEngine, tree: Indices) -> Resolved:
    """The search for an engine that has gone over to the spanning tree's order if that costs less.

    GRaSP and hill climbing move single variables, and so do not mend pieces of a long and thin
    graph that are laid down in opposite directions. On other graphs that order costs more.
    """
    order, cost = engine.order, engine.cost
    if engine.reset(tree) < cost:
        return replace(plan, start="spanning-tree")
    engine.reset(order)
    return plan
