"""What an audit of the input leaves, and what the types and counts of a table show.

Four things are looked at, each of which needs the one before: what was seen of the table (types,
missing values, size), here; the spread of its columns, the correlation matrix and rows (`checks`,
worded by `findings`). Nothing is repaired; every finding names columns, and cures where options can
cure it.

The names of columns suggest variables that nothing else can cause, clusters of rows, and
conditions: a suggestion, which is never acted upon, since only the user can know.
"""

# Long because whatever is said of a table without a look at its rows or sums stands here.

from __future__ import annotations

import html
import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from qwo import errors
from qwo.columns.levels import RefusedColumn
from qwo.columns.recipes import looks_like_cluster, some_words, words_of
from qwo.errors import (
    Cure,
    DataWarning,
    InputError,
    Wording,
    list_names,
    python_wording,
    worded_cures,
)
from qwo.options import Kind
from qwo.text import count

Code = (
    Literal["non-numeric", "missing-values", "few-columns", "few-rows", "wide", "unpaired"]
    | Literal["constant", "nearly-constant", "duplicate", "near-duplicate", "determined"]
    | Literal["linear-dependence", "near-singular", "indefinite", "range", "no-convergence"]
    | Literal["codes", "binary", "rare-levels", "spellings", "identifier", "sentinel"]
    | Literal["repeated-rows", "totals", "long", "serial", "sorted", "non-gaussian", "curved"]
    | Literal["weights", "roots", "conditions", "clusters", "effective-size", "latent"]
    | Literal["index", "encoding", "comments", "sheets"]
)
Severity = Literal["error", "warning", "note"]

_ERRORS: dict[Code, type[InputError]] = {
    "non-numeric": errors.NonNumericError,
    "missing-values": errors.MissingValuesError,
    "few-columns": errors.ShapeError,
    "few-rows": errors.SampleSizeError,
    "wide": errors.SampleSizeError,
    "constant": errors.ConstantColumnError,
    "duplicate": errors.DuplicateColumnError,
    "linear-dependence": errors.LinearDependenceError,
    "indefinite": errors.CovarianceError,
}

MIN_SAMPLES = 3
"""Any two points lie on a line: a correlation takes three to say anything."""

SHOWN = 5
"""Things that a message names; it counts the others."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful.

    Attributes
    ----------
    code : str
        What it is, in one word for programs.
    severity : {"error", "warning", "note"}
        Whether it keeps the data from being used, makes a result doubtful, or is worth knowing.
    columns : tuple of str
        The variables concerned.
    message : str
        What was seen, and where.
    cures : tuple of Cure
        Options that help, each by itself; each front end words them with its own names.
    """

    code: Code
    severity: Severity
    columns: tuple[str, ...]
    message: str
    cures: tuple[Cure, ...] = ()

    def worded(self, wording: Wording = python_wording) -> str:
        """The message and the cures, as a front end spells them."""
        return ". ".join(filter(None, (self.message, worded_cures(self.cures, wording))))


