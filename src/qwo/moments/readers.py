"""Whatever the user calls data as batches of rows; and text files, read in blocks of lines.

A new kind of file is one more reader in `open_source`. A block of a text file is parsed by pyarrow
where it is needed, so that several can be parsed at once. Besides what the options say, two habits
of other programs are known: an unnamed first column that numbers the rows, as pandas and R write
it, and a line of names that is one field shorter than the rows, as R's ``write.table`` writes it.
In both cases the first column is an index, and not data.
"""

# Long because text files, the default, have more ways of being written than all others together.

from __future__ import annotations

import codecs
import csv
import glob
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from qwo.columns.levels import Rows, short
from qwo.columns.recipes import is_number
from qwo.errors import (
    ArgumentError,
    Cure,
    FileFormatError,
    InputError,
    MissingFileError,
    MissingPackageError,
    list_names,
    optional_module,
)
from qwo.inspection.audit import Finding
from qwo.moments.sums import Batch
from qwo.moments.tables import (
    ArrowDataset,
    ParquetFiles,
    fractions,
    is_dataset,
    open_memory,
    places_in,
    rows_of,
)
from qwo.names import default_names
from qwo.options import ReadOptions
from qwo.text import count

Format = Literal["csv", "parquet", "pandas"]

SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
POINTED_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$"
DIGITS = r"^[+-]?[\d.,]+$"
GAP = "[ '\u2019\u00a0\u202f]"
GROUPED = rf"^[+-]?([1-9]\d{{0,2}}({GAP}\d{{3}})+|\d+)(\.\d*)?$"
PERCENT = r"^[+-]?\d+(\.\d*)?\s*%$"
UTF_8, UTF_8_NAMES = "utf-8", ("utf-8", "utf8", "utf-8-sig")
HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell how it is written."""

PANDAS_SUFFIXES = {
    ".xlsx": ("read_excel", "openpyxl"),
    ".xls": ("read_excel", "xlrd"),
    ".ods": ("read_excel", "odfpy"),
    ".dta": ("read_stata", ""),
    ".feather": ("read_feather", ""),
    ".sav": ("read_spss", "pyreadstat"),
}
"""Formats that pandas reads: its function, and the package that this takes."""

SUFFIXES: dict[Format, Sequence[str]] = {
    "csv": (".csv", ".tsv", ".tab", ".txt", ".dat"),
    "parquet": (".parquet", ".pq"),
    "pandas": tuple(PANDAS_SUFFIXES),
}
"""How the names of files end whose format is known by that."""

COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")
GLOB_MARKS = "*?["


class Reader(Protocol):
    """Data that come in batches of rows.

    The names are those of all columns; the notes say what is worth knowing of how data are read;
    the rows are infinitely many where they are not counted before they are read.
    """

    names: Sequence[str]
    notes: tuple[Finding, ...]
    n_rows: float

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Batches of about so many rows, with these columns in this order."""
        ...


def open_source(source: Any, options: ReadOptions, kind: Format | None = None) -> Reader:
    """The reader of an array, a frame, a file, a folder, a pattern, a list, or a dataset.

    Files are told by their suffixes, unless their kind is given, and must all be of one kind. A
    folder is searched to the bottom, and ``name=value`` folders in it give columns, as Hive writes
    them.
    """
    if not (isinstance(source, str | PathLike) or is_path(source)):
        return ArrowDataset(source) if is_dataset(source) else open_memory(source, options.names)
    files, root = _find_files(source, kind)
    kinds = {kind or known_format(file) for file in files}
    if None in kinds:
        unknown = next(file for file in files if known_format(file) is None)
        raise FileFormatError(
            f"{str(unknown)!r} has no ending that tells its format; wanted one of "
            f"{', '.join(chain(*SUFFIXES.values()))}. Unpack an archive; save another table as CSV"
        )
    if len(kinds) > 1:
        raise FileFormatError(
            f"{source} holds text and Parquet files ({files[0].name!r}, …); wanted one kind"
        )
    if options.sheet is not None and not kinds.isdisjoint(("csv", "parquet")):
        raise ArgumentError(f"{source} is no workbook: it has no sheets", option="sheet")
    if kinds == {"parquet"}:
        return ParquetFiles(files, root)
    if kinds == {"csv"}:
        return CsvFiles(files, options)
    if len(files) > 1:
        raise FileFormatError(f"{source} holds several {files[0].suffix} files; wanted one")
    frame, notes = _read_with_pandas(files[0], options.sheet)
    return replace(open_memory(frame, options.names), notes=notes)


