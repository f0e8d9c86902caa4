"""Covariance matrices that are given: as arrays, in text files, and as saved moments.

A text file is CSV with the names above the rows, and perhaps in front of them too; or Tetrad's
lower triangle: the sample size on a line of its own, then the names, then the rows, separated by
blanks or tabs; a line ``/covariance`` may stand above and comments (``//``) anywhere. Saved moments
are arrays in an .npz archive, and no pickles.
"""

# Long because what a matrix must be is the same wherever it comes from.

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qwo.archives import opened, write_arrays
from qwo.columns.levels import short
from qwo.columns.recipes import PLAIN, Coding, column_names, is_number, select_columns
from qwo.errors import (
    HOW_MANY,
    ArgumentError,
    CovarianceError,
    FileFormatError,
    MissingValuesError,
    NonNumericError,
    SampleSizeError,
    ShapeError,
    list_names,
)
from qwo.inspection.audit import MIN_SAMPLES
from qwo.inspection.findings import PivotedCholesky
from qwo.moments.moments import Moments
from qwo.moments.readers import check_marks, existing_file, guess_separator, read_chunks, split_line
from qwo.moments.sums import inverse, mirror_lower, split_covariance
from qwo.moments.tables import table_of
from qwo.options import Columns, ReadOptions
from qwo.types import FloatArray

BLOCK_ROWS = 64
"""Rows that are compared with columns at a time."""

SYMMETRY_TOLERANCE = 1e-8
"""How far entries that should agree may differ, and |r| exceed 1, by rounding of the input."""

VERSION, CODED = 1, 2
"""The format of saved moments, without and with types of columns."""


def from_covariance(
    matrix: Any, n_samples: float | None, names: Sequence[object] | None = None, means: Any = None
) -> Moments:
    """Moments with a given covariance or correlation matrix."""
    labels, covariance = _symmetric(matrix, names, "covariance")
    size = sample_size(n_samples)
    try:
        centre = np.full(len(labels), np.nan) if means is None else np.array(means, np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"means is {means!r}; wanted numbers", option="means") from error
    if centre.shape != (len(labels),):
        raise ShapeError(f"means has shape {centre.shape}; wanted ({len(labels)},)")
    scales, correlation = split_covariance(covariance)
    _check_bounds(labels, correlation)
    return Moments(labels, size, centre, scales, correlation, "given")


def from_precision(matrix: Any, n_samples: float | None, names: Sequence[object] | None) -> Moments:
    """Moments with a given inverse covariance matrix."""
    labels, precision = _symmetric(matrix, names, "precision")
    size = sample_size(n_samples)
    units, scaled = split_covariance(precision)
    covariance = inverse(scaled)
    if covariance is None:
        cholesky = PivotedCholesky.of(scaled)
        columns = [labels[k] for k in cholesky.pivots[cholesky.rank :]]
        raise CovarianceError(
            "the precision matrix is not positive definite, so that it has no inverse "
            f"(seen at {list_names(columns)}); check it, or give a covariance matrix",
            columns,
        )
    spans, correlation = split_covariance(covariance)
    unknown = np.full(len(labels), np.nan)
    return Moments(labels, size, unknown, spans / units, correlation, "given")


def _symmetric(
    matrix: Any, names: Sequence[object] | None, kind: str
) -> tuple[tuple[str, ...], FloatArray]:
    """Names and a fresh copy of a square, symmetric, finite matrix with a positive diagonal."""
    table = table_of(matrix, names)
    if table.refused:
        refused = [column.name for column in table.refused]
        raise NonNumericError(
            f"the {kind} matrix has entries that are not real numbers in {list_names(refused)} "
            f"({table.refused[0].reason})",
            refused,
        )
    values = np.array(table.values, order="C")
    if values.shape[0] != values.shape[1] or len(values) < 2:
        raise ShapeError(
            f"the {kind} matrix has shape {values.shape}; wanted it square and 2 × 2 at least"
        )
    _check_matrix(table.names, values, kind)
    return table.names, mirror_lower(values)


