"""The methods that are compared: a search over orders, and the module that builds G^π for it.

Of causal-learn there are its local scores for our searches, and its own GRaSP. Its BIC is
loglik - lambda · (parents + 1) · log N since 2026, where it was twice that with the same lambda
before. Our score is 2·loglik - c · edges · log N, so lambda = c / 2.

A method is named ``search/module``:

=================  =================================================================================
search             what it is
=================  =================================================================================
``grasp0``         our GRaSP, covered edges only, depth 3: what the paper's text says
``grasp1``         our GRaSP, covered and singular edges, depth 3
``grasp2``         our GRaSP, all edges, depth 3; ``grasp2-depth1``, ``grasp2-depth2``: less deep
``hc``             our hill climbing, exchanges over at most 5 places
``hc-random``      the same from a random order, where all others start by Markov boundaries
``cl-grasp``       causal-learn's own GRaSP (with ``cl-bic`` only)
``code-grasp``     the published code's way to search, modelled in `qwo.reproduction.published`
``code-hc``        the same for hill climbing
=================  =================================================================================

=================  =================================================================================
module             what it is
=================  =================================================================================
``qwo``            our order factor: edge counts, Fisher's z at level 2/n²
``qwo-likelihood`` the same with the capped likelihood instead of the number of edges
``bic``            our exact BIC engine, penalty 2 log N for an edge
``cl-…``           local scores of causal-learn
``own-test``       of a code search: QWO with partial correlations
``its-test``       the same with the published edge test
``as-published``   the same with the published edge test and the stale basis
=================  =================================================================================

``default`` is `qwo.discover` without options, ``flop`` FLOP with 20 restarts. ``authors/grasp`` and
``authors/hc`` are the authors' own code, in a checkout that the variable `AUTHORS_CODE` of the
environment names.

Every method is timed from the sample on: who needs its covariance matrix computes it. Where the
covariance is exact, nobody does.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from qwo.datasets import load_network
from qwo.discovery import discover
from qwo.errors import ArgumentError, optional_module
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScore, LocalScoreEngine
from qwo.order.protocol import OrderEngine
from qwo.order.qwo import QwoEngine
from qwo.reproduction.published import Habits, published_search
from qwo.reproduction.store import run_key
from qwo.search import Control, SearchOutcome, grasp, hill_climbing, start_order
from qwo.search.control import Stopped
from qwo.simulation import LinearModel, random_model
from qwo.types import Adjacency, FloatArray

_NOT_DATA = ("kind", "method", "phase", "vary", "block", "density", "scale")


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method gets, and the truth to measure it by; no sample where moments are exact."""

    truth: Adjacency
    moments: Moments
    data: FloatArray | None


def make_problem(run: Mapping[str, Any]) -> Problem:
    """The problem of a run, from its parameters alone.

    ``graph`` is ``"er"`` or the name of a network; ``degree``, ``n_variables``, ``n_samples``,
    ``noise`` as in `qwo.simulate`; ``covariance`` is ``"sample"`` or ``"oracle"``; ``weights`` is
    ``"edge"``, one for each edge as the paper says; ``"parent"``, one for all edges out of a
    variable; or ``"small"``, one for each edge from ±[0.1, 0.3], which keeps the variables of dense
    graphs apart. Runs that differ in the noise, the covariance or the method only are about the
    same model.
    """
    return _draw(run_key({k: v for k, v in run.items() if k not in _NOT_DATA}))


# Runs of several methods on the same data follow each other.
@lru_cache(maxsize=1)
def _draw(parameters: str) -> Problem:
    run = json.loads(parameters)
    rng = np.random.default_rng(_entropy(run))
    if run["graph"] == "er":
        model = random_model(
            "er",
            n_variables=run["n_variables"],
            degree=run["degree"],
            weights=(0.1, 0.3) if run.get("weights") == "small" else (0.5, 2.0),
            random_state=rng,
        )
    else:
        # A published structure comes with its columns in causal order, which would help a search.
        dag = load_network(run["graph"]).dag
        shuffled = rng.permutation(len(dag))
        model = random_model(dag[np.ix_(shuffled, shuffled)], random_state=rng)
    if run.get("weights") == "parent":
        model = _one_weight_per_parent(model, rng)
    if run.get("covariance") == "oracle":
        return Problem(model.dag, Moments.from_precision(model.precision()), None)
    data = model.sample(run["n_samples"], run["noise"], rng)
    data.setflags(write=False)
    return Problem(model.dag, Moments.from_data(data), data)


def _entropy(run: Mapping[str, Any]) -> list[int]:
    degree = round(100 * run.get("degree", 0))
    return [run["seed"], run["n_variables"], run["n_samples"], degree, crc32(run["graph"].encode())]


def _one_weight_per_parent(model: LinearModel, rng: np.random.Generator) -> LinearModel:
    weights = rng.uniform(0.5, 2.0, model.n_variables) * rng.choice([-1, 1], model.n_variables)
    return LinearModel(model.dag, model.dag * weights[:, None], model.noise_variances)


