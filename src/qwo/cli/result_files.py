"""The files of a result folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qwo.cli.bootstrap_files import COUNTS
from qwo.cli.console import logger, system_message, to_json, warn
from qwo.cli.csv_files import write_csv
from qwo.cli.exit_codes import ExitCode
from qwo.cli.folder import RECORD, more_files, whole_folder, written_files
from qwo.cli.graph_files import write_graphs
from qwo.cli.interrupts import held_interrupts
from qwo.cli.invocation import command_line
from qwo.cli.learnt import Learnt
from qwo.cli.output_options import REPORT, OutputOptions
from qwo.cli.wording import worded
from qwo.errors import InputError
from qwo.files import whole_file, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COEFFICIENTS = "coefficients.csv"
SUPPORTS = "support.csv"
MOST_DRAWN = 300
"""Beyond so many variables a drawing that nobody can zoom into shows nothing."""


def write_result(learnt: Learnt, options: OutputOptions, *, replaces: bool) -> ExitCode:
    """Write the folder: graph, bootstrap and tables first, then all that is made of them.

    Once the former are in place, nothing takes them away: an export, a picture or a report that
    cannot be made is a warning.
    """
    folder = options.output
    assert folder is not None
    with held_interrupts() as held, whole_folder(folder, force=replaces) as made:
        _write_tables(made, learnt)
        files = written_files(made)
        _write_record(made, learnt, files)
    if held.asked:
        warn("interrupted; the result is written, without exports, figures and report")
        return ExitCode.INTERRUPTED
    code = ExitCode.FINE
    try:
        for what, write in _extras(learnt, options):
            if not _write_more(folder, files, what, write):
                code = ExitCode.ATTENTION
    except KeyboardInterrupt:
        warn("interrupted; the result is written, without what was still to come")
        code = ExitCode.INTERRUPTED
    with held_interrupts(), more_files(folder, files) as made:
        _write_record(made, learnt, files)
    return code


def _write_more(folder: Path, files: list[str], what: str, write: Callable[[Path], None]) -> bool:
    """Write what the result can do without; whether that went well, or for a reason of its own."""
    try:
        with more_files(folder, files) as made:
            write(made)
            new = written_files(made)
    except InputError as error:
        warn(f"no {what}: {worded(error)}")
        return True
    except OSError as error:
        warn(f"no {what}: {system_message(error)}")
        return False
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not cost the result
        logger.debug("no %s", what, exc_info=True)
        warn(
            f"no {what}: {type(error).__name__}: {error}. This is a fault of qwo; the rest is fine"
        )
        return False
    files.extend(new)
    return True


def _extras(learnt: Learnt, options: OutputOptions) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """What is made of the result, by what it is called."""
    for name in options.graph_formats():
        if name != "json":
            yield f"files {name!r}", partial(_write_graphs, learnt=learnt, form=name)
    if options.figures and learnt.found.n_variables <= MOST_DRAWN:
        yield "picture of the graph", partial(_write_picture, learnt=learnt)
    if options.figures:
        yield "figures", partial(_write_figures, learnt=learnt)
    if options.report:
        yield "report", partial(_write_report, learnt=learnt, figures=options.figures)


def _write_tables(folder: Path, learnt: Learnt) -> None:
    """What the search and the bootstrap have found."""
    _write_graphs(folder, learnt, "json")
    if learnt.model is not None:
        from qwo.sem import EdgeEstimate

        write_csv(folder / COEFFICIENTS, EdgeEstimate._fields, learnt.model.edges)
    if learnt.bootstrap is not None:
        learnt.bootstrap.save(folder / COUNTS)
        _write_supports(folder, learnt)


def _write_record(folder: Path, learnt: Learnt, files: list[str]) -> None:
    record = {**learnt.document(), "files": sorted({*files, RECORD})}
    write_whole(folder / RECORD, to_json(record) + "\n")


def _write_graphs(folder: Path, learnt: Learnt, form: str) -> None:
    write_graphs(folder, learnt.dag(), learnt.cpdag(), form)


def _write_report(folder: Path, learnt: Learnt, *, figures: bool) -> None:
    from qwo.report import write_report

    write_report(
        folder / REPORT,
        learnt.found,
        audit=learnt.data.audit,
        model=learnt.model,
        bootstrap=learnt.bootstrap,
        command=command_line(),
        title=f"Causal graph of {Path(learnt.data.source).name}",
        data_summary=learnt.data.summary(),
        figures=figures,
    )


def _write_supports(folder: Path, learnt: Learnt) -> None:
    """Every pair that some resample joined, the most certain first."""
    from qwo.resample import PairSupport

    assert learnt.bootstrap is not None
    write_csv(folder / SUPPORTS, PairSupport._fields, learnt.bootstrap.to_records())


def _write_picture(folder: Path, learnt: Learnt) -> None:
    """The graph, as SVG and as PNG."""
    from qwo import plot

    model, supports = learnt.model, learnt.bootstrap
    drawn = plot.plot_graph(learnt.found, coefficients=model, support=supports)
    _save(drawn, folder / "figures" / "graph")


def _write_figures(folder: Path, learnt: Learnt) -> None:
    """The matrix of the graph and the trace of the search, each as SVG and as PNG."""
    from qwo import plot

    target = folder / "figures"
    _save(plot.plot_adjacency(learnt.found, coefficients=learnt.model), target / "matrix")
    if len(learnt.found.trace) > 1:
        _save(plot.plot_trace(learnt.found), target / "trace")


def _save(axes: Axes, stem: Path) -> None:
    from matplotlib import pyplot as plt

    stem.parent.mkdir(exist_ok=True)
    figure = axes.figure
    for suffix in (".svg", ".png"):
        with whole_file(stem.with_suffix(suffix)) as made:
            figure.savefig(made, format=suffix[1:], dpi=150, bbox_inches="tight")  # type: ignore[union-attr]
    plt.close(figure)  # type: ignore[arg-type]
