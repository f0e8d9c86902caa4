"""What ``qwo learn`` knows in the end: in words, as one JSON document, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qwo.cli.console import as_flag, warn
from qwo.cli.failures import Attempts, ExitCode, command_line, held_interrupts
from qwo.cli.folder import COUNTS, more_files, whole_folder, write_csv, write_record, written_files
from qwo.cli.graphs import write_graphs
from qwo.cli.options import REPORT, OutputOptions, graph_formats
from qwo.cli.reading import DataRead
from qwo.cli.trust import write_probabilities
from qwo.errors import ArgumentError
from qwo.text import aligned, count, whole_file, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qwo.discovery import Discovery
    from qwo.graph import CausalGraph, Knowledge
    from qwo.graph.causal_graph import Kind
    from qwo.report.contents import Contents
    from qwo.report.verdict import Verdict
    from qwo.resample import PairSupport
    from qwo.types import Adjacency


MOST_BOUNDED = 100
"""Variables up to which the bound on the score of any graph takes a second at most."""


@dataclass(frozen=True)
class Learnt:
    """A graph with everything that belongs to it."""

    data: DataRead
    knowledge: Knowledge | None
    contents: Contents
    """The graph, and what is known beside it."""
    warnings: list[str]
    """What was warned of on the way."""
    cut_short: str = ""
    """What Ctrl-C ended, if it came."""

    @property
    def found(self) -> Discovery:
        """The graph."""
        return self.contents.discovery

    def cpdag(self) -> CausalGraph:
        """The equivalence class, with names, and probabilities if there are any."""
        if self.found.pag is not None:
            return self.found.pag
        return self._graph(self.found.cpdag, "cpdag")

    def dag(self) -> CausalGraph:
        """One member of it."""
        if self.found.mag is not None:
            return self.found.mag
        return self._graph(self.found.dag, "dag")

    def _graph(self, matrix: Adjacency, kind: Kind) -> CausalGraph:
        from qwo.graph import CausalGraph

        metadata = self.found.graph.metadata
        if self.contents.posterior is not None:
            return replace(self.contents.posterior.beside(matrix, kind), metadata=metadata)
        return CausalGraph.from_matrix(matrix, self.found.names, kind, metadata)

    def edge_list(self, most: int | None = None) -> str:
        """One edge a line, with its support, its probability, or how sure its direction is."""
        known = self.contents
        # Two numbers of different meaning side by side would ask for a choice: the posterior takes
        # account of more. Supports are in the report and in support.csv all the same.
        pairs, form = known.edge_supports, "{}"
        if known.edge_probabilities:
            pairs, form = known.edge_probabilities, "P({})"
        edges = self.found.edges[:most]
        beside = [_support_text(pair, form) for pair in pairs] or self.found.unsure()
        if known.bootstrap is not None and self.found.pag is not None:
            records: tuple[Any, ...] = known.bootstrap.to_records()  # of marks
            marks = {frozenset(row[:2]): row.text for row in records}
            beside = [marks[frozenset((a, b))] for a, _, b in edges]
        rows = [[*edge, text] for edge, text in zip(edges, beside, strict=False)]
        hidden = len(self.found.edges) - len(rows)
        shown = "\n".join(aligned(rows, left=None))
        return f"{shown}\n… {count(hidden, 'more edge')}" if hidden else shown

    def headline(self) -> str:
        """What was found, in a line."""
        found = self.found
        directed = sum(mark == "-->" for _, mark, _ in found.edges)
        parts = [
            count(found.n_edges, "edge") + ("" if found.series is None else " within one row"),
            f"{directed} directed and {found.n_edges - directed} "
            + ("undirected" if found.pag is None else "↔ or with circles"),
            "" if self.data.moments.is_oracle else f"score {found.score:.2f}",
            f"{found.status} after {found.seconds:.2f} s",
        ]
        return f"found {', '.join(part for part in parts if part)}"

    @cached_property
    def notes(self) -> list[str]:
        """What to think of before the graph is believed, in detail."""
        from qwo.report.remarks import remarks

        notes = [remark.line for remark in remarks(self.contents)]
        if self.cut_short and not any("cut short" in note for note in notes):
            notes.insert(0, f"the {self.cut_short} was cut short by Ctrl-C")
        return notes

    @cached_property
    def verdict(self) -> Verdict:
        """The same in short."""
        from qwo.report.verdict import verdict

        return verdict(self.contents)

    def document(self) -> dict[str, Any]:
        """All of it, for programs."""
        found, known, moments = self.found, self.contents, self.data.moments
        model, posterior = known.model, known.posterior
        return {
            "kind": "result",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": command_line(),
            "data": {
                **self.data.record(),
                "names": found.names,
                "means": moments.means,
                "standard_deviations": moments.scales,
            },
            "audit": [asdict(finding) for finding in self.data.audit.findings],
            "warnings": self.warnings,
            "verdict": dict(self.verdict.lines()),
            "assumptions": [assumption.to_dict() for assumption in known.assumptions],
            "notes": self.notes,
            "knowledge": None if self.knowledge is None else asdict(self.knowledge),
            "n_variables": found.n_variables,
            "n_edges": found.n_edges,
            "score": found.score,
            "status": "interrupted" if self.cut_short else found.status,
            "proved": found.proved,
            "bound": found.bound if found.n_variables <= MOST_BOUNDED else None,
            "seconds": found.seconds,
            "edges": [list(edge) for edge in found.edges],
            "expected_false_edges": found.expected_false_edges,
            "leans": [
                {"source": cause, "target": effect, "odds": odds}
                for (cause, effect), odds in found.leans.items()
            ],
            "weak_edges": [asdict(edge) for edge in found.weak_edges],
            "edge_strengths": found.edge_strengths,
            "edge_false_rates": found.edge_false_rates,
            "dag_edges": [list(edge) for edge in self.dag().edges],
            "order": [found.names[v] for v in found.order],
            "coefficients": None if model is None else [edge._asdict() for edge in model.edges],
            "fit": None if known.linear is None else asdict(known.linear.fit),
            "bootstrap": None if known.bootstrap is None else known.bootstrap.to_dict(),
            "posterior": None
            if posterior is None
            else posterior.to_dict() | {"effects": [effect.to_dict() for effect in known.effects]},
            "check": None if known.check is None else known.check.to_dict(),
            "outcome": None if known.outcome is None else known.outcome.to_dict(),
            **{name: reading.to_dict() for name, reading in found.readings.items()},
            "trace": found.trace,
            "params": found.params,
            "versions": found.versions,
        }


def _support_text(pair: PairSupport, form: str) -> str:
    """Such as ``link 100 %, arrow 46 %``, with both directions where the mark does not hold."""
    mark = "arrow" if pair.reference == "-->" else "undirected"
    link = f"{form.format('link')} {100 * pair.link:3.0f} %"
    text = f"{link}, {form.format(mark)} {100 * getattr(pair, mark):.0f} %"
    if mark == "undirected" and pair.undirected < max(pair.arrow, pair.reverse):
        text += f", {form.format('arrow')} {100 * pair.arrow:.0f} %"
        text += f", {form.format('reverse')} {100 * pair.reverse:.0f} %"
    elif pair.coin_toss:
        text += f", {form.format('reverse')} {100 * pair.reverse:.0f} % ?"
    return text


MOST_DRAWN = 300
"""Beyond so many variables a drawing that nobody can zoom into shows nothing."""


def write_result(learnt: Learnt, options: OutputOptions, *, replaces: bool) -> ExitCode:
    """Write the folder: what was computed first, then all that is made of it.

    Once the former is in place, nothing takes it away: an export, a picture or a report that
    cannot be made is a warning.
    """
    folder = options.output
    assert folder is not None
    with held_interrupts() as held, whole_folder(folder, force=replaces) as made:
        _write_tables(made, learnt)
        files = written_files(made)
        write_record(made, learnt.document(), files)
    if held.asked:
        warn("interrupted; the result is written, without exports, figures and report")
        return ExitCode.INTERRUPTED
    attempt = Attempts()
    for what, write in _extras(learnt, options):
        attempt(what, partial(_write_more, learnt, folder, files, write), asked=False)
    if attempt.stopped:
        warn("interrupted; the result is written, without what was still to come")
        return ExitCode.INTERRUPTED
    return ExitCode.ATTENTION if attempt.failed else ExitCode.FINE


def _write_more(
    learnt: Learnt, folder: Path, files: list[str], write: Callable[[Path], None]
) -> None:
    """Write what the result can do without, and enter it in the record."""
    with more_files(folder, files) as made:
        write(made)
        new = written_files(made)
        with held_interrupts():
            write_record(made, learnt.document(), [*files, *new])
    files.extend(new)


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
    from qwo.sem.structural import EdgeEstimate

    known = learnt.contents
    _write_graphs(folder, learnt, "json")
    if known.model is not None:
        write_csv(folder / "coefficients.csv", EdgeEstimate._fields, known.model.edges)
    cyclic = learnt.found.feedback
    if cyclic is not None and cyclic.graph is not None:
        from qwo.graph import CausalGraph, write_graph

        write_graph(cyclic.graph, folder / "graph.json")
        write_graph(CausalGraph(cyclic.names, cyclic.member, "cyclic"), folder / "member.json")
    if known.bootstrap is not None:
        if learnt.found.pag is None:
            known.bootstrap.save(folder / COUNTS)
        write_csv(folder / "support.csv", known.bootstrap.FIELDS, known.bootstrap.to_records())
    if known.posterior is not None:
        write_probabilities(folder, known.posterior, known.effects)
    if known.outcome is not None:
        from qwo.sem.outcome import FIELDS

        rows = [list(row.values()) for row in known.outcome.records()]
        write_csv(folder / "outcome.csv", FIELDS, rows)
    for name, columns, records in _read_tables(learnt.found):
        write_csv(folder / name, columns, records)
    if known.check is not None:
        write_whole(folder / "check.txt", known.check.summary(as_flag) + "\n")


def _read_tables(found: Discovery) -> Iterator[tuple[str, Sequence[str], Iterable[Sequence[Any]]]]:
    """Files of what was learnt beside the graph, with their columns and rows."""
    if found.regimes is not None:
        from qwo.regimes.result import COLUMNS

        yield "targets.csv", COLUMNS, found.regimes.records()
    if found.curves is not None:
        from qwo.curved.result import DRAWN

        yield "curves.csv", DRAWN, found.curves.drawn()
    if found.noise is not None:
        from qwo.curved.arrows import COLUMNS as EVIDENCE

        yield "noise.csv", EVIDENCE, found.noise.records()
    if found.series is not None:
        from qwo.series.result import COLUMNS as EFFECTS

        yield "lagged.csv", EFFECTS, found.series.records()


def _write_graphs(folder: Path, learnt: Learnt, form: str) -> None:
    write_graphs(folder, learnt.dag(), learnt.cpdag(), form)


def _write_report(folder: Path, learnt: Learnt, *, figures: bool) -> None:
    from qwo.report.page import write_contents

    known = replace(
        learnt.contents,
        command=command_line(),
        title=f"Causal graph of {Path(learnt.data.source).name}",
        data_summary=learnt.data.summary(),
        wording=as_flag,
    )
    write_contents(folder / REPORT, known, figures=figures)


def _write_picture(folder: Path, learnt: Learnt) -> None:
    """The graph, as SVG and as PNG."""
    from qwo import plot

    model, supports = learnt.contents.model, learnt.contents.bootstrap
    drawn = plot.plot_graph(learnt.found, coefficients=model, support=supports)
    _save(drawn, folder / "figures" / "graph")


MOST_IN_TIME = 30
"""Variables up to which effects in time are drawn."""


def _write_figures(folder: Path, learnt: Learnt) -> None:
    """The matrix of the graph and the trace of the search, each as SVG and as PNG."""
    from qwo import plot

    target = folder / "figures"
    if learnt.found.pag is None:
        drawn = plot.plot_adjacency(learnt.found, coefficients=learnt.contents.model)
        _save(drawn, target / "matrix")
    if learnt.found.series is not None and learnt.found.n_variables <= MOST_IN_TIME:
        _save(plot.plot_unrolled(learnt.found), target / "unrolled")
        _save(plot.plot_lags(learnt.found), target / "lags")
    if len(learnt.found.trace) > 1:
        _save(plot.plot_trace(learnt.found), target / "trace")


def _save(axes: Axes, stem: Path) -> None:
    from matplotlib import pyplot as plt

    stem.parent.mkdir(exist_ok=True)
    figure = axes.get_figure(root=True)
    assert figure is not None
    # The layout is solved and the border measured once, not anew for each file.
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    border = figure.get_tightbbox().padded(0.1)
    for suffix in (".svg", ".png"):
        with whole_file(stem.with_suffix(suffix)) as made:
            figure.savefig(made, format=suffix[1:], dpi=150, bbox_inches=border)
    plt.close(figure)


def check_outputs(outputs: tuple[Path, ...]) -> None:
    """Refuse paths that cannot be written, before any work is done."""
    for path in outputs:
        if not path.parent.is_dir() or path.is_dir():
            text = "wanted a file in a folder that exists"
            raise ArgumentError(f"cannot write {str(path)!r}; {text}")


def write_outputs(outputs: tuple[Path, ...], found: Discovery, seconds: float) -> None:
    """Write adjacency matrix, time and number of tests."""
    from qwo.graph import encode_matrix

    adjacency, time, tests = outputs
    write_csv(adjacency, found.names, encode_matrix(found.cpdag, "zero-one").tolist())
    write_whole(time, str(seconds))
    write_whole(tests, "None")
