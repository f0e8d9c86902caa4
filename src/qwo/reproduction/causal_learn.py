"""Local scores of causal-learn for our searches, and its own GRaSP.

causal-learn's BIC is loglik - lambda · (parents + 1) · log N since 2026, where it was twice that
with the same lambda before. Our score is 2·loglik - c · edges · log N, so lambda = c / 2.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import numpy as np

from qwo.errors import optional_module
from qwo.order.local_score import LocalScore
from qwo.types import Adjacency, FloatArray

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
