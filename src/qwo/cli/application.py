"""``qwo``: its commands, and what ``qwo --help`` shows."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from typing import Annotated

import typer

from qwo.cli.bootstrap import bootstrap, merge
from qwo.cli.failures import Command, Commands
from qwo.cli.graphs import changes, check, compare, convert, fit
from qwo.cli.learn import learn
from qwo.cli.options import with_option_groups
from qwo.cli.reading import audit
from qwo.cli.simulate import bench, info, simulate
from qwo.cli.studio import studio
from qwo.cli.trust import effect, posterior
from qwo.reproduction.command import reproduce

HELP = """
Causal graphs from tables of data, by searching over variable orders.

[b]qwo audit cells.csv[/b]                     what is wrong or doubtful in the data
[b]qwo learn cells.csv[/b]                     the graph, as a list of edges
[b]qwo learn cells.csv -o result[/b]           a folder: graph, coefficients, report
[b]qwo learn cells.csv -o result -b 200[/b]    and how sure each edge is
"""

EPILOG = (
    "[b]qwo COMMAND --help[/b] shows examples and every option. Exit codes: 0 fine, 1 input cannot "
    "be used, 2 wrong usage, 3 done, with warnings to look at, 130 interrupted (the best so far is "
    "saved)."
)

app = typer.Typer(
    name="qwo",
    cls=Commands,
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "From data to a graph": (audit, learn, studio, posterior, bootstrap, merge),
    "Graphs and models": (check, compare, changes, fit, effect, convert),
    "Trying it out": (simulate, bench, reproduce, info),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel, no_args_is_help=False)(
            with_option_groups(command)
        )


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"qwo {version('qwo')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """What all commands have in common."""


def main() -> None:
    """Run the command line of this process."""
    # Going through all objects time and again while modules are imported takes .1 s.
    gc.set_threshold(100_000, 20, 20)
    if hasattr(signal, "SIGTERM"):
        # Batch systems and `timeout` ask before they kill; what Ctrl-C would save is saved then.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="qwo")
