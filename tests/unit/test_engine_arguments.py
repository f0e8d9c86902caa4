"""No argument from Python ends the process or spoils an engine: every wrong call is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from qwo.errors import EngineError, IndexRangeError, InputError, KnowledgeError, OrderError
from tests.helpers.wrong_calls import N, engine_named

NAMES = ["bic", "bic-knowledge", "bic-lists", "qwo", "reference", "local-score"]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_calls_are_refused(name: str) -> None:
    """In a process of their own: 14 of 25 such calls used to end it."""
    command = [sys.executable, "-m", "tests.helpers.wrong_calls", name]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = made.stdout.splitlines()
    failed = [line for line in lines if line.startswith("FAILED")]
    assert not failed
    assert made.returncode == 0, f"ended by {lines[-1:]}\n{made.stderr[-2000:]}"
    assert len(lines) > 300


@pytest.mark.parametrize("name", NAMES)
def test_all_engines_refuse_with_the_same_errors(name: str) -> None:
    engine = engine_named(name)
    for call in (
        lambda: engine.move(N, 0),
        lambda: engine.move(0, -1),
        lambda: engine.parents(10**30),
        lambda: engine.scan(-1),
        lambda: engine.tuck(0, N),
        lambda: engine.swap(N, 0),
    ):
        with pytest.raises(IndexRangeError, match="is out of range: wanted 0 to 5") as caught:
            call()
        assert isinstance(caught.value, InputError | IndexError)
    for call in (
        lambda: engine.permute(0, [1, 1]),
        lambda: engine.permute(4, [0, 1, 2]),
        lambda: engine.reset([0, 0, 1, 2, 3, 4]),
    ):
        with pytest.raises(OrderError):
            call()
    for end in (engine.undo, engine.release):
        with pytest.raises(EngineError, match="has ended or never was"):
            end(0)


@pytest.mark.parametrize("name", NAMES)
def test_integers_of_numpy_are_integers(name: str) -> None:
    engine = engine_named(name)
    cost = engine.cost
    mark = engine.mark()
    engine.move(np.int32(5), np.uint8(4))
    engine.permute(np.int64(4), np.array([4, 5], dtype=np.int16)[np.argsort(engine.order[4:])])
    assert engine.undo(np.int64(mark)) == cost


def test_moves_that_the_knowledge_forbids_are_refused() -> None:
    engine = engine_named("bic-knowledge")
    order = engine.order.tolist()
    for call in (
        lambda: engine.move(3, 0),
        lambda: engine.reset([3, 1, 2, 0, 4, 5]),
        lambda: engine.permute(0, [3, *(v for v in order[: order.index(3) + 1] if v != 3)]),
    ):
        with pytest.raises(KnowledgeError):
            call()
    assert engine.order.tolist() == order
