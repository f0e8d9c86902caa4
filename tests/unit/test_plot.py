from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import qwo
from qwo.drawing.style import DARK, LIGHT
from qwo.errors import ArgumentError, ColumnNameError, InputError, ShapeError
from qwo.estimator.penalty_path import penalty_path
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.compare import compare
from qwo.plot import (
    plot_adjacency,
    plot_comparison,
    plot_graph,
    plot_penalty_path,
    plot_trace,
)
from qwo.resample.support import coin_tosses
from tests.oracles.hostile_names import HOSTILE

mpl.use("Agg")

FUNCTIONS = (plot_graph, plot_adjacency, plot_comparison, plot_trace, plot_penalty_path)


@pytest.fixture(autouse=True)
def _no_windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("a plot called show"))
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


def random_graph(n: int, degree: float = 3, kind: str = "er", seed: int = 1) -> CausalGraph:
    """The CPDAG of a random DAG, with undirected edges where there are any."""
    _, dag, _ = qwo.simulate(
        kind, n_variables=n, n_samples=2, degree=min(degree, n - 1), random_state=seed
    )
    return CausalGraph.from_matrix(qwo.to_cpdag(dag), kind="cpdag")


def part(ax: Axes, gid: str) -> Any:
    """The one collection or patch of the given kind."""
    found = [artist for artist in (*ax.collections, *ax.patches) if artist.get_gid() == gid]
    assert len(found) == 1, gid
    return found[0]


def labels(ax: Axes) -> list[Any]:
    return [text for text in ax.texts if text.get_gid() == "label"]


def drawn(ax: Axes) -> Axes:
    ax.figure.canvas.draw()
    return ax


