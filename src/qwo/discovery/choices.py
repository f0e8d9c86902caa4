"""Which engine and which search a call of `discover` means."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from qwo.device import to_host
from qwo.errors import ArgumentError, DataWarning
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.candidates import are_crowded, candidate_parents
from qwo.order.linalg import precision_matrix
from qwo.order.objective import ObjectiveName
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.search import Control, SearchOutcome, grasp, hill_climbing, insertion
from qwo.search.bic_insertion import bic_insertion
from qwo.types import FloatArray, Indices

SearchName = Literal["auto", "insertion", "grasp", "hill-climbing"]
EngineName = Literal["auto", "qwo", "bic", "reference"]

LEAST_RESTARTS = 20
RESTARTS_TIMES_VARIABLES = 500
WIDE_GAMMA = 0.5
TWO_STARTS = range(201, 401)
"""Numbers of variables for which the default search starts twice. Twenty restarts throw 200 places:
up to there they reach every variable. Beyond 400 a second search would cost more than it finds."""

THOROUGH_UP_TO = 200
"""Up to so many variables restarts throw 20 of them instead of 10 and, where they have improved the
order or nearly so, go on: five times as many as were asked for must improve nothing in a row. On
190 data sets of 20 to 200 variables that leaves 12 % short of the best score known instead of 22 %,
for a third more time. With 300 and 500 variables it found nothing."""

ALL_CANDIDATES_UP_TO = 1000
"""Up to so many variables each may become a parent of every other; beyond, there are lists of
candidates (see `qwo.order.candidates`), without which memory would not suffice for 10,000."""

ALL_AT_FIRST_UP_TO = 5000
"""Up to so many variables lists wait for the end of the first descent if correlations are crowded:
till then memory holds 18 to 26 matrices of n² numbers."""

_PROTOCOL = [name for name in vars(OrderEngine) if not name.startswith("_")]

Search = Callable[[OrderEngine, Control, np.random.Generator], SearchOutcome]


@dataclass(frozen=True)
class Choices:
    """The parameters of a call, with every default filled in."""

    search: str
    engine: str | OrderEngine
    penalty_discount: float
    alpha: float | None
    gamma: float
    restarts: int

    @property
    def engine_name(self) -> str:
        """The engine's name, or the class of one that the user brought along."""
        return self.engine if isinstance(self.engine, str) else type(self.engine).__name__


def choose(
    search: str,
    engine: str | OrderEngine,
    moments: Moments,
    *,
    penalty_discount: float,
    alpha: float | None,
    gamma: float | None,
    restarts: int | None,
) -> Choices:
    """Fill in what is left open, and refuse what does not go together.

    The paper's searches take the paper's engine, which needs N > n samples; everything else takes
    the exact BIC.
    """
    if search not in get_args(SearchName):
        raise ArgumentError(f"search must be one of {get_args(SearchName)}; got {search!r}")
    if isinstance(engine, str) and engine not in get_args(EngineName):
        raise ArgumentError(
            f"engine must be one of {get_args(EngineName)} or an object that follows the engine "
            f"protocol; got {engine!r}"
        )
    missing = [m for m in _PROTOCOL if not isinstance(engine, str) and not hasattr(engine, m)]
    if missing:
        raise ArgumentError(
            f"the engine, a {type(engine).__name__}, does not follow the protocol of "
            f"qwo.order.protocol.OrderEngine: it has no {', '.join(missing)}"
        )
    chosen = "insertion" if search == "auto" else search
    if engine == "auto":
        dense = alpha is not None or (chosen != "insertion" and moments.n_samples > _least(moments))
        engine = "qwo" if dense else "bic"
    if alpha is not None and engine == "bic":
        raise ArgumentError(
            f"alpha = {alpha} is the level of the QWO engine's edge test; the exact BIC engine has "
            "none. Use engine='qwo', or penalty_discount alone"
        )
    if restarts is None:
        restarts = 0 if chosen != "insertion" else _default_restarts(moments.n_variables)
    if whole_number("restarts", restarts) < 0:
        raise ArgumentError(f"restarts must not be negative; got {restarts}")
    return Choices(
        chosen, engine, penalty_discount, alpha, _gamma(gamma, engine, moments), int(restarts)
    )


def whole_number(name: str, value: Any) -> int:
    """An argument that must be an integer of whatever kind."""
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} must be a whole number; got {value!r}") from None


