"""Searches over orders. They see the engine's protocol only: no data, no score, no matrix."""

from __future__ import annotations

from qwo.search.control import Callback, Control, Progress, SearchOutcome
from qwo.search.grasp import grasp
from qwo.search.hill_climbing import hill_climbing
from qwo.search.insertion import insertion, insertion_search_of
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