def legend_texts(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def path_of(names: tuple[str, ...], n_penalties: int = 6) -> SimpleNamespace:
    """Nested graphs: the k-th loses the first k edges of a chain."""
    n = len(names)
    cpdags = []
    for k in range(n_penalties):
        chain = np.zeros((n, n), dtype=np.int8)
        for i in range(min(k, n - 1), n - 1):
            chain[i, i + 1] = 1
        cpdags.append(chain)
    return a_path(np.geomspace(0.5, 16, n_penalties), cpdags, names)


def a_path(penalties: Any, cpdags: Any, names: tuple[str, ...]) -> SimpleNamespace:
    """What `penalty_path` returns, as far as a plot needs it."""
    found = [SimpleNamespace(cpdag=np.asarray(cpdag)) for cpdag in cpdags]
    return SimpleNamespace(penalties=penalties, discoveries=found, names=names)


class TestGraph:
    @pytest.mark.parametrize("kind", ["er", "scale-free"])
    @pytest.mark.parametrize("n", [2, 5, 20, 100])
    def test_every_node_edge_and_arrowhead_is_drawn(self, n: int, kind: str) -> None:
        graph = random_graph(n, kind=kind)
        ax = drawn(plot_graph(graph))
        assert len(part(ax, "nodes").get_paths()) == n
        assert len(part(ax, "edges").get_paths()) == graph.n_edges
        assert len(part(ax, "arrowheads").get_paths()) == (graph.matrix == 1).sum()
        assert [text.get_text() for text in labels(ax)] == list(graph.names)

    def test_graphs_without_edges(self) -> None:
        for n in (1, 7):
            ax = drawn(plot_graph(np.zeros((n, n))))
            assert len(part(ax, "nodes").get_paths()) == n
            assert len(part(ax, "edges").get_paths()) == 0

    def test_many_nodes_are_dots_without_labels(self) -> None:
        graph = random_graph(400, degree=2)
        ax = drawn(plot_graph(graph))
        assert not labels(ax)
        assert len(part(ax, "nodes").get_paths()) == 400
        assert len(part(ax, "edges").get_paths()) == graph.n_edges

    def test_labels_can_be_forced_and_refused(self) -> None:
        graph = random_graph(20)
        assert not labels(plot_graph(graph, labels=False))
        _, tiny = plt.subplots(figsize=(0.6, 0.6))
        assert len(labels(plot_graph(graph, labels=True, ax=tiny))) == 20

    @pytest.mark.parametrize("layout", ["layered", "layered-right"])
    @pytest.mark.parametrize(("n", "degree"), [(5, 2), (20, 2), (20, 4), (50, 3)])
    def test_labels_lie_in_their_nodes_and_nodes_apart(
        self, n: int, degree: float, layout: Any
    ) -> None:
        graph = random_graph(n, degree)
        ax = drawn(plot_graph(graph, layout=layout, coefficients=np.ones((n, n))))
        boxes = [path.get_extents(ax.transData) for path in part(ax, "nodes").get_paths()]
        frame = ax.get_window_extent()
        for text, box in zip(labels(ax), boxes, strict=True):
            written = text.get_window_extent()
            assert box.x0 <= written.x0 <= written.x1 <= box.x1
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
        legend = ax.get_legend().get_window_extent()
        assert not any(legend.overlaps(box) for box in boxes)

    def test_arrowheads_lie_outside_the_nodes(self) -> None:
        ax = plot_graph(random_graph(20, 4))
        boxes = [path.get_extents() for path in part(ax, "nodes").get_paths()]
        for head in part(ax, "arrowheads").get_paths():
            middle = head.vertices[:3].mean(axis=0)
            assert not any(box.contains(*middle) for box in boxes)

    def test_causes_are_above_or_left_of_their_effects(self) -> None:
        _, dag, _ = qwo.simulate("er", n_variables=15, n_samples=2, degree=3, random_state=0)
        for layout, axis, sign in (("layered", 1, -1), ("layered-right", 0, 1)):
            ax = plot_graph(dag, layout=layout)  # type: ignore[arg-type]
            place = np.array([text.get_position()[axis] for text in labels(ax)]) * sign
            tails, heads = np.nonzero(dag)
            assert (place[tails] < place[heads]).all()

    def test_undirected_edges_are_dashed_and_explained(self) -> None:
        ax = plot_graph([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
        (style,) = part(ax, "edges").get_linestyle()
        assert style[1] is not None
        assert len(part(ax, "arrowheads").get_paths()) == 0
        assert legend_texts(ax) == ["direction not determined"]
        (style,) = part(plot_graph([[0, 1], [0, 0]]), "edges").get_linestyle()
        assert style[1] is None

    def test_width_grows_with_the_coefficient_and_colour_shows_its_sign(self) -> None:
        dag = np.array([[0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
        ax = plot_graph(dag, coefficients=dag * [0, 0.1, -0.5, 0.9])
        edges = part(ax, "edges")
        assert np.all(np.diff(edges.get_linewidth()) > 0)
        colours = [mpl.colors.to_hex(colour) for colour in edges.get_edgecolor()]
        assert colours == [LIGHT.positive, LIGHT.negative, LIGHT.positive]
        assert legend_texts(ax)[:2] == ["positive", "negative"]
        assert "|coefficient|" in legend_texts(ax)[2]

    def test_undirected_edges_take_the_coefficient_of_either_direction(self) -> None:
        ax = plot_graph([[0, 2], [2, 0]], coefficients=[[0, 0], [-0.7, 0]])
        (colour,) = part(ax, "edges").get_edgecolor()
        assert mpl.colors.to_hex(colour) == LIGHT.negative

    def test_a_model_brings_its_coefficients(self) -> None:
        data, dag, _ = qwo.simulate("er", n_variables=6, n_samples=300, degree=2, random_state=0)
        model = qwo.fit_sem(data, dag)
        ax = plot_graph(model)
        given = plot_graph(dag, coefficients=model)
        widths = [part(drawing, "edges").get_linewidth() for drawing in (ax, given)]
        assert np.array_equal(*widths)
        assert any("standardized" in text for text in legend_texts(ax))

    def test_matrices_with_names_are_put_in_order(self) -> None:
        graph = CausalGraph.from_matrix([[0, 1], [0, 0]], ["a", "b"])
        frame = pd.DataFrame([[0, 0], [-0.5, 0]], index=["b", "a"], columns=["b", "a"])
        (colour,) = part(plot_graph(graph, coefficients=frame), "edges").get_edgecolor()
        assert mpl.colors.to_hex(colour) == LIGHT.negative

    def test_a_bootstrap_gives_hollow_heads_to_coin_tosses(self) -> None:
        dag = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=np.int8)
        shares = np.array([[0, 0.9, 0.5], [0.05, 0, 0], [0.4, 0, 0]])
        found = SimpleNamespace(
            names=("X0", "X1", "X2"),
            link_support=shares + shares.T,
            coin_tosses=coin_tosses(shares),
        )
        ax = plot_graph(dag, support=found)
        heads = next(c for c in ax.collections if c.get_gid() == "arrowheads")
        white = [bool((face[:3] == 1).all()) for face in heads.get_facecolor()]
        assert white == [False, True]
        assert "not settled" in "".join(text.get_text() for text in ax.get_legend().get_texts())
        assert [other.get_ylabel() for other in ax.figure.axes[1:]] == ["support of the link"]

    def test_a_dense_graph_of_31_variables_keeps_its_labels(self) -> None:
        dag = np.triu(np.ones((31, 31), dtype=np.int8), 1)
        ax = plot_graph(dag)
        labels = [text for text in ax.texts if text.get_gid() == "label"]
        assert len(labels) == 31
        assert min(label.get_fontsize() for label in labels) >= 3

    def test_support_has_a_colour_bar(self) -> None:
        dag = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
        ax = plot_graph(dag, support=dag * [0, 0.2, 1.0])
        weak, strong = (colour[:3].sum() for colour in part(ax, "edges").get_edgecolor())
        assert weak > strong
        assert [other.get_ylabel() for other in ax.figure.axes[1:]] == ["support of the edge"]
        only_signs = plot_graph(dag, support=dag, coefficients=dag, color_by="sign")
        assert len(only_signs.figure.axes) == 1

    def test_highlight_leaves_the_rest_faint(self) -> None:
        dag = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        ax = plot_graph(dag, highlight=["X0", 1])
        colours = [mpl.colors.to_hex(colour) for colour in part(ax, "edges").get_edgecolor()]
        assert colours == [LIGHT.edge, LIGHT.faint]
        assert labels(ax)[2].get_color() != labels(ax)[0].get_color()

    def test_node_colours_for_all_by_column_and_by_name(self) -> None:
        dag = np.array([[0, 1], [0, 0]])
        for colours, wanted in (
            ("red", ["#ff0000", "#ff0000"]),
            (["red", "blue"], ["#ff0000", "#0000ff"]),
            ({"X1": "blue"}, [LIGHT.fill, "#0000ff"]),
        ):
            ax = plot_graph(dag, node_colors=colours)  # type: ignore[arg-type]
            fills = part(ax, "nodes").get_facecolor()
            assert [mpl.colors.to_hex(fill) for fill in fills] == wanted

    def test_on_dark_ground(self) -> None:
        figure = Figure(facecolor="black")
        ax = plot_graph([[0, 1], [0, 0]], ax=figure.add_subplot(facecolor="black"))
        (colour,) = part(ax, "edges").get_edgecolor()
        assert mpl.colors.to_hex(colour) == DARK.edge

    def test_a_graph_without_consistent_extension_is_drawn(self) -> None:
        cycle = np.zeros((4, 4), dtype=np.int8)
        for i in range(4):
            cycle[i, (i + 1) % 4] = cycle[(i + 1) % 4, i] = 2
        assert len(part(plot_graph(cycle), "edges").get_paths()) == 4

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"layout": "dot"}, ArgumentError, "layout is 'dot'"),
            ({"color_by": "p"}, ArgumentError, "color_by is 'p'"),
            ({"color_by": "sign"}, ArgumentError, "needs coefficients"),
            ({"color_by": "support"}, ArgumentError, "needs support"),
            ({"coefficients": np.ones((3, 3))}, ShapeError, r"shape \(3, 3\).*\(2, 2\)"),
            ({"coefficients": [[0, np.nan], [0, 0]]}, ArgumentError, "not finite"),
            ({"coefficients": pd.DataFrame([[0]], columns=["a"])}, ColumnNameError, "'X0'"),
            ({"support": [[0, 1.5], [0, 0]]}, ArgumentError, "1.5"),
            ({"highlight": "Y"}, ColumnNameError, "'Y'"),
            ({"highlight": [7]}, ColumnNameError, "7"),
            ({"node_colors": "no such"}, ArgumentError, "'no such'"),
            ({"node_colors": ["red", "blot"]}, ArgumentError, "'blot'"),
            ({"node_colors": ["red"]}, ShapeError, "1 entries"),
            ({"node_colors": {"Y": "red"}}, ColumnNameError, "'Y'"),
        ],
    )
    def test_errors(self, options: dict[str, Any], error: type[InputError], message: str) -> None:
        with pytest.raises(error, match=message):
            plot_graph([[0, 1], [0, 0]], **options)


class TestAdjacency:
    def test_causal_order_puts_all_arrows_above_the_diagonal(self) -> None:
        data, _, _ = qwo.simulate("er", n_variables=12, n_samples=500, random_state=2)
        found = qwo.discover(data, random_state=0)
        ax = drawn(plot_adjacency(found))
        shown = np.asarray(ax.images[0].get_array())
        assert not np.tril(shown == 1).any()
        order = [text.get_text() for text in ax.get_yticklabels()]
        assert order == [found.names[v] for v in found.order]
        assert np.array_equal(shown, found.cpdag[np.ix_(found.order, found.order)])
        assert (ax.get_ylabel(), ax.get_xlabel()) == ("cause", "effect")

    def test_input_order_and_rings(self) -> None:
        graph = random_graph(8, 2)
        ax = drawn(plot_adjacency(graph, order="input"))
        assert np.array_equal(np.asarray(ax.images[0].get_array()), graph.matrix)
        assert [text.get_text() for text in ax.get_xticklabels()] == list(graph.names)
        assert len(part(ax, "undirected").get_offsets()) == (graph.matrix == 2).sum() > 0
        assert legend_texts(ax) == ["cause → effect", "direction not determined"]

    def test_coefficients_have_a_symmetric_scale(self) -> None:
        dag = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
        ax = plot_adjacency(dag, coefficients=dag * [0, 0.2, -3.0], order="input")
        assert ax.images[0].get_clim() == (-3, 3)
        assert ax.images[0].get_array().mask.sum() == 7
        assert ax.figure.axes[1].get_ylabel() == "coefficient"

    def test_without_room_there_are_no_labels(self) -> None:
        ax = drawn(plot_adjacency(np.zeros((300, 300))))
        assert not ax.get_xticklabels()
        assert "300 variables in causal order" in ax.get_xlabel()
        assert len(drawn(plot_adjacency(np.zeros((90, 90)))).get_xticklabels()) == 90

    def test_unknown_order(self) -> None:
        with pytest.raises(ArgumentError, match="order is 'size'"):
            plot_adjacency([[0]], order="size")  # type: ignore[arg-type]


class TestTrace:
    def test_steps_to_the_end_of_the_call(self) -> None:
        found = SimpleNamespace(trace=((0.1, 5.0), (0.5, 7.0), (2.0, 9.0)), seconds=4.0)
        ax = drawn(plot_trace(found))
        line = next(line for line in ax.lines if line.get_gid() == "score")
        assert line.get_drawstyle() == "steps-post"
        assert line.get_xydata().tolist() == [[0.1, 5], [0.5, 7], [2, 9], [4, 9]]
        assert ax.get_xlabel() == "time (s)"
        assert ax.texts[0].get_text() == "9 after 2 improvements"

    def test_a_single_point_and_milliseconds(self) -> None:
        ax = drawn(plot_trace(SimpleNamespace(trace=((0.002, 5.0),), status="converged")))
        assert ax.get_xlabel() == "time (ms)"
        assert ax.lines[0].get_xydata().tolist() == [[2, 5], [2, 5]]
        assert ax.texts[0].get_text() == "5 after 0 improvements, converged"

    def test_a_discovery(self) -> None:
        data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, random_state=0)
        found = qwo.discover(data, random_state=0)
        assert drawn(plot_trace(found)).texts[0].get_text().endswith("converged")

    def test_an_empty_trace(self) -> None:
        with pytest.raises(ArgumentError, match="empty"):
            plot_trace(SimpleNamespace(trace=()))


