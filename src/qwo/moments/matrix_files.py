"""Covariance and correlation matrices in text files: CSV with names, or Tetrad's lower triangle.

Tetrad's format has the sample size on a line of its own, then the names, then the rows of the lower
triangle, separated by blanks or tabs; a line ``/covariance`` may stand above and comments (``//``)
anywhere. A CSV file has the names above the rows, and may have them in front of the rows too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from qwo.errors import HOW_MANY, FileFormatError, SampleSizeError, ShapeError
from qwo.moments.arrays import is_number, short
from qwo.moments.columns import column_names, select_columns
from qwo.moments.text_files import (
    CsvFormat,
    existing_file,
    guess_separator,
    read_chunks,
    split_line,
)
from qwo.options import Columns
from qwo.types import FloatArray

MATRIX_SUFFIXES = (".cov", ".corr", ".cor")
"""Parts of a file's name that tell a matrix from a table."""


@dataclass(frozen=True, slots=True, eq=False)
class MatrixFile:
    """What a file says of a covariance matrix: names, entries, and N where it is stated."""

    names: tuple[str, ...]
    matrix: FloatArray
    n_samples: float | None


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with content, and its number in the file from 1."""

    number: int
    text: str


def is_matrix_file(source: Any) -> bool:
    """Whether the name of a file says that it holds a covariance matrix, as in ``lead.cov.txt``."""
    if not isinstance(source, str | PathLike):
        return False
    return any(suffix.lower() in MATRIX_SUFFIXES for suffix in Path(source).suffixes)


def read_matrix(
    path: str | PathLike[str],
    form: CsvFormat | None = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
    n_samples: float | None = None,
) -> MatrixFile:
    """The covariance matrix in a text file.

    Parameters
    ----------
    path : str or path
        The file.
    form : CsvFormat, optional
        Separator and decimal mark; the separator is guessed from the line of names if not given.
    columns, drop : sequence of names or positions, optional
        The variables to take, in this order, and those to leave out.
    n_samples : float, optional
        N, instead of what the file says; infinity for the exact matrix of a distribution.

    Raises
    ------
    FileFormatError
        If the file holds no matrix, with the line.
    SampleSizeError
        If neither the file nor the caller says how many samples there were.
    """
    file = existing_file(path)
    lines = _lines(file)
    stated, lines = _stated_size(lines)
    if not lines:
        raise FileFormatError(f"{file} has no line of names and no matrix")
    header, *rows = lines
    names, values = _square(file, header, rows, form or CsvFormat())
    size = stated if n_samples is None else n_samples
    if size is None:
        raise SampleSizeError(
            f"{file} does not say how many samples its matrix comes from; there are infinitely "
            "many if the matrix is exact",
            cures=[HOW_MANY],
        )
    chosen = select_columns(names, columns, drop)
    return MatrixFile(
        column_names(names[k] for k in chosen), values[np.ix_(chosen, chosen)], float(size)
    )


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
    file: Path, header: _Line, rows: list[_Line], form: CsvFormat
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


def _labelled(cells: list[list[str]], form: CsvFormat) -> bool:
    """Whether every row begins with a name."""
    return all(line and not is_number(line[0].replace(form.decimal, ".")) for line in cells)


def _check_labels(file: Path, names: Sequence[str], labels: Sequence[str]) -> None:
    for k, (name, label) in enumerate(zip(names, labels, strict=False)):
        if name != label:
            raise FileFormatError(
                f"{file}: row {k + 1} of the matrix is called {label!r}, but column {k + 1} "
                f"{name!r}; rows and columns must have the same names in the same order"
            )


def _numbers(file: Path, row: _Line, line: Sequence[str], form: CsvFormat) -> FloatArray:
    try:
        return np.array([field.replace(form.decimal, ".") for field in line], dtype=np.float64)
    except ValueError as error:
        wrong = next(field for field in line if not is_number(field.replace(form.decimal, ".")))
        raise FileFormatError(
            f"{file}: line {row.number} has {wrong!r} where a number was expected"
        ) from error