def _default_restarts(n_variables: int) -> int:
    """Small problems are searched more thoroughly: it costs milliseconds."""
    return max(LEAST_RESTARTS, RESTARTS_TIMES_VARIABLES // n_variables)


def _least(moments: Moments) -> float:
    """N above which every partial correlation of the dense engine has degrees of freedom."""
    return moments.n_variables + 2


def _gamma(gamma: float | None, engine: str | OrderEngine, moments: Moments) -> float:
    """Gamma of the extended BIC: 0 while N > n, where the plain BIC is what everybody means."""
    if gamma is not None:
        return float(gamma)
    if engine != "bic" or moments.n_samples > moments.n_variables:
        return 0.0
    warnings.warn(
        f"{moments.n_variables} variables, but only {moments.n_samples:g} samples: among so many "
        f"candidates the plain BIC draws many false edges, so the extended BIC with "
        f"gamma = {WIDE_GAMMA} is used; gamma=0 gives the plain one",
        DataWarning,
        stacklevel=4,
    )
    return WIDE_GAMMA


class DenseAlgebra(NamedTuple):
    """What start orders and the lists of candidates share: see `dense_algebra`."""

    precision: FloatArray | None = None
    candidates: list[Indices] | None = None
    late: bool = False


def dense_algebra(choices: Choices, moments: Moments, xp: Any = np) -> DenseAlgebra:
    """The inverse of the correlation matrix, and lists of candidates where there are to be some.

    On the host the inverse is left to those who want it, unless it is for lists.

    Parameters
    ----------
    choices : Choices
        The engine asked for.
    moments : Moments
        The data.
    xp : module
        The array module that computes; see `qwo.device`.
    """
    n, size = moments.n_variables, moments.n_samples
    listed = choices.engine == "bic" and n > ALL_CANDIDATES_UP_TO
    if not listed and xp is np:
        return DenseAlgebra()
    correlation = xp.asarray(moments.correlation)
    precision = precision_matrix(correlation, size, xp)
    if not listed:
        return DenseAlgebra(to_host(precision))
    late = n <= ALL_AT_FIRST_UP_TO and are_crowded(correlation, size, xp)
    lists = candidate_parents(correlation, precision, size, xp=xp)
    return DenseAlgebra(to_host(precision), lists, late)


def make_engine(
    choices: Choices,
    moments: Moments,
    knowledge: ResolvedKnowledge | None,
    order: Any,
    *,
    dense: DenseAlgebra,
    device: str = "cpu",
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
            penalty_discount=choices.penalty_discount,
            gamma=choices.gamma,
            knowledge=knowledge,
            order=order,
            candidates=dense.candidates,
            all_at_first=dense.late,
        )
    test: dict[str, Any] = (
        {"alpha": choices.alpha}
        if choices.alpha is not None
        else {"penalty_discount": None if moments.is_oracle else choices.penalty_discount}
    )
    # At N far above n the edge count guides GRaSP better, the capped likelihood everything else.
    objective: ObjectiveName = "edges" if choices.search == "grasp" else "likelihood"
    if choices.engine == "reference":
        return ReferenceEngine(moments, order=order, objective=objective, **test)
    return QwoEngine(moments, order=order, objective=objective, device=device, **test)


def default_starts(choices: Choices, n_variables: int) -> tuple[str, str | None]:
    """The order to start from if none is given, and the one for a second search, if any."""
    if choices.search != "insertion":
        return "markov-boundary", None
    twice = choices.engine == "bic" and choices.restarts > 0 and n_variables in TWO_STARTS
    return "r2", "markov-boundary" if twice else None


def make_search(
    choices: Choices,
    knowledge: ResolvedKnowledge | None,
    n_jobs: int,
    rival: Indices | None,
    cluster: Any = None,
) -> Search:
    """The search as a function of engine, control and randomness."""

    def run(engine: OrderEngine, control: Control, rng: np.random.Generator) -> SearchOutcome:
        shared: dict[str, Any] = {
            "knowledge": knowledge,
            "control": control,
            "random_state": rng,
        }
        if choices.search == "insertion" and isinstance(engine, BicEngine):
            n = engine.n_variables
            thorough = n <= THOROUGH_UP_TO
            return bic_insertion(
                engine,
                restarts=choices.restarts,
                patience=5 * choices.restarts if thorough else 0,
                thrown=min(20, n) if thorough else 10,
                rival=rival,
                n_jobs=n_jobs,
                cluster=cluster,
                **shared,
            )
        if cluster is not None:
            raise ArgumentError(
                "a cluster takes the restarts of search='insertion' with engine='bic' alone; got "
                f"search={choices.search!r} with engine={choices.engine_name!r}: leave cluster out"
            )
        if choices.search == "insertion":
            if isinstance(engine, QwoEngine):
                engine.threads = n_jobs
            return insertion(engine, perturbations=choices.restarts, **shared)
        once = grasp if choices.search == "grasp" else hill_climbing
        return _with_restarts(once, engine, choices.restarts, shared)

    return run


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
