"""Causal graphs from continuous data by searching over variable orders.

An independent implementation of QWO (Shahverdikondori, Mokhtarian and Kiyavash, NeurIPS 2024) and
of searches that go beyond it. Start with `qwo.discover`.
"""

from qwo.discovery import Discovery, discover
from qwo.errors import DataWarning, InputError
from qwo.graph import Knowledge, to_cpdag, to_dag
from qwo.moments import Moments
from qwo.order.build import versions
from qwo.order.order_dag import OrderDag, order_dag
from qwo.sem import LinearSem, fit_sem, score_graph
from qwo.simulation import simulate

__version__: str = versions()["qwo"]

__all__ = [
    "DataWarning",
    "Discovery",
    "InputError",
    "Knowledge",
    "LinearSem",
    "Moments",
    "OrderDag",
    "discover",
    "fit_sem",
    "order_dag",
    "score_graph",
    "simulate",
    "to_cpdag",
    "to_dag",
]