def _check_matrix(names: tuple[str, ...], values: FloatArray, kind: str) -> None:
    """See that a matrix is finite and symmetric and has a positive diagonal."""
    finite = np.isfinite(values).all(axis=0)
    if not finite.all():
        wrong = [names[k] for k in np.flatnonzero(~finite)]
        raise MissingValuesError(
            f"the {kind} matrix has missing or infinite entries in {list_names(wrong)}", wrong
        )
    diagonal = np.diagonal(values)
    if (diagonal <= 0).any():
        places = np.flatnonzero(diagonal <= 0)
        wrong = [names[k] for k in places]
        raise CovarianceError(
            f"the diagonal of the {kind} matrix must be positive; it is {diagonal[places[0]]:g} "
            f"for {list_names(wrong)}. A variable without variance must be left out",
            wrong,
        )
    size = np.sqrt(diagonal)
    for start in range(0, len(values), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        gap = np.abs(values[block] - values[:, block].T) / size / size[block, None]
        row, j = np.unravel_index(int(gap.argmax()), gap.shape)
        if gap[row, j] > SYMMETRY_TOLERANCE:
            i = start + row
            raise CovarianceError(
                f"the {kind} matrix is not symmetric: {values[i, j]:g} for ({names[i]!r}, "
                f"{names[j]!r}), but {values[j, i]:g} for ({names[j]!r}, {names[i]!r}). If one "
                "triangle is left blank, fill it in",
                (names[i], names[j]),
            )


def _check_bounds(names: tuple[str, ...], correlation: FloatArray) -> None:
    """See that no correlation is beyond 1."""
    for i, row in enumerate(correlation):
        j = int(np.abs(row).argmax())
        if abs(row[j]) > 1 + SYMMETRY_TOLERANCE:
            raise CovarianceError(
                f"the matrix gives {names[i]!r} and {names[j]!r} a correlation of {row[j]:.6g}, "
                "beyond 1, so that no data can have it",
                (names[i], names[j]),
            )


def sample_size(n_samples: float | None) -> float:
    """N as a float; infinity stands for the exact matrix of a distribution."""
    if n_samples is None:
        return math.inf
    try:
        size = float(n_samples)
    except (TypeError, ValueError):
        size = math.nan
    if not size >= MIN_SAMPLES:
        raise SampleSizeError(
            f"n_samples is {n_samples!r}; wanted a number from {MIN_SAMPLES} up, or None if the "
            "matrix is exact",
            option="n_samples",
        )
    return size


class _Line(NamedTuple):
    """A line with content, and its number in the file from 1."""

    number: int
    text: str


def read_matrix(
    path: str | PathLike[str],
    n_samples: float | None = None,
    form: ReadOptions | None = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
) -> Moments:
    """Moments with the covariance matrix in a text file, of all variables or some.

    `n_samples` counts instead of what the file says; infinity for the exact matrix of a
    distribution.
    """
    form = ReadOptions() if form is None else form
    check_marks(form)
    file = existing_file(path)
    lines = _lines(file)
    stated, lines = _stated_size(lines)
    if not lines:
        raise FileFormatError(f"{file} has no line of names and no matrix")
    header, *rows = lines
    names, values = _square(file, header, rows, form)
    size = stated if n_samples is None else n_samples
    if size is None:
        raise SampleSizeError(
            f"{file} does not say how many samples its matrix comes from; there are infinitely "
            "many if the matrix is exact",
            cures=[HOW_MANY],
        )
    chosen = select_columns(names, columns, drop)
    labels = column_names(names[k] for k in chosen)
    return from_covariance(values[np.ix_(chosen, chosen)], float(size), labels)


def _lines(file: Path) -> list[_Line]:
    """The lines of the matrix, without blank ones, comments and what follows in other sections."""
    content = b"".join(read_chunks(file, 1 << 20))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file} is not UTF-8 text; save the file as UTF-8") from error
    lines: list[_Line] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        if line.lstrip().startswith("/"):
            if lines:
                break
            continue
        lines.append(_Line(number, line))
    return lines


def _stated_size(lines: list[_Line]) -> tuple[float | None, list[_Line]]:
    """N, if the first line is a number by itself, and the lines below it."""
    if lines and is_number(lines[0].text):
        size = float(lines[0].text)
        if not 1 < size < math.inf:
            raise SampleSizeError(
                f"line {lines[0].number} gives the sample size as {lines[0].text.strip()}; wanted "
                "a number above 1"
            )
        return size, lines[1:]
    return None, lines


def _square(
    file: Path, header: _Line, rows: list[_Line], form: ReadOptions
) -> tuple[list[str], FloatArray]:
    """Names and the full matrix, of whose triangles one may be blank."""
    separator = form.separator or guess_separator(file, header.text)
    names = [field.strip() for field in split_line(header.text.strip("\r\n"), separator)]
    cells = [_fields(row.text, separator) for row in rows]
    if cells and _labelled(cells, form):
        # Over the column of labels the header has an empty field, a title, or nothing.
        names = names[len(names) > len(cells) :]
        _check_labels(file, names, [line[0] for line in cells])
        cells = [line[1:] for line in cells]
    if len(cells) != len(names):
        raise ShapeError(
            f"{file} has {len(names)} names ({short(header.text.strip())}) but {len(cells)} rows "
            "below them; a covariance matrix has as many rows as names"
        )
    values = np.zeros((len(names), len(names)))
    # The last row of a full matrix is as long as that of a triangle.
    triangle = any(len(line) < len(names) for line in cells)
    for k, (row, line) in enumerate(zip(rows, cells, strict=True)):
        numbers = _numbers(file, row, line, form)
        if len(numbers) not in (k + 1, len(names)):
            raise FileFormatError(
                f"{file}: line {row.number} has {len(numbers)} numbers; wanted {len(names)}, or "
                f"{k + 1} for a lower triangle"
            )
        values[k, : len(numbers)] = numbers
        if triangle and len(numbers) == k + 1:
            values[:k, k] = numbers[:-1]
    return names, values


