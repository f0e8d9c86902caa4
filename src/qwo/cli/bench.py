"""``qwo bench``, ``qwo info``, and what a module of Benchpress writes."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qwo.cli.console import Console
from qwo.cli.folder import write_csv
from qwo.cli.options import option
from qwo.errors import ArgumentError
from qwo.files import write_whole
from qwo.text import aligned, count

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
    from qwo.order.build import versions

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
    try:
        return version(package)
    except PackageNotFoundError:
        return None


HEADER = ["variables", "edges", "median s", "slowest s", "SHD", "skeleton F1", "exact"]


@dataclass(frozen=True)
class Case:
    """Random graphs of one size, and data of them."""

    n_variables: int
    n_samples: int
    degree: float
    runs: int
    seed: int


@dataclass(frozen=True)
class Timing:
    """How the search did on the graphs of one size."""

    n_variables: int
    n_edges: float
    seconds_median: float
    seconds_max: float
    shd_mean: float
    skeleton_f1_mean: float
    exact: int
    runs: int

    def row(self) -> list[str]:
        """The cells of a table."""
        return [
            str(self.n_variables),
            f"{self.n_edges:.0f}",
            f"{self.seconds_median:.3f}",
            f"{self.seconds_max:.3f}",
            f"{self.shd_mean:.1f}",
            f"{self.skeleton_f1_mean:.3f}",
            f"{self.exact} of {self.runs}",
        ]


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
    from qwo.order.build import versions

    problems = [Case(n, samples, degree, runs, seed) for n in _sizes(sizes, degree)]
    if runs < 1:
        raise ArgumentError(f"--runs is {runs}; wanted 1 at least")
    build = versions()
    core = build["core"]
    console.say(
        f"qwo {build['qwo']}, {core['compiler']} {core['build_type']}, {core['kernels']} kernels, "
        f"{count(jobs, 'thread') if jobs > 0 else 'all threads'}; {samples} samples, "
        f"average degree {degree:g}"
    )
    outcomes = [_measure(problem, jobs, console) for problem in problems]
    console.result(
        "\n".join(aligned([HEADER, *(outcome.row() for outcome in outcomes)], left=0)),
        {"versions": build, "outcomes": [asdict(outcome) for outcome in outcomes]},
    )


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


def _measure(problem: Case, jobs: int, console: Console) -> Timing:
    if console.shows_progress:
        console.say(f"  {count(problem.n_variables, 'variable')} …")
    runs = list(_runs(problem, jobs))
    return Timing(
        n_variables=problem.n_variables,
        n_edges=statistics.mean(comparison.n_edges_true for _, comparison in runs),
        seconds_median=statistics.median(seconds for seconds, _ in runs),
        seconds_max=max(seconds for seconds, _ in runs),
        shd_mean=statistics.mean(comparison.shd_cpdag for _, comparison in runs),
        skeleton_f1_mean=statistics.mean(comparison.skeleton_f1 for _, comparison in runs),
        exact=sum(comparison.exact for _, comparison in runs),
        runs=problem.runs,
    )


def _runs(problem: Case, jobs: int) -> Iterator[tuple[float, Comparison]]:
    """Seconds of the search, and how its graph differs from the truth, for each run."""
    import qwo

    for seed in range(problem.seed, problem.seed + problem.runs):
        data, dag, _ = qwo.simulate(
            "er",
            n_variables=problem.n_variables,
            n_samples=problem.n_samples,
            degree=problem.degree,
            standardize=True,
            random_state=seed,
        )
        moments = qwo.Moments.from_data(data)
        found = qwo.discover(moments, random_state=seed, n_jobs=jobs)
        yield found.seconds, qwo.compare(found, dag, aid=False)
