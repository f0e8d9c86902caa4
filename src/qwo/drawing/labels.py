"""Names of variables as labels: readable, short, distinct, and never taken for mathematics."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

ELLIPSIS = "…"
LINE_HEIGHT = 1.2
_LONGEST = 2000
# Widths of characters relative to the font size, for sans-serif fonts in general.
_NARROW, _USUAL, _CAPITAL, _WIDE, _FULL = 0.34, 0.57, 0.7, 0.92, 1.05
_NARROW_CHARACTERS = frozenset("iIjlft.,:;'|!()[]{} -\"")
_WIDE_CHARACTERS = frozenset("mwMW@%…<>=+~#&_")
# After a space, a hyphen or the like, and where a capital follows a small letter.
_BREAK = re.compile(r"(?<=[\s_\-./:])|(?<=[a-z0-9])(?=[A-Z])")


def label_texts(names: Sequence[str], width: int, lines: int = 1) -> list[str]:
    """A label for each name, of at most so many characters a line; long names lose their middle.

    Names that would look the same are told apart by their column numbers.
    """
    texts = [wrapped(readable(name), width, lines) for name in names]
    count = Counter(texts)
    return [
        text if count[text] == 1 else f"{_first(text, width)} ({column})"
        for column, text in enumerate(texts)
    ]


def readable(name: str) -> str:
    """The name on one line, without characters that control or format."""
    kept = (
        " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character
        for character in _shortened(name, _LONGEST)
        if unicodedata.category(character) not in ("Cf", "Cs")
    )
    return " ".join("".join(kept).split()) or "\N{REPLACEMENT CHARACTER}"


def wrapped(text: str, width: int, lines: int) -> str:
    """The text on so many lines at most, the last one shortened if it is too long."""
    if len(text) <= width:
        return text
    rows: list[str] = []
    rest = text
    while len(rows) < lines - 1 and len(rest) > width:
        row = _row(rest, width)
        if not row:
            break
        rows.append(row.rstrip())
        rest = rest[len(row) :]
    return "\n".join([*rows, _shortened(rest, width)])


def _row(text: str, width: int) -> str:
    """The longest front of the text that ends where a line may break and fits; else nothing."""
    ends = [found.start() for found in _BREAK.finditer(text)]
    return text[: max((end for end in ends if len(text[:end].rstrip()) <= width), default=0)]


def _shortened(text: str, width: int) -> str:
    """The text with its middle replaced by an ellipsis: names often differ at the end."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    head = width - 1 - tail
    return text[:head] + ELLIPSIS + (text[-tail:] if tail else "")


def _first(text: str, width: int) -> str:
    return _shortened(text.split("\n", maxsplit=1)[0], max(3, width - 4))


def text_width(label: str) -> float:
    """About the width of the longest line, relative to the font size, whatever the font."""
    return max(sum(map(_character_width, line)) for line in label.split("\n"))


def _character_width(character: str) -> float:
    if character in _NARROW_CHARACTERS:
        return _NARROW
    if character in _WIDE_CHARACTERS:
        return _WIDE
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    return _CAPITAL if character.isupper() else _USUAL
