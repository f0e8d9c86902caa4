"""``qwo bench``: how fast and how right the default is, on this machine."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from qwo.cli.console import Console
from qwo.cli.wording import count, table
from qwo.errors import ArgumentError

if TYPE_CHECKING:
    from qwo.graph import Comparison

HEADER = ["variables", "edges", "median s", "slowest s", "SHD", "skeleton F1", "exact"]


@dataclass(frozen=True)
class Problem:
    """Random graphs of one size, and data of them."""

    n_variables: int
    n_samples: int
    degree: float
    runs: int
    seed: int


@dataclass(frozen=True)
class Outcome:
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
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="N,N,…", help="Numbers of variables.")
    ] = "10,30,100,300",
    samples: Annotated[
        int, typer.Option("--samples", "-N", metavar="N", help="Rows of each data set.")
    ] = 5000,
    degree: Annotated[
        float, typer.Option("--degree", metavar="D", help="Average number of neighbours.")
    ] = 4.0,
    runs: Annotated[
        int, typer.Option("--runs", metavar="R", help="Random graphs of each size.")
    ] = 3,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="J", help="Threads; -1 for all.")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of graphs and data.")] = 1,
) -> None:
    """Time the search on simulated data, and compare with the truth.

    [b]qwo bench[/b]                       a few seconds
    [b]qwo bench --sizes 50,500 -j 2[/b]

    Erdős–Rényi graphs, Gaussian noise, standardised and shuffled columns: the easy case, in which
    all assumptions hold. Seconds are wall time of the search, without reading the data.
    """
    from qwo.order.build import versions

    problems = [Problem(n, samples, degree, runs, seed) for n in _sizes(sizes, degree)]
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
        table([HEADER, *(outcome.row() for outcome in outcomes)], right=len(HEADER)),
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


def _measure(problem: Problem, jobs: int, console: Console) -> Outcome:
    if console.shows_progress:
        console.say(f"  {count(problem.n_variables, 'variable')} …")
    runs = list(_runs(problem, jobs))
    return Outcome(
        n_variables=problem.n_variables,
        n_edges=statistics.mean(comparison.n_edges_true for _, comparison in runs),
        seconds_median=statistics.median(seconds for seconds, _ in runs),
        seconds_max=max(seconds for seconds, _ in runs),
        shd_mean=statistics.mean(comparison.shd_cpdag for _, comparison in runs),
        skeleton_f1_mean=statistics.mean(comparison.skeleton_f1 for _, comparison in runs),
        exact=sum(comparison.exact for _, comparison in runs),
        runs=problem.runs,
    )


def _runs(problem: Problem, jobs: int) -> Iterator[tuple[float, Comparison]]:
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