def is_path(source: Any) -> bool:
    """Whether the source is a path, or a list of them."""
    several = isinstance(source, Sequence) and not isinstance(source, str)
    items = source if several else [source]
    return len(items) > 0 and all(isinstance(item, str | PathLike) for item in items)


def _read_with_pandas(file: Path, sheet: str | int | None) -> tuple[Any, tuple[Finding, ...]]:
    """The frame in a file of a statistics program, or in one sheet of a workbook, and notes."""
    suffix = file.suffix.lower()
    function, package = PANDAS_SUFFIXES[suffix]
    pandas = optional_module("pandas", f"{suffix} files need", "pandas")
    try:
        if function != "read_excel":
            return getattr(pandas, function)(file), ()
        sheets = pandas.read_excel(file, sheet_name=None)
        names = list(map(str, sheets))
        chosen = _sheet(file, names, sheet)
        frame = list(sheets.values())[chosen]
        _check_names(file, frame)
        for name, column in frame.items():
            if column.dropna().astype(str).str.fullmatch(PERCENT).mean() == 1:
                frame[name] = column.str.rstrip(" %").astype(float)
        if sheet is not None or len(names) == 1:
            return frame, ()
        text = f"{file.name} has {len(names)} sheets; {names[0]!r} is read"
        cures = (Cure("sheet", names[1], "reads another"),)
        return frame, (Finding("sheets", "note", (), text, cures),)
    except InputError:
        raise
    except ImportError as error:
        raise MissingPackageError(
            f"{file} is a {suffix} file, for which pandas needs {package or 'another package'}: "
            f"pip install {package}, or save the table as CSV",
            name=package,
        ) from error
    except Exception as error:  # each format's reader has errors of its own
        raise FileFormatError(f"{file} is not a readable {suffix} file: {error}") from error


def _check_names(file: Path, frame: Any) -> None:
    """See that the first line of a sheet has the names, and not a title or headings above them."""
    unnamed = sum(str(name).startswith("Unnamed: ") for name in frame.columns[1:])
    below = frame.dropna(how="all").head(1)
    row: list[Any] = below.to_numpy().ravel().tolist()
    if unnamed and row and all(isinstance(value, str) for value in row):
        raise FileFormatError(
            f"{file.name}: the first line has no name for {count(unnamed, 'column')}, and line "
            f"{below.index[0] + 2} holds text alone ({list_names(row, 3)}). If that is the line of "
            "names, delete what stands above it"
        )


def _sheet(file: Path, sheets: list[str], wanted: str | int | None) -> int:
    """The number of the sheet that is wanted."""
    if isinstance(wanted, str) and wanted in sheets:
        return sheets.index(wanted)
    try:
        place = int(wanted or 0)
    except ValueError:
        place = -1
    if not 0 <= place < len(sheets):
        raise ArgumentError(
            f"sheet is {wanted!r}, but {file.name} has {', '.join(map(repr, sheets))}",
            option="sheet",
        )
    return place


def _find_files(source: Any, kind: Format | None) -> tuple[list[Path], Path | None]:
    """The files in order of their names, and the folder under which name=value folders count."""
    if not isinstance(source, str | PathLike):
        return [existing_file(item) for item in source], None
    pattern = any(mark in str(source) for mark in GLOB_MARKS)
    if pattern and not Path(source).exists():
        # Path.glob takes a pattern below a folder only, while this one may be absolute.
        found = [Path(name) for name in sorted(glob.glob(str(source), recursive=True))]  # noqa: PTH207
        if not found:
            raise MissingFileError(
                f"no file matches {str(source)!r} (looked from {Path.cwd()}); check the pattern"
            )
        return found, None
    path = existing_file(source)
    if not path.is_dir():
        return [path], None
    wanted: tuple[Format, ...] = (kind,) if kind else ("csv", "parquet")
    found = sorted(
        file
        for file in path.rglob("*")
        if known_format(file) in wanted and file.is_file() and not file.name.startswith((".", "_"))
    )
    if not found:
        suffixes = chain(*(SUFFIXES[own] for own in wanted))
        raise MissingFileError(
            f"the folder {str(path)!r} holds no files that end in one of {', '.join(suffixes)}"
        )
    return found, path


