"""A penalty chosen from a path, with what speaks for it: four ways to choose.

Held-out rows show how well the graphs of a path predict. Stability is StARS, after Liu, Roeder and
Wasserman (2010): graphs of subsamples of size b are compared. The regularisation is that of the
whole sample: as twice the log-likelihood grows with the number of samples, an edge that costs
c·log N there costs b/N times as much here. Two things differ from the paper:

- The instability is not made monotone by taking its maximum over all larger penalties. Of the
  graphs that a heavy penalty allows several are about equally bad, so that it may be less stable
  than a light one, and the maximum would end the path there.
- Penalties are tried from the largest on, and the path ends at the first that is unstable while
  edges are so cheap that chance alone could be the reason: graphs of lighter penalties are denser,
  no more stable, and by far the most expensive to search.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import chdtri

from qwo.checks import at_least, between, generator
from qwo.discovery import Discovery
from qwo.discovery.price import LEAST, LEAST_OF_BLOCKS
from qwo.errors import ArgumentError, Cure, DataWarning
from qwo.estimator.path_search import PathSettings, heard, objective_at, search_once, search_path
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.parallel import run_many
from qwo.resample.draws import resampled_moments
from qwo.sem import fit_sem
from qwo.types import FloatArray, Indices

Method = Literal["auto", "held-out", "stars", "bic"]


@dataclass(frozen=True, eq=False, repr=False)
class PenaltyChoice:
    """A penalty of a path, and what it was chosen by.

    Attributes
    ----------
    method : {"auto", "held-out", "stars", "bic"}
        How it was chosen.
    penalty : float
        The penalty_discount chosen.
    discovery : Discovery
        The graph of the whole data for this penalty.
    penalties, values : ndarray
        All penalties, the largest first, and the criterion for each: the mean log-likelihood of a
        held-out row (higher is better), the instability (at most beta is wanted; NaN where it was
        not needed any more), the BIC less that of the graph without edges, or what the penalty
        loses and lets in, in true edges (lower is better).
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
    there are categories; all below lose more.
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
    values[[k for k in range(len(values)) if fair and k not in fair]] = np.inf
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


def smallest_stable(
    table: Table,
    penalties: Sequence[float],
    settings: PathSettings,
    *,
    n_subsamples: int,
    beta: float,
    **drawn: Any,
) -> tuple[int, FloatArray]:
    """The place of the smallest penalty with an instability of at most beta, and instabilities.

    The subsamples are drawn from the ``random_state``, and worked on by ``n_jobs`` and ``cluster``.
    """
    n_subsamples = at_least("n_subsamples", n_subsamples, 2)
    if not 0 < between("beta", beta, 0.0, 0.5) < 0.5:
        raise ArgumentError(f"beta is {beta}; wanted a number between 0 and 0.5", option="beta")
    rng, n_rows = generator(drawn.pop("random_state")), len(table.values)
    size = subsample_size(n_rows)
    scaled, settings = _same_regularisation(penalties, settings, size, n_rows)
    samples = [
        resampled_moments(
            table,
            rng.choice(n_rows, size, replace=False),
            settings.covariance_estimator,
            settings.missing,
        )
        for _ in range(n_subsamples)
    ]
    before: list[Discovery | None] = [None] * n_subsamples
    values, chosen = np.full(len(penalties), np.nan), None
    for k, penalty in enumerate(scaled):
        price = _price(penalty, settings, samples[0])
        # Cheaper than this, independent variables are adjacent more often than not, and graphs
        # come to agree again as they fill up.
        if k > 0 and price < chance_price(0.5):
            break
        task = partial(_warm_search, penalty, settings)
        tasks = list(zip(samples, before, strict=True))
        searched = {place: heard(one) for place, one in run_many(task, tasks, **drawn)}
        found = [searched[place] for place in range(n_subsamples)]
        before = [*found]
        values[k] = instability(found)
        if values[k] <= beta:
            chosen = k
        elif price < chance_price(beta):
            break
    return (_most_stable(values, beta) if chosen is None else chosen), values


def instability(found: Sequence[Discovery]) -> float:
    """The mean over all pairs of 2θ(1 - θ), θ being the share of graphs where they are adjacent."""
    shares = np.mean([(one.dag | one.dag.T) != 0 for one in found], axis=0)
    pairs = np.triu_indices(len(shares), k=1)
    return float((2 * shares * (1 - shares))[pairs].mean())


def chance_price(beta: float) -> float:
    """The price of an edge, as twice the log-likelihood, at which chance makes for instability β.

    An edge between independent variables gains χ² with one degree of freedom, and so is drawn with
    the probability θ that this exceeds the price: 2θ(1 - θ) = β.
    """
    return float(chdtri(1, (1 - math.sqrt(1 - 2 * beta)) / 2))


def subsample_size(n_rows: int) -> int:
    """Rows of a subsample: 10√N, as the paper proposes, but at most 80 % of N."""
    return int(min(10 * math.sqrt(n_rows), 0.8 * n_rows))


def _same_regularisation(
    penalties: Sequence[float], settings: PathSettings, size: int, n_rows: int
) -> tuple[list[float], PathSettings]:
    """Penalties and settings at which an edge costs size / N times as much as in the whole."""
    share = size / n_rows
    logs = math.log(n_rows) / math.log(size)
    gamma = settings.options.gamma
    scaled = settings.with_options(gamma=None if gamma is None else gamma * share)
    return [penalty * share * logs for penalty in penalties], scaled


def _price(penalty: float, settings: PathSettings, moments: Moments) -> float:
    """What an edge costs, as twice the log-likelihood."""
    extension = 2 * (settings.options.gamma or 0.0) * math.log(moments.n_variables)
    return penalty * math.log(moments.n_samples) + extension


def _warm_search(
    penalty: float, settings: PathSettings, task: tuple[Moments, Discovery | None]
) -> Discovery:
    moments, last = task
    warm = settings if last is None else settings.with_options(start=last.order)
    return search_once(moments, penalty, warm)


def _most_stable(values: FloatArray, beta: float) -> int:
    """The place of the most stable penalty, for want of a stable one."""
    best = int(np.nanargmin(values))
    warnings.warn(
        f"no penalty has an instability of {beta:g} or less; the most stable is chosen, with "
        f"{values[best]:.3g}. Try other penalties, a larger beta, or choose('held-out')",
        DataWarning,
        stacklevel=4,
    )
    return best
