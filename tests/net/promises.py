"""What users rely on, as one record: names, parameters with defaults, flags, and graphs from given
moments.

``python -m tests.net.promises --write`` writes the record of this tree to `promises.json`.
Something may be added at any time; whatever leaves or changes is named in the list of changes.
"""

from __future__ import annotations

import inspect
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from typer.main import get_command

import qwo
from qwo.cli import app
from tests.helpers.pinned import PROBLEMS, Problem

RECORD = Path(__file__).with_name("promises.json")

RESULTS = ("Discovery", "Bootstrap", "Posterior", "CausalGraph", "LinearSem", "Moments", "Check")

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "penalty 2": {"penalty_discount": 2.0},
    "no restarts": {"penalty_discount": 2.0, "restarts": 0},
    "grasp": {"penalty_discount": 2.0, "search": "grasp"},
    "hill climbing": {"penalty_discount": 2.0, "search": "hill-climbing"},
    "paper": {"method": "qwo-grasp"},
}
SLOW = {"grasp": 20, "hill climbing": 30, "paper": 30}
"""The most variables on which an option is tried."""


def parameters() -> dict[str, dict[str, str]]:
    """The parameters of all that is called, with their defaults."""
    called = [name for name in qwo.__all__ if name not in (*RESULTS, "OrderDag")]
    return {name: _defaults(getattr(qwo, name)) for name in called}


def _defaults(function: Any) -> dict[str, str]:
    given = inspect.signature(function).parameters.values()
    return {p.name: "" if p.default is p.empty else repr(p.default) for p in given}


def attributes() -> dict[str, list[str]]:
    """What the records that are returned offer."""
    found = {}
    for name in RESULTS:
        kind = getattr(qwo, name)
        fields = list(getattr(kind, "__dataclass_fields__", {}))
        found[name] = sorted({n for n in (*dir(kind), *fields) if not n.startswith("_")})
    return found


def flags() -> dict[str, list[str]]:
    """The arguments and flags of each command."""
    command = get_command(app)
    assert hasattr(command, "commands")
    return {
        name: sorted(flag for p in own.params for flag in (*p.opts, *p.secondary_opts))
        for name, own in sorted(command.commands.items())
    }


def graphs() -> dict[str, dict[str, Any]]:
    """Scores and classes that searches find, from given moments."""
    return {f"{problem.name}, {way}": dict(found(problem, way)) for problem, way in searches()}


def searches() -> Iterator[tuple[Problem, str]]:
    for problem in PROBLEMS:
        if problem.n_samples <= problem.n + 2:
            continue
        yield from ((problem, way) for way in OPTIONS if problem.n <= SLOW.get(way, 80))


def found(problem: Problem, way: str) -> Iterator[tuple[str, Any]]:
    result = qwo.discover(problem.moments(), random_state=problem.seed, **OPTIONS[way])
    yield "score", result.score
    yield "class", zlib.crc32(np.ascontiguousarray(result.cpdag, np.int8).tobytes())
    yield "penalty", result.params["penalty_discount"]


def record() -> dict[str, Any]:
    return {
        "parameters": parameters(),
        "attributes": attributes(),
        "flags": flags(),
        "graphs": graphs(),
    }


if __name__ == "__main__":
    text = json.dumps(record(), indent=1)
    if "--write" in sys.argv:
        RECORD.write_text(text + "\n", encoding="utf-8")
    else:
        sys.stdout.write(text + "\n")