def known_format(file: Path) -> Format | None:
    """The format that a file's name tells, if it tells one."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return next((kind for kind, own in SUFFIXES.items() if last in own), None)


def check_marks(options: ReadOptions) -> None:
    """See that separator and decimal mark are one character each, and not the same."""
    for option in ("separator", "decimal"):
        mark = getattr(options, option)
        if mark is None and option == "separator":
            continue
        plain = isinstance(mark, str) and len(mark) == 1 and mark.isascii()
        if not plain or mark in '\r\n"' or not (mark.isprintable() or mark == "\t"):
            raise ArgumentError(f"{option} is {mark!r}; wanted one character", option=option)
    if options.decimal.isalnum() or options.decimal == options.separator:
        raise ArgumentError(
            f"decimal is {options.decimal!r}; wanted a mark such as '.' or ',' that is not the "
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


class CsvFiles:
    """Text files with the same columns."""

    n_rows = math.inf

    def __init__(self, files: Sequence[Path], form: ReadOptions) -> None:
        if (form.separator, form.decimal) != (None, "."):
            check_marks(form)
        self.files, self.form = files, form
        self._first = open_text(files[0], form)
        self.names: Sequence[str] = self._first.names
        self.notes: tuple[Finding, ...] = ()
        if self._first.index:
            text = "the first column has no name and numbers or names the rows: it is taken for an "
            self.notes = (Finding("index", "note", (), f"{text}index, and not for data"),)
        if form.encoding is None and self._first.encoding != UTF_8:
            text = f"{files[0].name} is not UTF-8 text; it is read as {self._first.encoding}"
            cures = (Cure("encoding", None, "says what it is, if letters look odd"),)
            self.notes += (Finding("encoding", "note", (), text, cures),)
        known = {*(form.drop or ()), *(form.types or ())}
        told = self._first.padded
        padded = {name: told[name] for name in self.names if name in told and name not in known}
        if padded:
            said = ", ".join(f"{name!r} ({value})" for name, value in padded.items())
            text = f"values with leading zeros, as codes and identifiers have, are in {said}: as "
            text += "numbers, as they are read, they mean nothing"
            found = Finding("identifier", "warning", tuple(padded), text, _as_codes(list(padded)))
            self.notes += (found,)
        if self._first.comments:
            text = f"{files[0].name} begins with lines of comments (#), which are left out"
            self.notes += (Finding("comments", "note", (), text),)

    def batches(self, columns: Sequence[int], n_rows: int) -> Iterator[Batch]:
        """Blocks of lines, to be parsed by whoever loads them."""
        wanted = [self.names[k] for k in columns]
        parts = fractions(self.files) if len(self.files) > 1 else [(0.0, 1.0)]
        for file, (start, stop) in zip(self.files, parts, strict=True):
            text = self._first if file == self.files[0] else open_text(file, self.form)
            same = list(text.names) == list(self.names)
            places = columns if same else places_in(file, list(text.names), wanted)
            size, done = file.stat().st_size, 0
            # Lines may hold much besides the columns wanted: text is measured by what was planned.
            for block in text.blocks(8 * n_rows * max(len(columns), 1)):
                done += len(block.content)
                share = min(done / max(size, 1), 1.0)
                load = partial(block.rows, [k + text.index for k in places], wanted)
                yield Batch(load, start + share * (stop - start))


def _as_codes(columns: list[str]) -> tuple[Cure, ...]:
    """What to do with columns of codes."""
    nominal = Cure("types", dict.fromkeys(columns, "nominal"), "treats them as categories")
    return Cure("drop", columns, "leaves them out"), nominal


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file whose first lines have been looked at.

    An `index` stands before the columns of data; `skipped` lines before the first row; lines of an
    `old_mac` end in CR alone. Where its head has `comments`, lines that begin with # are none.
    Columns with values such as 00123 in the head are `padded`, and have one of these.
    """

    file: Path
    names: tuple[str, ...]
    index: bool
    separator: str
    skipped: int
    old_mac: bool
    form: ReadOptions
    encoding: str = UTF_8
    comments: bool = False
    padded: Mapping[str, str] = field(default_factory=dict)

    def blocks(self, size: int) -> Iterator[TextBlock]:
        """The file in pieces of about so many bytes, each made up of whole lines."""
        above, skipped, rest = 0, self.skipped, b""
        for piece in read_chunks(self.file, size, self.encoding):
            content = piece.replace(b"\r", b"\n") if self.old_mac else piece
            *whole, last = (rest + content).rpartition(b"\n")
            lines, rest = b"".join(whole), last
            if self.comments:
                # Blank lines count for nothing, so that the numbers of lines stay what they are.
                lines = re.sub(rb"(?m)^#.*$", b"", lines)
                rest = b"" if not lines and rest.startswith(b"#") else rest
            if lines:
                yield TextBlock(self, lines, above, skipped)
                above, skipped = above + lines.count(b"\n"), 0
        if rest.strip() and not (self.comments and rest.startswith(b"#")):
            yield TextBlock(self, rest, above, skipped)


