"""Adjustment identification distances, computed by the optional package gadjid."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from qwo.errors import GraphError
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.cpdag import is_cpdag
from qwo.optional import optional_module


@dataclass(frozen=True)
class AdjustmentDistance:
    """The causal effects that an estimated graph gets wrong, as shares of all n (n - 1).

    For each ordered pair of variables the estimate says how to identify the effect of one on the
    other, or that there is none; the share is of those for which this is wrong in the truth. The
    three differ in the adjustment set: all ancestors, the parents, or the optimal set.
    L. Henckel, T. Würtzen and S. Weichwald, UAI 2024.
    """

    ancestor: float
    parent: float
    oset: float


def adjustment_distance(
    estimated: CausalGraph, truth: CausalGraph, wanted: bool | None = None
) -> AdjustmentDistance | None:
    """The distances between two graphs over the same variables, as they are given.

    Parameters
    ----------
    estimated, truth : CausalGraph
        DAGs or CPDAGs; gadjid does not check that a graph with undirected edges is a CPDAG.
    wanted : bool, optional
        True asks for an error where there is no answer; False for none; by default there is one if
        gadjid is installed and the graphs are fit.
    """
    if wanted is False or (wanted is None and find_spec("gadjid") is None):
        return None
    gadjid, obstacle = _gadjid(), _obstacle(estimated, truth)
    if obstacle and wanted:
        raise GraphError(f"there is no adjustment distance: {obstacle}; pass aid=False")
    if obstacle:
        return None
    arguments = (truth.matrix, estimated.matrix, "from row to column")
    return AdjustmentDistance(
        ancestor=gadjid.ancestor_aid(*arguments)[0],
        parent=gadjid.parent_aid(*arguments)[0],
        oset=gadjid.oset_aid(*arguments)[0],
    )


def _obstacle(estimated: CausalGraph, truth: CausalGraph) -> str | None:
    if truth.n_variables < 2:
        return "the graphs have a single variable"
    for title, graph in (("estimated graph", estimated), ("true graph", truth)):
        if graph.kind == "cpdag" and not is_cpdag(graph.matrix):
            return f"the {title} is not the CPDAG of any DAG"
    return None


def _gadjid() -> Any:
    return optional_module("gadjid", "the adjustment distance needs", "qwo[aid]")
