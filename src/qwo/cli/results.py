"""What ``qwo learn`` knows in the end: in words, as one JSON document, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from qwo.cli.console import Console, logger, system_message, to_json, warn, worded
from qwo.cli.failures import ExitCode, command_line, held_interrupts
from qwo.cli.folder import COUNTS, RECORD, more_files, whole_folder, write_csv, written_files
from qwo.cli.graphs import write_graphs
from qwo.cli.options import REPORT, OutputOptions, SearchFlags, graph_formats
from qwo.cli.posterior import write_probabilities
from qwo.cli.reading import DataRead
from qwo.errors import InputError
from qwo.files import whole_file, write_whole
from qwo.text import about, aligned, count, first_few

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qwo.agreement import Check
    from qwo.bayes import EffectPosterior, Posterior
    from qwo.cli.learn import Resamples
    from qwo.discovery import Discovery
    from qwo.graph import CausalGraph, Knowledge
    from qwo.graph.causal_graph import Kind
    from qwo.resample import Bootstrap, PairSupport
    from qwo.resample.support import Supports
    from qwo.sem import LinearSem
    from qwo.types import Adjacency


WEAK_SUPPORT = 0.5


@dataclass(frozen=True)
class Learnt:
    """A graph with everything that belongs to it.

    Attributes
    ----------
    data : DataRead
    knowledge : Knowledge or None
    found : Discovery
    model : LinearSem or None
        The linear model on ``found.dag``; None where it cannot be fitted.
    n_resamples : int
        How many were asked for.
    bootstrap : Bootstrap or None
        None also where Ctrl-C came first.
    posterior : Posterior or None
        None also where there can be none.
    check : Check or None
        How far data and graph agree; None also where nobody can tell.
    warnings : list of str
        What was warned of on the way.
    cut_short : bool
        Whether Ctrl-C came between search and bootstrap.
    """

    data: DataRead
    knowledge: Knowledge | None
    found: Discovery
    model: LinearSem | None
    n_resamples: int
    bootstrap: Bootstrap | None
    posterior: Posterior | None
    check: Check | None
    warnings: list[str]
    cut_short: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C cut the search, the bootstrap or the draws short."""
        drawn = "" if self.posterior is None else self.posterior.status
        return self.cut_short or "interrupted" in (self.found.status, self._bootstrap_status, drawn)

    @property
    def _bootstrap_status(self) -> str:
        if self.bootstrap is not None:
            return self.bootstrap.status
        return "interrupted" if self.n_resamples else "not asked for"

    @cached_property
    def effects(self) -> list[EffectPosterior]:
        """The effects along the edges and likely paths; nothing without a posterior."""
        from qwo.report.data import likely_effects

        if self.posterior is None:
            return []
        return likely_effects(self.posterior, self.found.dag, self.found.cpdag)

    def cpdag(self) -> CausalGraph:
        """The equivalence class, with names, and probabilities if there are any."""
        return self._graph(self.found.cpdag, "cpdag")

    def dag(self) -> CausalGraph:
        """One member of it."""
        return self._graph(self.found.dag, "dag")

    def _graph(self, matrix: Adjacency, kind: Kind) -> CausalGraph:
        from qwo.graph import CausalGraph

        metadata = self.found.graph.metadata
        if self.posterior is not None:
            return replace(self.posterior.beside(matrix, kind), metadata=metadata)
        return CausalGraph.from_matrix(matrix, self.found.names, kind, metadata)

    def edge_list(self, most: int | None = None) -> str:
        """One edge a line, with its support if there was a bootstrap, and its probability."""
        edges = self.found.edges[:most]
        beside = [
            [_support_text(pair, form) for pair in self._pairs(judge)]
            for form, judge in (("{}", self.bootstrap), ("P({})", self._probabilities))
            if judge is not None
        ]
        rows = [[*edge, *(texts[k] for texts in beside)] for k, edge in enumerate(edges)]
        hidden = len(self.found.edges) - len(rows)
        shown = "\n".join(aligned(rows, left=None))
        return f"{shown}\n… {count(hidden, 'more edge')}" if hidden else shown

    def headline(self) -> str:
        """What was found, in a line."""
        found = self.found
        directed = sum(mark == "-->" for _, mark, _ in found.edges)
        parts = [
            count(found.n_edges, "edge") + self._false(),
            f"{directed} directed and {found.n_edges - directed} undirected",
            "" if self.data.moments.is_oracle else f"score {found.score:.2f}",
            f"{found.status} after {found.seconds:.2f} s",
        ]
        return f"found {', '.join(part for part in parts if part)}"

    def _false(self) -> str:
        """How many of the edges are to be expected false."""
        if self.found.evidence is None or not self.found.n_edges:
            return ""
        return f" (expected false: {about(self.found.expected_false_edges)})"

    def notes(self) -> Iterator[str]:
        """What to think of before the graph is believed."""
        found = self.found
        undirected = sum(mark == "---" for _, mark, _ in found.edges)
        if found.status != "converged":
            reason = "the time limit" if found.status == "time limit" else "Ctrl-C"
            yield f"the search was cut short by {reason}: a better graph may exist"
        elif self._bootstrap_status == "interrupted":
            done = 0 if self.bootstrap is None else self.bootstrap.n_done
            yield f"the bootstrap was cut short by Ctrl-C, after {done} of {self.n_resamples} runs"
        if self.check is not None:
            # Words first: the verdict, and how many independences fail.
            verdict, independences, *_ = self.check.summary().split("\n\n")
            yield f"{verdict} {independences.splitlines()[0].rstrip(':')}"
        if not found.n_edges:
            yield "no edge is worth its price; a lower --penalty (1 is the BIC) finds weaker ones"
        if undirected:
            yield (
                f"{undirected} of {count(found.n_edges, 'edge')} could point either way: the data "
                "fit both equally well. What you know can decide (--tiers, --require)"
            )
        yield from self._support_notes()
        yield "taken for granted: linear relations, no hidden common causes, no feedback"

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        found = self.found
        return {
            "kind": "result",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": command_line(),
            "data": self._data_document(),
            "audit": [asdict(finding) for finding in self.data.audit.findings],
            "warnings": self.warnings,
            "notes": list(self.notes()),
            "knowledge": None if self.knowledge is None else asdict(self.knowledge),
            "n_variables": found.n_variables,
            "n_edges": found.n_edges,
            "score": found.score,
            "status": "interrupted" if self.interrupted else found.status,
            "proved": found.proved,
            "seconds": found.seconds,
            "edges": [list(edge) for edge in found.edges],
            "expected_false_edges": found.expected_false_edges,
            "edge_strengths": found.edge_strengths,
            "edge_false_rates": found.edge_false_rates,
            "dag_edges": [list(edge) for edge in self.dag().edges],
            "order": [found.names[v] for v in found.order],
            "coefficients": None
            if self.model is None
            else [edge._asdict() for edge in self.model.edges],
            "fit": None if self.model is None else asdict(self.model.fit),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "posterior": None
            if self.posterior is None
            else {
                **self.posterior.to_dict(),
                "effects": [effect.to_dict() for effect in self.effects],
            },
            "check": None if self.check is None else self.check.to_dict(),
            "trace": found.trace,
            "params": found.params,
            "versions": found.versions,
        }

    def _data_document(self) -> dict[str, Any]:
        return {
            **self.data.summary(),
            "sha256": self.data.sha256,
            "names": self.found.names,
            "means": self.data.moments.means,
            "standard_deviations": self.data.moments.scales,
        }

    @property
    def _probabilities(self) -> Supports | None:
        from qwo.report.data import Contents

        return Contents(self.found, posterior=self.posterior).probabilities

    def _pairs(self, judge: Supports | None) -> list[PairSupport]:
        """How sure each edge found is; nothing if nobody can tell."""
        import numpy as np

        from qwo.resample.support import pair_supports

        if judge is None:
            return []
        place = {name: k for k, name in enumerate(self.found.names)}
        ends = np.array([(place[a], place[b]) for a, _, b in self.found.edges], dtype=np.intp)
        return pair_supports(judge, self.found.cpdag, *ends.reshape(-1, 2).T)

    def _support_notes(self) -> Iterator[str]:
        supports, likely = self._pairs(self.bootstrap), self._pairs(self._probabilities)
        again, probable = _weak_links(supports), _weak_links(likely)
        if again:
            halves = self.bootstrap is not None and self.bootstrap.params["resampling"] == "halves"
            size = ", which have half of the rows each" if halves else ""
            yield f"links found again in fewer than half of the resamples{size}: {again}"
        if probable:
            yield f"links that are less probable than not: {probable}"
        tosses = [pair for pair in supports or likely if pair.coin_toss]
        if tosses:
            arrows = [
                f"{pair.first} --> {pair.second} (arrow {100 * pair.arrow:.0f} %, reverse "
                f"{100 * pair.reverse:.0f} %)"
                for pair in tosses
            ]
            yield f"arrows little surer than a coin toss (?): {first_few(arrows, 6)}"


