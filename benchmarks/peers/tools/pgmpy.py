"""Hill climbing and GES of pgmpy."""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import (
    Call,
    FloatArray,
    Matrix,
    Options,
    cpdag_of_ones,
    sum_over_families,
)


def scoring(frame: Any, penalty_discount: float) -> Any:
    """Its Gaussian BIC with a factor before the penalty, which it has no option for."""
    from pgmpy.structure_score import BICGauss  # type: ignore[import-not-found]

    class DiscountedBIC(BICGauss):  # type: ignore[misc]
        def _local_score(self, variable: str, parents: tuple[str, ...]) -> float:
            likelihood, slopes = self._log_likelihood(variable=variable, parents=parents)
            price = penalty_discount * np.log(len(self.data)) / 2
            return float(likelihood - price * (slopes + 2))

    return DiscountedBIC(frame)


def load(options: Options) -> Call:
    """Its estimators of the Markov equivalence class."""
    import pandas as pd
    from pgmpy.causal_discovery import GES, HillClimbSearch  # type: ignore[import-not-found]

    logging.getLogger("pgmpy").setLevel(logging.ERROR)

    def prepare(data: FloatArray) -> Any:
        return pd.DataFrame(data, columns=[f"X{i}" for i in range(data.shape[1])])

    def run(frame: Any) -> Any:
        method = scoring(frame, options["penalty_discount"])
        if options["algorithm"] == "ges":
            estimator = GES(scoring_method=method)
        else:
            estimator = HillClimbSearch(scoring_method=method, show_progress=False)
        return estimator.fit(frame)

    def matrix(estimator: Any) -> Matrix:
        names = list(estimator.feature_names_in_)
        return cpdag_of_ones(estimator.adjacency_matrix_.loc[names, names].to_numpy())

    def score(frame: Any, dag: Matrix) -> float:
        method = scoring(frame, options["penalty_discount"])

        def local(i: int, parents: list[int]) -> float:
            return float(method.local_score(f"X{i}", tuple(f"X{j}" for j in parents)))

        return sum_over_families(local, dag)

    return Call(run, f"pgmpy {version('pgmpy')}", prepare, matrix, score=score)
