"""Edges as Bézier curves between the borders of nodes, and their arrowheads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qwo.drawing.layers import Pairs
from qwo.drawing.layout import Layout
from qwo.types import FloatArray, Indices

# In points, at the nominal size of the nodes. The channel is less than what the layout keeps free
# beside a bend.
_PORT_GAP = 7.0
_CLEARANCE = 0.4
_CHANNEL = 7.5
# The share of a border that edges may use, and the largest dx/dy where they meet it.
_PORT_SHARE = 0.8
_FLATTEST_END = 1.1
_SAMPLES = 33


class Arrow(NamedTuple):
    """A curve that ends at the base of its head, and the three corners of the head."""

    curve: FloatArray
    head: FloatArray


def edge_curves(layout: Layout, edges: Pairs) -> list[FloatArray]:
    """For each edge the control points, 3k + 1 of them, of k cubic curves from above to below.

    An edge leaves its upper node at the lower border and reaches its lower node at the upper one,
    side by side with the others there, so that no edge runs through a node.
    """
    starts, ends = _ports(layout, edges)
    return [
        _smooth(np.vstack([start, bends, end]), depths, _CHANNEL * layout.scale)
        for start, bends, depths, end in zip(starts, layout.bends, layout.depths, ends, strict=True)
    ]


def _ports(layout: Layout, edges: Pairs) -> tuple[FloatArray, FloatArray]:
    """Where each edge leaves its upper node, and where it reaches the lower one."""
    upper, lower = edges[:, 0], edges[:, 1]
    after, before = layout.centres[lower, 0], layout.centres[upper, 0]
    for k, bends in enumerate(layout.bends):
        if len(bends):
            after[k], before[k] = bends[0, 0], bends[-1, 0]
    return _spread(layout, upper, after, side=+1), _spread(layout, lower, before, side=-1)


def _spread(layout: Layout, nodes: Indices, towards: FloatArray, side: int) -> FloatArray:
    """Points along one border of the nodes, for edges in the order of where they lead."""
    ports = layout.centres[nodes]
    ports[:, 1] += side * (layout.sizes[nodes, 1] / 2 + _CLEARANCE * layout.scale)
    order = np.lexsort((towards, nodes))
    node, first, count = np.unique(nodes[order], return_index=True, return_counts=True)
    gap = np.minimum(_PORT_GAP * layout.scale, _PORT_SHARE * layout.sizes[node, 0] / count)
    rank = np.arange(len(nodes)) - np.repeat(first, count)
    ports[order, 0] += np.repeat(gap, count) * (rank - np.repeat(count - 1, count) / 2)
    return ports


def _smooth(points: FloatArray, depths: FloatArray, channel: float) -> FloatArray:
    """A smooth curve x(y) through start, bends and end, straight where it passes through a layer.

    Layers are so thick at the bends; within one an edge may move across by the channel at most, to
    either side of the bend.
    """
    x, y = points.T
    secant = np.diff(x) / np.diff(y)
    left, right = secant[:-1], secant[1:]
    bound = np.minimum(np.abs([left, right]).min(axis=0) * 3, 2 * channel / depths)
    turn = np.where(left * right > 0, np.clip((left + right) / 2, -bound, bound), 0.0)
    first, last = np.clip(secant[[0, -1]], -_FLATTEST_END, _FLATTEST_END)
    slope = np.concatenate([[first], np.repeat(turn, 2), [last]])
    half = np.repeat(depths, 2) * np.tile([-0.5, 0.5], len(depths))
    knots = np.repeat(points[1:-1], 2, axis=0) + np.c_[half * np.repeat(turn, 2), half]
    return _hermite(np.vstack([points[:1], knots, points[-1:]]), slope)


def _hermite(points: FloatArray, slope: FloatArray) -> FloatArray:
    """Control points of the cubic curves x(y) through points with given slopes dx/dy."""
    x, y = points.T
    step = np.diff(y)
    controls = np.empty((3 * len(step) + 1, 2))
    controls[::3] = points
    controls[1::3] = np.c_[x[:-1] + slope[:-1] * step / 3, y[:-1] + step / 3]
    controls[2::3] = np.c_[x[1:] - slope[1:] * step / 3, y[1:] - step / 3]
    return controls


def arrow(curve: FloatArray, length: float, width: float) -> Arrow:
    """The curve with a head of the given size at its end."""
    cubic = curve[-4:]
    times = np.linspace(0, 1, _SAMPLES)
    trail = _points_at(cubic, times)
    left = np.linalg.norm(trail - trail[-1], axis=1)
    inside = int(np.argmax(left <= length))
    time = times[inside]
    if inside > 0:
        share = (left[inside - 1] - length) / (left[inside - 1] - left[inside])
        time = times[inside - 1] + share * (times[inside] - times[inside - 1])
    kept = _until(cubic, time)
    tip, base = cubic[-1], kept[-1].copy()
    along = (tip - base) / max(float(np.linalg.norm(tip - base)), 1e-9)
    across = np.array([-along[1], along[0]]) * width / 2
    # The line reaches a little into the head, so that no gap shows between the two.
    kept[-1] = base + 0.2 * (tip - base)
    return Arrow(np.vstack([curve[:-4], kept]), np.array([tip, base + across, base - across]))


def _points_at(cubic: FloatArray, times: FloatArray) -> FloatArray:
    t = times[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.asarray(weights @ cubic)


def _until(cubic: FloatArray, time: float) -> FloatArray:
    """The part of a cubic curve before a time, by de Casteljau's construction."""
    a, b, c, d = cubic
    ab, bc, cd = a + time * (b - a), b + time * (c - b), c + time * (d - c)
    abc, bcd = ab + time * (bc - ab), bc + time * (cd - bc)
    return np.array([a, ab, abc, abc + time * (bcd - abc)])
