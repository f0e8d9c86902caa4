"""A penalty chosen from a path of searches, with what speaks for it: three ways to choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from qwo.discovery import Discovery
from qwo.discovery.discover import discover_as
from qwo.discovery.price import LEAST, LEAST_OF_BLOCKS, LOWEST
from qwo.errors import ArgumentError, Cure
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.names import at_least, generator
from qwo.options import Missing, SearchOptions
from qwo.parallel import run_many
from qwo.resample.draws import resampled_moments
from qwo.sem import fit_sem
from qwo.types import FloatArray, Indices


@dataclass(frozen=True, eq=False)
class PathSettings:
    """What all searches of a path but for the penalty have in common, and what moments of rows."""

    options: SearchOptions
    covariance_estimator: str | Any = "plain"
    missing: Missing = "raise"

    def with_options(self, **changes: Any) -> PathSettings:
        """The settings with other options."""
        return replace(self, options=replace(self.options, **changes))

    def as_used(self, discovery: Discovery) -> PathSettings:
        """The settings with what was left open as a search has filled it in.

        On parts of the data the same would not always be filled in: gamma, for one, depends on
        whether there are more samples than variables.
        """
        used = {name: discovery.params[name] for name in ("search", "engine", "gamma")}
        return self.with_options(**used)


def search_once(moments: Moments, penalty: float, settings: PathSettings) -> Discovery:
    """The graph for one penalty."""
    return discover_as(moments, replace(settings.options, penalty_discount=penalty))


def search_path(
    moments: Moments,
    penalties: Sequence[float],
    settings: PathSettings,
    *,
    n_jobs: int | None = 1,
    cluster: Any = None,
) -> tuple[Discovery, ...]:
    """The best graph found for each penalty, the largest penalty first.

    A warm start alone often ends in the valley of the order that it came from, so that it competes
    with a search of its own for each penalty: the result is never worse than that of `discover`.
    The searches of their own are independent and may run side by side; warm ones, which are short,
    follow one another.
    """
    # The first fills in what was left open, and warns of it once.
    found = [heard(search_once(moments, penalties[0], settings))]
    settings = settings.as_used(found[0])
    task = partial(search_once, moments, settings=settings)
    results = run_many(task, penalties[1:], n_jobs=n_jobs, cluster=cluster)
    own = {k: heard(one) for k, one in results}
    for k, penalty in enumerate(penalties[1:]):
        warm = settings.with_options(start=found[-1].order, restarts=0)
        found.append(_best([own[k], heard(search_once(moments, penalty, warm))], penalty))
    return tuple(
        _best_at(penalty, own, found) for penalty, own in zip(penalties, found, strict=True)
    )


def heard(found: Discovery) -> Discovery:
    """A graph of the path, unless Ctrl-C has cut its search short, which ends all of them.

    Nothing is raised where it runs: a worker gets the interrupt key beside the process that it
    works for.
    """
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found


def score_at(discovery: Discovery, penalty: float) -> float:
    """The score of a graph under another penalty: a line that falls by its edges times log N."""
    params = discovery.params
    less = params["penalty_discount"] - penalty
    return discovery.score + float(less * discovery.n_coefficients * math.log(params["n_samples"]))


def objective_at(discovery: Discovery, penalty: float) -> float:
    """What the search maximises under a penalty: the score less the extended BIC's share of it."""
    extension = 2 * discovery.params["gamma"] * discovery.n_edges * math.log(discovery.n_variables)
    return score_at(discovery, penalty) - float(extension)


def _best(found: Sequence[Discovery], penalty: float) -> Discovery:
    """The first of those with the best objective."""
    return max(found, key=lambda discovery: objective_at(discovery, penalty))


def _best_at(penalty: float, own: Discovery, found: Sequence[Discovery]) -> Discovery:
    """The graph of the whole path that is best under a penalty, as the result for it.

    Scores are lines in the penalty, so that this is their upper envelope, on which the number of
    edges never grows with the penalty. A search under a heavy penalty needs it where parents are
    worth their price together but not one by one: it cannot find them, and a lighter penalty can.
    """
    best = _best([own, *found], penalty)
    if best is own:
        return own
    params, evidence = {**best.params, "penalty_discount": penalty}, best.evidence
    if evidence is not None:
        evidence = replace(evidence, price=own.evidence.price) if own.evidence else None
    return replace(best, score=score_at(best, penalty), params=params, evidence=evidence)


