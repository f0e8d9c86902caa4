"""Places across the layers: neighbours close to one another, nothing too close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.sparse import csr_array

from qwo.layout.layers import Layers, ProperGraph
from qwo.types import FloatArray, Indices, Mask

# What nodes and bends keep free around them, half of it on either side, in points.
_NODE_GAP = 16.0
_BEND_GAP = 9.0
_FEWEST_SWEEPS, _MOST_SWEEPS = 8, 60
_MOST_MOVES = 300_000
_TOLERANCE = 0.25


def relaxed_places(graph: ProperGraph, parts: Sequence[Layers], widths: FloatArray) -> FloatArray:
    """The places x that minimise Σ w (x_u - x_v)² over the links, nothing closer than it may be.

    One layer at a time, the others held fixed: with the distances that the points of a layer must
    keep taken off, that is the isotonic regression of the means of their neighbours. The problem
    is convex and the constraints concern one layer each, so the sweeps converge to its solution.

    Parameters
    ----------
    graph : ProperGraph
    parts : sequence of list of list of int
        For each connected part its layers, each from left to right.
    widths : ndarray
        The width of each point; 0 for bends.

    Returns
    -------
    ndarray
        x of every point; how the parts lie to one another is left open.
    """
    bend = graph.is_bend()
    gaps = np.where(bend, _BEND_GAP, _NODE_GAP)
    pull = _weights(graph, bend)
    x = np.zeros(len(widths))
    for layers in parts:
        rows = [_Row.of(np.array(layer), widths, gaps, pull) for layer in layers]
        for row in rows:
            x[row.points] = row.offsets - row.offsets[-1] / 2
        if len(rows) > 1:
            _relax(rows, x)
    return x


class _Row(NamedTuple):
    """The points of a layer, how far from the first they must be, and what pulls at them."""

    points: Indices
    offsets: FloatArray
    pull: csr_array
    total: FloatArray

    @classmethod
    def of(cls, points: Indices, widths: FloatArray, gaps: FloatArray, pull: csr_array) -> _Row:
        room = widths[points] + gaps[points]
        offsets = np.concatenate([[0.0], np.cumsum((room[1:] + room[:-1]) / 2)])
        weights = pull[points]
        return cls(points, offsets, weights, np.asarray(weights.sum(axis=1), dtype=np.float64))


def _relax(rows: Sequence[_Row], x: FloatArray) -> None:
    """Sweep down and up until nothing moves, or until the time for a large graph is up."""
    n_points = sum(len(row.points) for row in rows)
    for _ in range(min(max(_MOST_MOVES // n_points, _FEWEST_SWEEPS), _MOST_SWEEPS)):
        before = x.copy()
        for row in (*rows, *reversed(rows)):
            target = row.pull @ x / row.total - row.offsets
            x[row.points] = isotonic_regression(target, weights=row.total).x + row.offsets
        if np.abs(x - before).max() < _TOLERANCE:
            break


def _weights(graph: ProperGraph, bend: Mask) -> csr_array:
    """How strongly each link pulls: those between bends most, so that long edges run straight."""
    links = np.array(list(graph.links()), dtype=np.intp).reshape(-1, 2)
    strength = np.array([1.0, 2.0, 8.0])[bend[links].sum(axis=1)]
    ends = np.concatenate([links, links[:, ::-1]])
    shape = (len(bend), len(bend))
    return csr_array((np.tile(strength, 2), (ends[:, 0], ends[:, 1])), shape=shape)