class TestPenaltyPath:
    def test_bars_and_number_of_edges(self) -> None:
        path = path_of(("a", "b", "c", "d"), n_penalties=5)
        ax = drawn(plot_penalty_path(path))
        assert part(ax, "count").get_data().values.tolist() == [3, 2, 1, 0, 0]
        assert len(part(ax, "directed").get_paths()) == 3
        assert [text.get_text() for text in ax.texts] == ["c – d", "b – c", "a – b"]
        assert ax.get_xscale() == "log"
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("penalty discount", "number of edges")

    def test_the_order_of_the_penalties_does_not_matter(self) -> None:
        path = path_of(("a", "b", "c", "d"))
        turned = SimpleNamespace(
            penalties=path.penalties[::-1], discoveries=path.discoveries[::-1], names=path.names
        )
        first, second = (part(plot_penalty_path(p), "count").get_data() for p in (path, turned))
        assert np.array_equal(first.values, second.values)
        assert np.allclose(first.edges, second.edges)

    def test_an_edge_that_comes_back_and_changes_has_a_bar_for_each_time(self) -> None:
        arrow, line, none = [[0, 1], [0, 0]], [[0, 2], [2, 0]], [[0, 0], [0, 0]]
        path = a_path([1, 2, 3, 3.5], [arrow, none, arrow, line], ("a", "b"))
        ax = drawn(plot_penalty_path(path))
        assert len(part(ax, "directed").get_paths()) == 2
        assert len(part(ax, "direction not determined").get_paths()) == 1
        assert ax.get_xscale() == "linear"

    def test_one_penalty_and_no_edges(self) -> None:
        ax = drawn(plot_penalty_path(a_path([2.0], [[[0]]], ("a",))))
        assert part(ax, "count").get_data().values.tolist() == [0]

    def test_many_adjacencies_have_no_labels(self) -> None:
        full = np.triu(np.ones((30, 30)), 1)
        path = a_path([1, 2], [full, full], tuple(f"v{k}" for k in range(30)))
        assert not plot_penalty_path(path).texts

    def test_a_path_with_the_penalty_chosen(self) -> None:
        data, _, _ = qwo.simulate("er", n_variables=6, n_samples=200, random_state=0)
        path = penalty_path(data, [1, 2, 4, 8], random_state=0)
        choice = path.choose("bic")
        for chosen in (choice, choice.penalty):
            ax = drawn(plot_penalty_path(path, chosen=chosen))
            counts = part(ax, "count").get_data().values
            assert counts.tolist() == path.n_edges[::-1].tolist()
            assert [line.get_xdata()[0] for line in ax.lines] == [choice.penalty]
            assert "chosen penalty" in legend_texts(ax)

    def test_shapes_must_agree(self) -> None:
        path = path_of(("a", "b", "c"))
        path.names = ("a", "b")
        with pytest.raises(ShapeError, match="2 names"):
            plot_penalty_path(path)


