"""The paper's experiments: what is run, how every run is kept, and how it compares.

One idea per module. `items` says what is run, `models` draws the data, `methods` runs a search on a
module, `tasks` makes a run with its cost, `runner` makes what a `store` lacks, `aggregate` puts
runs together, and `figures`, `tables`, `claims` and `page` show them beside the paper's numbers.
"""

from __future__ import annotations

from qwo._experiments.items import Item, Profile, item_names, load_item
from qwo._experiments.reproduce import Reproduction, reproduce
from qwo._experiments.runner import Tally, make_runs
from qwo._experiments.store import ResultStore, Row, StoreLockedError, run_key

__all__ = [
    "Item",
    "Profile",
    "Reproduction",
    "ResultStore",
    "Row",
    "StoreLockedError",
    "Tally",
    "item_names",
    "load_item",
    "make_runs",
    "reproduce",
    "run_key",
]
