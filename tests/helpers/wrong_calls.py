"""Every method of every engine with arguments that no engine can use.

``python -m tests.helpers.wrong_calls bic`` prints each call before it is made and exits with 1 if
one of them is not refused, is refused with another error than it should be, or leaves the engine
in another state. A process of its own, since what the core does not check ends the process.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qwo import _core
from qwo.errors import InputError
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.local_score import LocalScoreEngine
from qwo.order.qwo import QwoEngine
from qwo.order.reference_engine import ReferenceEngine
from qwo.order.score import BIC
from tests.helpers.core_searches import compiled_search

N = 6
HUGE = 10**30
Call = tuple[str, Callable[[], Any]]

NUMBERS: list[Any] = [
    *(-1, N, 10**6, 2**31, 2**32, 2**63, HUGE, -HUGE),
    *(1.5, np.float64(2.0), math.nan, math.inf, None, "x", b"1", 1j, (1,), [0], [], {}),
    *(np.array([1, 2]), np.array(1.0), object()),
]
ORDERS: list[Any] = [
    *([], [0], list(range(N + 1)), [0] * N, [*range(N - 1), -1], [*range(1, N), N]),
    *([*range(N - 1), HUGE], [*range(N - 1), 2**40], [float(v) for v in range(N)]),
    *(None, 3, "abcdef", [None] * N, [[0]] * N, np.zeros((N, N), dtype=int), [[0], [1, 2]]),
    *(np.full(N, np.nan), np.array(list("abcdef")), {0: 1}, [0, 1, 2, 3, 4, "5"]),
]
BLOCKS: list[tuple[Any, Any]] = [
    *((4, [0, 1, 2]), (0, [0, 0]), (0, [1]), (N - 1, [5, 0]), (N, [0]), (0, [N]), (-1, [5])),
    *((0, [0, -1]), (0, [0.0, 1.0]), (0, None), (0, "01"), (0, [[0, 1]]), (0, range(N + 1))),
    *((start, [0, 1]) for start in NUMBERS),
]


def moments() -> Moments:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((60, N)) @ (np.eye(N) + np.triu(np.ones((N, N)), 1) / 2)
    return Moments.from_data(rows)


KNOWLEDGE = Knowledge(tiers=[["X1", "X2"], ["X3"]], required=[("X1", "X4")])


def _local_score(variable: int, parents: tuple[int, ...]) -> float:
    return -float(len(parents)) - 0.1 * variable


def engine_named(name: str) -> Any:
    data = moments()
    lists = [np.delete(np.arange(N), v)[:4] for v in range(N)]
    return {
        "bic": lambda: BicEngine(data),
        "bic-knowledge": lambda: BicEngine(data, knowledge=KNOWLEDGE.resolve(data.names)),
        "bic-lists": lambda: BicEngine(data, candidates=lists, all_at_first=True),
        "qwo": lambda: QwoEngine(data),
        "reference": lambda: ReferenceEngine(data),
        "local-score": lambda: LocalScoreEngine(_local_score, N),
    }[name]()


def protocol_calls(engine: Any) -> Iterator[Call]:
    """The methods of `OrderEngine`, and those of single engines that take numbers."""
    for name in ("parents", "scan", "candidates", "renew", "undo", "release"):
        if hasattr(engine, name):
            method = getattr(engine, name)
            for bad in NUMBERS:
                yield f"{name}({bad!r})", lambda method=method, bad=bad: method(bad)
    for name in ("move", "swap", "swap_cost", "tuck"):
        method = getattr(engine, name)
        for bad in NUMBERS:
            yield f"{name}({bad!r}, 0)", lambda method=method, bad=bad: method(bad, 0)
            yield f"{name}(0, {bad!r})", lambda method=method, bad=bad: method(0, bad)
    for bad in ORDERS:
        yield f"reset({bad!r})", lambda bad=bad: engine.reset(bad)
    for start, block in BLOCKS:
        yield f"permute({start!r}, {block!r})", lambda s=start, b=block: engine.permute(s, b)
    for end in ("undo", "release"):
        yield f"{end} of an ended mark", lambda end=end: _end_twice(engine, end)


def _end_twice(engine: Any, end: str) -> None:
    outer, inner = engine.mark(), engine.mark()
    getattr(engine, end)(outer)
    getattr(engine, end)(inner)


def qwo_calls(engine: QwoEngine) -> Iterator[Call]:
    for bad in ([-1], [0, N], [0.5], [HUGE], None, [[0]], "0"):
        yield f"scan_many({bad!r})", lambda bad=bad: engine.scan_many(bad)
    for bad in (np.full((3, 3), np.nan), np.eye(3)[:2], np.eye(3) * math.inf, None, "x", [[1]]):
        yield f"QwoEngine({bad!r})", lambda bad=bad: QwoEngine(bad, 10)
    correlation = np.ascontiguousarray(moments().correlation)
    factor = _core.OrderFactor(correlation, 0.1, True, 1.0)
    order = np.arange(N)
    for name, arguments in {
        "cost of nothing loaded": (),
        "move": (0, 1),
        "parents": (0,),
        "tuck": (0, 1),
        "swap": (0, 1),
        "swap_cost": (0, 1),
        "mark": (),
        "scan": (order,),
        "permute": (0, order),
    }.items():
        if hasattr(factor, name):
            yield f"{name} before load", lambda n=name, a=arguments: getattr(factor, n)(*a)
    yield "load of another size", lambda: factor.load(order, np.eye(N - 1))
    yield "load of single precision", lambda: factor.load(order, np.eye(N, dtype=np.float32))
    yield "load of a wrong order", lambda: factor.load(np.full(N, N), np.eye(N))
    for bad in (correlation[:3], np.empty((0, 0)), np.full((2, 2), np.nan), correlation.T[::2]):
        yield f"OrderFactor({bad!r})", lambda bad=bad: _core.OrderFactor(bad, 0.1, True, 1.0)
    yield "tau", lambda: _core.OrderFactor(correlation, math.nan, True, 1.0)
    yield "kernels", lambda: _core.OrderFactor(correlation, 0.1, True, 1.0, "mmx")


def bic_calls(engine: BicEngine) -> Iterator[Call]:
    yield from _states(engine)
    yield from _constructions()
    yield from _compiled_searches(engine)
    mark = engine.mark()
    yield "narrow under a mark", engine._sets.narrow
    yield "renew under a mark", lambda: engine.renew(0)
    yield "a search under a mark", lambda: compiled_search(engine, 1, tucks=True)
    engine.undo(mark)


def _states(engine: BicEngine) -> Iterator[Call]:
    order, (parents, ends), checked, cost = engine.state()
    wrong: dict[str, tuple[Any, ...]] = {
        "a short order": (order[:-1], (parents, ends), checked, cost),
        "a repeated variable": (order * 0, (parents, ends), checked, cost),
        "a variable too many": (order + 1, (parents, ends), checked, cost),
        "unknown parents": (order, (parents + N, ends), checked, cost),
        "negative parents": (order, (parents - N, ends), checked, cost),
        "own parents": (order, (np.arange(N), np.arange(1, N + 1)), checked, cost),
        "later parents": (order[::-1].copy(), (parents, ends), checked, cost),
        "ends beyond": (order, (parents, ends + 100), checked, cost),
        "ends before": (order, (parents, ends[::-1].copy()), checked, cost),
        "negative ends": (order, (parents, -ends - 1), checked, cost),
        "few ends": (order, (parents, ends[:2]), checked, cost),
        "few checked": (order, (parents, ends), (checked[0], checked[1][:1]), cost),
        "checked beyond": (order, (parents, ends), (checked[0], checked[1] + 9), cost),
        "repeated parents": (
            np.arange(N),
            (np.zeros(2, np.int64), np.array([0, 2, 2, 2, 2, 2])),
            checked,
            cost,
        ),
        "no numbers": (order.astype(float), (parents, ends), checked, cost),
        "nothing": (None, None, None, None),
        "no tuple": (),
    }
    for bad in ([0], [N], [-1], [1, 1], [0.5], None, "x"):
        yield f"family_cost(0, {bad!r})", lambda bad=bad: engine.family_cost(0, bad)
        yield f"family_cost({bad!r}, [1])", lambda bad=bad: engine.family_cost(bad, [1])
    for name, state in wrong.items():
        yield f"load: {name}", lambda state=state: engine.load(state)  # type: ignore[arg-type]


def _constructions() -> Iterator[Call]:
    data = moments()
    options: dict[str, list[Any]] = {
        "penalty_discount": [0, -1, math.nan, math.inf, "x", [2]],
        "gamma": [-1, math.nan, math.inf, "x"],
        "score": [3, "bic", BIC],
        "moments_of": [[0], [1] * N, [-1] * N, 3, [0.5] * N, "x"],
        "max_parents": [-1, 1.5, math.nan, "x", [1]],
        "order": [[0], [0] * N, [N] * N, 3, "x", [None] * N],
        "kernels": ["mmx", 3, b""],
        "candidates": [
            *([], [[0]], [[N]] * N, [[-1]] * N, [np.array([HUGE])] * N, [["x"]] * N),
            *([None] * N, 3, [[0.5]] * N),
        ],
        "given": [[N], [-1], range(N), [0.5], 3, "x", [[0]], [HUGE]],
        "block_sizes": [
            [1],
            [N, 0],
            [2] * N,
            [0.5] * N,
            3,
            "x",
            [[1] * N],
            [HUGE],
            [2, *[1] * (N - 2)],
        ],
    }
    for name, values in options.items():
        for bad in values:
            yield (
                f"BicEngine({name}={bad!r})",
                lambda name=name, bad=bad: BicEngine(data, **{name: bad}),
            )
    for bad in (None, np.eye(3), "x"):
        yield f"BicEngine({bad!r})", lambda bad=bad: BicEngine(bad)
    yield from _parent_sets()


def _parent_sets() -> Iterator[Call]:
    """The compiled class itself."""
    correlation = np.ascontiguousarray(moments().correlation)
    none = np.empty(0, np.int64)
    mask = np.ones((N, N), np.uint8)
    right = correlation, 60.0, 8.0, 3
    fit: dict[str, Any] = {
        "moments": [right],
        "which": none,
        "may_cause": None,
        "precedes": None,
        "required": [],
        "kernels": "",
        "candidates": none,
        "ends": none,
        "all_at_first": False,
        "blocks": (none, none, [], 0, []),
        "given": none,
    }
    prices, single = [1.0] * 26, np.ones(N, np.int64)
    blocks = np.array([2, *[1] * (N - 2)])
    matrices = [correlation[:3], np.empty((0, 0)), np.full((N, N), np.nan), mask, None]
    wrong: dict[str, list[Any]] = {
        "moments": [
            *([(bad, *right[1:])] for bad in matrices),
            *([(correlation, bad, 8.0, 3)] for bad in (0.0, -1.0, math.nan, math.inf, "x")),
            *([(correlation, 60.0, bad, 3)] for bad in (-1.0, math.nan, math.inf, None)),
            *([(correlation, 60.0, 8.0, bad)] for bad in (-1, N, HUGE, 1.5, None)),
            *([], None, [right, (np.eye(3), 60.0, 8.0, 2)], [right[:2]]),
        ],
        "which": [np.zeros(2, np.int64), np.ones(N, np.int64), np.full(N, -1), mask, None],
        "may_cause": [mask[:2], mask.astype(float), 3],
        "precedes": [np.ones((2, 2), np.uint8), "x"],
        "required": [[[1]], [[N]] * N, [[-1]] * N, [[0]] * N, [[1, 1], *[[]] * (N - 1)], 3],
        "kernels": ["mmx", None],
        "ends": [np.full(N, 1), np.array([2]), np.array([-1] * N), none.astype(float)],
        "candidates": [np.zeros((2, 2), np.int64), None],
        "given": [np.array([N]), np.array([-1]), np.array([1, 1]), np.arange(N), None, mask],
        "blocks": [
            *(
                (np.array(bad), np.array(bad), prices, 9, [])
                for bad in ([1], [N, 0], [-1, N + 1], [1] * (N + 1))
            ),
            *((single, np.array(bad), prices, 9, []) for bad in ([1], [0] * N, [2] * N, [-1] * N)),
            *((single, single, bad, 9, []) for bad in ([], [1.0], [1.0, -1.0], None)),
            *((single, single, prices, bad, []) for bad in (-1, HUGE, 1.5, None)),
            *((single, single, prices, 9, bad) for bad in ([1.0], None)),
            (blocks, blocks, prices, 9, []),  # correlated within the block
            *((none, none, []), None),
        ],
    }
    for name, values in wrong.items():
        for bad in values:
            given = {**fit, name: bad}
            yield f"create({name}={bad!r})", lambda g=given: _core.ParentSets.create(**g)
    fresh = _core.ParentSets.create(**fit)
    for name, arguments in {
        "parents": (0,),
        "place": (0,),
        "regression": (0,),
        "scan": (0,),
        "cost_with": (0, none),
        "move": (0, 1),
        "renew": (0,),
        "narrow": (),
        "state": (),
        "mark": (),
    }.items():
        yield f"{name} before reset", lambda n=name, a=arguments: getattr(fresh, n)(*a)
    yield "search before reset", lambda: _core.InsertionSearch(fresh, 1)
    yield "search of nothing", lambda: _core.InsertionSearch(None, 1)


def _compiled_searches(engine: BicEngine) -> Iterator[Call]:
    search = compiled_search(engine.copy(), 1, tucks=True)
    yield "end_restart before begin_restart", search.end_restart
    for bad in (-1, 2**31, HUGE, 1.5, None):
        yield f"begin_restart({bad!r}, 1)", lambda bad=bad: search.begin_restart(bad, 1)
        yield f"begin_restart(1, {bad!r})", lambda bad=bad: search.begin_restart(1, bad)
    for bad in (-1, HUGE, 1.5, None):
        yield f"seed {bad!r}", lambda bad=bad: compiled_search(engine, bad, tucks=True)
    yield "run(None)", lambda: search.run(None)
    rng = np.random.default_rng(0)
    bits = rng.bit_generator
    for bad in (None, 1, np.random.default_rng(0)):
        yield (
            f"draws from {bad!r}",
            lambda bad=bad: _core.SearchRun(engine._sets, bad, restarts=1),
        )
    for bad in (-1, HUGE, 1.5):
        yield (
            f"{bad!r} restarts",
            lambda bad=bad: _core.SearchRun(engine._sets, bits, restarts=bad),
        )
        yield f"{bad!r} starts", lambda bad=bad: engine.compiled_run(rng, restarts=1, starts=bad)
    yield "a tree of nothing", lambda: _core.tree_order(np.empty((0, 0)), 0)
    yield "a tree with another root", lambda: _core.tree_order(np.eye(3), 3)
    yield "two restarts at once", lambda: (search.begin_restart(1, 1), search.begin_restart(1, 1))
    twin = engine.copy()
    lost = compiled_search(twin, 1, tucks=True)
    lost.begin_restart(2, 3)
    twin.reset(twin.order)
    yield "end of a restart whose engine was reset", lost.end_restart
    yield "run of a restart whose engine was reset", lambda: lost.run(0.01)


def calls_of(name: str, engine: Any) -> Iterator[Call]:
    yield from protocol_calls(engine)
    if isinstance(engine, QwoEngine):
        yield from qwo_calls(engine)
    if name == "bic":
        yield from bic_calls(engine)
    if name == "bic-knowledge":
        yield "move before a cause", lambda: engine.move(3, 0)
        yield "order against the tiers", lambda: engine.reset([3, 1, 2, 0, 4, 5])
        yield "swap against the tiers", lambda: engine.swap(1, 3)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()  # before the next call, which may be the last


def main(name: str) -> int:
    engine = engine_named(name)
    before = engine.cost, engine.order.tolist(), engine.dag().tolist()
    failures = 0
    for spelled, call in calls_of(name, engine):
        _say(spelled)
        try:
            call()
        except (InputError, TypeError, IndexError):
            problem = ""
        except Exception as error:  # noqa: BLE001
            problem = f"{type(error).__name__}: {error}"
        else:
            problem = "was not refused"
        after = engine.cost, engine.order.tolist(), engine.dag().tolist()
        if after != before:
            problem += " and changed the engine"
        if problem:
            failures += 1
            _say(f"FAILED {spelled}: {problem}")
            engine = engine if after == before else engine_named(name)
    # What was refused must have left nothing behind.
    mark = engine.mark()
    engine.move(5, 4)
    engine.undo(mark)
    engine.reset(engine.order)
    return 1 if failures else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1]))