class TestComparison:
    def test_each_kind_of_difference(self) -> None:
        truth = np.zeros((6, 6), dtype=np.int8)
        truth[0, 1] = truth[1, 2] = truth[2, 3] = truth[3, 4] = 1
        estimated = truth.copy()
        estimated[1, 2] = 0
        estimated[2, 3], estimated[3, 2] = 0, 1
        estimated[3, 4] = estimated[4, 3] = 2
        estimated[0, 5] = 1
        ax = drawn(plot_comparison(estimated, truth, as_given=True))
        assert legend_texts(ax) == [
            "1 correct",
            "1 missing",
            "1 extra",
            "1 reversed",
            "1 directed in one graph only",
        ]
        edges = part(ax, "edges")
        colours = [mpl.colors.to_hex(colour) for colour in edges.get_edgecolor()]
        assert sorted(colours) == sorted(
            [LIGHT.edge, LIGHT.negative, LIGHT.positive, LIGHT.reverse, LIGHT.retyped]
        )
        dashed = [style[1] is not None for style in edges.get_linestyle()]
        assert [colour == LIGHT.negative for colour in colours] == dashed
        assert len(part(ax, "arrowheads").get_paths()) == 4

    def test_counts_are_those_of_compare(self) -> None:
        for seed in range(5):
            estimated, truth = random_graph(15, seed=seed), random_graph(15, seed=seed + 9)
            wanted = compare(estimated, truth, aid=False)
            counts = [
                int(re.match(r"\d+", text)[0])  # type: ignore[index]
                for text in legend_texts(plot_comparison(estimated, truth))
            ]
            differing = [wanted.missing, wanted.extra, wanted.reversed, wanted.retyped]
            assert counts[1:] == [len(edges) for edges in differing]
            assert counts[0] + counts[2] + counts[3] + counts[4] == estimated.n_edges

    def test_equivalent_graphs_agree_unless_taken_as_given(self) -> None:
        chain, turned = [[0, 1], [0, 0]], [[0, 0], [1, 0]]
        assert legend_texts(plot_comparison(turned, chain))[0] == "1 correct"
        assert legend_texts(plot_comparison(turned, chain, as_given=True))[3] == "1 reversed"

    def test_variables_are_matched_by_name(self) -> None:
        truth = CausalGraph.from_matrix([[0, 1], [0, 0]], ["a", "b"])
        turned = CausalGraph.from_matrix([[0, 0], [1, 0]], ["b", "a"])
        for estimated in (turned, truth.matrix):
            ax = plot_comparison(estimated, truth, as_given=True)
            assert legend_texts(ax)[0] == "1 correct"
            assert {text.get_text() for text in labels(ax)} == {"a", "b"}
        with pytest.raises(ColumnNameError):
            plot_comparison(CausalGraph.from_matrix([[0]], ["c"]), truth)

    def test_a_legend_is_optional(self) -> None:
        assert plot_comparison([[0]], [[0]], legend=False).get_legend() is None


