"""The data of a run: a linear model on a random graph or a published one, and its moments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from qwo.datasets import load_network
from qwo.moments import Moments
from qwo.reproduction.store import run_key
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
