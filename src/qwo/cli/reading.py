"""Data that are given on the command line, read as the options say; and ``qwo audit``."""

# Long because reading, what a folder remembers of it, and the audit are one road.

from __future__ import annotations

import hashlib
import inspect
import json
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from qwo.cli.console import Console, as_flag, flowed, warn, worded
from qwo.cli.failures import ExitCode
from qwo.cli.folder import RECORD
from qwo.cli.options import OptionFlags, names_in, parameter
from qwo.errors import ArgumentError, InputError
from qwo.options import OPTIONS, Flag, ReadOptions
from qwo.text import count, csv_line, first_few

if TYPE_CHECKING:
    from qwo.graph import Knowledge
    from qwo.moments import Audit, Moments
    from qwo.resample.options import DataRows

STDIN = Path("-")


def _no_result(file: Path) -> Path:
    """See that the table comes before the graph."""
    if (file / RECORD).is_file():
        raise ArgumentError(
            f"{str(file)!r} is a folder that qwo learn wrote, and no table: the table comes "
            "first, then the graph"
        )
    return file


DataFile = Annotated[
    Path,
    typer.Argument(
        callback=_no_result,
        metavar="FILE",
        help="A table with one row per sample (CSV, TSV, Parquet, Excel, Stata, …), a covariance "
        "matrix (.cov in its name, or --samples), or - for CSV from standard input.",
    ),
]


class Reading(OptionFlags):
    """Which columns of a file to take, and what to do with them."""

    record = ReadOptions
    panel = "Data"

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Those of the record, and what types and numbers of samples are said by."""
        flags = {own.name: own for own in super().parameters()}
        for name, flag, after in _TOLD_APART:
            added = parameter(name, flag, None, cls)
            places = list(flags)
            rest = {k: flags.pop(k) for k in places[places.index(after) + 1 :]}
            flags |= {name: added} | rest
        return list(flags.values())

    @classmethod
    def flags(cls) -> dict[str, Flag]:
        """The flag of each parameter."""
        listed = {own.name: own.metadata["option"].flag for own in fields(cls.record)}
        known = {name: flag for name, flag in listed.items() if flag is not None}
        return known | {name: flag for name, flag, _ in _TOLD_APART}

    @property
    def transform(self) -> list[str]:
        """The transformations as they are given."""
        return self._given["transform"] or []

    def of(self, names: Iterable[str]) -> Reading:
        """The reading of these columns, unless others are asked for."""
        if self._given["columns"] is not None:
            return self
        # One word, with quotes around names that have commas.
        return Reading(**self._given | {"columns": [csv_line(dict.fromkeys(names))]})

    def given(self) -> dict[str, Any]:
        """What was said, as the command line has it: the flags that differ from their defaults."""
        usual = {own.name: own.default for own in self.parameters()}
        return {
            name: value
            for name, value in self._given.items()
            if value != usual[name] and not (usual[name] is None and value == [])
        }

    def as_learnt(self, learnt: Mapping[str, Any], console: Console) -> Reading:
        """The same with what a result folder was read with, where nothing else is said here.

        Which columns are taken follows from the graph.
        """
        known = {own.name for own in self.parameters()} - {"columns", "drop"}
        before = {name: value for name, value in learnt.items() if name in known}
        said = {name: value for name, value in self.given().items() if name in known}
        other = {name: value for name, value in said.items() if before.get(name) != value}
        taken = {name: value for name, value in before.items() if name not in said}
        if taken:
            console.note(f"the data are read as when the graph was learnt: {_flags(taken)}")
        if other:
            there = _flags({name: before[name] for name in other if name in before})
            console.note(
                "the graph was learnt from data that were read otherwise: here with "
                f"{_flags(other)}, there {f'with {there}' if there else 'without'}"
            )
        return Reading(**self._given | taken)

    def curve_columns(self) -> tuple[Reading, dict[str, Any]]:
        """A whole number in the place of names: columns of each variable, to search with."""
        names = self._given["columns"] or []
        if len(names) != 1 or not names[0].isdecimal():
            return self, {}
        return Reading(**self._given | {"columns": None}), {"columns": int(names[0])}

    def leaving_out(self, column: str) -> Reading:
        """The same but for one column more to leave out."""
        left_out = [*(self._given["drop"] or []), csv_line([column])]
        return Reading(**self._given | {"drop": left_out})

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `qwo.moments.read_moments`."""
        given = super().arguments()
        nominal, ordinal = given.pop("nominal"), given.pop("ordinal")
        return given | {"n_samples": given.pop("samples"), "types": _types(nominal, ordinal)}


