"""How stable the graphs of a path are: StARS, after Liu, Roeder and Wasserman (2010).

Graphs of subsamples of size b are compared. The regularisation is that of the whole sample: as
twice the log-likelihood grows with the number of samples, an edge that costs c·log N there costs
b/N times as much here. Two things differ from the paper:

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
from functools import partial
from typing import Any

import numpy as np
from scipy.special import chdtri

from qwo.discovery import Discovery
from qwo.errors import ArgumentError, DataWarning
from qwo.estimator.path_search import PathSettings, search_once
from qwo.moments import Moments
from qwo.moments.tables import Table
from qwo.parallel import run_many
from qwo.resample.draws import resampled_moments
from qwo.types import FloatArray


def smallest_stable(
    table: Table,
    penalties: Sequence[float],
    settings: PathSettings,
    *,
    n_subsamples: int,
    beta: float,
    rng: np.random.Generator,
    n_jobs: int | None,
    cluster: Any,
) -> tuple[int, FloatArray]:
    """The place of the smallest penalty with an instability of at most beta, and instabilities.

    Parameters
    ----------
    table : Table
        The data.
    penalties : sequence of float
        The penalties, the largest first.
    settings : PathSettings
        The settings of the searches, with nothing left open.
    n_subsamples : int
        How many subsamples are drawn.
    beta : float
        The instability allowed, below 0.5.
    rng : Generator
        Which rows are in which subsample.
    n_jobs, cluster
        Where the subsamples are worked on, as for `run_many`.
    """
    _check(n_subsamples, beta)
    n_rows = len(table.values)
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
        searched = dict(run_many(task, tasks, n_jobs=n_jobs, cluster=cluster))
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


def _check(n_subsamples: int, beta: float) -> None:
    if n_subsamples < 2:
        raise ArgumentError(f"n_subsamples is {n_subsamples}; wanted 2 at least")
    if not 0 < beta < 0.5:
        raise ArgumentError(f"beta is {beta}; wanted a number between 0 and 0.5")


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
