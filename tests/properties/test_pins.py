"""Costs and graphs of twenty fixed problems, as they were when they were written down.

Engines are deterministic: whatever is rebuilt inside them, these must stay. Costs may differ in
rounding, since kernels of other instruction sets sum in another order; graphs may not.
"""

from __future__ import annotations

import json

import pytest

from qwo import _core
from qwo.order.bic import BicEngine
from tests.helpers.pinned import PROBLEMS, RECORD, Problem, record_of

PINNED = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_costs_and_graphs_are_those_written_down(problem: Problem) -> None:
    found, pinned = record_of(problem), PINNED[problem.name]
    assert found.keys() == pinned.keys()
    for engine, states in pinned.items():
        assert len(found[engine]) == len(states)
        for now, then in zip(found[engine], states, strict=True):
            for exact in ("state", "edges", "dag"):
                assert now[exact] == then[exact], (engine, then["state"], exact)
            for rounded in ("cost", "changes"):
                assert now[rounded] == pytest.approx(then[rounded], rel=1e-9, abs=1e-7)


def test_all_kernels_give_the_pinned_graph() -> None:
    problem = PROBLEMS[13]
    first = PINNED[problem.name]["bic"][0]
    for kernels in _core.available_kernels():
        engine = BicEngine(problem.moments(), kernels=kernels)
        assert engine.cost == pytest.approx(first["cost"], rel=1e-9)
        assert engine.n_edges == first["edges"]
