from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import milp

import qwo
from qwo.drawing.layers import assign_layers, count_crossings
from qwo.drawing.layout import Arrangement, Layout, arrange, packed
from qwo.drawing.scene import arrow, edge_curves, page_scene
from qwo.drawing.style import label_texts, readable, wrapped
from tests.oracles.hostile_names import HOSTILE
from tests.oracles.random_models import random_dag

Floats = npt.NDArray[np.float64]
Edges = npt.NDArray[np.intp]

CASES = [(1, 0, "er"), (5, 2, "er"), (20, 4, "er"), (20, 3, "scale-free"), (100, 3, "er")]


def edges_of(n: int, degree: float, kind: str, seed: int = 0) -> Edges:
    _, dag, _ = qwo.simulate(kind, n_variables=n, n_samples=2, degree=degree, random_state=seed)
    return np.argwhere(dag)


def random_sizes(n: int, seed: int = 0) -> Floats:
    """Boxes of one to three lines, as labels make them."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(20, 90, n), rng.choice([19.0, 31.0, 43.0], n)])


def laid_out(n: int, degree: float, kind: str) -> tuple[Edges, Arrangement, Layout]:
    edges = edges_of(n, degree, kind)
    arrangement = arrange(n, edges)
    return edges, arrangement, arrangement.place(random_sizes(n))


def points_of(curve: Floats, per_piece: int = 30) -> Floats:
    """Points along a chain of cubic curves."""
    t = np.linspace(0, 1, per_piece)[:, None]
    pieces = [curve[k : k + 4] for k in range(0, len(curve) - 1, 3)]
    return np.vstack(
        [
            (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d
            for a, b, c, d in pieces
        ]
    )


class TestLayers:
    def test_shortest_total_length_of_all_layerings(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(20):
            edges = np.argwhere(random_dag(rng, 5))
            found = assign_layers(5, edges)
            height = int(found.max()) + 1
            drops = found[edges[:, 1]] - found[edges[:, 0]]
            assert (drops >= 1).all()
            best = min(
                sum(y[j] - y[i] for i, j in edges)
                for y in product(range(height), repeat=5)
                if all(y[j] > y[i] for i, j in edges)
            )
            assert drops.sum() == best

    def test_no_more_layers_than_the_longest_path_needs(self) -> None:
        chain = np.array([(k, k + 1) for k in range(5)])
        assert assign_layers(6, chain).tolist() == [0, 1, 2, 3, 4, 5]


class TestCrossings:
    @pytest.mark.parametrize("seed", range(5))
    def test_the_count_is_that_of_all_pairs(self, seed: int) -> None:
        arrangement = arrange(12, edges_of(12, 4, "er", seed))
        graph = arrangement.graph
        for layers in arrangement.parts:
            place = {v: k for layer in layers for k, v in enumerate(layer)}
            links = [link for link in graph.links() if link[0] in place]
            crossed = sum(
                (place[a] - place[c]) * (place[b] - place[d]) < 0
                for (a, b), (c, d) in combinations(links, 2)
                if graph.layer[a] == graph.layer[c]
            )
            assert count_crossings(graph, layers) == crossed

    def test_a_tree_has_none(self) -> None:
        tree = np.array([((k - 1) // 2, k) for k in range(1, 31)])
        shuffled = np.random.default_rng(0).permutation(31)[tree]
        arrangement = arrange(31, shuffled)
        assert count_crossings(arrangement.graph, arrangement.parts[0]) == 0


@pytest.mark.parametrize(("n", "degree", "kind"), CASES)
class TestLayout:
    def test_edges_point_down(self, n: int, degree: float, kind: str) -> None:
        edges, _, layout = laid_out(n, degree, kind)
        y = layout.centres[:, 1]
        assert (y[edges[:, 0]] < y[edges[:, 1]]).all()

    def test_nodes_keep_their_distance_within_the_extent(
        self, n: int, degree: float, kind: str
    ) -> None:
        _, _, nominal = laid_out(n, degree, kind)
        for layout in (nominal, nominal.fitted(900, 500, stretch=1.7)):
            low, high = layout.centres - layout.sizes / 2, layout.centres + layout.sizes / 2
            assert low.min() >= -1e-6
            assert (high <= np.array(layout.extent) + 1e-6).all()
            for i, j in combinations(range(n), 2):
                gaps = np.maximum(low[i] - high[j], low[j] - high[i])
                assert gaps.max() > 8 * layout.scale

    def test_no_edge_runs_through_a_node(self, n: int, degree: float, kind: str) -> None:
        edges, _, nominal = laid_out(n, degree, kind)
        for layout in (nominal, nominal.fitted(900, 500, stretch=1.7)):
            for ends, curve in zip(edges, edge_curves(layout, edges), strict=True):
                away = np.abs(points_of(curve)[:, None] - layout.centres) - layout.sizes / 2
                clearance = np.delete(away.max(axis=2).min(axis=0), ends)
                assert clearance.min(initial=9) > layout.scale

    def test_it_is_the_same_every_time(self, n: int, degree: float, kind: str) -> None:
        _, _, first = laid_out(n, degree, kind)
        _, _, second = laid_out(n, degree, kind)
        assert np.array_equal(first.centres, second.centres)


class TestCurves:
    def test_ends_lie_on_the_borders_and_heads_at_the_ends(self) -> None:
        edges, _, layout = laid_out(20, 4, "er")
        for (i, j), curve in zip(edges, edge_curves(layout, edges), strict=True):
            for node, point, side in ((i, curve[0], 1), (j, curve[-1], -1)):
                border = layout.centres[node, 1] + side * layout.sizes[node, 1] / 2
                assert abs(point[1] - border) < 1
                assert abs(point[0] - layout.centres[node, 0]) <= layout.sizes[node, 0] / 2
            line, head = arrow(curve, length=8, width=6)
            assert np.array_equal(head[0], curve[-1])
            assert np.linalg.norm(head[1] - head[2]) == pytest.approx(6)
            assert np.linalg.norm(head[1:].mean(axis=0) - head[0]) == pytest.approx(8, abs=0.1)
            assert np.array_equal(line[0], curve[0])

    def test_a_straight_edge_is_straight(self) -> None:
        edges = np.array([(0, 1)])
        (curve,) = edge_curves(arrange(2, edges).place(np.full((2, 2), 20.0)), edges)
        assert np.ptp(curve[:, 0]) == pytest.approx(0)


class TestPacking:
    def test_boxes_do_not_overlap(self) -> None:
        rng = np.random.default_rng(0)
        boxes = rng.uniform(5, 100, (30, 2))
        corners, (width, height) = packed(boxes, aspect=1.5, gap=10)
        ends = corners + boxes
        assert corners.min() >= 0
        assert (ends <= np.array([width, height]) + 1e-9).all()
        for i, j in combinations(range(30), 2):
            apart = np.maximum(corners[i] - ends[j], corners[j] - ends[i])
            assert apart.max() >= 10 - 1e-9


class TestLabels:
    def test_long_names_are_broken_where_words_end(self) -> None:
        assert wrapped("systolic blood pressure", 14, 2) == "systolic blood\npressure"
        assert wrapped("body_mass_index", 10, 2) == "body_mass_\nindex"
        assert wrapped("bodyMassIndex", 9, 2) == "bodyMass\nIndex"
        assert wrapped("short", 14, 2) == "short"

    def test_what_is_too_long_loses_its_middle(self) -> None:
        assert wrapped("x" * 10_000, 7, 1) == "xxxx…xx"
        assert wrapped("expression_of_gene_A12", 14, 2) == "expression_of_\ngene_A12"
        assert wrapped("unbreakableandlong12", 10, 3) == "unbrea…g12"

    def test_controls_are_not_written(self) -> None:
        assert readable("line\nbreak\ttab\r\0") == "line break tab"
        assert readable("\u202etxet\ufeff") == "txet"
        assert readable("\x01") == "\N{REPLACEMENT CHARACTER}"

    def test_labels_stay_distinct_and_short(self) -> None:
        names = [*HOSTILE, "x" * 9_999, "x" * 9_998, "y" * 40 + "1" + "y" * 40]
        for width, lines in ((20, 3), (14, 2), (9, 2), (6, 1)):
            texts = label_texts(names, width, lines)
            assert len(set(texts)) == len(names)
            assert max(len(line) for text in texts for line in text.split("\n")) <= width + 6
            assert max(text.count("\n") for text in texts) < lines


def test_the_solver_gets_indices_that_every_scipy_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those of SciPy 1.13 and 1.14 refuse 64 bits.
    given = []

    def watched(*arguments: Any, constraints: Any, **options: Any) -> Any:
        given.append(constraints.A)
        return milp(*arguments, constraints=constraints, **options)

    monkeypatch.setattr("scipy.optimize.milp", watched)
    assign_layers(3, np.array([[0, 1], [1, 2], [0, 2]]))
    assert [given[0].indices.dtype, given[0].indptr.dtype] == [np.int32, np.int32]


@pytest.mark.parametrize("fault", ["raises", "gives up"])
def test_a_solver_that_fails_costs_no_picture(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        if fault == "raises":
            raise ValueError("Buffer dtype mismatch, expected 'int' but got 'long'")
        return SimpleNamespace(status=1, x=np.zeros(4))

    monkeypatch.setattr("scipy.optimize.milp", failing)
    edges = np.array([[0, 1], [1, 2], [0, 3]])
    np.testing.assert_array_equal(assign_layers(4, edges), [0, 1, 2, 1])


def test_variables_without_edges_stand_in_rows_below_the_rest() -> None:
    """Thirty lonely variables beside a chain of three: they must neither shrink nor surround it."""
    n = 33
    edges = np.array([[5, 9], [9, 20]])
    layout = arrange(n, edges).place(np.tile([40.0, 20.0], (n, 1)))
    joined = np.isin(np.arange(n), edges)
    alone = layout.centres[~joined]
    assert alone[:, 1].min() > layout.centres[joined, 1].max()
    rows = np.unique(alone[:, 1])
    assert len(rows) < 6
    for row in rows:
        assert (np.diff(alone[alone[:, 1] == row, 0]) > 40).all(), "in the order of columns"


def test_tall_graphs_of_a_page_are_drawn_as_wide_as_the_window() -> None:
    """Thirty layers of a box each, as of a table in which everything is linked."""
    n = 30
    edges = np.array([(i, j) for i in range(n) for j in (i + 1, i + 2) if j < n])
    scene = page_scene([f"v{k}" for k in range(n)], edges)
    assert scene is not None
    width, height = scene.layout.extent
    inked = np.concatenate([scene.layout.centres, *scene.layout.bends])
    assert width == pytest.approx(1.5 * height)
    assert np.ptp(inked[:, 0]) > 3.2 * np.ptp(_unstretched(n, edges)[:, 0])


def _unstretched(n: int, edges: Edges) -> Floats:
    scene = page_scene([f"v{k}" for k in range(n)], edges)
    assert scene is not None
    placed = arrange(n, edges).place(scene.growth * scene.layout.sizes)
    return np.concatenate([placed.centres, *placed.bends])
