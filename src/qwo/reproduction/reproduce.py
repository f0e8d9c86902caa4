"""The paper again, by one call: runs, tables, figures and a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from qwo.errors import ArgumentError
from qwo.reproduction.items import COLUMNS, PROFILES, Item, Run, item_names, load_item
from qwo.reproduction.methods import AUTHORS_CODE
from qwo.reproduction.page import write_page
from qwo.reproduction.runner import Tally, make_runs
from qwo.reproduction.store import ResultStore
from qwo.reproduction.tasks import Executor, find_python

RUNS = "runs.csv"


class Reproduction(NamedTuple):
    """What `reproduce` has left: the page, the file of all runs, and what came of each item."""

    page: Path
    runs: Path
    tallies: dict[str, Tally]


def reproduce(
    items: Sequence[str] = (),
    *,
    profile: str = "quick",
    folder: str | os.PathLike[str] = "reproduction",
    n_jobs: int = 1,
    cluster: Any = None,
    budget: float | None = None,
    graphs: int | None = None,
    only_methods: Sequence[str] = (),
    compare_python: str | os.PathLike[str] | None = None,
    authors_code: str | os.PathLike[str] | None = None,
    page_only: bool = False,
    progress: bool = False,
) -> Reproduction:
    """Run the paper's experiments, keep every run, and write a page beside the paper's numbers.

    The parameters are the options of ``qwo reproduce``, which errors name. Runs that the folder
    already holds are not made again: an interrupted call continues where it stopped. A method that
    exceeds its budget is cut off there: the rest of that size and all larger ones are not run.
    """
    if profile not in PROFILES:
        raise ArgumentError(f"--profile is {profile!r}; wanted one of {', '.join(PROFILES)}")
    chosen = [load_item(name) for name in items or item_names()]
    python = _there("--compare-python", compare_python) or find_python()
    authors = authors_code or os.environ.get(AUTHORS_CODE)
    if authors and not Path(_there("--authors-code", authors) or "", "QWO.py").exists():
        raise ArgumentError(f"--authors-code is {os.fspath(authors)!r}, which has no QWO.py")
    output = Path(folder)
    store = ResultStore(output / RUNS, COLUMNS)
    tallies = {}
    for item in chosen if not page_only else ():
        tallies[item.name] = make_runs(
            _runs(item, profile, graphs, only_methods),
            store,
            Executor(
                item.profiles[profile].budget if budget is None else budget,
                python,
                os.fspath(authors) if authors else None,
            ),
            n_jobs=n_jobs,
            cluster=cluster,
            progress=progress,
        )
    rows = store.rows().values()
    if not rows:
        raise ArgumentError(f"there are no runs in {store.path}; leave --page out to make them")
    page = write_page(rows, output)
    return Reproduction(page, store.path, tallies)


def _there(flag: str, path: str | os.PathLike[str] | None) -> str | None:
    """A path that is there, as text."""
    if path is not None and not Path(path).exists():
        raise ArgumentError(f"{flag} is {os.fspath(path)!r}, which is not there")
    return None if path is None else os.fspath(path)


def _runs(item: Item, profile: str, graphs: int | None, patterns: Sequence[str]) -> list[Run]:
    runs = item.runs(profile, graphs)
    if not patterns:
        return runs
    fitting = [run for run in runs if any(fnmatchcase(run["method"], p) for p in patterns)]
    if not fitting:
        methods = ", ".join(dict.fromkeys(run["method"] for run in runs))
        raise ArgumentError(
            f"no method fits --only-methods {', '.join(patterns)}; {item.name} has {methods}"
        )
    return fitting
