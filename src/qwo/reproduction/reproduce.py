"""The paper again, by one call: runs, tables, figures and a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from qwo.errors import ArgumentError
from qwo.reproduction.items import PROFILES, Item, Run, item_names, load_item
from qwo.reproduction.page import write_page
from qwo.reproduction.runner import Tally, make_runs
from qwo.reproduction.store import ResultStore
from qwo.reproduction.tasks import Executor, find_python

RUNS = "runs.jsonl"


class Reproduction(NamedTuple):
    """What `reproduce` has left.

    Attributes
    ----------
    page : Path
        The page in Markdown; tables and figures lie beside it.
    runs : Path
        Every single run; packed beside it, for keeping.
    tallies : dict
        What came of the runs of each item.
    python : str or None
        The interpreter that ran causal-learn; None if there was none.
    """

    page: Path
    runs: Path
    tallies: dict[str, Tally]
    python: str | None


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
    page_only: bool = False,
    progress: bool = False,
) -> Reproduction:
    """Run the paper's experiments, keep every run, and write a page beside the paper's numbers.

    Runs that the folder already holds are not made again: an interrupted call continues where it
    stopped.

    Parameters
    ----------
    items : sequence of str
        Names from `item_names`; all if empty.
    profile : {"quick", "full"}
        Three graphs of up to 30 variables, or the paper's 30 graphs and sizes.
    folder : path
        Where runs, tables, figures and the page go.
    n_jobs : int
        Processes; -1 for one per processor. The results are the same for any number.
    cluster : dask.distributed.Client or str, optional
        A Dask cluster to run on instead.
    budget : float, optional
        Processor seconds for one run, instead of the item's own. A method that exceeds it is cut
        off there: the rest of that size and all larger ones are not run.
    graphs : int, optional
        At most so many graphs for each point.
    only_methods : sequence of str
        Patterns such as ``"*/qwo"``; all methods if empty.
    compare_python : path, optional
        The interpreter of an environment with ``qwo[compare]``. If not given, this one or that of
        ``.venv-compare``; without either, the methods of causal-learn are left out.
    page_only : bool
        Make no runs, only the page.
    progress : bool
        Show a bar with the remaining time, on a terminal.
    """
    if profile not in PROFILES:
        raise ArgumentError(f"profile is {profile!r}; wanted one of {', '.join(PROFILES)}")
    chosen = [load_item(name) for name in items or item_names()]
    if compare_python is not None and not Path(compare_python).exists():
        raise ArgumentError(f"compare_python is {os.fspath(compare_python)!r}, which is not there")
    python = os.fspath(compare_python) if compare_python is not None else find_python()
    output = Path(folder)
    store = ResultStore(output / RUNS)
    tallies = {}
    for item in chosen if not page_only else ():
        tallies[item.name] = make_runs(
            _runs(item, profile, graphs, only_methods),
            store,
            Executor(item.profiles[profile].budget if budget is None else budget, python),
            n_jobs=n_jobs,
            cluster=cluster,
            progress=progress,
        )
    rows = store.rows().values()
    if not rows:
        raise ArgumentError(f"there are no runs in {store.path}; leave page_only out to make them")
    store.pack()
    page = write_page(rows, output)
    return Reproduction(page, store.path, tallies, python)


def _runs(item: Item, profile: str, graphs: int | None, patterns: Sequence[str]) -> list[Run]:
    runs = item.runs(profile, graphs)
    if not patterns:
        return runs
    fitting = [run for run in runs if any(fnmatchcase(run["method"], p) for p in patterns)]
    if not fitting:
        methods = ", ".join(dict.fromkeys(run["method"] for run in runs))
        raise ArgumentError(f"no method fits {', '.join(patterns)}; {item.name} has {methods}")
    return fitting
