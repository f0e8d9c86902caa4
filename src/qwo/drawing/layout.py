"""The layered drawing of an acyclic graph: where the nodes go, and where the edges bend.

Lengths are in points for labels of the nominal size. The first coordinate runs across the layers,
the second from layer to layer, downwards; the corner of the drawing is the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qwo.drawing.layers import Layers, Pairs, ProperGraph, assign_layers, ordered_layers
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Between layers: at least, at most, and relative to how far across the longest edge runs.
_LAYER_GAP = 36.0
_LARGEST_GAP = 110.0
_FLATTEST = 0.22
_PART_GAP = 24.0
_ROW_GAP = 14.0
# What nodes and bends keep free around them, half of it on either side, in points.
_NODE_GAP = 16.0
_BEND_GAP = 9.0
_FEWEST_SWEEPS, _MOST_SWEEPS = 8, 60
_MOST_MOVES = 300_000
_TOLERANCE = 0.25


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes and edges in the plane."""

    centres: FloatArray
    sizes: FloatArray
    """The middle of each node and its extents, across and along the layers: n×2 both."""
    bends: tuple[FloatArray, ...]
    depths: tuple[FloatArray, ...]
    """For each edge the points it passes between its ends, and how thick the layers are there."""
    extent: tuple[float, float]
    scale: float = 1.0
    """The size of the nodes, and so of their labels, relative to the nominal one."""

    def fitted(
        self,
        width: float,
        height: float,
        *,
        margin: float = 0.0,
        largest: float = 1.0,
        stretch: float = 1.0,
    ) -> Layout:
        """The layout in the middle of a rectangle, within a margin.

        Nodes keep their shape and grow to ``largest`` times their nominal size at most. The
        distances between them may grow by ``stretch`` more, differently in the two directions.
        """
        whole = np.array([width, height])
        room = np.maximum(whole - 2 * margin, whole / 3)
        factors = room / np.maximum(self.extent, 1e-9)
        scale = min(float(factors.min()), largest)
        factors = np.minimum(factors, stretch * scale)
        corner = (whole - factors * self.extent) / 2
        return Layout(
            self.centres * factors + corner,
            self.sizes * scale,
            tuple(points * factors + corner for points in self.bends),
            tuple(depth * scale for depth in self.depths),
            (width, height),
            scale,
        )


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The layers of each connected part of a graph, in order, before anything has a size."""

    graph: ProperGraph
    parts: tuple[Layers, ...]

    def most_edges_at_a_side(self) -> FloatArray:
        """For each node the number of its edges from above or to below, whichever is larger."""
        sides = zip(self.graph.above, self.graph.below, strict=True)
        most = [max(len(above), len(below)) for above, below in sides]
        return np.array(most[: self.graph.n_vertices], dtype=np.float64)

    def place(self, sizes: FloatArray, aspect: float = 1.5) -> Layout:
        """The layout for nodes of at least these sizes, the whole about ``aspect`` times as wide.

        The nodes of a layer get the same extent along, so that it has straight borders. The aspect
        guides how the connected parts are put together; each has the shape it has.
        """
        extents = np.zeros((len(self.graph.layer), 2))
        extents[: self.graph.n_vertices] = sizes
        positions = np.zeros_like(extents)
        boxes = np.zeros((len(self.parts), 2))
        members = [np.concatenate([*map(np.array, layers)]) for layers in self.parts]
        x, half = relaxed_places(self.graph, self.parts, extents[:, 0]), extents[:, 0] / 2
        for k, (layers, points) in enumerate(zip(self.parts, members, strict=True)):
            left, right = (x - half)[points].min(), (x + half)[points].max()
            positions[points, 0] = x[points] - left
            boxes[k] = right - left, self._stack(layers, positions, extents)
        alone = np.array([len(points) == 1 for points in members])
        corners, extent = _with_rows_below(boxes, alone, aspect)
        for points, corner in zip(members, corners, strict=True):
            positions[points] += corner
        n, bends = self.graph.n_vertices, [list(chain[1:-1]) for chain in self.graph.chains]
        return Layout(
            centres=positions[:n],
            sizes=extents[:n],
            bends=tuple(positions[points] for points in bends),
            depths=tuple(extents[points, 1] for points in bends),
            extent=extent,
        )

    def _stack(self, layers: Layers, positions: FloatArray, extents: FloatArray) -> float:
        """Set how far down and how thick each layer is; the depth of all together.

        There is more room between layers where edges run far across.
        """
        bottom = 0.0
        for k, layer in enumerate(layers):
            height = extents[layer, 1].max()
            extents[layer, 1] = height
            if k > 0:
                lower = [v for v in layer for _ in self.graph.above[v]]
                upper = [u for v in layer for u in self.graph.above[v]]
                across = float(np.abs(positions[upper, 0] - positions[lower, 0]).max())
                bottom += min(max(_FLATTEST * across, _LAYER_GAP), _LARGEST_GAP)
            positions[layer, 1] = bottom + height / 2
            bottom += height
        return float(bottom)


def arrange(n_vertices: int, edges: Pairs) -> Arrangement:
    """The layers of an acyclic graph with few crossings: Sugiyama's first two steps.

    Edges are given by their ends, from above to below.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    layers = assign_layers(n_vertices, edges)
    graph = ProperGraph.from_layers(layers, edges)
    links, size = graph.links(), len(graph.layer)
    joined = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(size, size))
    count, part = connected_components(joined, directed=False)
    members: list[list[int]] = [[] for _ in range(count)]
    for point, k in enumerate(part.tolist()):
        members[k].append(point)
    return Arrangement(graph, tuple(ordered_layers(graph, points) for points in members))


