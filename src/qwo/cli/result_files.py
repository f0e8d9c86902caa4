"""The files of a result folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qwo.cli.console import logger, to_json, warn
from qwo.cli.csv_files import write_csv
from qwo.cli.folder import RECORD, written_files
from qwo.cli.invocation import command_line
from qwo.cli.learnt import Learnt
from qwo.cli.output_options import REPORT, OutputOptions
from qwo.errors import GraphError, InputError
from qwo.files import whole_file, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COEFFICIENTS = "coefficients.csv"
SUPPORTS = "support.csv"
MOST_DRAWN = 300
"""Beyond so many variables a drawing that nobody can zoom into shows nothing."""


def write_result(folder: Path, learnt: Learnt, options: OutputOptions) -> None:
    """Write everything into an empty folder, the record of it last."""
    write_graphs(folder, learnt, options.graph_formats())
    if learnt.model is not None:
        from qwo.sem import EdgeEstimate

        write_csv(folder / COEFFICIENTS, EdgeEstimate._fields, learnt.model.edges)
    if learnt.bootstrap is not None:
        _write_supports(folder, learnt)
    if options.figures:
        with _spared("figures"):
            _write_figures(folder / "figures", learnt)
    if options.report:
        with _spared("report"):
            _write_report(folder / REPORT, learnt, figures=options.figures)
    record = {**learnt.document(), "files": [*written_files(folder), RECORD]}
    write_whole(folder / RECORD, to_json(record) + "\n")


def write_graphs(folder: Path, learnt: Learnt, formats: list[str]) -> None:
    """The CPDAG and the DAG in each format; the DAG alone where a format has no undirected edge."""
    from qwo.graph import write_graph
    from qwo.graph.formats import FORMATS

    cpdag, dag = learnt.cpdag(), learnt.dag()
    for name in formats:
        suffix = FORMATS[name].suffixes[0]
        write_graph(dag, folder / f"dag{suffix}", name)
        try:
            write_graph(cpdag, folder / f"cpdag{suffix}", name)
        except GraphError as error:
            logger.info("only the DAG as %s: %s", name, error)


def _write_supports(folder: Path, learnt: Learnt) -> None:
    """Every pair that some resample joined, the most certain first."""
    from qwo.resample import PairSupport

    assert learnt.bootstrap is not None
    write_csv(folder / SUPPORTS, PairSupport._fields, learnt.bootstrap.to_records())


@contextmanager
def _spared(what: str) -> Iterator[None]:
    """Whatever goes wrong with a picture costs that picture alone: what was computed is there."""
    try:
        yield
    except OSError:
        raise  # the disk, which all files are for
    except Exception as error:  # noqa: BLE001
        kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
        logger.debug("no %s", what, exc_info=True)
        warn(f"no {what}: {kind}{error}")


def _write_report(file: Path, learnt: Learnt, *, figures: bool) -> None:
    from qwo.report import write_report

    write_report(
        file,
        learnt.found,
        audit=learnt.data.audit,
        model=learnt.model,
        bootstrap=learnt.bootstrap,
        command=command_line(),
        title=f"Causal graph of {Path(learnt.data.source).name}",
        data_summary=learnt.data.summary(),
        figures=figures,
    )


def _write_figures(target: Path, learnt: Learnt) -> None:
    """The graph, its matrix and the trace of the search, each as SVG and as PNG."""
    from qwo import plot

    model, supports = learnt.model, learnt.bootstrap
    if learnt.found.n_variables <= MOST_DRAWN:
        with _spared("picture of the graph"):
            drawn = plot.plot_graph(learnt.found, coefficients=model, support=supports)
            _save(drawn, target / "graph")
    _save(plot.plot_adjacency(learnt.found, coefficients=model), target / "matrix")
    if len(learnt.found.trace) > 1:
        _save(plot.plot_trace(learnt.found), target / "trace")


def _save(axes: Axes, stem: Path) -> None:
    from matplotlib import pyplot as plt

    figure = axes.figure
    stem.parent.mkdir(exist_ok=True)
    for suffix in (".svg", ".png"):
        with whole_file(stem.with_suffix(suffix)) as made:
            figure.savefig(made, format=suffix[1:], dpi=150, bbox_inches="tight")  # type: ignore[union-attr]
    plt.close(figure)  # type: ignore[arg-type]
