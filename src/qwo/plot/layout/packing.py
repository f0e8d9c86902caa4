"""Boxes on shelves: the parts of a graph that no edge joins, side by side and below one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qwo.types import FloatArray


def packed(boxes: FloatArray, aspect: float, gap: float) -> tuple[FloatArray, tuple[float, float]]:
    """The upper left corners of boxes that do not overlap, and the size of them all together.

    Parameters
    ----------
    boxes : ndarray, k×2
        Widths and heights.
    aspect : float
        The width to height wanted of the whole.
    gap : float
        The distance between boxes.
    """
    area = float(np.prod(boxes + gap, axis=1).sum())
    width = max(float(boxes[:, 0].max()), np.sqrt(area * aspect))
    by_height = np.lexsort((np.arange(len(boxes)), -boxes[:, 0], -boxes[:, 1]))
    corners = np.zeros(boxes.shape)
    shelves = _shelves(boxes[:, 0], by_height.tolist(), width, gap)
    whole = max(_length(boxes[shelf, 0], gap) for shelf in shelves)
    top = 0.0
    for shelf in shelves:
        lengths = boxes[shelf, 0]
        left = (whole - _length(lengths, gap)) / 2
        corners[shelf, 0] = left + np.cumsum(lengths + gap) - lengths - gap
        corners[shelf, 1] = top
        top += float(boxes[shelf, 1].max()) + gap
    return corners, (whole, top - gap)


def _shelves(widths: FloatArray, order: Sequence[int], width: float, gap: float) -> list[list[int]]:
    """The boxes in order, a new shelf wherever the next one does not fit."""
    shelves: list[list[int]] = [[]]
    used = 0.0
    for box in order:
        if shelves[-1] and used + widths[box] > width + 1e-9:
            shelves.append([])
            used = 0.0
        shelves[-1].append(box)
        used += float(widths[box]) + gap
    return shelves


def _length(widths: FloatArray, gap: float) -> float:
    return float(widths.sum() + gap * (len(widths) - 1))
