"""Text files with one line per row: CSV and its relatives, read in blocks of lines by pyarrow.

A block is parsed where it is needed, so that several can be parsed at once. Besides what the
options say, two habits of other programs are known: an unnamed first column that numbers the rows,
as pandas and R write it, and a line of names that is one field shorter than the rows, as R's
``write.table`` writes it. In both cases the first column is an index, and not data.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from qwo.errors import ArgumentError, ColumnNameError, Cure, FileFormatError, MissingFileError
from qwo.errors import list_names as listed
from qwo.moments.arrays import Batch, Rows, is_number, rows_of_arrow, short
from qwo.moments.columns import default_names
from qwo.moments.findings import Finding

SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell how it is written."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How a text file is to be read.

    Attributes
    ----------
    separator : str or None
        One character, ``" "`` for any run of blanks, or None to tell from the first line.
    decimal : str
        The decimal mark.
    header : bool
        Whether the first line holds the names.
    null_values : sequence of str
        What marks a missing value, besides the empty field, NA, NaN, null and their like.
    """

    separator: str | None = None
    decimal: str = "."
    header: bool = True
    null_values: Sequence[str] = ()

    def __post_init__(self) -> None:
        for option in ("separator", "decimal"):
            mark = getattr(self, option)
            if mark is None and option == "separator":
                continue
            plain = isinstance(mark, str) and len(mark) == 1 and mark.isascii()
            if not plain or mark in '\r\n"' or not (mark.isprintable() or mark == "\t"):
                raise ArgumentError(f"{option} is {mark!r}; wanted one character", option=option)
        if self.decimal.isalnum() or self.decimal == self.separator:
            raise ArgumentError(
                f"decimal is {self.decimal!r}; wanted a mark such as '.' or ',' that is not the "
                "separator",
                option="decimal",
            )


def existing_file(path: str | PathLike[str]) -> Path:
    """The path, if there is something at it."""
    if not str(path).strip() or "\0" in str(path):
        raise MissingFileError(f"the path is {str(path)!r}; wanted the name of a file or folder")
    file = Path(path)
    try:
        found = file.exists()
    except OSError as error:
        raise MissingFileError(f"there is no file {short(str(file))}: {error.strerror}") from error
    if not found:
        raise MissingFileError(f"there is no file {str(file)!r} (looked from {Path.cwd()})")
    return file


@dataclass(frozen=True)
class CsvFiles:
    """Text files with the same columns."""

    files: tuple[Path, ...]
    form: CsvFormat

    @cached_property
    def _first(self) -> TextFile:
        return open_text(self.files[0], self.form)

    @property
    def names(self) -> Sequence[str]:
        """The names in the first line of the first file."""
        return self._first.names

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is worth knowing of how the first file was read."""
        if not self._first.index:
            return ()
        text = "the first column has no name and numbers or names the rows: it is taken for an "
        return (Finding("index", "note", (), f"{text}index, and not for data"),)

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Blocks of lines, to be parsed by whoever loads them."""
        wanted = [self.names[k] for k in columns]
        for file, (start, stop) in zip(self.files, fractions(self.files), strict=True):
            text = self._first if file == self.files[0] else open_text(file, self.form)
            same = list(text.names) == list(self.names)
            places = columns if same else places_in(file, list(text.names), wanted)
            size, done = file.stat().st_size, 0
            # Lines may hold much besides the columns wanted: text is measured by what was planned.
            for block in text.blocks(8 * n_rows * max(len(columns), 1)):
                done += len(block.content)
                share = min(done / max(size, 1), 1.0)
                load = _loader(block, [k + text.index for k in places], wanted)
                yield Batch(load, start + share * (stop - start))


def _loader(block: TextBlock, places: list[int], names: list[str]) -> Callable[[], Rows]:
    return lambda: rows_of_arrow(block.columns(places), names, block.rows_above)


def fractions(files: Sequence[Path]) -> list[tuple[float, float]]:
    """Where each file begins and ends in the whole, by its size."""
    sizes = [max(file.stat().st_size, 1) for file in files]
    ends = [sum(sizes[: k + 1]) / sum(sizes) for k in range(len(sizes))]
    return list(zip([0.0, *ends[:-1]], ends, strict=True))


