"""DirectLiNGAM, which needs noise that is not Gaussian."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import Call, FloatArray, Options


def load(options: Options) -> Call:
    """`lingam.DirectLiNGAM` with default options."""
    import lingam  # type: ignore[import-not-found]

    def run(data: FloatArray) -> Any:
        return lingam.DirectLiNGAM(random_state=options["random_state"]).fit(data)

    def matrix(model: Any) -> Any:
        # Its rows are the effects.
        return (model.adjacency_matrix_.T != 0).astype(np.int8)

    return Call(run, f"lingam {version('lingam')}", matrix=matrix)
