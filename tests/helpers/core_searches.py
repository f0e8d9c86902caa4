"""Searches of the compiled core on an engine: a descent, a chain of restarts, a whole run."""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo import _core
from qwo.order.bic import BicEngine
from qwo.types import Indices


def compiled_search(
    engine: BicEngine, seed: int, *, known: BicEngine | None = None, **options: bool
) -> _core.InsertionSearch:
    """A descent with tucks, turns and sweeps, to be run in slices."""
    return _core.InsertionSearch(
        engine._sets,
        seed,
        known=None if known is None else known._sets,
        threads=engine.threads,
        **options,
    )


def compiled_restarts(
    engine: BicEngine, seed: int, *, length: int = 0, tries: int = 0, centres: Indices | None = None
) -> _core.Shuffles:
    """So many restarts, or so many around some variables, doubtful ones if not given."""
    if centres is None:
        centres = engine.doubtful() if tries else np.arange(0)
    return _core.Shuffles(engine._sets, seed, length=length, tries=tries, centres=centres)


def steps_of(engine: BicEngine, seed: int = 0, **options: Any) -> list[tuple[str, int]]:
    """What a whole search does, step by step."""
    run = engine.compiled_run(np.random.default_rng(seed), **{"restarts": 20, **options})
    assert run.run(600.0)
    return list(run.steps)
