"""What is wrong or doubtful about the data: one chain of decisions for whatever was read.

Four things are looked at, each of which needs the one before: what was seen of the table (types,
missing values, size), its columns (constant or nearly so), the correlation matrix (copies, linear
combinations, condition: `qwo.moments.matrix_audit`), and the first rows
(`qwo.moments.first_rows`). Nothing is repaired; every
finding names columns, and cures where options can cure it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from qwo.errors import Cure, list_names
from qwo.moments.arrays import RefusedColumn
from qwo.moments.covariance import MIN_SAMPLES, Sample
from qwo.moments.findings import Audit, Finding, drop_cure
from qwo.moments.first_rows import column_kinds, inspect_codes, inspect_rows
from qwo.moments.kinds import RARE, Coding, Variable, rare_levels
from qwo.moments.matrix_audit import SMALL_SAMPLE, inspect_coded, inspect_range, small_sample
from qwo.moments.partial import PartialSums, Seen
from qwo.options import Kind, Missing
from qwo.types import FloatArray

NEARLY_CONSTANT = 1e-12
"""A spread below this fraction of the mean leaves fewer than four digits of a float64 to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Moments of named variables, None if errors stood in the way, and what the audit found.

    The coding, where there is one, has the levels that complete rows have.
    """

    names: tuple[str, ...]
    sample: Sample | None
    estimator: str
    audit: Audit
    coding: Coding | None = None


def survey(
    names: tuple[str, ...],
    sums: PartialSums,
    *,
    refused: Sequence[RefusedColumn] = (),
    missing: Missing = "raise",
    shrunk: bool = False,
    look: bool = True,
    coding: Coding | None = None,
) -> Estimate:
    """Inspect what was seen of the rows and summed up over them, as far as its errors allow.

    Parameters
    ----------
    names : tuple of str
        The variables.
    sums : PartialSums
        Sums over their rows, whose memory is used for the moments.
    refused : sequence of RefusedColumn
        The other columns.
    missing : {"raise", "drop", "em"}
        Whether rows with missing values are an error or are left out; EM is another matter.
    shrunk : bool
        Whether the covariance will be regularised; then singularity is a warning, not an error.
    look : bool
        Whether the first rows are looked at.
    coding : Coding, optional
        The columns of each variable; one if not given.
    """
    seen = sums.close().seen
    kinds = column_types(names, seen, refused, coding) if look or coding else {}
    findings = list(inspect_types(names, refused))
    if seen.n_incomplete:
        counts = MissingCounts.of(names, seen, coding)
        if missing == "raise":
            # What the finite values show of each column by itself is worth knowing all the same.
            findings.append(refused_values(counts))
            findings += inspect_spread(names, *_bounds(seen.lowest, seen.highest, coding))
            findings += _inspect_codes(names, seen, coding, kinds) if look else ()
            return Estimate(names, None, "plain", Audit(tuple(findings), kinds))
        findings.append(dropped_rows(counts))
    sized = list(inspect_size(sums.weight, seen.n_incomplete))
    findings += sized
    if len(names) < 2 or sized:
        return Estimate(names, None, "plain", Audit(tuple(findings), kinds))
    low, high = _bounds(seen.low, seen.high, coding)
    findings += inspect_spread(names, low, high)
    varying = np.flatnonzero(low < high)
    if len(varying) < 2:
        if sums.weight < SMALL_SAMPLE:
            findings.append(small_sample(names, sums.weight, [], "warning"))
        return Estimate(names, None, "plain", Audit(tuple(findings), kinds))
    columns = varying
    if coding is not None:
        columns, coding = coding.observed(seen.low, seen.high, sums.means)
        coding = coding.select(varying.tolist())
    sample = sums.moments(columns, overwrite=True)
    labels = [names[k] for k in varying.tolist()]
    broken = list(inspect_range(labels if coding is None else coding.labels(labels), sample))
    findings += broken or inspect_coded(labels, sample, coding, shrunk=shrunk)
    if look and not any(finding.severity == "error" for finding in findings):
        whole = len(columns) == seen.first.shape[1]
        first = seen.first if whole else seen.first[:, columns]
        findings += _inspect_first(labels, first, sample, coding, kinds)
    usable = not broken and len(varying) == len(names)
    audit = Audit(tuple(findings), kinds)
    return Estimate(names, sample if usable else None, "plain", audit, coding)


def column_types(
    names: Sequence[str],
    seen: Seen,
    refused: Sequence[RefusedColumn],
    coding: Coding | None,
) -> dict[str, Kind]:
    """What the values of each column are, or seem to be."""
    kinds: dict[str, Kind] = {column.name: "nominal" for column in refused}
    if coding is None:
        return {**column_kinds(names, seen.first), **kinds}
    guessed = column_kinds(names, seen.first[:, coding.starts])
    for name, variable in zip(names, coding.variables, strict=True):
        known = bool(variable.levels) or variable.said
        kinds[name] = variable.kind if known else guessed[name]
    return kinds


def _bounds(
    low: FloatArray, high: FloatArray, coding: Coding | None
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the variables from those of their columns; 0 and 1 for a block that varies."""
    if coding is None or not coding.has_blocks:
        return low, high
    starts, single = coding.starts, coding.sizes == 1
    varies = np.logical_or.reduceat(low < high, starts)
    return np.where(single, low[starts], 0.0), np.where(single, high[starts], varies * 1.0)