_TOLD_APART = (
    (
        "nominal",
        Flag(
            ("--nominal",),
            "A,B,…",
            "Treat these as categories without an order, also where they are coded by numbers; "
            "text always is.",
            list[str],
        ),
        "transform",
    ),
    (
        "ordinal",
        Flag(
            ("--ordinal",),
            "A,B,…",
            "Treat these as ordered categories; text needs its order, as in "
            "[b]'stage:I<II<III'[/b].",
            list[str],
        ),
        "nominal",
    ),
    (
        "samples",
        Flag(
            ("--samples", "-N"),
            "N",
            "FILE holds a covariance or correlation matrix of this many samples (or inf).",
            float,
        ),
        "covariance_estimator",
    ),
)
"""Flags of reading that are no option of the library: their names, and what they stand behind."""


def _types(nominal: list[str] | None, ordinal: list[str] | None) -> dict[str, Any] | None:
    """What columns hold, as far as it is said."""
    said: dict[str, Any] = dict.fromkeys(names_in(nominal) or [], "nominal")
    for value in ordinal or []:
        name, colon, levels = value.partition(":")
        if colon:
            said[name] = [level.strip() for level in levels.split("<")]
        else:
            said.update(dict.fromkeys(names_in([value]) or [], "ordinal"))
    return said or None


def _flags(given: Mapping[str, Any]) -> str:
    """Flags with their values, as they are typed."""
    names = {name: flag.names[0] for name, flag in Reading.flags().items()}
    words = []
    for name, value in given.items():
        flag = names[name].partition("/")[0]
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            values = value if isinstance(value, list) else [value]
            words += [f"{flag} {shlex.quote(str(part))}" for part in values]
    return " ".join(words)


MOST_NAMED = 6
"""Columns of a type that the audit names."""

OTHERWISE = {
    "covariance_estimator": ("drop",),
    "types": ("drop", "null_values"),
    "time": ("drop",),
}
"""Cures that are not needed besides others."""


@dataclass(frozen=True)
class DataRead:
    """What came out of a file."""

    moments: Moments
    audit: Audit
    source: str
    reading: Reading
    sha256: str | None
    """Of the file, byte by byte."""

    rows: DataRows | None
    """The samples, for those who resample them; the moments where there are no samples."""

    def summary(self) -> dict[str, Any]:
        """What was read, as headings and values."""
        asked, moments = self.reading.arguments(), self.moments
        parts = {
            "file": self.source,
            "variables": moments.n_variables,
            "samples": moments.n_samples,
            "columns left out": asked["drop"],
            "transform": self.reading.transform or None,
            "types": asked["types"],
            "missing values": None if asked["missing"] == "raise" else asked["missing"],
            "covariance": None if moments.estimator == "plain" else moments.estimator,
        }
        return {heading: value for heading, value in parts.items() if value is not None}

    def record(self) -> dict[str, Any]:
        """The same with what tells how to read the file again, and whether it is the same."""
        return {**self.summary(), "reading": self.reading.given(), "sha256": self.sha256}


def read_data(
    path: Path,
    reading: Reading,
    console: Console,
    *,
    with_rows: bool = False,
    dropping: Mapping[str, Any] | None = None,
    knowledge: Knowledge | None = None,
    learns: bool = True,
) -> DataRead:
    """Read a file, or standard input, say what was read, and warn of what is doubtful about it.

    Only with rows are the samples themselves kept besides their moments. Where the file cannot be
    used, a note of the error tells the options that would fix it. Columns of
    conditions, times and units are no variables, and rows that stand in the order of one of these
    depend on each other for that reason. Whoever has said what comes first is not asked, and no
    options of a search are offered to a command that learns no graph.
    """
    with data_file(path) as file:
        own = reading
        try:
            asked = dropping or {}
            columns = [asked.get(k) for k in ("regime", "time", "unit")]
            if columns[0] is None and "=" not in (asked.get("targets") or "="):
                columns.append(asked["targets"])  # it is a column
            for column in columns:
                own = own if column is None else own.leaving_out(column)
            moments, audit, rows = _read(file, own, with_rows=with_rows)
            if "lags" in asked or "regime" in asked:
                from qwo.regimes.reading import DEPENDENCE

                # Slow series look bent over each other by chance.
                audit = audit.without((*DEPENDENCE, "curved") if "lags" in asked else DEPENDENCE)
            if knowledge is not None and (knowledge.roots or knowledge.tiers):
                audit = audit.without(("roots",))
            if not learns:
                audit = _for_a_graph(audit)
        except InputError as error:
            hint = _cure(file, own)
            if hint:
                error.add_note(hint)
            raise
        digest = _digest(file)
    found = DataRead(moments, audit, source_name(path), reading, digest, rows)
    console.say(_what_was_read(found))
    for finding in audit.warnings:
        warn(worded(finding))
    for finding in audit.notes:
        console.note(worded(finding))
    return found


