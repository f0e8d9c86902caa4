"""What other people's packages measure or draw for us, in the environment of these packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


def versions() -> dict[str, str]:
    """The packages that measure."""
    from importlib.metadata import version

    return {name: version(name) for name in ("CausalDisco", "daosim", "gadjid")}


def sortability(data: str, dag: str) -> dict[str, float]:
    """How well the variances and the R² of variables follow the causal order (CausalDisco)."""
    analytics = import_module("CausalDisco.analytics")
    values, truth = np.load(data), np.load(dag).astype(float)
    if not truth.any():
        return {}
    # Standardised columns differ in variance by rounding only, which must not count.
    return {
        "varsortability": float(analytics.var_sortability(values, truth, tol=1e-9)),
        "r2sortability": float(analytics.r2_sortability(values, truth)),
    }


def ancestor_aid(truth: str, graph: str) -> dict[str, float]:
    """The share of wrong adjustments by ancestors that a CPDAG leads to (gadjid)."""
    gadjid = import_module("gadjid")
    share, _ = gadjid.ancestor_aid(np.load(truth), np.load(graph), "from row to column")
    return {"aid": float(share)}


def draw_dao(n: int, degree: float, seed: list[int], out: str) -> dict[str, Any]:
    """A DAG with correlations drawn by the DAG adaptation of the onion method (daosim)."""
    daosim = import_module("daosim")
    rng = np.random.default_rng(seed)
    graph = daosim.randomize_graph(daosim.er_dag(n, ad=degree, rng=rng), rng)
    _, coefficients, variances = daosim.corr(graph, rng)
    # Its rows are the effects.
    np.savez(out, dag=graph.T.astype(np.int8), coefficients=coefficients.T, variances=variances)
    return {}
