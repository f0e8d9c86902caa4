"""``qwo learn``: from a file to a graph one can judge."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer

from qwo.cli.console import Console, flowed, is_terminal, logger, shown_warnings, warn
from qwo.cli.failures import Attempts, ExitCode, watched_search
from qwo.cli.folder import check_folder, only_writer, open_checkpoint
from qwo.cli.options import (
    REPORT,
    ConditionFlags,
    KnowledgeOptions,
    OutputOptions,
    RelationFlags,
    ResampledHow,
    SearchFlags,
    SeriesFlags,
    graph_formats,
    option,
)
from qwo.cli.reading import DataFile, DataRead, Reading, read_data, rows_again
from qwo.errors import ArgumentError

if TYPE_CHECKING:
    from qwo.agreement import Check, ConditionChecks
    from qwo.bayes import Posterior
    from qwo.cli.results import Learnt
    from qwo.discovery import Discovery
    from qwo.graph import Knowledge
    from qwo.report.contents import Contents
    from qwo.resample import Bootstrap

MOST_SHOWN = 40
"""Edges that are shown on a terminal when there is a folder with all of them."""


@dataclass(frozen=True)
class BesideOptions:
    """What is to be found out about the graph besides."""

    panel: ClassVar[str] = "Search"

    bootstrap: Annotated[
        int,
        option("--bootstrap -b", "Resample the data R times to see how sure each edge is.", "R"),
    ] = 0
    posterior: Annotated[
        bool,
        option(
            "--posterior",
            "Draw graphs by their probability: how probable each edge is, and its effect.",
        ),
    ] = False
    check: Annotated[
        bool, option("--check", "Say how far data and graph agree, as [b]qwo check[/b] does.")
    ] = False
    outcome: Annotated[
        str | None,
        option(
            "--outcome",
            "What affects this variable? Total effects on it, the largest first.",
            "VARIABLE",
        ),
    ] = None
    resampling: ResampledHow = "halves"


def learn(
    file: DataFile,
    *,
    reading: Reading,
    known: KnowledgeOptions,
    search: SearchFlags,
    conditions: ConditionFlags,
    relations: RelationFlags,
    series: SeriesFlags,
    output: OutputOptions,
    console: Console,
    beside: BesideOptions,
    resume: Annotated[
        bool, option("--resume", "Resume the bootstrap of an interrupted run.", panel="Output")
    ] = False,
) -> None:
    """Learn the causal graph of the variables in a file.

    [b]qwo learn cells.csv[/b]                               edges, to standard output
    [b]qwo learn cells.csv -o result -t log -b 200[/b]       report, bootstrap
    [b]qwo learn cells.csv -o result --posterior[/b]         report, probabilities
    [b]qwo learn cells.csv -o result --check[/b]             report, does it fit?
    [b]qwo learn cells.csv --drop id,notes --missing em[/b]  fix the data
    [b]qwo learn cells.csv --tiers 'age,sex > dose > outcome'[/b]
    [b]qwo learn cells.csv --regime condition[/b]            experiments, batches, sites
    [b]qwo learn cells.csv --relations curved[/b]            curves in place of lines
    [b]qwo learn river.csv --lags auto --time date[/b]       rows in the order of time
    [b]qwo learn cells.csv --feedback[/b]                    cycles, where data support them
    [b]qwo learn lead.csv --samples 250[/b]                  a covariance matrix
    [b]qwo learn births.csv --outcome bwt[/b]                what affects one variable?
    [b]qwo learn cells.csv --json | jq .edges[/b]

    A --> B is a direction that all graphs of the equivalence class share; A --- B could be either.
    Ctrl-C ends the search: the best graph so far is the result, and the exit code 130. Exit code 3
    says that something asked for could not be computed, or that the check raises an alarm.
    """
    from qwo.cli.results import Learnt, write_outputs

    started = time.perf_counter()
    _check_request(beside, conditions, relations, series, output)
    with only_writer(output.output):
        checkpoint = _open(output, resume=resume, resampled=bool(beside.bootstrap))
        knowledge = known.build()
        needed = bool(beside.bootstrap) or beside.check or search.counts_rows
        given = _dropping(conditions, relations, series)
        if "relations" in given:
            reading, columns = reading.curve_columns()
            given |= columns
        how: Any = {"with_rows": needed, "knowledge": knowledge, "dropping": given}
        data = read_data(file, reading, console, **how)
        _check_outcome(beside.outcome, data)
        logger.info("data read after %.2f s", time.perf_counter() - started)
        asked = _Asked(data, knowledge, search, console, given, (file, reading))
        attempt = Attempts()
        with shown_warnings([f.worded() for f in data.audit.warnings]) as warnings:
            found = asked.search()
            if output.benchpress is not None:
                write_outputs(output.benchpress, found, time.perf_counter() - started)
            contents = asked.found_out(attempt, found, beside, checkpoint)
        learnt = Learnt(data, knowledge, contents, warnings, attempt.stopped)
        code = _end(learnt, output, console, checkpoint, replaces=output.force or resume)
    if attempt.stopped:
        code = ExitCode.INTERRUPTED
    elif code == ExitCode.FINE and (attempt.failed or (contents.check and contents.check.alarm)):
        code = ExitCode.ATTENTION
    if code != ExitCode.FINE:
        raise typer.Exit(code)


def _dropping(
    conditions: ConditionFlags, relations: RelationFlags, series: SeriesFlags
) -> dict[str, Any]:
    """What is given of options that drop an assumption."""
    asked = {**relations.asked(), **series.asked()}
    return asked if conditions.column is None else asked | conditions.arguments()


def _check_request(
    beside: BesideOptions,
    conditions: ConditionFlags,
    relations: RelationFlags,
    series: SeriesFlags,
    output: OutputOptions,
) -> None:
    """Refuse what cannot be had before anything is computed."""
    from qwo.graph.formats import find_format

    if beside.bootstrap < 0:
        raise ArgumentError(f"--bootstrap is {beside.bootstrap}; wanted a number of resamples")
    if conditions.column is None and any(
        conditions.arguments()[name] is not None for name in ("targets", "reference")
    ):
        raise ArgumentError(
            "--targets and --reference are about conditions; name their column by --regime"
        )
    relations.refuse(resampled=bool(beside.bootstrap), drawn=beside.posterior, checked=beside.check)
    timed = series.asked()
    if timed and "lags" not in timed:
        raise ArgumentError(
            f"{', '.join(f'--{name}' for name in timed)}: about rows in the order of time; say how "
            "many earlier rows may have effects: --lags auto"
        )
    if timed and (beside.posterior or beside.check):
        raise ArgumentError(
            "--lags does not go with --posterior and --check, which take rows for independent "
            "ones; leave them out"
        )
    if output.benchpress is not None:
        from qwo.cli.results import check_outputs

        check_outputs(output.benchpress)
    for name in graph_formats(output.formats):
        find_format(name)


def _check_outcome(outcome: str | None, data: DataRead) -> None:
    """Refuse a variable that is not there before anything is computed; a level is of its column."""
    from qwo.names import as_column

    if outcome is not None and outcome not in data.moments.names:
        as_column(data.moments.names, outcome.partition("=")[0], "--outcome")


def _open(output: OutputOptions, *, resume: bool, resampled: bool) -> Path | None:
    """Make sure that the folder can be written; where replicates are kept until it is."""
    if output.output is None:
        if resume:
            raise ArgumentError("--resume needs a folder to go on with; name it after -o")
        return None
    if resampled:
        return open_checkpoint(output.output, force=output.force, resume=resume)
    check_folder(output.output, force=output.force or resume)
    return None


def _end(
    learnt: Learnt,
    output: OutputOptions,
    console: Console,
    checkpoint: Path | None,
    *,
    replaces: bool,
) -> ExitCode:
    """Write the folder, if there is to be one, and show the graph; how that went."""
    from qwo.cli.results import write_result

    written, code = False, ExitCode.FINE
    try:
        if output.output is not None:
            code = write_result(learnt, output, replaces=replaces)
            written = True
            if checkpoint is not None:
                checkpoint.unlink(missing_ok=True)
    finally:
        # Whatever the disk says, the graph is shown; whoever reads it, the folder is complete.
        _show(learnt, output, console, written=written)
    return code


class _Asked(NamedTuple):
    """What is asked of the data, and how each part of the answer is found."""

    data: DataRead
    knowledge: Knowledge | None
    options: SearchFlags
    console: Console
    dropping: dict[str, Any]
    file: tuple[Path, Reading]

    def search(self) -> Discovery:
        """The graph; Ctrl-C ends the search but does not break it."""
        from qwo.discovery import discover

        data = self.data
        with watched_search(self.console) as watch:
            logger.info("the search begins")
            if self.options.arguments().get("search") == "exact":
                from qwo.search.exact import takes

                needs = takes(data.moments.n_variables)
                self.console.say(f"exact search: {needs}")
            source: dict[str, Any] = {"data": data.moments}
            if self.options.counts_rows and data.rows is not None:
                source = {"data": data.rows.data, "missing": data.rows.missing}
            if self.dropping:
                # Cycles are found from moments alone.
                again = {} if set(self.dropping) == {"feedback"} else rows_again(*self.file)
                source = {**source, **again, **self.dropping}
            asked = {k: v for k, v in self.options.arguments().items() if k != "dask"}
            found = discover(**source, knowledge=self.knowledge, callback=watch, **asked)
        logger.info("search: %s after %.2f s", found.status, found.seconds)
        return replace(found, status="interrupted") if found.status == "stopped" else found

    def found_out(
        self, attempt: Attempts, found: Discovery, beside: BesideOptions, checkpoint: Path | None
    ) -> Contents:
        """The graph, and what else is asked for and can be had."""
        from qwo.report.contents import Contents, model_of

        model = attempt("coefficients", partial(model_of, self.data.moments, found), asked=False)
        if found.status == "interrupted":
            attempt.stopped = "search"
        supports = draws = checked = None
        if beside.bootstrap and found.series is not None:
            # Blocks of rows, or whole units, are drawn anew.
            resampled = partial(found.series.supported, beside.bootstrap)
            series = attempt("bootstrap", resampled)
            found = found if series is None else replace(found, series=series)
        elif beside.bootstrap:
            supports = attempt("bootstrap", partial(self.supports, found, beside, checkpoint))
        if beside.posterior:
            draws = attempt("posterior", self.posterior)
        if beside.check:
            checked = attempt("check", partial(self.check, found))
        known, causes = (self.data.audit, model, supports, draws), None
        if beside.outcome is not None:
            effects = partial(found.causes_of, beside.outcome, posterior=draws)
            causes = attempt("outcome", effects)
        return Contents(found, *known, check=checked, outcome=causes)

    def source_of(self, held: Any) -> dict[str, Any]:
        """What is held of the data, or where assumptions are dropped their rows."""
        if not self.dropping:
            return {"data": held}
        # A reference is that of the graph.
        told = {k: v for k, v in self.dropping.items() if k != "reference"}
        return {**rows_again(*self.file), **told}

    def supports(
        self, found: Discovery, asked: BesideOptions, checkpoint: Path | None
    ) -> Bootstrap:
        """How sure each edge is."""
        from qwo.resample import bootstrap

        result = bootstrap(
            **self.source_of(self.data.rows),
            n_resamples=asked.bootstrap,
            resampling=asked.resampling,
            checkpoint=None if found.pag is not None else checkpoint,
            reference=found,
            knowledge=self.knowledge,
            progress=self.console.shows_progress,
            **self.options.of_resamples(),
        )
        if result.n_degenerate:
            count = f"{result.n_degenerate} of {result.n_done} resamples"
            warn(f"{count} have no graph and do not count")
        return result

    def posterior(self) -> Posterior:
        """How probable each edge is."""
        from qwo.bayes.posterior import posterior

        arguments = self.options.arguments()
        return posterior(
            **self.source_of(self.data.moments),
            knowledge=self.knowledge,
            time_limit=arguments["time_limit"],
            random_state=arguments["random_state"],
            progress=self.console.shows_progress,
        )

    def check(self, found: Discovery) -> Check | ConditionChecks:
        """How far data and graph agree."""
        from qwo.agreement import check

        rows = self.data.moments if self.data.rows is None else self.data.rows
        seed = self.options.arguments()["random_state"]
        if found.regimes is not None:
            return found.check(random_state=seed)
        return check(rows, found, knowledge=self.knowledge, random_state=seed)


def _show(learnt: Learnt, options: OutputOptions, console: Console, *, written: bool) -> None:
    console.say(learnt.headline())
    for label, text in learnt.verdict.lines():
        console.say(flowed(f"{label + ':':<12}", text, sys.stderr))
    if options.output is None or console.json or not console.quiet:
        # Whoever watches wants the gist of a large graph; all of it is in the folder.
        watched = options.output is not None and is_terminal(sys.stdout)
        shown = learnt.edge_list(MOST_SHOWN if watched else None)
        if learnt.contents.outcome is not None:
            shown += "\n" + learnt.contents.outcome.summary()
        console.result(shown, learnt.document())
    for reading in learnt.found.readings.values():
        console.say(reading.summary())
    for note in learnt.notes:
        console.note(note)
    if written and options.output is not None:
        report = f"; look at {options.output / REPORT}" if options.report else ""
        console.say(f"wrote {options.output}{report}")