def _fields(text: str, separator: str) -> list[str]:
    """The fields of a row, without the blank ones of an upper triangle."""
    by_blanks = separator == " " or separator not in text
    fields = text.split() if by_blanks else split_line(text, separator)
    fields = [field.strip() for field in fields]
    while fields and not fields[-1]:
        fields.pop()
    return fields


def _labelled(cells: list[list[str]], form: ReadOptions) -> bool:
    """Whether every row begins with a name."""
    return all(line and not is_number(line[0].replace(form.decimal, ".")) for line in cells)


def _check_labels(file: Path, names: Sequence[str], labels: Sequence[str]) -> None:
    for k, (name, label) in enumerate(zip(names, labels, strict=False)):
        if name != label:
            raise FileFormatError(
                f"{file}: row {k + 1} of the matrix is called {label!r}, but column {k + 1} "
                f"{name!r}; rows and columns must have the same names in the same order"
            )


def _numbers(file: Path, row: _Line, line: Sequence[str], form: ReadOptions) -> FloatArray:
    try:
        return np.array([field.replace(form.decimal, ".") for field in line], dtype=np.float64)
    except ValueError as error:
        wrong = next(field for field in line if not is_number(field.replace(form.decimal, ".")))
        raise FileFormatError(
            f"{file}: line {row.number} has {wrong!r} where a number was expected"
        ) from error


def write_moments(path: str | PathLike[str], moments: Moments) -> None:
    """Write moments to a file, whole or not at all."""
    plain = moments.coding.is_plain
    arrays = {
        "version": np.array(VERSION if plain else CODED),
        "names": np.array(moments.names, dtype=np.str_),
        "estimator": np.array(moments.estimator),
        "n_samples": np.array(moments.n_samples),
        "means": moments.means,
        "scales": moments.scales,
        "correlation": moments.correlation,
    }
    if not plain:
        arrays["coding"] = np.array(json.dumps(moments.coding.to_plain()))
    write_arrays(path, arrays, compressed=False)


def stored_moments(path: str | PathLike[str]) -> Moments:
    """What `write_moments` wrote; the matrix is a correlation matrix by its looks."""
    file = existing_file(path)
    with opened(file, "file of moments") as archive:
        version = int(archive.array("version", "int64", ()))
        coded = archive.text("coding") if "coding" in archive else None
        if version != (VERSION if coded is None else CODED):
            raise FileFormatError(
                f"{file} holds moments of format {version}; this version of qwo reads format "
                f"{VERSION}"
            )
        names = archive.array("names", "U", (None,)).tolist()
        coding = PLAIN if coded is None else Coding.from_plain(json.loads(coded))
        width = len(names) if coded is None else coding.n_columns
        n_samples = float(archive.array("n_samples", "float64", ()))
        means, scales = (archive.array(field, "float64", (width,)) for field in ("means", "scales"))
        correlation = archive.array("correlation", "float64", (width, width))
        estimator = archive.text("estimator")
    labels = column_names(names)
    if coded is not None and len(coding.variables) != len(labels):
        raise FileFormatError(f"{file} gives {len(labels)} variables other types than they have")
    size = sample_size(n_samples)
    moments = Moments(labels, size, means, scales, correlation, estimator, coding=coding)
    check_stored(str(file), moments)
    # Other programs may round the halves of a matrix differently.
    return replace(moments, correlation=mirror_lower(np.array(correlation)))


def check_stored(file: str, moments: Moments) -> None:
    """See that a file holds standard deviations and a correlation matrix that data can have."""
    columns = moments.column_names
    wrong = ~(np.isfinite(moments.scales) & (moments.scales > 0)) | np.isinf(moments.means)
    if wrong.any():
        affected = [columns[k] for k in np.flatnonzero(wrong)]
        raise CovarianceError(
            f"{file} gives {list_names(affected)} a mean or standard deviation that no data "
            "have; wanted numbers, and standard deviations above 0",
            affected,
        )
    if moments.n_variables < 2:
        raise ShapeError(f"{file} holds moments of {moments.n_variables} variables; wanted 2")
    _check_matrix(columns, moments.correlation, "correlation")
    if (np.diagonal(moments.correlation) != 1).any():
        raise CovarianceError(f"{file} holds a correlation matrix whose diagonal is not 1")
    _check_bounds(columns, moments.correlation)