@dataclass(frozen=True, slots=True)
class Audit:
    """All that an inspection of the input found, in order of discovery.

    Attributes
    ----------
    findings : tuple of Finding
        What was found.
    types : mapping from str to {"continuous", "ordinal", "nominal", "binary"}
        What the values of each column are, as the user says, or seem to be, by their types and by
        how many differ.
    """

    findings: tuple[Finding, ...]
    types: Mapping[str, Kind] = field(default_factory=dict)

    def without(self, codes: Collection[str]) -> Audit:
        """The audit without findings of these kinds."""
        return replace(self, findings=tuple(f for f in self.findings if f.code not in codes))

    def beside(self, before: Iterable[Finding] = (), after: Iterable[Finding] = ()) -> Audit:
        """The audit with more findings before and after its own."""
        return replace(self, findings=(*before, *self.findings, *after))

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that keep the data from being used."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that make a result doubtful."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Findings that are worth knowing; nothing is wrong."""
        return tuple(finding for finding in self.findings if finding.severity == "note")

    @property
    def cures(self) -> tuple[Cure, ...]:
        """What cures the errors: all columns to leave out in one, then the other options."""
        found = [cure for finding in self.errors for cure in finding.cures]
        drops = [cure for cure in found if cure.option == "drop"]
        columns = list(dict.fromkeys(name for cure in drops for name in cure.value))
        if len(drops) > 1:
            drops = [Cure("drop", columns, "leaves out what cannot be used")]
        if self.types and len(self.types) - len(columns) < 2:
            drops = []
        different: list[Cure] = []
        for cure in [*drops, *(cure for cure in found if cure.option != "drop")]:
            if cure not in different:
                different.append(cure)
        return tuple(different)

    def raise_errors(self) -> None:
        """Raise what is wrong as one `InputError`, if anything is.

        The class of the error and its `columns` are those of the first finding; the message lists
        them all, so that they can be cured together.
        """
        errors = self.errors
        if errors:
            first = errors[0]
            message = "\n".join(finding.message for finding in errors)
            raise _ERRORS.get(first.code, InputError)(message, first.columns, self.cures)

    def enforce(self) -> None:
        """Raise what is wrong as one `InputError`, or else warn of what is doubtful."""
        for finding in self.findings:
            if finding.severity == "error":
                self.raise_errors()
        for finding in self.findings:
            if finding.severity == "warning":
                warning = DataWarning(finding.message, finding.cures)
                warnings.warn(warning, stacklevel=_callers_level())

    def __str__(self) -> str:
        if not self.findings:
            return "nothing to report"
        return "\n".join(f"{finding.severity}: {finding.worded()}" for finding in self.findings)

    def _repr_html_(self) -> str:
        if not self.findings:
            return "<p>The audit found nothing to report.</p>"
        rows = "".join(
            f"<tr><th style='text-align:left'>{finding.severity}</th>"
            f"<td style='text-align:left'>{html.escape(finding.worded())}</td></tr>"
            for finding in self.findings
        )
        return f"<table>{rows}</table>"


def _callers_level() -> int:
    """The `stacklevel` for `enforce` that blames the first line outside this package."""
    package = str(Path(__file__).parent.parent) + os.sep
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level


def shown(items: Sequence[str], what: str = "", between: str = ", ") -> str:
    """A list as a message has it: the first few, and how many more of `what` there are."""
    more = f" and {len(items) - SHOWN} more{f' {what}' if what else ''}"
    return between.join(items[:SHOWN]) + (more if len(items) > SHOWN else "")


def count_of(count: int, total: int, one: str = "is", several: str = "are") -> str:
    """Such as ``1 of 5 columns is``."""
    return f"{count} of {total} columns {one if count == 1 else several}"


def drop_cure(
    names: Sequence[str], columns: Sequence[str], effect: str | None = None
) -> tuple[Cure, ...]:
    """Leaving columns out, where two others are left."""
    if len(names) - len(columns) < 2:
        return ()
    plain = f"leaves {'it' if len(columns) == 1 else 'them'} out"
    return (Cure("drop", list(columns), effect or plain),)


def inspect_types(names: Sequence[str], refused: Sequence[RefusedColumn]) -> Iterator[Finding]:
    """Columns that are not numbers, and tables without two that are."""
    if refused:
        everything = [*names, *(column.name for column in refused)]
        grouped = [column.name for column in refused for c in column.cures if c.option == "cluster"]
        # Rows belong together in one way; the others stay columns that are no numbers.
        grouped = grouped[:1]
        others = [c.name for c in refused if not c.strays and c.name not in grouped]
        marks = list(dict.fromkeys(word for column in refused for word in column.strays))
        cures = list(drop_cure(everything, others)) if others else []
        cures += [Cure("null_values", marks, "treats it as missing")] if marks else []
        reasons = [f"{column.name!r} ({column.reason})" for column in refused]
        lines = {column.line for column in refused}
        second = (
            f"; if data row {max(lines)} holds names or units, delete it"
            if len(refused) > 1
            else ""
        )
        yield Finding(
            "non-numeric",
            "error",
            tuple(column.name for column in refused),
            f"{count_of(len(refused), len(everything))} neither numeric nor a category: "
            f"{shown(reasons)}{second if len(lines) == 1 and max(lines) else ''}",
            (
                *cures,
                *(
                    cure
                    for column in refused
                    for cure in column.cures
                    if cure.option != "cluster" or column.name in grouped
                ),
            ),
        )
    if len(names) < 2:
        seen = f"only {names[0]!r}" if names else "none"
        yield Finding(
            "few-columns",
            "error",
            tuple(names),
            f"a graph needs at least two numeric columns; the table has {seen}. If it comes from a "
            "text file, check the separator",
        )


def inspect_size(n_rows: float, dropped: int = 0) -> Iterator[Finding]:
    """Tables with too few rows for a correlation, after those with missing values were dropped."""
    if n_rows < MIN_SAMPLES:
        reason = f" after {dropped} with missing values were dropped" if dropped else ""
        cures = (Cure("missing", "em", "uses what such rows have"),) if dropped else ()
        yield Finding(
            "few-rows",
            "error",
            (),
            f"the table has {n_rows:g} row{'s' * (n_rows != 1)}{reason}; wanted {MIN_SAMPLES} at "
            "least, and many more than columns for a result to trust",
            cures if dropped > MIN_SAMPLES else (),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MissingCounts:
    """How many values of each column are missing or infinite, and how many rows that concerns."""

    names: tuple[str, ...]
    absent: npt.NDArray[np.int64]
    infinite: npt.NDArray[np.int64]
    rows: int
    n_rows: int

    def __str__(self) -> str:
        affected = np.flatnonzero(self.absent + self.infinite).tolist()
        kinds, counts = {"missing": self.absent, "infinite": self.infinite}, []
        for k in affected:
            what = ", ".join(f"{own[k]} {kind}" for kind, own in kinds.items() if own[k])
            counts.append(f"{self.names[k]!r} ({what})")
        totals = [count(int(n.sum()), f"{kind} value") for kind, n in kinds.items() if n.any()]
        where = f"in {len(affected)} of {len(self.names)} columns: {shown(counts, 'columns')}"
        are = "is" if self.rows == 1 else "are"
        return f"{' and '.join(totals)} {where}; {self.rows:,} of {self.n_rows:,} rows {are} "

    @property
    def affected(self) -> tuple[str, ...]:
        """The columns with missing or infinite values."""
        return tuple(compress(self.names, self.absent + self.infinite > 0))

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns without any finite value."""
        return tuple(compress(self.names, self.absent + self.infinite == self.n_rows))

    def refused(self) -> Finding:
        """Missing values where none are allowed."""
        empty = self.empty
        cures: tuple[Cure, ...] = (
            Cure("missing", "drop", "leaves those rows out"),
            Cure("missing", "em", "uses what they have"),
        )
        without = ""
        if empty:
            cures = drop_cure(self.names, empty, "leaves out what has no value")
            verb = "has" if len(empty) == 1 else "have"
            without = f"; {list_names(empty)} {verb} no value at all"
        return Finding("missing-values", "error", self.affected, f"{self}affected{without}", cures)

    def dropped(self) -> Finding:
        """Rows that are left out for missing values."""
        return Finding("missing-values", "warning", self.affected, f"{self}left out")


