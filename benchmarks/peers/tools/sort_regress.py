"""Baselines that sort the variables by a simple criterion and regress each on those before it."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import Call, FloatArray, Options


def load(options: Options) -> Call:
    """CausalDisco's var- and R²-sort-regress."""
    from CausalDisco import baselines  # type: ignore[import-not-found]

    def run(data: FloatArray) -> Any:
        if options["criterion"] == "var":
            return baselines.var_sort_regress(data)
        return baselines.r2_sort_regress(data)

    def matrix(weights: Any) -> Any:
        return (weights != 0).astype(np.int8)

    return Call(run, f"CausalDisco {version('CausalDisco')}", matrix=matrix)