def read_chunks(file: Path, size: int, encoding: str = UTF_8) -> Iterator[bytes]:
    """The content of a file, compressed or not, in chunks of UTF-8 text."""
    if file.is_dir():
        raise FileFormatError(f"{file} is a folder; wanted a text file")
    decoder = None if encoding == UTF_8 else codecs.getincrementaldecoder(encoding)()
    try:
        with pa.input_stream(str(file)) as stream:
            while piece := stream.read(size):
                yield piece if decoder is None else decoder.decode(piece).encode()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{file} is not {encoding} text ({error.reason})",
            cures=[Cure("encoding", "latin-1", "takes every byte for a letter")],
        ) from error
    except (OSError, EOFError, pa.ArrowException) as error:
        raise FileFormatError(
            f"{file} cannot be read to its end ({error}); it is damaged, or was cut off"
        ) from error


def open_text(file: Path, form: ReadOptions) -> TextFile:
    """A text file, with the names in its first line and what else its first lines tell."""
    lines, old_mac, encoding = _head(file, form.encoding)
    place = next(k for k, line in enumerate(lines) if line.strip())
    above = _comments(lines) if lines[place].startswith("#") else 0
    place, how = max(place, above), (encoding, above > 0)
    # What spreadsheets are told of the separator.
    told = re.fullmatch(r"sep=(.)", lines[place], re.IGNORECASE)
    if told and place + 1 < len(lines):
        place += 1
    first, below = lines[place], place + 1
    while first.count('"') % 2 and below < len(lines):
        # A name may be written on two lines, as spreadsheets do.
        first, below = f"{first} {lines[below]}", below + 1
    separator = form.separator or (told[1] if told else guess_separator(file, first))
    fields = [field.strip() for field in split_line(first, separator)]
    if not form.header:
        names = default_names(len(fields))
        return TextFile(file, names, False, separator, place, old_mac, form, *how)
    # pandas names columns 0, 1, 2, …
    counted = len(fields) > 2 and fields == [str(k) for k in range(len(fields))]
    if not counted and all(map(is_number, fields)):
        raise FileFormatError(
            f"{file}: line {place + 1} holds numbers ({short(first)}) where names were expected; "
            "add a line of names",
            cures=[Cure("header", False, "names the columns X0, X1, …")],
        )
    rows = [line for line in lines[below:] if line.strip()]
    width = len(fields) + 1
    longer = bool(rows) and all(len(split_line(row, separator)) == width for row in rows)
    if longer and all(split_line(row, separator)[-1].strip() == "" for row in rows):
        # What stands behind the last separator of each line is a column without a name or values.
        fields, longer = [*fields, ""], False
    named = not longer and fields[0] in ("", "Unnamed: 0") and _has_index(fields, rows, separator)
    cells = [split_line(row, separator)[longer or named :] for row in rows]
    padded = {
        name: value.strip(' "')
        for row in reversed(cells)
        for name, value in zip(fields[named:], row, strict=False)
        if re.fullmatch(r'\s*"?0\d{2,}"?\s*', value)
    }
    index = longer or named
    text = TextFile(file, tuple(fields[named:]), index, separator, below, old_mac, form, *how)
    return replace(text, padded=padded)


def _comments(lines: list[str]) -> int:
    """How many lines stand before the first that is no comment; 0 where # begins the names."""
    place = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    if place == 0:
        return 0
    last = next(line for line in reversed(lines[:place]) if line.startswith("#"))
    separator = next((s for s in SEPARATORS if s in lines[place]), " ")
    alike = len(split_line(last, separator)) == len(split_line(lines[place], separator)) > 1
    # As in tables of genetics, whose line of names begins with it.
    named = alike and any(map(is_number, split_line(lines[place], separator)))
    return 0 if named else place