def _for_a_graph(audit: Audit) -> Audit:
    """The findings, without what would help a search alone."""
    kept = audit.without(("binary", "non-gaussian", "curved", "roots", "conditions"))
    advice = [tuple(c for c in f.cures if c.option not in OPTIONS) for f in kept.findings]
    findings = zip(kept.findings, advice, strict=True)
    return replace(kept, findings=tuple(replace(f, cures=cures) for f, cures in findings))


def read_for(
    graph: Path, names: Iterable[str], file: Path, reading: Reading, console: Console, **how: Any
) -> DataRead:
    """The variables of a graph, from a file; as `qwo learn` read it if it wrote the graph's folder.

    Whatever differs from then is a note: other options, or another file.
    """
    result = result_record(graph)
    record = result.get("data", {})
    learnt = record.get("reading") or {}
    if is_curved(graph):
        console.note("the graph has curved relations; qwo fit and qwo check look at their lines")
    own = reading.as_learnt(learnt, console).of(names)
    if result.get("series") or result.get("regimes"):
        how["dropping"] = {"lags": None}  # rows depend on each other, as was known then
    found = read_data(file, own, console, learns=False, **how)
    if record.get("sha256") not in (None, found.sha256):
        console.note(
            f"{source_name(file)} is not the file that the graph was learnt from, which was "
            f"{record.get('file')}"
        )
    return found


def arguments_for(
    graph: Path, names: Iterable[str], file: Path, reading: Reading, console: Console
) -> dict[str, Any]:
    """A file and how it is read for a graph, as `read_for` does, for whoever reads it anew."""
    learnt = result_record(graph).get("data", {}).get("reading") or {}
    return rows_again(file, reading.as_learnt(learnt, console).of(names))


def rows_again(file: Path, reading: Reading) -> dict[str, Any]:
    """A file and how it is read, for whoever takes a pass of their own over its rows."""
    if file == STDIN:
        raise ArgumentError(
            "standard input can be read once, and this takes two passes; write it to a file"
        )
    arguments = reading.arguments()
    del arguments["n_samples"]
    return {"data": file, **arguments}


def is_curved(graph: Path) -> bool:
    """Whether a result folder has curves that functions of causes were searched for."""
    record = result_record(graph)
    return bool((record.get("curves") or {}).get("columns", 1) > 1 and not record.get("series"))


def result_record(graph: Path) -> dict[str, Any]:
    """What a result folder tells, of its data as well; nothing for other graphs."""
    try:
        text = (graph / RECORD).read_text(encoding="utf-8") if graph.is_dir() else "{}"
        found: dict[str, Any] = json.loads(text)
        told = found.get("data")
    except (OSError, ValueError, AttributeError):
        return {}
    right = isinstance(told, dict) and isinstance(told.get("reading", {}), dict)
    return found if right else {}


def _read(
    file: Path, reading: Reading, *, with_rows: bool
) -> tuple[Moments, Audit, DataRows | None]:
    """The file, read once: moments, what is doubtful about them, and the rows if wanted."""
    from qwo.moments import read_moments, read_table
    from qwo.moments.reading import audited, estimate_table, is_matrix_file
    from qwo.resample.options import DataRows

    arguments = reading.arguments()
    matrix = arguments["n_samples"] is not None or file.suffix == ".npz" or is_matrix_file(file)
    if matrix or not with_rows:
        moments, audit = read_moments(file, **arguments)
        return moments, audit, DataRows(moments) if with_rows else None
    del arguments["n_samples"]
    estimator, missing = arguments.pop("covariance_estimator"), arguments.pop("missing")
    table = read_table(file, **arguments)
    moments, audit = audited(estimate_table(table, estimator, missing))
    return moments, audit, DataRows(table, estimator, missing, moments)