ROOTS = some_words(
    "age sex gender male female race ethnicity ethnic year yob dob birthyear birthdate site center "
    "centre hospital clinic country region"
)
"""Words for what hardly anything in a table can cause: who, when and where."""

MEASURED = some_words("at of since until onset death diagnosis per rate duration")
"""Words beside which the same are measurements, as in ``age_at_onset``."""

CONDITIONS = some_words(
    "batch plate condition treatment arm experiment environment intervention stimulus regime"
)
"""Words for columns that tell under which circumstances a row was taken."""


MEASURED_THING = frozenset(["variable", "key", "parameter", "measure", "metric", "analyte", "item"])
"""Names of the column of a long table that says what was measured, beside its ``value``."""


def belonging(name: str, n_values: int) -> Finding:
    """Advice about a column that seems to say which rows belong together."""
    text = f"{name!r} is named like someone or something measured several times ({n_values} "
    text += "different values). Rows that belong together tell less than independent ones, so that "
    cure = Cure("cluster", name, "counts and resamples such rows together")
    return Finding("clusters", "warning", (name,), f"{text}edges appear by chance", (cure,))


def looks_like_root(name: str) -> bool:
    """Whether a column is named like something that nothing else in a table can cause."""
    words = words_of(name)
    named = ROOTS.intersection(words) or any(word.endswith("year") for word in words)
    return bool(named) and MEASURED.isdisjoint(words)


def inspect_names(
    names: Sequence[str], kinds: Mapping[str, Kind], levels: Mapping[str, int] | None = None
) -> Iterator[Finding]:
    """Columns named like causes of all others, like clusters of rows, and like conditions.

    Of categories, how many levels they have, as far as it is known.
    """
    levels = levels or {}
    roots = [name for name in names if looks_like_root(name)]
    if 0 < len(roots) < len(names) - 1:
        one = len(roots) == 1
        yield Finding(
            "roots",
            "note",
            tuple(roots),
            f"{list_names(roots)} {'is' if one else 'are'} named like something that other "
            f"variables cannot cause. Only you can know; if so, telling the search rules out "
            f"arrows into {'it' if one else 'them'}",
            (Cure("knowledge", {"roots": roots}, "says so"),),
        )
    for name in names:
        if kinds.get(name) == "nominal" and looks_like_cluster(name) and levels.get(name, 0) > 2:
            yield belonging(name, levels[name])
    things = [n for n in names if n.lower() in MEASURED_THING and kinds.get(n) == "nominal"]
    values = [n for n in names if n.lower() in ("value", "values")]
    if things and values:
        text = f"this looks like a long table, in which {things[0]!r} says what {values[0]!r} is "
        text += "of: a graph needs one column for each variable (pivot in pandas, "
        yield Finding("long", "warning", (things[0], values[0]), f"{text}pivot_wider in R)")
    told = [
        name
        for name in names
        if CONDITIONS.intersection(words_of(name)) and kinds.get(name) not in (None, "continuous")
    ]
    for name in told[:1]:
        effect = "treats its values as conditions, whose changes direct edges"
        text = f"{name!r} is named like conditions under which rows were taken, such as treatments "
        cures = (Cure("regime", name, effect),)
        yield Finding("conditions", "note", (name,), f"{text}or batches", cures)