def _weak_links(pairs: list[PairSupport]) -> str:
    weak = sorted((pair.link, pair.edge) for pair in pairs if pair.link < WEAK_SUPPORT)
    return first_few([f"{edge} ({100 * link:.0f} %)" for link, edge in weak], 6) if weak else ""


def _support_text(pair: PairSupport, form: str) -> str:
    """Such as ``link 100 %, arrow 46 % ?``, or the same with what is said of each in a form."""
    mark = "arrow" if pair.reference == "-->" else "undirected"
    share = 100 * getattr(pair, mark)
    link = f"{form.format('link')} {100 * pair.link:3.0f} %"
    return f"{link}, {form.format(mark)} {share:.0f} %{' ?' * pair.coin_toss}"


def find_supports(
    data: DataRead,
    *,
    knowledge: Knowledge | None,
    options: SearchFlags,
    resamples: Resamples,
    reference: Discovery,
    console: Console,
) -> Bootstrap | None:
    """How sure each edge is; what there is so far after Ctrl-C, or None if that is nothing."""
    from qwo.resample import bootstrap

    arguments = options.arguments()
    arguments["replicate_time_limit"] = arguments.pop("time_limit")
    try:
        logger.info("the bootstrap begins")
        result = bootstrap(
            data.rows,
            n_resamples=resamples.number,
            resampling=cast(Any, resamples.resampling),
            checkpoint=resamples.checkpoint,
            reference=reference,
            knowledge=knowledge,
            progress=console.shows_progress,
            **arguments,
        )
    except KeyboardInterrupt:
        return None
    logger.info("bootstrap: %s", result)
    if result.n_degenerate:
        warn(f"{result.n_degenerate} of {result.n_done} resamples have no graph and do not count")
    return result


COEFFICIENTS = "coefficients.csv"
SUPPORTS = "support.csv"
CHECK = "check.txt"
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
    for name in graph_formats(options.formats):
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
    if learnt.posterior is not None:
        write_probabilities(folder, learnt.posterior, learnt.effects)
    if learnt.check is not None:
        write_whole(folder / CHECK, learnt.check.summary() + "\n")


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
        posterior=learnt.posterior,
        check=learnt.check,
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