def _digest(file: Path) -> str | None:
    """By which the data can be known again; folders of Parquet files have none."""
    if file.is_dir():
        return None
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def data_file(path: Path) -> Iterator[Path]:
    """The file itself, or what standard input holds, as a file."""
    if path != STDIN:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="qwo-") as folder:
        file = Path(folder, "standard-input.csv")
        file.write_bytes(sys.stdin.buffer.read())
        try:
            yield file
        except InputError as error:
            error.args = (str(error).replace(str(file), "standard input"),)
            raise


def source_name(path: Path) -> str:
    """What to call the file."""
    return "standard input" if path == STDIN else str(path)


def _what_was_read(found: DataRead) -> str:
    moments = found.moments
    nominal = [v for v in moments.coding.variables if v.kind == "nominal"]
    whole = moments.is_oracle or float(moments.n_samples).is_integer()
    size = (
        f"{moments.n_samples:.0f} samples"
        if whole
        else f"{moments.n_samples:.1f} effective samples"
    )
    if moments.is_oracle:
        size = "exact moments (N = ∞)"
    remarks = [
        *(f"transform {value}" for value in found.reading.transform),
        *([f"{moments.estimator} covariance"] if moments.estimator != "plain" else []),
    ]
    more = f" ({', '.join(remarks)})" if remarks else ""
    some = f" ({len(nominal)} nominal)" if nominal else ""
    variables = count(moments.n_variables, "variable")
    return f"read {found.source}: {variables}{some}, {size}{more}"


def _cure(file: Path, reading: Reading) -> str | None:
    """The options that would make the file usable, where options can."""
    from qwo.moments import audit_file

    try:
        audit = audit_file(file, **reading.arguments())
    except InputError:
        return None
    return cure(audit)


def cure(audit: Audit) -> str | None:
    """The options that would cure the errors of an audit, where options can."""
    chosen = {cure.option: cure for cure in audit.cures if cure.value is not None}
    for option, instead in OTHERWISE.items():
        if set(instead) & set(chosen):
            chosen.pop(option, None)
    return " ".join(map(as_flag, chosen.values())) or None


def audit(file: DataFile, reading: Reading, console: Console) -> None:
    """Look for what is wrong or doubtful about the data.

    [b]qwo audit cells.csv[/b]
    [b]qwo audit cells.csv --drop batch --missing em[/b]     would this fix it?

    Exit code 0: nothing to report but notes; 3: warnings; 1: the data cannot be used as they are.
    """
    from qwo.moments import audit_file

    with data_file(file) as path:
        found = audit_file(path, **reading.arguments())
    errors, warnings = len(found.errors), len(found.warnings)
    verdict = "cannot be used as they are" if errors else "can be used"
    lines = [
        flowed(f"{item.severity + ':':<9}", worded(item), sys.stdout) for item in found.findings
    ]
    bad = {name for item in found.errors if item.code == "non-numeric" for name in item.columns}
    types = {name: kind for name, kind in found.types.items() if name not in bad}
    if set(types.values()) - {"continuous"}:
        lines.append(flowed(f"{'types:':<9}", _types_text(types), sys.stdout))
    lines.append(
        f"{source_name(file)}: {count(errors, 'error')}, {count(warnings, 'warning')}; "
        f"the data {verdict}"
    )
    options = cure(found)
    if options:
        lines.append(f"{'try:':<9}{options}")
    document = {
        "file": source_name(file),
        "usable": not errors,
        "types": dict(found.types),
        "findings": [asdict(item) for item in found.findings],
        "cure": options,
    }
    console.result("\n".join(lines), document)
    if errors:
        raise typer.Exit(ExitCode.INPUT)
    if warnings:
        raise typer.Exit(ExitCode.ATTENTION)


def _types_text(types: Mapping[str, str]) -> str:
    """How many columns are of each type, and which."""
    from qwo.options import Kind

    parts = []
    for kind in get_args(Kind):
        names = [name for name, own in types.items() if own == kind]
        if names:
            parts.append(f"{len(names)} {kind} ({first_few(names, MOST_NAMED)})")
    return ", ".join(parts)
