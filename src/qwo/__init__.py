"""Causal graphs from continuous data by searching over variable orders.

An independent implementation of QWO (Shahverdikondori, Mokhtarian and Kiyavash, NeurIPS 2024) and
of searches that go beyond it. Start with `qwo.discover`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from qwo.discovery import Discovery, discover
from qwo.errors import DataWarning, InputError
from qwo.graph import (
    CausalGraph,
    Knowledge,
    compare,
    enumerate_dags,
    read_graph,
    sample_dag,
    to_cpdag,
    to_dag,
    write_graph,
)
from qwo.moments import Moments
from qwo.order.build import versions
from qwo.order.order_dag import OrderDag, order_dag
from qwo.sem import LinearSem, fit_sem, ida, score_graph, total_effect
from qwo.simulation import simulate

if TYPE_CHECKING:
    from qwo.estimator.estimator import QWO
    from qwo.estimator.penalty_path import penalty_path
    from qwo.resample.bootstrap import bootstrap
    from qwo.resample.result import Bootstrap

__version__: str = versions()["qwo"]

__all__ = [
    "QWO",
    "Bootstrap",
    "CausalGraph",
    "DataWarning",
    "Discovery",
    "InputError",
    "Knowledge",
    "LinearSem",
    "Moments",
    "OrderDag",
    "bootstrap",
    "compare",
    "discover",
    "enumerate_dags",
    "fit_sem",
    "ida",
    "order_dag",
    "penalty_path",
    "read_graph",
    "sample_dag",
    "score_graph",
    "simulate",
    "to_cpdag",
    "to_dag",
    "total_effect",
    "write_graph",
]


_LATER = {
    "QWO": "qwo.estimator",
    "penalty_path": "qwo.estimator",
    "Bootstrap": "qwo.resample",
    "bootstrap": "qwo.resample",
}
"""Names whose modules bring scikit-learn, which takes its time: imported when asked for."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'qwo' has no attribute {name!r}")
