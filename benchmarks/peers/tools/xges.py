"""XGES in its Python package, whose scores are compiled by numba."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from benchmarks.peers.tools.call import (
    Call,
    FloatArray,
    Matrix,
    Options,
    cpdag_of_ones,
    sum_over_families,
)


def load(options: Options) -> Call:
    """`xges.XGES`: the extended search, or XGES-0 without it."""
    from xges import XGES  # type: ignore[import-not-found]
    from xges.bic_scorer import BICScorer  # type: ignore[import-not-found]

    def run(data: FloatArray) -> Any:
        return XGES(alpha=options["penalty_discount"]).fit(
            data, extended_search=options["extended"], verbose=0
        )

    def matrix(pdag: Any) -> Any:
        return cpdag_of_ones(pdag.to_adjacency_matrix())

    def score(data: FloatArray, dag: Matrix) -> float:
        scorer = BICScorer(data, alpha=options["penalty_discount"])
        return sum_over_families(lambda i, parents: scorer.local_score(i, set(parents)), dag)

    return Call(run, f"xges {version('xges')}", matrix=matrix, score=score)
