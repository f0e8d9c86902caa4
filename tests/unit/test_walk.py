"""How far `discover` walks through the package: a library that can be read keeps that short."""

from __future__ import annotations

from pathlib import Path

import pytest

import qwo
from benchmarks.walk import calls, count_calls, walked

MOST = {
    ("Moments of csv", 5): (8, 60, 13),
    ("Moments of csv", 30): (8, 63, 13),
    ("discover(csv)", 5): (18, 130, 38),
    ("discover(csv)", 30): (18, 132, 38),
    ("discover(moments)", 5): (16, 83, 29),
    ("discover(moments)", 30): (16, 83, 29),
}
"""Modules, functions, and ways between modules for so many variables: what they are, with two
threads or more, and no more than was aimed at (18 modules; 130 functions for 5 variables and 150
for 30). Changes of module, of which there are 79, go with the slices of time that a search takes,
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