def _head(file: Path, encoding: str | None) -> tuple[list[str], bool, str]:
    """The first lines of a file, whether they end in CR alone, and its encoding.

    Where none is given it is UTF-8, unless the first bytes cannot be that.
    """
    guessed, content, whole = encoding is None, b"", True
    encoding = UTF_8 if encoding is None or encoding.lower() in UTF_8_NAMES else encoding
    for piece in read_chunks(file, HEAD_BYTES, encoding):
        content += piece
        if b"\n" in content.strip() or b"\r" in content.strip():
            whole = len(piece) < HEAD_BYTES
            break
    if guessed and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _head(file, "utf-16")
    old_mac = b"\n" not in content and b"\r" in content
    parts = content.replace(b"\r" if old_mac else b"\r\n", b"\n").split(b"\n")
    if not whole and len(parts) > 2:
        parts.pop()
    lines = []
    for place, part in enumerate(parts):
        try:
            lines.append(part.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            # Zeros are in no text of one byte a letter.
            if guessed and b"\0" not in content:
                return _head(file, "cp1252")
            raise FileFormatError(
                f"{file}: line {place + 1} is not UTF-8 text; save the file as UTF-8",
                cures=[Cure("encoding", None, "says what it is")],
            ) from error
    if not any(line.strip() for line in lines):
        raise FileFormatError(
            f"{file} is empty; wanted a line of names and then one line per sample"
        )
    return lines, old_mac, encoding


def _has_index(names: list[str], rows: list[str], separator: str) -> bool:
    """Whether the first column, which has no name of its own, numbers or names the rows."""
    if len(names) < 2 or not rows:
        return False
    labels = [fields[0].strip() for row in rows if (fields := split_line(row, separator))]
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


def split_line(line: str, separator: str) -> list[str]:
    """The fields of one line."""
    if '"' not in line:
        return line.split() if separator == " " else line.split(separator)
    blank = separator == " "
    text = line.strip() if blank else line
    try:
        return next(csv.reader([text], delimiter=separator, skipinitialspace=blank), [])
    except csv.Error as error:
        raise FileFormatError(f"the line {short(line)} has no fields: {error}") from error


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Some lines of a text file; columns go by number, as names may repeat.

    `above` counts the lines of the file before the content, `skipped` those of the content before
    the first row.
    """

    text: TextFile
    content: bytes
    above: int
    skipped: int

    @property
    def width(self) -> int:
        """Number of columns, the index among them."""
        return len(self.text.names) + self.text.index

    def rows(self, places: Sequence[int], names: Sequence[str]) -> Rows:
        """Columns under these names."""
        table = self.columns(places)
        above = max(self.above - self.text.skipped, 0)
        # Asked for no column, pyarrow gives all.
        return rows_of(table.columns[: len(names)], names, len(table), above)

    def columns(self, places: Sequence[int]) -> pa.Table:
        """Columns as numbers where all their fields are, else as truth values or as text."""
        try:
            # Commas are looked at, whatever they are said to be.
            if self.text.form.decimal != ",":
                return self._read(pa.float64(), places)
        except (pa.ArrowInvalid, pa.ArrowKeyError):
            pass
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
            fields = f"{got} field{'s' if got != '1' else ''} ({short(text)})"
            reason = (
                f"line {int(row) + self.above} (blank lines not counted) has {fields}, but the "
                f"first line has {wanted} ({list_names(self.text.names, 4)})"
            )
            if int(row) == self.skipped + 1:
                reason += "; if that is a title, delete it, as names must come first"
        if "Could not skip" in reason:
            reason = f"there is nothing below its first line ({list_names(self.text.names, 4)})"
        if "UTF8" in reason:
            return FileFormatError(
                f"{self.text.file} has letters that are not UTF-8 text",
                cures=[Cure("encoding", "cp1252", "reads it as Windows and older programs write")],
            )
        return FileFormatError(
            f"{self.text.file}: {reason}; the separator is taken to be {self.text.separator!r}. "
            "Correct the line, or say how the file is written: are commas decimal marks?",
            cures=[
                Cure("separator", None, "says what stands between fields"),
                Cure("decimal", None, "says what the decimal mark is"),
            ],
        )

    def _has_thousands(self, text: pa.ChunkedArray) -> bool:
        """Whether commas stand between groups of three digits, in all values that have some.

        Where fields are not separated by commas, a single group may as well be decimals.
        """
        found = pc.filter(text, pc.fill_null(pc.match_substring(text, ","), False))
        if not len(found) or not pc.all(pc.match_substring_regex(found, THOUSANDS)).as_py():
            return False
        return self.text.separator == "," or pc.max(pc.count_substring(found, ",")).as_py() > 1

    def _convert(self, text: pa.ChunkedArray) -> pa.ChunkedArray:
        """Text as numbers, or as truth values; as it is where it is neither."""
        decimal = self.text.form.decimal
        trimmed = pc.utf8_trim_whitespace(text)
        plain = trimmed if decimal in ".," else pc.replace_substring(trimmed, decimal, ".")
        if decimal == ",":
            plain = self._pointed(trimmed)
        thousands = decimal == "." and self._has_thousands(trimmed)
        if thousands:
            plain = pc.replace_substring(trimmed, ",", "")
        if pc.all(pc.match_substring_regex(plain, PERCENT)).as_py():
            plain = pc.utf8_rtrim(plain, " %")
        number = pc.replace_substring(plain, "\N{MINUS SIGN}", "-")
        if pc.all(pc.match_substring_regex(number, GROUPED)).as_py():
            number = pc.replace_substring_regex(number, GAP, "")
        for kind, candidate in ((pa.float64(), number), (pa.bool_(), trimmed)):
            try:
                return pc.cast(candidate, kind)
            except pa.ArrowInvalid:
                continue
        words = [v for v in trimmed.to_pylist() if v and not is_number(v)]
        if not thousands and decimal != "," and words and re.match(DECIMAL_COMMA, words[0]):
            self._refuse_commas(words)
        return plain

    def _pointed(self, text: pa.ChunkedArray) -> pa.ChunkedArray:
        """Numbers whose decimal mark is said to be a comma, with a point in its place.

        Points then stand between thousands; but where no value has a comma they may be decimal
        marks, as they are where other than three digits follow them.
        """
        numbers = pc.filter(text, pc.fill_null(pc.match_substring_regex(text, DIGITS), False))
        point, comma = (pc.match_substring(numbers, mark) for mark in ".,")
        pointed, commas = pc.filter(numbers, point), pc.filter(numbers, comma)
        if not len(pointed):
            self._see_decimals(commas, pc.filter(numbers, pc.invert(comma)))
            return pc.replace_substring(text, ",", ".")
        if not pc.all(pc.match_substring_regex(pointed, POINTED_THOUSANDS)).as_py():
            if not len(commas):
                return text
        elif pc.any(pc.and_(point, comma)).as_py() or len(commas) == 0 < len(numbers) - len(
            pointed
        ):
            return pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
        beside = f" and {commas[0].as_py()!r} in one column" if len(commas) else ""
        raise FileFormatError(
            f"{self.text.file} has {pointed[0].as_py()!r}{beside}, where commas are said to be "
            "decimal marks: its point may be one, too, or stand between thousands. Write the "
            "numbers of a column in one way"
        )

    def _see_decimals(self, commas: pa.ChunkedArray, others: pa.ChunkedArray) -> None:
        """Refuse commas as decimal marks where they look like marks between thousands.

        Three digits follow each, and the values without one are the larger ones if it is one.
        """
        if not len(others) or not pc.all(pc.match_substring_regex(commas, THOUSANDS)).as_py():
            return
        decimals = (v.replace(",", ".", 1).replace(",", "") for v in commas.to_pylist())
        largest = max((abs(float(v)) for v in decimals), default=math.inf)
        if pc.quantile(pc.abs(pc.cast(others, pa.float64())))[0].as_py() > largest:
            raise FileFormatError(
                f"{self.text.file} has {commas[0].as_py()!r} beside {others[0].as_py()!r}, as if "
                "commas stood between thousands",
                cures=[Cure("decimal", ".", "reads them as such")] * (self.text.separator == ","),
            )

    def _refuse_commas(self, words: list[str]) -> None:
        """Say that commas are decimal marks; or cannot be, where they group digits, too."""
        file = self.text.file
        grouped = next((word for word in words if re.match(THOUSANDS, word)), "")
        others = (v for v in words if re.match(DECIMAL_COMMA, v) and not re.match(THOUSANDS, v))
        if self.text.separator == "," and grouped and (mark := next(others, "")):
            raise FileFormatError(
                f"{file} has {grouped!r}, as if commas stood between thousands, and {mark!r}, as "
                "if they were decimal marks, in one column; write its numbers in one way"
            )
        raise FileFormatError(
            f"{file} has decimal commas ({words[0]!r})",
            cures=[Cure("decimal", ",", "reads them as such")],
        )


def _tabbed(line: bytes) -> bytes:
    """A line whose fields stand between runs of blanks, with tabs between them."""
    if b'"' not in line:
        return b"\t".join(line.split())
    fields = split_line(line.decode("utf-8", "replace").strip(), " ")
    return "\t".join(fields).encode()
