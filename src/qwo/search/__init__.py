"""Searches over orders. They see the engine's protocol only: no data, no score, no matrix."""

from __future__ import annotations

from collections.abc import Callable

from qwo.order.protocol import OrderEngine
from qwo.search.bic_insertion import bic_insertion
from qwo.search.control import Callback, Control, Progress, SearchOutcome
from qwo.search.grasp import grasp
from qwo.search.hill_climbing import hill_climbing
from qwo.search.insertion import insertion
from qwo.search.start import start_order

__all__ = [
    "Callback",
    "Control",
    "Progress",
    "SearchOutcome",
    "grasp",
    "hill_climbing",
    "insertion",
    "insertion_search_of",
    "start_order",
]

INSERTION_SEARCHES: dict[str, Callable[..., SearchOutcome]] = {
    "by scans": insertion,
    "compiled": bic_insertion,
}
"""Insertion searches by the names that engines give them; see `insertion_search_of`."""


def insertion_search_of(engine: OrderEngine) -> Callable[..., SearchOutcome]:
    """The insertion search that an engine names in ``insertion_search``; by scans if it does not.

    An engine knows nothing of searches but the name of the one that was made for it.
    """
    return INSERTION_SEARCHES[getattr(engine, "insertion_search", "by scans")]
