"""Colours and labels of pictures: hues of Okabe and Ito (2008); names readable, short, distinct."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


@dataclass(frozen=True)
class Palette:
    """The colours of one picture."""

    ink: str
    edge: str
    faint: str
    fill: str
    outline: str
    positive: str
    negative: str
    reverse: str
    retyped: str
    bar: str
    pale_signs: tuple[str, str]
    support: tuple[str, ...]

    def support_colours(self) -> Colormap:
        """From pale to strong as the support goes from 0 to 1."""
        from matplotlib.colors import LinearSegmentedColormap

        return LinearSegmentedColormap.from_list("support", list(self.support))

    def sign_colours(self) -> Colormap:
        """From negative to positive; small values are pale, but never as pale as no value."""
        from matplotlib.colors import LinearSegmentedColormap

        pale_negative, pale_positive = self.pale_signs
        stops = [(0, self.negative), (0.5, pale_negative), (0.5, pale_positive), (1, self.positive)]
        return LinearSegmentedColormap.from_list("sign", stops)


LIGHT = Palette(
    ink="#1f2328",
    edge="#5b6570",
    faint="#c9d0d8",
    fill="#eef2f7",
    outline="#8b97a5",
    positive="#0072b2",
    negative="#d55e00",
    reverse="#aa4499",
    retyped="#b8860b",
    bar="#a9c6dd",
    pale_signs=("#f8dcc8", "#d3e6f3"),
    support=("#d6e0ea", "#5a9bd4", "#08306b"),
)
DARK = Palette(
    ink="#e6e8eb",
    edge="#a9b3be",
    faint="#444c56",
    fill="#2b323b",
    outline="#75808d",
    positive="#56b4e9",
    negative="#e69f00",
    reverse="#cc79a7",
    retyped="#f0e442",
    bar="#3d5f7a",
    pale_signs=("#4a3510", "#1d3d50"),
    support=("#3a424c", "#4f8fc4", "#cfe8ff"),
)


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
