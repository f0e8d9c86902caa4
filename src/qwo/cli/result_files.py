"""The files of a result folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qwo.cli.console import logger, to_json, warn
from qwo.cli.csv_files import write_csv
from qwo.cli.folder import RECORD, written_files
from qwo.cli.invocation import command_line
from qwo.cli.learnt import Learnt
from qwo.cli.output_options import REPORT, OutputOptions
from qwo.errors import GraphError, MissingPackageError
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
        _write_figures(folder, learnt)
    if options.report:
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
            figures=options.figures,
        )
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


def _write_figures(folder: Path, learnt: Learnt) -> None:
    """The graph, its matrix and the trace of the search, each as SVG and as PNG."""
    from qwo import plot

    target = folder / "figures"
    target.mkdir()
    try:
        if learnt.found.n_variables <= MOST_DRAWN:
            model, supports = learnt.model, learnt.bootstrap
            drawn = plot.plot_graph(learnt.found, coefficients=model, support=supports)
            _save(drawn, target / "graph")
        _save(plot.plot_adjacency(learnt.found, coefficients=learnt.model), target / "matrix")
        if len(learnt.found.trace) > 1:
            _save(plot.plot_trace(learnt.found), target / "trace")
    except MissingPackageError as error:
        target.rmdir()
        warn(f"no figures: {error}")


def _save(axes: Axes, stem: Path) -> None:
    from matplotlib import pyplot as plt

    figure = axes.figure
    for suffix in (".svg", ".png"):
        with whole_file(stem.with_suffix(suffix)) as made:
            figure.savefig(made, format=suffix[1:], dpi=150, bbox_inches="tight")  # type: ignore[union-attr]
    plt.close(figure)  # type: ignore[arg-type]
