"""``qwo reproduce``; the rest of the wing is imported when the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qwo.cli.console import Console, warn
from qwo.cli.failures import ExitCode
from qwo.cli.options import option

if TYPE_CHECKING:
    from qwo.reproduction.runner import Reproduction, Tally

Items = Annotated[
    list[str] | None,
    typer.Argument(metavar="ITEM", help="table1, table2, er2, …; all if not given."),
]
Size = Annotated[
    Literal["quick", "full"],
    option("--profile", "3 graphs, n ≤ 30; or the paper's 30 graphs and sizes."),
]
Folder = Annotated[Path, option("--output -o", "Where everything goes.", "FOLDER")]
Jobs = Annotated[int, option("--jobs --n-jobs -j", "Processes; -1 for all.", "J")]
Cluster = Annotated[
    str | None, option("--dask --cluster", "A Dask scheduler to run on instead.", "ADDRESS")
]
Budget = Annotated[float | None, option("--budget", "CPU seconds for one run.", "S", min=0.0)]
Graphs = Annotated[int | None, option("--graphs", "At most so many graphs per point.", "G", min=1)]
Methods = Annotated[
    list[str] | None, option("--only-methods", 'Such as "*/qwo"; repeatable.', "PATTERN")
]
Compare = Annotated[
    Path | None, option("--compare-python", "Python that has causal-learn.", "FILE")
]
Authors = Annotated[
    Path | None,
    option(
        "--authors-code",
        "A checkout of github.com/ban-epfl/QWO; by default what QWO_AUTHORS_CODE names.",
        "FOLDER",
    ),
]
Page = Annotated[bool, option("--page", "Only write the page, from the runs there.")]


def reproduce(
    item: Items = None,
    *,
    console: Console,
    profile: Size = "quick",
    output: Folder = Path("reproduction"),
    jobs: Jobs = 1,
    cluster: Cluster = None,
    budget: Budget = None,
    graphs: Graphs = None,
    only_methods: Methods = None,
    compare_python: Compare = None,
    authors_code: Authors = None,
    page: Page = False,
) -> None:
    """Run the paper's experiments and set the results beside its numbers.

    [b]qwo reproduce -j 2[/b]                   everything, small: minutes
    [b]qwo reproduce er2[/b]                    one item
    [b]qwo reproduce --profile full -o full[/b] the paper's sizes: hours
    [b]qwo reproduce --page -o full[/b]         the page again

    Every run is on disk as soon as it has ended; started again after an
    interruption of any kind, the command continues where it stopped. A method
    that exceeds the budget is cut off there, as in the paper. Methods of
    causal-learn and FLOP need the extra "compare", the authors' own code a
    checkout; without them these rows are left out.
    """
    from qwo.reproduction.runner import reproduce as run

    with _interruptible():
        made = run(
            item or (),
            profile=profile,
            folder=output,
            n_jobs=jobs,
            cluster=cluster,
            budget=budget,
            graphs=graphs,
            only_methods=only_methods or (),
            compare_python=compare_python,
            authors_code=authors_code,
            page_only=page,
            progress=console.shows_progress,
        )
    for name, tally in made.tallies.items():
        console.say(f"{name}: {_in_words(tally)}")
        for reason in tally.reasons:
            warn(f"{name}: a run failed: {reason}")
    _mention_left_out(made)
    console.result(str(made.page), _document(made))


@contextmanager
def _interruptible() -> Iterator[None]:
    """Say what an interruption leaves: all runs that have ended."""
    try:
        yield
    except KeyboardInterrupt as error:
        warn("interrupted; the runs so far are kept: the same command goes on from there")
        raise typer.Exit(ExitCode.INTERRUPTED) from error


def _in_words(tally: Tally) -> str:
    counts = {
        "cut off": tally.cut_off,
        "failed": tally.failed,
        "skipped after a cut-off": tally.skipped,
        "left out": tally.left_out,
    }
    return ", ".join([f"{tally.done} done", *(f"{n} {what}" for what, n in counts.items() if n)])


def _mention_left_out(made: Reproduction) -> None:
    from qwo.reproduction.methods import THE_AUTHORS

    lacking = {name for tally in made.tallies.values() for name in tally.lacking}
    packages = sorted(lacking - {THE_AUTHORS})
    if packages:
        be, their = ("is", "its") if len(packages) == 1 else ("are", "their")
        warn(
            f"{' and '.join(packages)} {be} not installed, so {their} rows are left out; make "
            ".venv-compare in the source tree, or name a Python that has them by --compare-python"
        )
    if THE_AUTHORS in lacking:
        warn("without --authors-code the rows of the authors' own code are those stored, if any")


def _document(made: Reproduction) -> dict[str, object]:
    return {
        "page": str(made.page),
        "runs": str(made.runs),
        "items": {name: tally._asdict() for name, tally in made.tallies.items()},
    }