ScoreMaker = Callable[[FloatArray], LocalScore]

PENALTY_DISCOUNT = 2.0
"""The BIC penalty of the paper's time: causal-learn's GRaSP had 2 log N for an edge by default."""

INTERVALS = 10
"""Intervals of equal width for BDeu, whose variables are discrete."""

CROSS_VALIDATION = {"kfold": 10, "lambda": 0.01}
"""causal-learn's defaults for CV General."""


def _module(name: str = "score.LocalScoreFunction") -> Any:
    return optional_module(f"causallearn.{name}", "this comparison needs", "causal-learn")


def import_causal_learn() -> None:
    """Import its scores and its GRaSP."""
    _module()
    _module("search.PermutationBased.GRaSP")


def bic(data: FloatArray) -> LocalScore:
    """causal-learn's BIC from the covariance matrix, with our penalty in its unit."""
    given = np.cov(data.T, ddof=0), len(data)
    function = _module().local_score_BIC_from_cov
    return _score(function, given, {"lambda_value": PENALTY_DISCOUNT / 2})


def bdeu(data: FloatArray) -> LocalScore:
    """causal-learn's BDeu of the data in `INTERVALS` intervals of equal width per variable."""
    inner = np.linspace(data.min(axis=0), data.max(axis=0), INTERVALS + 1)[1:-1]
    columns = [np.digitize(x, edges) for x, edges in zip(data.T, inner.T, strict=True)]
    return _score(_module().local_score_BDeu, np.column_stack(columns), None)


def bdeu_of_raw_values(data: FloatArray) -> LocalScore:
    """causal-learn's BDeu of the data as they are: every number is a category of its own."""
    return _score(_module().local_score_BDeu, data, None)


def cv_general(data: FloatArray) -> LocalScore:
    """causal-learn's CV General as it is: its kernels are centred by products of entries."""
    return _score(_module().local_score_cv_general, data, CROSS_VALIDATION)


def cv_general_centred(data: FloatArray) -> LocalScore:
    """causal-learn's CV General with H K H as the product of matrices that its formula means.

    Its code writes H * K * H, which was a product of matrices as long as K was an instance of
    numpy.matrix, and is one of entries for arrays. Here its kernels are matrices again, in this
    process.
    """
    module = _module()
    kernel = module.kernel

    def as_matrix(*arguments: Any) -> tuple[Any, Any]:
        values, widths = kernel(*arguments)
        return np.asmatrix(values), widths

    def score(variable: int, parents: tuple[int, ...]) -> float:
        module.kernel = as_matrix
        try:
            return float(
                module.local_score_cv_general(data, variable, list(parents), CROSS_VALIDATION)
            )
        finally:
            module.kernel = kernel

    return score


def _score(function: Callable[..., float], data: Any, parameters: Any) -> LocalScore:
    def score(variable: int, parents: tuple[int, ...]) -> float:
        return float(function(data, variable, list(parents), parameters))

    return score


SCORES: dict[str, ScoreMaker] = {
    "cl-bic": bic,
    "cl-bdeu": bdeu,
    "cl-bdeu-raw": bdeu_of_raw_values,
    "cl-cv": cv_general,
    "cl-cv-centred": cv_general_centred,
}


def own_grasp(data: FloatArray, seed: int) -> Adjacency:
    """The CPDAG of causal-learn's own GRaSP on its BIC, depth 3; it shuffles by the global seed."""
    search = partial(_module("search.PermutationBased.GRaSP").grasp, depth=3, verbose=False)
    random.seed(seed)
    with redirect_stdout(io.StringIO()):
        found = search(data, parameters={"lambda_value": PENALTY_DISCOUNT / 2}).graph
    cpdag = np.zeros(found.shape, dtype=np.int8)
    cpdag[(found == -1) & (found.T == 1)] = 1
    cpdag[(found == -1) & (found.T == -1)] = 2
    return cpdag


class Found(NamedTuple):
    """The graph of a method, a DAG or a CPDAG, and whether it had the time to end by itself.

    ``prepared`` is the processor time that went into the moments of the sample, which every search
    of ours needs alike; None for a method that keeps it to itself.
    """

    graph: Adjacency
    finished: bool
    prepared: float | None = None


Search = Callable[..., SearchOutcome]
SEARCHES: dict[str, Search] = {
    "grasp0": partial(grasp, version=0, depth=3),
    "grasp1": partial(grasp, version=1, depth=3),
    "grasp2": partial(grasp, version=2, depth=3),
    "grasp2-depth1": partial(grasp, version=2, depth=1),
    "grasp2-depth2": partial(grasp, version=2, depth=2),
    "hc": partial(hill_climbing, distance=5),
    "hc-random": partial(hill_climbing, distance=5),
}
HABITS = {
    "own-test": Habits(),
    "its-test": Habits(its_test=True),
    "as-published": Habits(its_test=True, stale_basis=True),
}
OWN_MODULES = ("qwo", "qwo-likelihood", "bic")
DEFAULT, FLOP = "default", "flop"
AUTHORS = {"authors/grasp": ("grasp", 3), "authors/hc": ("HC", 5)}
"""The authors' own code: its name for a search, and the paper's depth or distance."""

