"""Causal graphs from tables of data by searching over variable orders.

An independent implementation of QWO (Shahverdikondori, Mokhtarian and Kiyavash, NeurIPS 2024) and
of searches that go beyond it. Start with `qwo.discover`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qwo.agreement.check import check as check
    from qwo.agreement.result import Check as Check
    from qwo.bayes.posterior import posterior as posterior
    from qwo.bayes.result import Posterior as Posterior
    from qwo.discovery.discover import discover as discover
    from qwo.discovery.regimes import changes as changes
    from qwo.discovery.result import Discovery as Discovery
    from qwo.errors import DataWarning as DataWarning
    from qwo.errors import InputError as InputError
    from qwo.estimator.estimator import QWO as QWO
    from qwo.estimator.penalty_path import penalty_path as penalty_path
    from qwo.graph import CausalGraph as CausalGraph
    from qwo.graph import Knowledge as Knowledge
    from qwo.graph import compare as compare
    from qwo.graph import enumerate_dags as enumerate_dags
    from qwo.graph import read_graph as read_graph
    from qwo.graph import sample_dag as sample_dag
    from qwo.graph import to_cpdag as to_cpdag
    from qwo.graph import to_dag as to_dag
    from qwo.graph import write_graph as write_graph
    from qwo.moments import Moments as Moments
    from qwo.moments.reading import audit as audit
    from qwo.order.order_dag import OrderDag as OrderDag
    from qwo.order.order_dag import order_dag as order_dag
    from qwo.resample.bootstrap import bootstrap as bootstrap
    from qwo.resample.result import Bootstrap as Bootstrap
    from qwo.sem import LinearSem as LinearSem
    from qwo.sem import fit_sem as fit_sem
    from qwo.sem import score_graph as score_graph
    from qwo.sem import total_effect as total_effect
    from qwo.sem.ida import ida as ida
    from qwo.simulation import simulate as simulate

    __version__: str

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
__all__ = sorted(_HOME)  # noqa: PLE0605 (one list the less to keep in step)
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
