"""Samples of a linear model under several conditions, which change the equations of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from qwo.errors import ArgumentError
from qwo.names import as_column, default_names
from qwo.simulation.linear_model import LinearModel
from qwo.types import FloatArray

Change = Literal["shift", "perfect", "variance", "slopes"]
"""The mean moves by a standard deviation of the variable; it is set, two of them off, whatever its
causes; the standard deviation of its noise is 2.5 times what it was; effects of its causes turn
round and are half as strong."""

Interventions = Mapping[str, Sequence[str | int] | Mapping[str | int, Change]]


def refuse_beside(*, standardize: bool, cycles: int) -> None:
    """Raise if what is asked for does not go with interventions."""
    if standardize or cycles:
        raise ArgumentError(
            "interventions do not go with standardize or cycles: conditions differ in means and "
            "scales, and change equations of an acyclic graph; leave one of them out",
            option="interventions",
        )


def sample_conditions(
    model: LinearModel,
    interventions: Any,
    n_samples: int,
    noise: str,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Rows of each condition; one without variables is the model as it is."""
    if not isinstance(interventions, Mapping) or not interventions:
        raise ArgumentError(
            f"interventions is {interventions!r}; wanted the variables that each condition touches,"
            ' such as {"control": [], "drug": ["X2"]}',
            option="interventions",
        )
    return {
        str(label): _changed(model, touched, n_samples, noise, rng)
        for label, touched in interventions.items()
    }


def _changed(
    model: LinearModel,
    touched: Sequence[str | int] | Mapping[str | int, Change],
    n_samples: int,
    noise: str,
    rng: np.random.Generator,
) -> FloatArray:
    names, spread = default_names(model.n_variables), np.sqrt(np.diagonal(model.covariance()))
    effects, variances = model.coefficients.copy(), model.noise_variances.copy()
    mean = np.zeros(model.n_variables)
    listed = [touched] if isinstance(touched, str) else touched
    changes = listed if isinstance(listed, Mapping) else dict.fromkeys(listed, "shift")
    for variable, change in changes.items():
        v = as_column(names, variable, "interventions")
        if change not in get_args(Change):
            raise ArgumentError(
                f"interventions has {change!r} for {names[v]!r}; wanted one of "
                f"{', '.join(map(repr, get_args(Change)))}",
                option="interventions",
            )
        if change == "perfect":
            effects[:, v], mean[v] = 0.0, 2 * spread[v]
        elif change == "shift":
            mean[v] = spread[v]
        elif change == "variance":
            variances[v] *= 2.5**2
        else:
            effects[:, v] *= -0.5
    changed = LinearModel(model.dag, effects, variances)
    moved = np.linalg.solve((np.eye(len(mean)) - effects).T, mean)
    return np.asarray(changed.sample(n_samples, noise, rng) + moved)