def _inspect_codes(
    names: Sequence[str], seen: Seen, coding: Coding | None, kinds: Mapping[str, Kind]
) -> Iterator[Finding]:
    """Columns of numbers that may be codes."""
    variables = (Variable(),) * len(names) if coding is None else coding.variables
    numbers = [k for k, variable in enumerate(variables) if not variable.levels]
    columns = numbers if coding is None else coding.starts[numbers]
    said = [names[k] for k in numbers if variables[k].said]
    yield from inspect_codes([names[k] for k in numbers], seen.first[:, columns], kinds, said)


def _inspect_first(
    names: Sequence[str],
    first: FloatArray,
    sample: Sample,
    coding: Coding | None,
    kinds: Mapping[str, Kind],
) -> Iterator[Finding]:
    """What the first rows show of the variables that are numbers, and how rare levels are."""
    if coding is None:
        yield from inspect_rows(names, first, sample.correlation, kinds)
        return
    yield from _rare(names, sample, coding)
    numbers = [k for k, variable in enumerate(coding.variables) if not variable.levels]
    columns = coding.starts[numbers]
    if numbers:
        labels = [names[k] for k in numbers]
        between = sample.correlation[np.ix_(columns, columns)]
        said = [names[k] for k in numbers if coding.variables[k].said]
        yield from inspect_rows(labels, first[:, columns], between, kinds, said)


def _rare(names: Sequence[str], sample: Sample, coding: Coding) -> Iterator[Finding]:
    """Levels that hardly any row has."""
    few = dict(rare_levels(names, coding, sample.means, sample.n_samples))
    if not few:
        return
    shown = ", ".join(
        f"{name!r} ({', '.join(f'{level}: {count}' for level, count in levels[:4])})"
        for name, levels in list(few.items())[:5]
    )
    more = f" and {len(few) - 5} more" if len(few) > 5 else ""
    yield Finding(
        "rare-levels",
        "warning",
        tuple(few),
        f"categories have levels that fewer than {RARE} rows have: {shown}{more}. Such a level "
        "says nothing, and its column makes every edge of the variable dearer: merge it with "
        "another",
    )