AUTHORS_CODE, THE_AUTHORS = "QWO_AUTHORS_CODE", "the authors' code"
FLOP_RESTARTS = 20


def check_method(method: str) -> str:
    """A method that exists, as given."""
    search, _, module = method.partition("/")
    known = (
        method in (DEFAULT, FLOP, "cl-grasp/cl-bic", *AUTHORS)
        or (search in SEARCHES and module in (*OWN_MODULES, *SCORES))
        or (search in ("code-grasp", "code-hc") and module in HABITS)
    )
    if not known:
        raise ArgumentError(
            f"there is no method {method!r}; a method is search/module, such as 'grasp0/qwo', "
            f"with a search from {', '.join(SEARCHES)} and a module from "
            f"{', '.join([*OWN_MODULES, *SCORES])}"
        )
    return method


def needs(method: str) -> str | None:
    """Whose code a method runs but ours: no time limit reaches it from within."""
    if method in AUTHORS:
        return THE_AUTHORS
    if method == FLOP:
        return "FLOP"
    return "causal-learn" if "cl-" in method else None


def import_code(method: str) -> None:
    """Import other people's code, which is not to count as the time of a run."""
    need = needs(method)
    if need == THE_AUTHORS:
        sys.path.insert(0, os.environ[AUTHORS_CODE])
        import_module("QWO")
    elif need == "FLOP":
        optional_module("flopsearch", "this comparison needs")
    elif need:
        import_causal_learn()


def run_method(method: str, problem: Problem, seed: int, budget: float) -> Found:
    """The graph that a method finds within so many seconds of processor time."""
    search, _, _ = method.partition("/")
    if search == "cl-grasp":
        return Found(own_grasp(sample_of(problem), seed), finished=True)
    if method == FLOP:
        return Found(_flop(sample_of(problem)), finished=True)
    if method in AUTHORS:
        return Found(_authors(method, sample_of(problem), seed), finished=True)
    began = time.process_time()
    if problem.data is not None:
        problem = replace(problem, moments=Moments.from_data(problem.data))
    prepared = time.process_time() - began
    return _own(method, problem, seed, budget)._replace(prepared=prepared)


def _own(method: str, problem: Problem, seed: int, budget: float) -> Found:
    """The graph of a search of ours, from the moments on."""
    search, _, module = method.partition("/")
    if method == DEFAULT:
        found = discover(problem.moments, random_state=seed, time_limit=budget)
        return Found(found.dag, found.status == "converged")
    if module in HABITS:
        return _as_published(search.removeprefix("code-"), HABITS[module], problem, seed, budget)
    control = Control(time_limit=budget, clock=time.process_time)
    start = "random" if search == "hc-random" else "markov-boundary"
    engine = make_engine(module, problem, start, seed)
    outcome = SEARCHES[search](engine, control=control, random_state=seed)
    return Found(engine.dag(), outcome.status == "converged")


def make_engine(
    module: str, problem: Problem, start: str = "markov-boundary", seed: int = 0
) -> OrderEngine:
    """The module at a start order, by default the paper's."""
    moments = problem.moments
    order = start_order(start, moments.correlation, moments.n_samples, random_state=seed)
    if module == "qwo":
        return QwoEngine(moments, objective="edges", order=order)
    if module == "qwo-likelihood":
        return QwoEngine(moments, objective="likelihood", order=order)
    if module == "bic":
        return BicEngine(moments, penalty_discount=PENALTY_DISCOUNT, order=order)
    score = SCORES[module](sample_of(problem))
    engine = LocalScoreEngine(score, moments.n_variables)
    engine.reset(order)
    return engine


def sample_of(problem: Problem) -> FloatArray:
    """The sample of a problem, for methods that exact moments do not serve."""
    if problem.data is None:
        raise ArgumentError("scores of causal-learn need a sample; this covariance is exact")
    return problem.data


def _flop(data: FloatArray) -> Adjacency:
    """The CPDAG of FLOP, which takes no seed."""
    module = optional_module("flopsearch", "this comparison needs")
    found: Adjacency = module.flop(data, PENALTY_DISCOUNT, restarts=FLOP_RESTARTS)
    return found.astype("int8")


def _authors(method: str, data: FloatArray, seed: int) -> Adjacency:
    """The DAG of the authors' code, which shuffles by the global seed; its rows are the effects."""
    search, parameter = AUTHORS[method]
    random.seed(seed)
    with redirect_stdout(io.StringIO()):
        found = import_module("QWO").QWO(data, search_method=search, param=parameter)
    return np.asarray(found).T.astype(np.int8)


def _as_published(search: str, habits: Habits, problem: Problem, seed: int, budget: float) -> Found:
    control = Control(time_limit=budget, clock=time.process_time)
    try:
        dag = published_search(search, problem.moments, habits, seed, check=control.is_due)
    except Stopped:
        return Found(problem.truth[:0, :0], finished=False)
    return Found(dag, finished=True)
