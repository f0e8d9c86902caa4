"""GRaSP, BOSS and GES of causal-learn."""

from __future__ import annotations

import random
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import Call, FloatArray, Matrix, Options, sum_over_families

SCORE = "local_score_BIC_from_cov"


def penalty(penalty_discount: float) -> dict[str, float]:
    """Its lambda multiplies log N in a score of one log-likelihood, not two."""
    return {"lambda_value": penalty_discount / 2}


def load(options: Options) -> Call:
    """One of its searches, with its score that works on the covariance matrix."""
    package, name = {
        "grasp": ("PermutationBased.GRaSP", "grasp"),
        "boss": ("PermutationBased.BOSS", "boss"),
        "ges": ("ScoreBased.GES", "ges"),
    }[options["algorithm"]]
    search = getattr(import_module(f"causallearn.search.{package}"), name)

    def run(data: FloatArray) -> Any:
        random.seed(options["random_state"])
        np.random.seed(options["random_state"])  # noqa: NPY002
        chatty = {} if name == "ges" else {"verbose": False}
        parameters = penalty(options["penalty_discount"])
        return search(data, score_func=SCORE, parameters=parameters, **chatty)

    def matrix(found: Any) -> Matrix:
        return from_endpoints((found["G"] if name == "ges" else found).graph)

    def score(data: FloatArray, dag: Matrix) -> float:
        local = getattr(import_module("causallearn.score.LocalScoreFunction"), SCORE)
        moments = np.cov(data.T, ddof=0), len(data)
        parameters = penalty(options["penalty_discount"])
        return sum_over_families(lambda i, parents: local(moments, i, parents, parameters), dag)

    return Call(run, f"causal-learn {version('causal-learn')}", matrix=matrix, score=score)


def from_endpoints(graph: Any) -> Matrix:
    """The matrix of its endpoint codes: G[j, i] = 1 and G[i, j] = -1 for i → j."""
    directed = (graph == -1) & (graph.T == 1)
    undirected = (graph == -1) & (graph.T == -1)
    matrix: Matrix = directed.astype(np.int8) + 2 * undirected.astype(np.int8)
    return matrix