@dataclass(frozen=True, slots=True, eq=False)
class MissingCounts:
    """How many values of each column are missing or infinite, and how many rows that concerns."""

    names: tuple[str, ...]
    absent: npt.NDArray[np.int64]
    infinite: npt.NDArray[np.int64]
    rows: int
    n_rows: int

    @classmethod
    def of(cls, names: Sequence[str], seen: Seen, coding: Coding | None = None) -> MissingCounts:
        """The counts of what was seen."""
        first = slice(None) if coding is None else coding.starts
        absent, infinite = seen.absent[first], seen.infinite[first]
        return cls(tuple(names), absent, infinite, seen.n_incomplete, seen.n_rows)

    @classmethod
    def in_values(cls, names: Sequence[str], values: FloatArray) -> MissingCounts:
        """The counts of rows in memory."""
        absent, finite = np.isnan(values), np.isfinite(values)
        infinite = (~finite).sum(axis=0) - absent.sum(axis=0)
        rows = int((~finite.all(axis=1)).sum())
        return cls(tuple(names), absent.sum(axis=0), infinite, rows, len(values))

    def __str__(self) -> str:
        affected = np.flatnonzero(self.absent + self.infinite)
        counts = [
            f"{self.names[k]!r} ({_counts(int(self.absent[k]), int(self.infinite[k]))})"
            for k in affected[:5]
        ]
        more = f" and {len(affected) - 5} more columns" if len(affected) > 5 else ""
        return (
            f"{self.absent.sum()} missing and {self.infinite.sum()} infinite values in "
            f"{len(affected)} of {len(self.names)} columns: {', '.join(counts)}{more}; "
            f"{self.rows} of {self.n_rows} rows are "
        )

    @property
    def affected(self) -> tuple[str, ...]:
        """The columns with missing or infinite values."""
        return tuple(compress(self.names, self.absent + self.infinite > 0))

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns without any finite value."""
        return tuple(compress(self.names, self.absent + self.infinite == self.n_rows))


def inspect_types(names: Sequence[str], refused: Sequence[RefusedColumn]) -> Iterator[Finding]:
    """Columns that are not numbers, and tables without two that are."""
    if refused:
        shown = [f"{column.name!r} ({column.reason})" for column in refused]
        more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
        columns = tuple(column.name for column in refused)
        total = len(names) + len(refused)
        yield Finding(
            "non-numeric",
            "error",
            columns,
            f"{_of(len(shown), total)} not numeric, and no category: {', '.join(shown[:5])}{more}",
            _text_cures(names, refused),
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


def _text_cures(names: Sequence[str], refused: Sequence[RefusedColumn]) -> tuple[Cure, ...]:
    """Marks of missing values to declare, and columns of other text to leave out."""
    marks = list(dict.fromkeys(word for column in refused for word in column.strays))
    others = [column.name for column in refused if not column.strays]
    cures = [Cure("null_values", marks, "takes it for missing")] if marks else []
    everything = [*names, *(column.name for column in refused)]
    dropped = drop_cure(everything, others) if others else ()
    return (*dropped, *cures, *(cure for column in refused for cure in column.cures))


def inspect_size(n_rows: float, dropped: int = 0) -> Iterator[Finding]:
    """Tables with too few rows for a correlation, after those with missing values were dropped."""
    if n_rows < MIN_SAMPLES:
        reason = f" after {dropped} with missing values were dropped" if dropped else ""
        cures = (Cure("missing", "em", "uses what such rows have"),) if dropped else ()
        yield Finding(
            "few-rows",
            "error",
            (),
            f"the table has {n_rows:g} rows{reason}; wanted {MIN_SAMPLES} at the very least, and "
            "many more than columns for a result to trust",
            cures if dropped > MIN_SAMPLES else (),
        )


def refused_values(counts: MissingCounts) -> Finding:
    """Missing values where none are allowed."""
    empty = counts.empty
    cures = [
        Cure("missing", "drop", "leaves those rows out"),
        Cure("missing", "em", "uses what they have"),
    ]
    if empty:
        cures = list(drop_cure(counts.names, empty, "leaves out what has no value"))
    without = f"; {list_names(empty)} {'has' if len(empty) == 1 else 'have'} no value at all"
    return Finding(
        "missing-values",
        "error",
        counts.affected,
        f"{counts}affected{without if empty else ''}",
        tuple(cures),
    )


def dropped_rows(counts: MissingCounts) -> Finding:
    """Rows that are left out for missing values."""
    return Finding("missing-values", "warning", counts.affected, f"{counts}left out")


def inspect_spread(names: Sequence[str], low: FloatArray, high: FloatArray) -> Iterator[Finding]:
    """Columns with one value, or whose values differ only in their last digits."""
    constant = tuple(compress(names, low == high))
    if constant:
        yield Finding(
            "constant",
            "error",
            constant,
            f"{_of(len(constant), len(names))} constant: {list_names(constant)}",
            drop_cure(names, constant),
        )
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        flat = (low < high) & (high / 2 - low / 2 < NEARLY_CONSTANT * size)
    nearly = tuple(compress(names, flat))
    if nearly:
        yield Finding(
            "nearly-constant",
            "warning",
            nearly,
            f"{_of(len(nearly), len(names))} constant but for the last digits of float64: "
            f"{list_names(nearly)}; subtract the offset before the data are stored",
            drop_cure(names, nearly),
        )


def _counts(absent: int, infinite: int) -> str:
    """What is wrong with one column."""
    parts = [(absent, "missing"), (infinite, "infinite")]
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def _of(count: int, total: int) -> str:
    """Such as ``1 of 5 columns is``."""
    return f"{count} of {total} columns {'is' if count == 1 else 'are'}"
