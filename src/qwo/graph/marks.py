"""The edges that a graph can have: how each is written, drawn, stored and read out.

One place for formats, plots, report and comparison to learn them. DAGs have ``-->`` only, CPDAGs
``---`` as well; the other marks are those of PAGs, in which a circle is an end of which the data
do not say whether it is a tail or an arrowhead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ARROW = "-->"
LINE = "---"
SPOUSES = "<->"

CIRCLE, HEAD, TAIL = 1, 2, 3
"""What an edge has at one end, in pcalg's and Tetrad's codes; 0 is no edge."""


class Mark(NamedTuple):
    """A kind of edge between i and j.

    ``text`` is how formats write it, ``symbol`` how people read it, ``ends`` what it has at i and
    j; ``codes`` are the entries (i, j) and (j, i) of the matrix, above 2 for edges that only MAGs
    and PAGs have; ``dot`` Graphviz's ``arrowtail`` and ``arrowhead``; ``words`` stand between the
    names when it is read out; ``meaning`` is what it says.
    """

    text: str
    symbol: str
    ends: tuple[int, int]
    codes: tuple[int, int]
    dot: tuple[str, str]
    words: str
    meaning: str


MARKS = {
    mark.text: mark
    for mark in (
        Mark(
            ARROW,
            "→",
            (TAIL, HEAD),
            (1, 0),
            ("none", "normal"),
            "directed to",
            "The first is a direct cause of the second.",
        ),
        Mark(
            LINE,
            "—",
            (TAIL, TAIL),
            (2, 2),
            ("none", "none"),
            "undirected with",
            "One is a direct cause of the other; the data do not say which.",
        ),
        Mark(
            SPOUSES,
            "↔",
            (HEAD, HEAD),
            (3, 3),
            ("normal", "normal"),
            "shares a hidden cause with",
            "Neither causes the other; something unmeasured causes both.",
        ),
        Mark(
            "o->",
            "o→",
            (CIRCLE, HEAD),
            (4, 5),
            ("odot", "normal"),
            "causes, or shares a hidden cause with,",
            "The second does not cause the first.",
        ),
        Mark(
            "o-o",
            "o–o",
            (CIRCLE, CIRCLE),
            (6, 6),
            ("odot", "odot"),
            "linked with",
            "The data say nothing of the direction, nor whether a hidden cause is behind it.",
        ),
        Mark(
            "--o",
            "–o",
            (TAIL, CIRCLE),
            (7, 8),
            ("none", "odot"),
            "not shown to be an effect of",
            "The first is a cause of the second, or of a variable by which the data were chosen.",
        ),
    )
}
"""Mark by text."""


def turned(text: str) -> str:
    """The same edge as it is written from its other end: ``<--`` for ``-->``."""
    return text[::-1].translate(_MIRROR)


_MIRROR = str.maketrans("<>", "><")


def edge_text(forth: int, back: int) -> str:
    """The text of the edge from i to j whose entries (i, j) and (j, i) these are; "" for none."""
    return _TEXTS[forth, back]


_TEXTS = {(0, 0): ""}
for _text, _mark in MARKS.items():
    _TEXTS[_mark.codes], _TEXTS[_mark.codes[::-1]] = _text, turned(_text)

BY_CODE = {mark.codes[0]: text for text, mark in MARKS.items()}
"""The text of an edge by its entry (i, j), from the end that it is written from."""

FROM_HERE = np.zeros(128, dtype=np.bool_)
ALIKE = np.zeros(128, dtype=np.bool_)
"""By its entry (i, j), whether an edge is written from i, and whether it is the same from either
end."""
for _forth, _back in (_mark.codes for _mark in MARKS.values()):
    (ALIKE if _forth == _back else FROM_HERE)[_forth] = True

CODES = {text: codes for codes, text in _TEXTS.items() if text}
"""The entries (i, j) and (j, i) of an edge by its text, from either end."""
