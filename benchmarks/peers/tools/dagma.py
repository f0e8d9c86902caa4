"""DAGMA: continuous optimisation of a penalised least-squares fit under acyclicity."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import Call, FloatArray, Options


def load(_: Options) -> Call:
    """Its linear model with default options; edges are the weights beyond its threshold."""
    from dagma.linear import DagmaLinear  # type: ignore[import-not-found]

    def run(data: FloatArray) -> Any:
        return DagmaLinear(loss_type="l2").fit(data, lambda1=0.02)

    def matrix(weights: Any) -> Any:
        return (np.asarray(weights) != 0).astype(np.int8)

    return Call(run, f"dagma {version('dagma')}", matrix=matrix)
