"""``qwo bench``, ``qwo info``, and what a module of Benchpress writes."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qwo.cli.console import Console
from qwo.cli.folder import write_csv
from qwo.cli.options import option
from qwo.errors import ArgumentError
from qwo.text import aligned, count, write_whole

if TYPE_CHECKING:
    from qwo.discovery import Discovery
    from qwo.graph import Comparison

Outputs = tuple[Path, Path, Path]


def check_outputs(outputs: Outputs) -> None:
    """Refuse paths that cannot be written, before any work is done."""
    for path in outputs:
        if not path.parent.is_dir() or path.is_dir():
            raise ArgumentError(
                f"cannot write {str(path)!r}; wanted a file in a folder that exists"
            )


def write_outputs(outputs: Outputs, found: Discovery, seconds: float) -> None:
    """Write adjacency matrix, time and number of tests."""
    from qwo.graph import encode_matrix

    adjacency, time, tests = outputs
    write_csv(adjacency, found.names, encode_matrix(found.cpdag, "zero-one").tolist())
    write_whole(time, str(seconds))
    write_whole(tests, "None")


OPTIONAL = {
    "matplotlib": "figures",
    "pandas": "tables as data frames",
    "gadjid": "adjustment distances in qwo compare",
    "dask": "runs on a cluster",
    "cupy-cuda13x": "runs on a GPU",
}


def info(console: Console) -> None:
    """Show version, build, processors and optional packages."""
    from qwo.order.linalg import versions

    found = versions()
    core = found.pop("core")
    optional = {name: _version(name) for name in OPTIONAL}
    processors = os.cpu_count() or 1
    rows = [[name, str(value)] for name, value in found.items()]
    rows += [
        ["system", platform.platform(terse=True)],
        ["processors", str(processors)],
        *([f"core: {name.replace('_', ' ')}", str(value)] for name, value in core.items()),
        *(
            [name, installed or f"not installed ({OPTIONAL[name]})"]
            for name, installed in optional.items()
        ),
    ]
    console.result(
        "\n".join(aligned(rows, left=None)),
        {**found, "core": core, "processors": processors, "optional": optional},
    )


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


HEADER = ["variables", "edges", "median s", "slowest s", "SHD", "skeleton F1", "exact"]


def bench(
    *,
    console: Console,
    sizes: Annotated[str, option("--sizes", "Numbers of variables.", "N,N,…")] = "10,30,100,300",
    samples: Annotated[int, option("--samples -N", "Rows of each data set.", "N")] = 5000,
    degree: Annotated[float, option("--degree", "Average number of neighbours.", "D")] = 4.0,
    runs: Annotated[int, option("--runs", "Random graphs of each size.", "R")] = 3,
    jobs: Annotated[int, option("--jobs -j", "Threads; -1 for all.", "J")] = 1,
    seed: Annotated[int, option("--seed", "Seed of graphs and data.", "S")] = 1,
) -> None:
    """Time the search on simulated data, and compare with the truth.

    [b]qwo bench[/b]                       a few seconds
    [b]qwo bench --sizes 50,500 -j 2[/b]

    Erdős–Rényi graphs, Gaussian noise, standardised and shuffled columns: the easy case, in which
    all assumptions hold. Seconds are wall time of the search, without reading the data.
    """
    from qwo.order.linalg import versions

    wanted = _sizes(sizes, degree)
    if runs < 1:
        raise ArgumentError(f"--runs is {runs}; wanted 1 at least")
    build = versions()
    core = build["core"]
    console.say(
        f"qwo {build['qwo']}, {core['compiler']} {core['build_type']}, {core['kernels']} kernels, "
        f"{count(jobs, 'thread') if jobs > 0 else 'all threads'}; {samples} samples, "
        f"average degree {degree:g}"
    )
    outcomes = []
    for n in wanted:
        if console.shows_progress:
            console.say(f"  {count(n, 'variable')} …")
        seeds = range(seed, seed + runs)
        outcomes.append(_measure([_run(n, samples, degree, own, jobs) for own in seeds], n))
    rows = [
        [
            str(found["n_variables"]),
            f"{found['n_edges']:.0f}",
            f"{found['seconds_median']:.3f}",
            f"{found['seconds_max']:.3f}",
            f"{found['shd_mean']:.1f}",
            f"{found['skeleton_f1_mean']:.3f}",
            f"{found['exact']} of {found['runs']}",
        ]
        for found in outcomes
    ]
    table = "\n".join(aligned([HEADER, *rows], left=0))
    console.result(table, {"versions": build, "outcomes": outcomes})


def _sizes(text: str, degree: float) -> list[int]:
    try:
        sizes = [int(size) for size in text.split(",")]
    except ValueError as error:
        raise ArgumentError(f"--sizes is {text!r}; wanted numbers, as in 10,30,100") from error
    if min(sizes) - 1 < degree:
        raise ArgumentError(
            f"--sizes has {min(sizes)}, too few for an average of {degree:g} neighbours; wanted "
            "more variables, or a smaller --degree"
        )
    return sizes


def _measure(runs: list[tuple[float, Comparison]], n_variables: int) -> dict[str, float]:
    """How the search did on the graphs of one size."""
    import statistics

    seconds, comparisons = zip(*runs, strict=True)
    return {
        "n_variables": n_variables,
        "n_edges": statistics.mean(found.n_edges_true for found in comparisons),
        "seconds_median": statistics.median(seconds),
        "seconds_max": max(seconds),
        "shd_mean": statistics.mean(found.shd_cpdag for found in comparisons),
        "skeleton_f1_mean": statistics.mean(found.skeleton_f1 for found in comparisons),
        "exact": sum(found.exact for found in comparisons),
        "runs": len(runs),
    }


def _run(
    n_variables: int, n_samples: int, degree: float, seed: int, jobs: int
) -> tuple[float, Comparison]:
    """Seconds of a search on simulated data, and how its graph differs from the truth."""
    import qwo

    data, dag, _ = qwo.simulate(
        "er",
        n_variables=n_variables,
        n_samples=n_samples,
        degree=degree,
        standardize=True,
        random_state=seed,
    )
    found = qwo.discover(qwo.Moments.from_data(data), random_state=seed, n_jobs=jobs)
    compared = qwo.compare(found, dag, aid=False)
    assert isinstance(compared, qwo.graph.Comparison)
    return found.seconds, compared
