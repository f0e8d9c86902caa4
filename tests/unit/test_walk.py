"""How far `discover` walks through the package: a library that can be read keeps that short."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.walk import calls, walked

MOST = {
    "Moments of csv": (25, 125, 32),
    "discover(csv)": (42, 265, 66),
    "discover(moments)": (27, 155, 42),
}
"""Modules, functions, and ways between modules: a little above what they are. Whoever needs more
than that may raise them, having looked whether something else can go."""


@pytest.mark.parametrize("name", MOST)
def test_the_road_from_data_to_graph_is_no_longer_than_it_was(name: str, tmp_path: Path) -> None:
    walk = walked(calls(tmp_path)[name])
    found = len(walk.modules), len(walk.functions), len(walk.switches)
    assert all(own <= most for own, most in zip(found, MOST[name], strict=True)), found
