"""Tables in Markdown, and pages of which a part is generated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qwo.reproduction.tables import markdown
from qwo.text import write_whole

BEGIN, END = "<!-- begin {} -->", "<!-- end {} -->"

Row = Sequence[str]


def short(value: float, digits: int = 2, sign: str = "") -> str:
    """A number with so many digits that count, and without an exponent."""
    return format(float(f"{value:.{digits}g}"), f"{sign}.10g")


def markdown_table(header: Row, rows: Sequence[Row], texts: int = 1) -> str:
    """A table of which all but the first columns are numbers."""
    if not rows:
        return "None."
    return markdown(header, rows, texts)


def update_page(path: Path, content: str, part: str = "results") -> None:
    """Put the content between the marks of a part of a page."""
    page = path.read_text()
    begin, end = BEGIN.format(part), END.format(part)
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{path} lacks the marks {begin} and {end}")
    write_whole(path, f"{before}{begin}\n\n{content.strip()}\n\n{end}{after}")