def draw_all(names: tuple[str, ...]) -> list[Axes]:
    """Every plot of something over the given names, on new figures."""
    graph = random_graph(len(names)).renamed({f"X{k}": name for k, name in enumerate(names)})
    return [
        plot_graph(graph),
        plot_graph(graph, layout="layered-right"),
        plot_adjacency(graph),
        plot_comparison(graph, graph),
        plot_penalty_path(path_of(names)),
    ]


class TestAllPlots:
    @pytest.mark.filterwarnings("ignore:Glyph")  # the fonts of the tests lack some
    def test_hostile_names_are_drawn_as_they_are(self) -> None:
        for ax in draw_all(HOSTILE):
            drawn(ax)
        chosen = ("$x", "$a_b$", "a^b_c", "\\frac{1}{2}", "x" * 10_000, "line\nbreak", "🜚", "{0}")
        for ax in draw_all(chosen):
            drawn(ax)
            ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
            written = [text for text in [*ax.texts, *ticks] if text.get_text()]
            everything = " ".join(text.get_text() for text in written)
            assert "$a_b$" in everything
            assert "…" in everything
            assert max(len(text.get_text()) for text in written) < 80
            assert not any(text.get_parse_math() for text in written if "$" in text.get_text())

    def test_tex_is_never_used_for_names(self) -> None:
        with mpl.rc_context({"text.usetex": True}):
            ax = plot_graph([[0, 1], [0, 0]])
        assert not any(text.get_usetex() for text in labels(ax))

    def test_the_same_input_gives_the_same_picture(self) -> None:
        graph = random_graph(30)
        first, second = (part(plot_graph(graph), "edges").get_paths() for _ in range(2))
        for one, other in zip(first, second, strict=True):
            assert np.array_equal(one.vertices, other.vertices)

    def test_axes_are_used_and_returned(self) -> None:
        graph = random_graph(5)
        trace = SimpleNamespace(trace=((0.0, 1.0), (1.0, 2.0)))
        figure = Figure(figsize=(8, 6))
        calls = (
            lambda ax: plot_graph(graph, ax=ax),
            lambda ax: plot_adjacency(graph, ax=ax),
            lambda ax: plot_comparison(graph, graph, ax=ax),
            lambda ax: plot_trace(trace, ax=ax),
            lambda ax: plot_penalty_path(path_of(graph.names), ax=ax),
        )
        for place, call in enumerate(calls, start=1):
            ax = figure.add_subplot(2, 3, place)
            assert call(ax) is ax
        figure.canvas.draw()
        assert not plt.get_fignums()

    @pytest.mark.parametrize("function", FUNCTIONS)
    def test_without_matplotlib_the_error_names_the_cure(
        self, function: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        arguments = [[[0]]] * (2 if function is plot_comparison else 1)
        with pytest.raises(ModuleNotFoundError, match=r'pip install "matplotlib"'):
            function(*arguments)

    def test_importing_the_plots_does_not_import_matplotlib(self) -> None:
        program = "import sys, qwo.plot; sys.exit('matplotlib' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
