"""How well the graphs of a path predict rows that took no part in learning them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from qwo.errors import ArgumentError
from qwo.estimator.path_search import PathSettings, search_path
from qwo.moments.tables import Table
from qwo.parallel import run_many
from qwo.resample.draws import resampled_moments
from qwo.sem import fit_sem
from qwo.types import FloatArray, Indices


def most_predictive(
    table: Table,
    penalties: Sequence[float],
    settings: PathSettings,
    *,
    n_folds: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    cluster: Any,
) -> tuple[int, FloatArray]:
    """The place of the penalty that predicts best, the largest of several, and all likelihoods.

    These are means per row, given the graph and the equations of the folds that it is not in.

    Parameters
    ----------
    table : Table
        The data.
    penalties : sequence of float
        The penalties, the largest first.
    settings : PathSettings
        The settings of the searches, with nothing left open.
    n_folds : int
        Into how many parts the rows are divided.
    rng : Generator
        Which row is in which part.
    n_jobs, cluster
        Where the parts are worked on, as for `run_many`.
    """
    n_rows = len(table.values)
    if not 2 <= n_folds <= n_rows:
        raise ArgumentError(f"n_folds is {n_folds}; wanted 2 to {n_rows}, the number of rows")
    folds = np.array_split(rng.permutation(n_rows), n_folds)
    task = partial(_likelihoods, table, penalties, settings)
    sums = dict(run_many(task, folds, n_jobs=n_jobs, cluster=cluster))
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
