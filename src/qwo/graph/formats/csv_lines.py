"""Lines of comma-separated fields in which any name survives, quotes and line breaks included."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from qwo.graph.formats.builder import malformed

_SPECIAL = re.compile(r'[,"\r\n]|^\s|\s$')


def read_rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of every line that is not blank."""
    # Only "\n" ends a line: str.splitlines would also break at characters that names may hold.
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), strict=True)
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise malformed(source, str(error), reader.line_num) from error
        if fields is None:
            return
        if fields:
            yield reader.line_num, fields


def quoted(name: str) -> str:
    """A name as one field, in double quotes where it needs them."""
    if _SPECIAL.search(name):
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name


def join(fields: Iterable[str]) -> str:
    """Names as one line."""
    return ",".join(map(quoted, fields))