def places_in(file: Path, names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns stand in a file."""
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ColumnNameError(
            f"{file} lacks columns that the first file has: {listed(lacking)}; it has "
            f"{listed(names)}",
            lacking,
        )
    return [names.index(name) for name in wanted]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file whose first lines have been looked at.

    Attributes
    ----------
    file : Path
        The file.
    names : tuple of str
        The names of the columns of data.
    index : bool
        Whether a column that numbers or names the rows stands before them.
    separator : str
        What stands between fields; a blank for any run of them.
    skipped : int
        Lines before the first row.
    old_mac : bool
        Whether lines end in CR alone.
    form : CsvFormat
        How the file is written.
    """

    file: Path
    names: tuple[str, ...]
    index: bool
    separator: str
    skipped: int
    old_mac: bool
    form: CsvFormat

    def blocks(self, size: int) -> Iterator[TextBlock]:
        """The file in pieces of about so many bytes, each made up of whole lines."""
        above, skipped, rest = 0, self.skipped, b""
        for piece in read_chunks(self.file, size):
            content = piece.replace(b"\r", b"\n") if self.old_mac else piece
            *whole, last = (rest + content).rpartition(b"\n")
            lines, rest = b"".join(whole), last
            if lines:
                yield TextBlock(self, lines, above, skipped)
                above, skipped = above + lines.count(b"\n"), 0
        if rest.strip():
            yield TextBlock(self, rest, above, skipped)


def read_chunks(file: Path, size: int) -> Iterator[bytes]:
    """The content of a file, compressed or not, in chunks."""
    if file.is_dir():
        raise FileFormatError(f"{file} is a folder; wanted a text file")
    try:
        with pa.input_stream(str(file)) as stream:
            while piece := stream.read(size):
                yield piece
    except (OSError, EOFError, pa.ArrowException) as error:
        raise FileFormatError(
            f"{file} cannot be read to its end ({error}); it is damaged, or was cut off"
        ) from error


def open_text(file: Path, form: CsvFormat) -> TextFile:
    """A text file, with the names in its first line and what else its first lines tell."""
    lines, old_mac = _head(file)
    place = next(k for k, line in enumerate(lines) if line.strip())
    first = lines[place]
    separator = form.separator or guess_separator(file, first)
    fields = _fields(file, first, separator)
    if form.header and _looks_like_data(fields):
        raise FileFormatError(
            f"{file}: line {place + 1} holds numbers ({short(first)}) where names were expected; "
            "add a line of names",
            cures=[Cure("header", False, "names the columns X0, X1, …")],
        )
    rows = [_fields(file, line, separator) for line in lines[place + 1 :] if line.strip()]
    longer = form.header and bool(rows) and all(len(row) == len(fields) + 1 for row in rows)
    named = form.header and not longer and _has_index(fields, rows)
    names = tuple(fields[named:]) if form.header else default_names(len(fields))
    return TextFile(file, names, longer or named, separator, place + form.header, old_mac, form)


def _head(file: Path) -> tuple[list[str], bool]:
    """The first lines of a file, and whether they end in CR alone."""
    content, whole = b"", True
    for piece in read_chunks(file, HEAD_BYTES):
        content += piece
        if b"\n" in content.strip() or b"\r" in content.strip():
            whole = len(piece) < HEAD_BYTES
            break
    old_mac = b"\n" not in content and b"\r" in content
    parts = content.replace(b"\r" if old_mac else b"\r\n", b"\n").split(b"\n")
    if not whole and len(parts) > 2:
        parts.pop()
    lines = []
    for place, part in enumerate(parts):
        try:
            lines.append(part.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            if any(line.strip() for line in lines):
                break
            raise FileFormatError(
                f"{file}: line {place + 1} is not UTF-8 text; save the file as UTF-8"
            ) from error
    if not any(line.strip() for line in lines):
        raise FileFormatError(
            f"{file} is empty; wanted a line of names and then one line per sample"
        )
    return lines, old_mac


def _fields(file: Path, line: str, separator: str) -> list[str]:
    try:
        return [field.strip() for field in split_line(line, separator)]
    except csv.Error as error:
        raise FileFormatError(f"{file}: the line {short(line)} has no fields: {error}") from error


def _has_index(names: list[str], rows: list[list[str]]) -> bool:
    """Whether the first column has no name of its own, and numbers or names the rows."""
    if len(names) < 2 or names[0] not in ("", "Unnamed: 0") or not rows:
        return False
    labels = [row[0] for row in rows if row]
    if all(re.fullmatch(r"\d+", label) for label in labels):
        # pandas counts; R keeps the numbers that rows had before some were left out or sorted.
        numbers = [int(label) for label in labels]
        counted = all(later == number + 1 for number, later in pairwise(numbers))
        return counted or (names[0] == "" and len(set(numbers)) == len(numbers) > 1)
    words = not any(is_number(label) for label in labels)
    return names[0] == "" and words and len(set(labels)) == len(labels)


def guess_separator(file: Path, line: str) -> str:
    """The separator that the first line shows; a blank if there is no other."""
    if ".tsv" in file.suffixes:
        return "\t"
    unquoted = re.sub(r'"[^"]*"', '""', line)
    best = max(SEPARATORS, key=unquoted.count)
    if best in unquoted:
        return best
    return " " if " " in unquoted.strip() else ","


def _looks_like_data(fields: list[str]) -> bool:
    """Whether the first line holds numbers, other than 0, 1, 2, … as pandas names columns."""
    counted = len(fields) > 2 and fields == [str(k) for k in range(len(fields))]
    return not counted and all(is_number(field) for field in fields)


def split_line(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    if '"' not in line:
        return line.split() if separator == " " else line.split(separator)
    blank = separator == " "
    text = line.strip() if blank else line
    return next(csv.reader([text], delimiter=separator, skipinitialspace=blank), [])


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some lines of a text file; columns go by number, as names may repeat.

    Attributes
    ----------
    text : TextFile
        The file.
    content : bytes
        The lines.
    above : int
        How many lines of the file stand before the content.
    skipped : int
        How many of the lines stand before the first row.
    """

    text: TextFile
    content: bytes
    above: int
    skipped: int

    @property
    def width(self) -> int:
        """Number of columns, the index among them."""
        return len(self.text.names) + self.text.index

    @property
    def rows_above(self) -> int:
        """How many rows stand before those of the block."""
        return max(self.above - self.text.skipped, 0)

    def columns(self, places: Sequence[int]) -> pa.Table:
        """Columns as numbers where all their fields are, else as truth values or as text."""
        try:
            return self._read(pa.float64(), places)
        except (pa.ArrowInvalid, pa.ArrowKeyError):
            # Some column is not numeric, if it is no worse: find out which, field by field.
            text = self._read_text(places).columns
        names = [str(k) for k in range(len(text))]
        return pa.table([self._convert(column) for column in text], names=names)

    def _read(self, kind: pa.DataType, places: Sequence[int]) -> pa.Table:
        """The block with every field read as one type."""
        numbers = [str(k) for k in range(self.width)]
        separator = self.text.separator
        form = self.text.form
        return pcsv.read_csv(
            self._source(),
            read_options=pcsv.ReadOptions(
                column_names=numbers,
                skip_rows=self.skipped,
                use_threads=False,
                # A line must fit into a block.
                block_size=max(1 << 20, 512 * self.width, 2 * len(self.content)),
            ),
            parse_options=pcsv.ParseOptions(delimiter="\t" if separator == " " else separator),
            convert_options=pcsv.ConvertOptions(
                column_types=dict.fromkeys(numbers, kind),
                include_columns=[numbers[k] for k in places],
                null_values=[*pcsv.ConvertOptions().null_values, *form.null_values],
                strings_can_be_null=True,
                decimal_point=form.decimal,
            ),
        )

    def _source(self) -> Any:
        """What pyarrow reads: the lines, with each run of blanks made one separator if need be."""
        if self.text.separator != " ":
            return pa.BufferReader(self.content)
        return io.BytesIO(b"\n".join(map(_tabbed, self.content.splitlines())))

    def _read_text(self, places: Sequence[int]) -> pa.Table:
        """The block with every field as text, or the line that does not divide into fields."""
        try:
            return self._read(pa.string(), places)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self._complaint(str(error)) from error

    def _complaint(self, reason: str) -> FileFormatError:
        """The parser's reason in terms of the user's file."""
        match = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", reason, re.DOTALL)
        if match:
            row, wanted, got, text = match.groups()
            reason = (
                f"line {int(row) + self.above} (blank lines not counted) has {got} fields, but the "
                f"first line has {wanted}: {short(text)}"
            )
        return FileFormatError(
            f"{self.text.file}: {reason}; the separator is taken to be {self.text.separator!r}. "
            "Mend the line, or say how the file is written, if commas are decimal marks for one",
            cures=[
                Cure("separator", None, "says what stands between fields"),
                Cure("decimal", None, "says what the decimal mark is"),
            ],
        )

    def _convert(self, text: pa.ChunkedArray) -> pa.ChunkedArray:
        """Text as numbers, or as truth values; as it is where it is neither."""
        decimal = self.text.form.decimal
        trimmed = pc.utf8_trim_whitespace(text)
        plain = trimmed if decimal == "." else pc.replace_substring(trimmed, decimal, ".")
        for kind, candidate in ((pa.float64(), plain), (pa.bool_(), trimmed)):
            try:
                return pc.cast(candidate, kind)
            except pa.ArrowInvalid:
                continue
        word = next((v for v in trimmed.to_pylist() if v and not is_number(v)), "")
        if re.match(DECIMAL_COMMA, word) and decimal != ",":
            raise FileFormatError(
                f"{self.text.file} has decimal commas ({word!r})",
                cures=[Cure("decimal", ",", "reads them as such")],
            )
        return plain


def _tabbed(line: bytes) -> bytes:
    """A line whose fields stand between runs of blanks, with tabs between them."""
    if b'"' not in line:
        return b"\t".join(line.split())
    fields = split_line(line.decode("utf-8", "replace").strip(), " ")
    return "\t".join(fields).encode()