def _with_rows_below(
    boxes: FloatArray, alone: Mask, aspect: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Corners of the boxes; single nodes stand in rows below all else, in the order of columns."""
    if alone.all() or not alone.any():
        return packed(boxes, aspect, _PART_GAP)
    corners = np.zeros(boxes.shape)
    corners[~alone], (width, height) = packed(boxes[~alone], aspect, _PART_GAP)
    # The width w at which all of it has the shape wanted: w = aspect · (height + area / w).
    area = float(np.prod(boxes[alone] + _ROW_GAP, axis=1).sum())
    wanted = aspect * height / 2 + np.sqrt((aspect * height / 2) ** 2 + aspect * area)
    below, (row, depth) = packed(boxes[alone], aspect, _ROW_GAP, max(width, float(wanted)))
    whole = max(width, row)
    corners[~alone, 0] += (whole - width) / 2
    corners[alone] = below + np.array([(whole - row) / 2, height + _PART_GAP])
    return corners, (whole, height + _PART_GAP + depth)


def packed(
    boxes: FloatArray, aspect: float, gap: float, least: float = 0.0
) -> tuple[FloatArray, tuple[float, float]]:
    """The upper left corners of boxes that do not overlap, and the size of them all together.

    Boxes have a width and a height; the whole is to be ``aspect`` times as wide as high. Where
    a least width is given, the boxes stay in order.
    """
    area = float(np.prod(boxes + gap, axis=1).sum())
    width = max(float(boxes[:, 0].max()), np.sqrt(area * aspect), least)
    order = np.lexsort((np.arange(len(boxes)), -boxes[:, 0], -boxes[:, 1]))
    if least:
        order = np.arange(len(boxes))
    corners = np.zeros(boxes.shape)
    shelves = _shelves(boxes[:, 0], order.tolist(), width, gap)
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


def relaxed_places(graph: ProperGraph, parts: Sequence[Layers], widths: FloatArray) -> FloatArray:
    """The places x that minimise Σ w (x_u - x_v)² over the links, nothing closer than it may be.

    One layer at a time, the others held fixed: with the distances that the points of a layer must
    keep taken off, that is the isotonic regression of the means of their neighbours. The problem
    is convex and the constraints concern one layer each, so the sweeps converge to its solution.
    Bends have no width. How the connected parts lie to one another is left open.
    """
    bend = np.arange(len(graph.layer)) >= graph.n_vertices
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
    from scipy.optimize import isotonic_regression

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
    from scipy.sparse import csr_array

    links = graph.links()
    strength = np.array([1.0, 2.0, 8.0])[bend[links].sum(axis=1)]
    ends = np.concatenate([links, links[:, ::-1]])
    shape = (len(bend), len(bend))
    return csr_array((np.tile(strength, 2), (ends[:, 0], ends[:, 1])), shape=shape)