Method = Literal["auto", "held-out", "bic"]


@dataclass(frozen=True, eq=False, repr=False)
class PenaltyChoice:
    """A penalty of a path, and what it was chosen by.

    Attributes
    ----------
    method : {"auto", "held-out", "bic"}
        How it was chosen.
    penalty : float
        The penalty_discount chosen.
    discovery : Discovery
        The graph of the whole data for this penalty.
    penalties, values : ndarray
        All penalties, the largest first, and the criterion for each: the mean log-likelihood of a
        held-out row (higher is better), the BIC less that of the graph without edges, or what the
        penalty loses and lets in, in true edges (lower is better).
    """

    method: Method
    penalty: float
    discovery: Discovery
    penalties: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for array in (self.penalties, self.values):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return (
            f"<PenaltyChoice by {self.method}: penalty_discount {self.penalty:.4g}, "
            f"{self.discovery.n_edges} edges>"
        )


def lowest_bic(discoveries: Sequence[Discovery]) -> tuple[int, FloatArray]:
    """The place of the graph of lowest BIC, the largest penalty of several, and the BICs."""
    values = np.array([-objective_at(one, 1.0) for one in discoveries])
    return int(values.argmin()), values


def least_loss(discoveries: Sequence[Discovery]) -> tuple[int, FloatArray]:
    """The place of the penalty that loses least, and the losses.

    They are judged by the edges that the least penalty from 2 up has found, or from 1.5 up where
    there are categories; all below 1.5 lose more.
    """
    if any(one.evidence is None for one in discoveries):
        raise ArgumentError(
            "choose('auto') needs the strengths of the edges, which the exact BIC alone has; make "
            "the path with it, or take choose('held-out')",
            cures=[Cure("engine", "bic", "is the exact BIC")],
        )
    prices = np.array([one.evidence.price for one in discoveries if one.evidence is not None])
    least = LEAST_OF_BLOCKS if "columns" in discoveries[0].params else LEAST
    fair = [k for k, one in enumerate(discoveries) if one.params["penalty_discount"] >= least]
    judge = discoveries[fair[-1] if fair else 0].evidence
    assert judge is not None
    values = judge.losses(prices)
    if fair:
        values[[one.params["penalty_discount"] < LOWEST for one in discoveries]] = np.inf
    return int(values.argmin()), values


def most_predictive(
    table: Table, penalties: Sequence[float], settings: PathSettings, *, n_folds: int, **drawn: Any
) -> tuple[int, FloatArray]:
    """The place of the penalty that predicts best, the largest of several, and all likelihoods.

    These are means per row, given the graph and the equations of the folds that it is not in.
    Beside the folds: ``random_state``, from which they are drawn, and ``n_jobs`` and ``cluster``.
    """
    n_rows, n_folds = len(table.values), at_least("n_folds", n_folds, 2)
    if n_folds > n_rows:
        raise ArgumentError(f"n_folds is {n_folds}; wanted 2 to {n_rows}, the number of rows")
    rng = generator(drawn.pop("random_state"))
    folds = np.array_split(rng.permutation(n_rows), n_folds)
    sums = dict(run_many(partial(_likelihoods, table, penalties, settings), folds, **drawn))
    # In the order of the folds, since sums of floats depend on it.
    values = np.asarray(np.sum([sums[k] for k in range(n_folds)], axis=0) / n_rows)
    return int(values.argmax()), values


def _likelihoods(
    table: Table, penalties: Sequence[float], settings: PathSettings, fold: Indices
) -> list[float]:
    """The log-likelihood of the rows of one fold under each penalty."""
    others = np.setdiff1d(np.arange(len(table.values)), fold)
    training = resampled_moments(table, others, settings.covariance_estimator, settings.missing)
    found = search_path(training, penalties, settings)
    test = table.values[fold]
    if not training.coding.is_plain:
        # Of a level that no other row has, nothing can be predicted.
        test = training.coding.recoded(test, table.coding)
        test = test[~np.isnan(test).any(axis=1)]
    return [float(fit_sem(training, one).log_likelihood(test).sum()) for one in found]
