"""Causal graphs from tables of data by searching over variable orders.

An independent implementation of QWO (Shahverdikondori, Mokhtarian and Kiyavash, NeurIPS 2024) and
of searches that go beyond it. Start with `qwo.discover`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qwo.agreement.check import check
    from qwo.agreement.result import Check
    from qwo.bayes.posterior import posterior
    from qwo.bayes.result import Posterior
    from qwo.discovery.discover import discover
    from qwo.discovery.regimes import changes
    from qwo.discovery.result import Discovery
    from qwo.errors import DataWarning, InputError
    from qwo.estimator.estimator import QWO
    from qwo.estimator.penalty_path import penalty_path
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
    from qwo.moments.reading import audit
    from qwo.order.order_dag import OrderDag, order_dag
    from qwo.resample.bootstrap import bootstrap
    from qwo.resample.result import Bootstrap
    from qwo.sem import LinearSem, fit_sem, score_graph, total_effect
    from qwo.sem.ida import ida
    from qwo.simulation import simulate

    __version__: str

__all__ = [
    "QWO",
    "Bootstrap",
    "CausalGraph",
    "Check",
    "DataWarning",
    "Discovery",
    "InputError",
    "Knowledge",
    "LinearSem",
    "Moments",
    "OrderDag",
    "Posterior",
    "audit",
    "bootstrap",
    "changes",
    "check",
    "compare",
    "discover",
    "enumerate_dags",
    "fit_sem",
    "ida",
    "order_dag",
    "penalty_path",
    "posterior",
    "read_graph",
    "sample_dag",
    "score_graph",
    "simulate",
    "to_cpdag",
    "to_dag",
    "total_effect",
    "write_graph",
]

_NAMES = {
    "agreement": ("Check", "check"),
    "bayes": ("Posterior", "posterior"),
    "discovery": ("Discovery", "discover"),
    "discovery.regimes": ("changes",),
    "errors": ("DataWarning", "InputError"),
    "estimator": ("QWO", "penalty_path"),
    "graph": (
        "CausalGraph",
        "Knowledge",
        "compare",
        "enumerate_dags",
        "read_graph",
        "sample_dag",
        "to_cpdag",
        "to_dag",
        "write_graph",
    ),
    "moments": ("Moments",),
    "moments.reading": ("audit",),
    "order.order_dag": ("OrderDag", "order_dag"),
    "resample": ("Bootstrap", "bootstrap"),
    "sem": ("LinearSem", "fit_sem", "ida", "score_graph", "total_effect"),
    "simulation": ("simulate",),
}
_HOME = {name: home for home, names in _NAMES.items() for name in names}
_PARTS = {home.partition(".")[0] for home in _NAMES} | {"datasets", "plot", "report", "search"}


def __getattr__(name: str) -> Any:
    """What is asked for, imported only then: SciPy, pyarrow and scikit-learn take their time."""
    if name == "__version__":
        value = import_module("qwo._core").build_config()["version"]
    elif name in _HOME:
        value = getattr(import_module(f"qwo.{_HOME[name]}"), name)
    elif name in _PARTS:
        value = import_module(f"qwo.{name}")
    else:
        raise AttributeError(f"module 'qwo' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
