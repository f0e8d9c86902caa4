"""How far `discover` walks through the package: a library that can be read keeps that short."""

from __future__ import annotations

from pathlib import Path

import pytest

import qwo
from benchmarks.walk import calls, count_calls, walked

MOST = {
    ("Moments of csv", 5): (9, 61, 13),
    ("Moments of csv", 30): (9, 63, 13),
    ("discover(csv)", 5): (21, 148, 41),
    ("discover(csv)", 30): (21, 150, 41),
    ("discover(moments)", 5): (18, 98, 32),
    ("discover(moments)", 30): (18, 98, 32),
}
"""Modules, functions, and ways between modules for so many variables: what they are, with two
threads or more. They only fall, until `discover(csv)` has 18 modules and 130 functions for 5
variables, 18 modules for 30; 150 functions there are reached, and so are the goals for changes of
module, 85 and 95: there are 85, but their number goes with the slices of time that a search takes,
and so the ways are held instead."""


@pytest.mark.parametrize(("name", "n_variables"), MOST)
def test_the_road_from_data_to_graph_is_no_longer_than_it_was(
    name: str, n_variables: int, tmp_path: Path
) -> None:
    walk = walked(calls(tmp_path, n_variables)[name])
    found = len(walk.modules), len(walk.functions), len(walk.switches)
    most = MOST[name, n_variables]
    assert all(own <= limit for own, limit in zip(found, most, strict=True)), found


MOST_CALLS = {"array": 2600, "moments": 1550, "moments, price given": 820}
"""Functions called, also those of NumPy and Python, for ten variables: what a small call costs."""


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_small_call_makes_few_calls(name: str) -> None:
    data = qwo.simulate("er", n_variables=10, n_samples=1000, random_state=1).data
    given = data if name == "array" else qwo.Moments.from_data(data)
    price = 2.0 if name.endswith("given") else "auto"
    made = count_calls(lambda: qwo.discover(given, penalty_discount=price, random_state=0))
    assert made <= MOST_CALLS[name]
