"""How far `discover` walks through the package: a library that can be read keeps that short."""

from __future__ import annotations

from pathlib import Path

import pytest

import qwo
from benchmarks.walk import calls, count_calls, walked

MOST = {
    "Moments of csv": (11, 72, 17),
    "discover(csv)": (28, 168, 52),
    "discover(moments)": (24, 115, 42),
}
"""Modules, functions, and ways between modules: a little above what they are. Whoever needs more
than that may raise them, having looked whether something else can go."""


@pytest.mark.parametrize("n_variables", [5, 30])
@pytest.mark.parametrize("name", MOST)
def test_the_road_from_data_to_graph_is_no_longer_than_it_was(
    name: str, n_variables: int, tmp_path: Path
) -> None:
    walk = walked(calls(tmp_path, n_variables)[name])
    found = len(walk.modules), len(walk.functions), len(walk.switches)
    assert all(own <= most for own, most in zip(found, MOST[name], strict=True)), found


MOST_CALLS = {"array": 2600, "moments": 1550, "moments, price given": 820}
"""Functions called, also those of NumPy and Python, for ten variables: what a small call costs."""


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_small_call_makes_few_calls(name: str) -> None:
    data = qwo.simulate("er", n_variables=10, n_samples=1000, random_state=1).data
    given = data if name == "array" else qwo.Moments.from_data(data)
    price = 2.0 if name.endswith("given") else "auto"
    made = count_calls(lambda: qwo.discover(given, penalty_discount=price, random_state=0))
    assert made <= MOST_CALLS[name]
