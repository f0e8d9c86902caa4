"""Where the nodes of the report's graph go, and where its edges bend, in CSS pixels."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qwo.plot.labels import label_texts
from qwo.plot.layout import Layout, arrange
from qwo.plot.layout.layers import Pairs
from qwo.types import Adjacency

MOST_BOXES = 150
"""Graphs of more variables are drawn with dots, whose labels appear on zooming in."""

FONT_SIZE = 13.0
_LINE_HEIGHT = 1.25
_PADDING = (22.0, 14.0)
_DOT = 16.0
# The label of a dot is below it, smaller than that of a box; this is the room it gets.
DOT_FONT_SIZE = 6.0
_DOT_GAP = 6.0
_DOT_ROOM = (24.0, 48.0)
# Room at the border of a hub, so that its arrowheads stay apart.
_ROOM_PER_EDGE = 6.0
_MOST_ROOM = 150.0
_ASPECT = 1.5
# How much distances may grow to give the drawing that shape.
_STRETCH = 1.6
_DOT_STRETCH = 6.0
# Widths of characters relative to the font size, for sans-serif fonts in general.
_NARROW, _USUAL, _CAPITAL, _WIDE, _FULL = 0.34, 0.57, 0.7, 0.92, 1.05
_NARROW_CHARACTERS = frozenset("iIjlft.,:;'|!()[]{} -\"")
_WIDE_CHARACTERS = frozenset("mwMW@%…<>=+~#&_")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A laid out graph.

    Attributes
    ----------
    boxes : bool
        Whether nodes are boxes around their labels; else dots.
    labels : list of str
        Short, distinct labels, of several lines perhaps.
    layout : Layout
    edges : ndarray of int, m×2
        Cause and effect of each edge.
    """

    boxes: bool
    labels: list[str]
    layout: Layout
    edges: Pairs


def draw(names: Sequence[str], dag: Adjacency) -> Drawing:
    """The layered drawing of a DAG, causes above their effects."""
    edges = np.argwhere(dag)
    arrangement = arrange(len(names), edges)
    boxes = len(names) <= MOST_BOXES
    if boxes:
        labels = label_texts(names, 18, 2)
        sizes = np.array([_box(label) for label in labels])
        room = np.minimum(_ROOM_PER_EDGE * arrangement.most_edges_at_a_side(), _MOST_ROOM)
        sizes[:, 0] = np.maximum(sizes[:, 0], room)
    else:
        labels = label_texts(names, 14, 1)
        widths = [_text_width(label) * DOT_FONT_SIZE + _DOT_GAP for label in labels]
        sizes = np.column_stack([np.clip(widths, *_DOT_ROOM), np.full(len(names), _DOT)])
    layout = _shaped(arrangement.place(sizes, _ASPECT), _STRETCH if boxes else _DOT_STRETCH)
    return Drawing(boxes, labels, layout, edges)


def _shaped(layout: Layout, stretch: float) -> Layout:
    """The layout with distances stretched in one direction, towards the shape of the window."""
    width, height = layout.extent
    return layout.fitted(
        max(width, height * _ASPECT), max(height, width / _ASPECT), stretch=stretch
    )


def _box(label: str) -> tuple[float, float]:
    """The size of a box around a label."""
    lines = label.count("\n") + 1
    return (
        _text_width(label) * FONT_SIZE + _PADDING[0],
        lines * FONT_SIZE * _LINE_HEIGHT + _PADDING[1],
    )


def _text_width(label: str) -> float:
    """The width of the longest line, relative to the font size."""
    return max(sum(map(_character_width, line)) for line in label.split("\n"))


def _character_width(character: str) -> float:
    if character in _NARROW_CHARACTERS:
        return _NARROW
    if character in _WIDE_CHARACTERS:
        return _WIDE
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    return _CAPITAL if character.isupper() else _USUAL
