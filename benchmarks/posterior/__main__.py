"""Run or report; see the package."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks.posterior import __doc__ as described
from benchmarks.posterior import calibration, graphs
from benchmarks.posterior.page import write_page
from benchmarks.posterior.rows import STORE, Key, Row, load, work_through, write_csv
from benchmarks.timing import print_table

SETS = {"calibration": [40, 20, 5, 3], "distance": [10], "time": [1]}
WORK: dict[str, Callable[..., Row]] = {
    "calibration": calibration.tallied,
    "distance": graphs.distance,
    "time": graphs.timed,
}


def keys(what: str, sets: list[int]) -> list[Key]:
    if what == "calibration":
        return calibration.keys(sets)
    if what == "distance":
        return [(*kind, seed) for seed in range(sets[0]) for kind in graphs.kinds()]
    return graphs.TIMED


def figures(what: str, done: dict[Key, Row]) -> list[Row]:
    if what == "calibration":
        return calibration.report(done)
    if what == "distance":
        return graphs.report_distances(done)
    names = ("graph", "n", "samples", "degree")
    return [dict(zip(names, key, strict=True)) | done[key] for key in graphs.TIMED if key in done]


def main() -> None:
    assert described is not None
    parser = argparse.ArgumentParser(description=described.splitlines()[0])
    parser.add_argument("what", choices=tuple(WORK))
    parser.add_argument("--sets", type=int, nargs="+")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    file = asked.store / f"{asked.what}.jsonl"
    if not asked.report:
        todo = keys(asked.what, asked.sets or SETS[asked.what])
        work_through(file, todo, WORK[asked.what], jobs=asked.jobs, minutes=asked.minutes)
    done = load(file)
    rows = figures(asked.what, done)
    if asked.report:
        write_csv(asked.what, rows)
        if asked.what == "calibration":
            calibration.draw(done)
        write_page()
    print_table(list(rows[0]), [[shown(value) for value in row.values()] for row in rows])


def shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
