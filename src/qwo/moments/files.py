"""CSV and Parquet files as tables, through pyarrow."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from qwo.errors import ArgumentError, FileFormatError, MissingFileError
from qwo.moments.arrays import Columns, Table, default_names, is_number, short
from qwo.moments.frames import table_from_frame

SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"


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
            if mark is not None and (not isinstance(mark, str) or len(mark) != 1):
                raise ArgumentError(f"{option} is {mark!r}; wanted one character")
        if isinstance(self.null_values, str):
            raise ArgumentError(f"null_values is {self.null_values!r}; wanted a list of strings")


def table_from_parquet(
    path: str | PathLike[str], *, columns: Columns = None, drop: Columns = None
) -> Table:
    """The table in a Parquet file or in a folder of them."""
    file = existing_file(path)
    try:
        table = pq.read_table(file)
    except pa.ArrowInvalid as error:
        raise FileFormatError(f"{file} is not a readable Parquet file: {error}") from error
    return table_from_frame(table, columns=columns, drop=drop)


def table_from_csv(
    path: str | PathLike[str],
    form: CsvFormat | None = None,
    *,
    columns: Columns = None,
    drop: Columns = None,
) -> Table:
    """The table in a text file with one line per row and a line of names above them.

    Compressed files (.gz, .bz2, .zst) are read as they are.
    """
    names, text = open_csv(path, form)
    return table_from_frame(text.columns(), names, columns=columns, drop=drop)


def open_csv(
    path: str | PathLike[str], form: CsvFormat | None = None
) -> tuple[Sequence[str], CsvText]:
    """The names in the first line of a text file, and the lines below it, not yet read."""
    file = existing_file(path)
    form = form or CsvFormat()
    first, line = _first_line(file)
    separator = form.separator or guess_separator(file, first)
    fields = [field.strip() for field in split_line(first, separator)]
    if form.header and _looks_like_data(fields):
        raise FileFormatError(
            f"{file}: line {line + 1} holds numbers ({short(first)}) where names were expected; "
            "add a line of names, or pass header=False"
        )
    names = fields if form.header else default_names(len(fields))
    return names, CsvText(file, len(fields), separator, line + form.header, form)


@dataclass(frozen=True, slots=True)
class CsvText:
    """The lines of a text file below its header; columns go by number, as names may repeat.

    Attributes
    ----------
    file : Path
        The file.
    width : int
        Number of columns.
    separator : str
        What stands between fields; a blank for any run of them.
    skipped : int
        Lines before the first row.
    form : CsvFormat
        How the file is written.
    content : bytes, optional
        The lines themselves, if they are not the whole file.
    above : int
        How many lines of the file stand before the content.
    chosen : tuple of int, optional
        The columns to read, if not all.
    """

    file: Path
    width: int
    separator: str
    skipped: int
    form: CsvFormat
    content: bytes | None = None
    above: int = 0
    chosen: tuple[int, ...] | None = None

    def blocks(self, size: int) -> Iterator[CsvText]:
        """The file in pieces of about so many bytes, each made up of whole lines."""
        above, skipped, rest = 0, self.skipped, b""
        with pa.input_stream(str(self.file)) as stream:
            while piece := stream.read(size):
                *whole, last = (rest + piece).rpartition(b"\n")
                lines, rest = b"".join(whole), last
                if lines:
                    yield dataclasses.replace(self, content=lines, above=above, skipped=skipped)
                    above, skipped = above + lines.count(b"\n"), 0
        if rest.strip():
            yield dataclasses.replace(self, content=rest, above=above, skipped=skipped)

    def columns(self) -> pa.Table:
        """The columns as numbers where all their fields are, else as truth values or as text."""
        try:
            return self._read(pa.float64())
        except pa.ArrowInvalid:
            # Some column is not numeric, if it is no worse: find out which, field by field.
            text = self._read_text().columns
        return pa.table([self._convert(column) for column in text], names=self._chosen_numbers())

    def _numbers(self) -> list[str]:
        """Stand-ins for the names."""
        return [str(k) for k in range(self.width)]

    def _chosen_numbers(self) -> list[str]:
        return self._numbers() if self.chosen is None else [str(k) for k in self.chosen]

    def _read(self, kind: pa.DataType, threads: bool = True) -> pa.Table:
        """The file with every field read as one type."""
        return pcsv.read_csv(
            self._source(),
            read_options=pcsv.ReadOptions(
                column_names=self._numbers(),
                skip_rows=self.skipped,
                use_threads=threads and self.content is None,
                # A line must fit into a block.
                block_size=max(1 << 20, 512 * self.width, len(self.content or b"")),
            ),
            parse_options=pcsv.ParseOptions(
                delimiter="\t" if self.separator == " " else self.separator
            ),
            convert_options=pcsv.ConvertOptions(
                column_types=dict.fromkeys(self._numbers(), kind),
                include_columns=self._chosen_numbers(),
                null_values=[*pcsv.ConvertOptions().null_values, *self.form.null_values],
                strings_can_be_null=True,
                decimal_point=self.form.decimal,
            ),
        )

    def _source(self) -> Any:
        """What pyarrow reads: the file, with each run of blanks made one separator if need be."""
        if self.content is None:
            stream = pa.input_stream(str(self.file))
        else:
            stream = pa.BufferReader(self.content)
        if self.separator != " ":
            return stream
        lines = stream.read().splitlines()
        return io.BytesIO(b"\n".join(b"\t".join(line.split()) for line in lines))

    def _read_text(self) -> pa.Table:
        """The file with every field read as text, or the line that does not divide into fields."""
        try:
            # Only a single thread knows where in the file it is.
            return self._read(pa.string(), threads=False)
        except pa.ArrowInvalid as error:
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
            f"{self.file}: {reason}; the separator is taken to be {self.separator!r}. "
            "Mend the line, pass the right separator=, or decimal=',' if commas are decimal marks"
        )

    def _convert(self, text: pa.ChunkedArray) -> pa.ChunkedArray:
        """Text as numbers, or as truth values; as it is where it is neither."""
        trimmed = pc.utf8_trim_whitespace(text)
        plain = pc.replace_substring(trimmed, self.form.decimal, ".")
        for kind, candidate in ((pa.float64(), plain), (pa.bool_(), trimmed)):
            try:
                return pc.cast(candidate, kind)
            except pa.ArrowInvalid:
                continue
        word = next((v for v in trimmed.to_pylist() if v and not is_number(v)), "")
        if re.match(DECIMAL_COMMA, word):
            raise FileFormatError(f"{self.file} has decimal commas ({word!r}); pass decimal=','")
        return trimmed


def existing_file(path: str | PathLike[str]) -> Path:
    """The path, if there is something at it."""
    file = Path(path)
    if not file.exists():
        raise MissingFileError(f"there is no file {str(file)!r} (looked from {Path.cwd()})")
    return file


def _first_line(file: Path) -> tuple[str, int]:
    """The first line that is not blank, and how many lines stand before it."""
    if file.is_dir():
        raise FileFormatError(f"{file} is a folder; wanted a text file")
    with pa.input_stream(str(file)) as stream:
        for place, line in enumerate(io.BufferedReader(stream)):
            try:
                text = line.decode("utf-8-sig").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{file}: line {place + 1} is not UTF-8 text; save the file as UTF-8"
                ) from error
            if text.strip():
                return text, place
    raise FileFormatError(f"{file} is empty; wanted a line of names and then one line per sample")


def guess_separator(file: Path, line: str) -> str:
    """The separator that the first line shows; a blank if there is no other."""
    if ".tsv" in file.suffixes:
        return "\t"
    unquoted = re.sub(r'"[^"]*"', "", line)
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
    return line.split() if separator == " " else next(csv.reader([line], delimiter=separator))
