"""The graph and its controls do what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import qwo
from qwo.graph import ancestors, descendants, markov_boundary
from tests.helpers.reports import example


def test_shows_every_variable_and_edge(report: Any) -> None:
    assert report.graph("cy.nodes().length") == 12
    assert report.graph("cy.edges().length") == report.arguments["discovery"].n_edges
    assert report.graph(
        "cy.edges('.directed').every(e =>e.style('target-arrow-shape') === 'triangle')"
    )
    assert report.graph(
        "cy.edges('.undirected').every(e =>e.style('target-arrow-shape') === 'none')"
    )
    undirected = int((report.cpdag == 2).sum()) // 2
    assert len(report.ids("edge.undirected")) == undirected > 0
    assert "the data cannot tell the direction" in report.page.locator(".legend").inner_text()


def test_bends_are_where_the_layout_puts_them(report: Any) -> None:
    bends = report.data()["layout"]["bends"]
    bent = next(e for e, points in enumerate(bends) if points)
    drawn = report.graph(f"cy.getElementById('e{bent}').segmentPoints().map(p => [p.x, p.y])")
    np.testing.assert_allclose(drawn, bends[bent], atol=0.5)


@pytest.mark.parametrize(
    ("slider", "key", "scale", "value"),
    [("#least-link", "link", 100, 60), ("#least-coefficient", "standardized", 1, 0.4)],
)
def test_sliders_hide_edges(report: Any, slider: str, key: str, scale: float, value: float) -> None:
    edges = report.data()["edges"]
    expected = {e for e, edge in enumerate(edges) if abs(edge[key]) * scale >= value}
    assert 0 < len(expected) < len(edges)
    report.slide(slider, value)
    assert report.ids("edge[id]") - report.ids("edge.absent") == expected
    assert report.page.locator("#shown").inner_text().startswith(f"{len(expected)} of {len(edges)}")
    report.page.click("#reset")
    assert report.ids("edge.absent") == set()
    assert report.page.locator(slider).input_value() == "0"


def test_both_sliders_hide_together_and_isolated_variables_follow(report: Any) -> None:
    report.slide("#least-link", 90)
    report.slide("#least-coefficient", 0.5)
    edges = report.data()["edges"]
    kept = [e for e in edges if e["link"] >= 0.9 and abs(e["standardized"]) >= 0.5]
    ends = {edge[end] for edge in kept for end in ("source", "target")}
    assert report.ids("node.absent") == set()
    report.page.check("#hide-isolated")
    names = report.arguments["discovery"].names
    assert report.ids("node.absent") == {v for v, name in enumerate(names) if name not in ends}


def test_the_arrow_slider_hides_doubtful_arrows_alone(report: Any) -> None:
    edges = report.data()["edges"]
    report.slide("#least-arrow", 50)
    kept = {e for e, edge in enumerate(edges) if edge["type"] == "---" or edge["arrow"] >= 0.5}
    assert 0 < len(kept) < len(edges)
    assert report.ids("edge[id]") - report.ids("edge.absent") == kept


def test_arrows_that_are_a_coin_toss_have_hollow_heads(report: Any) -> None:
    edges = report.data()["edges"]
    tosses = {e for e, edge in enumerate(edges) if edge["coin_toss"]}
    assert tosses
    assert report.ids("edge.toss") == tosses
    assert report.ids("edge[id]") - tosses == {
        int(e)
        for e in report.graph(
            "cy.edges().filter(e => e.style('target-arrow-fill') === 'filled')"
            ".map(e => e.id().slice(1))"
        )
    }
    report.press(f"[data-edge='{min(tosses)}']")
    assert "direction is not settled" in report.details()


def test_reset_clears_the_search(report: Any) -> None:
    report.page.fill("#find", "v1")
    report.page.press("#find", "Enter")
    report.page.click("#reset")
    assert report.page.locator("#find").input_value() == ""
    assert report.page.locator("#matches").inner_text() == ""
    assert report.ids("node.match") == report.ids("node.selected") == set()


def test_search_selects_by_name(report: Any) -> None:
    report.page.fill("#find", "v1")
    assert report.ids("node.match") == {1, 10, 11}
    assert "3 variables" in report.page.locator("#matches").inner_text()
    assert report.page.locator("#match-list button").all_inner_texts() == ["V1", "V10", "V11"]
    report.page.press("#find", "Enter")
    assert report.ids("node.selected") == {1}
    report.page.press("#find", "Enter")
    assert report.ids("node.selected") == {10}
    report.page.click("#match-list button >> nth=2")
    assert report.ids("node.selected") == {11}
    report.page.fill("#find", "nothing like it")
    assert report.ids("node.match") == set()
    assert "No variable" in report.page.locator("#matches").inner_text()


@pytest.mark.parametrize("relation", ["ancestors", "descendants", "boundary", "neighbours"])
def test_highlights_relatives(report: Any, relation: str) -> None:
    discovery = report.arguments["discovery"]
    cpdag, arrows = discovery.cpdag, (discovery.cpdag == 1).astype(np.int8)
    report.page.select_option("#relation", relation)
    for v in range(discovery.n_variables):
        report.press(f"[data-variable='{v}']")
        loose = (cpdag != 0).astype(np.int8)
        sure, possible = {
            "ancestors": (ancestors(arrows, v), ancestors(loose, v)),
            "descendants": (descendants(arrows, v), descendants(loose, v)),
            "boundary": (markov_boundary(discovery.dag, v),) * 2,
            "neighbours": (
                np.flatnonzero(arrows[v] | arrows[:, v]),
                np.flatnonzero(loose[v] | loose[:, v]),
            ),
        }[relation]
        assert report.ids("node.selected") == {v}
        assert report.ids("node.sure") == set(sure.tolist())
        assert report.ids("node.possible") == set(possible.tolist()) - set(sure.tolist())


def test_a_click_on_an_edge_tells_all_about_it(report: Any) -> None:
    edges = report.data()["edges"]
    # Where two edges cross, either may be meant: take one that is alone at its middle.
    for e in range(len(edges)):
        report.page.mouse.click(*report.on_screen(f"e{e}"))
        if report.ids("edge.selected") == {e}:
            break
    assert report.ids("edge.selected") == {e}
    edge, text = edges[e], report.details()
    for key in ("coefficient", "standard_error", "standardized"):
        assert f"{edge[key]:.3f}" in text
    for key in ("link", "arrow", "reverse", "undirected"):
        assert f"{100 * edge[key]:.0f} %" in text
    assert edge["source"] in text
    assert edge["target"] in text
    assert report.page.locator("[data-table=edges] tr.selected").get_attribute("data-row") == str(e)


def test_a_click_on_a_variable_selects_it_and_one_beside_lets_go(report: Any) -> None:
    report.page.mouse.click(*report.on_screen("n4"))
    assert report.ids("node.selected") == {4}
    assert report.details().startswith("V4")
    assert "R²" in report.details()
    box = report.page.locator("#canvas").bounding_box()
    report.page.mouse.click(box["x"] + box["width"] - 5, box["y"] + 5)
    assert report.ids("node.selected") == set()
    assert "Click a variable" in report.details()


def test_details_lead_from_a_variable_to_its_edges_and_on(report: Any) -> None:
    report.page.click("[data-variable='4']")
    first = report.page.locator("#details li button").last
    first.click()
    (e,) = report.ids("edge.selected")
    edge = report.data()["edges"][e]
    assert "V4" in (edge["source"], edge["target"])
    report.page.locator("#details h3 button").first.click()
    assert report.details().startswith(edge["source"])


def test_nodes_can_be_dragged_and_put_back(report: Any) -> None:
    before = report.graph("cy.getElementById('n3').position()")
    x, y = report.on_screen("n3")
    report.page.mouse.move(x, y)
    report.page.mouse.down()
    report.page.mouse.move(x + 40, y + 25, steps=4)
    report.page.mouse.up()
    after = report.graph("cy.getElementById('n3').position()")
    zoom = report.graph("cy.zoom()")
    assert after["x"] - before["x"] == pytest.approx(40 / zoom, abs=4)
    assert after["y"] - before["y"] == pytest.approx(25 / zoom, abs=4)
    report.page.click("#reset")
    assert report.graph("cy.getElementById('n3').position()") == before


def test_zoom_by_buttons_and_wheel(report: Any) -> None:
    start = report.graph("cy.zoom()")
    report.page.click("#zoom-in")
    assert report.graph("cy.zoom()") == pytest.approx(1.4 * start)
    report.page.click("#zoom-out")
    report.page.click("#zoom-out")
    assert report.graph("cy.zoom()") == pytest.approx(start / 1.4)
    report.page.click("#fit-view")
    assert report.graph("cy.zoom()") == pytest.approx(start)
    box = report.page.locator("#canvas").bounding_box()
    report.page.mouse.move(box["x"] + 30, box["y"] + 200)
    report.page.mouse.wheel(0, 120)
    assert report.graph("cy.zoom()") == pytest.approx(start), "the page scrolls past the graph"
    report.page.locator("#canvas").focus()
    report.page.evaluate("scrollTo(0, 0)")
    # The wheel goes on scrolling for a moment where it has just scrolled.
    for _ in range(50):
        report.page.mouse.wheel(0, -60)
        report.page.wait_for_timeout(100)
        if report.graph("cy.zoom()") > 1.01 * start:
            break
    assert report.graph("cy.zoom()") > 1.01 * start


def test_colours_show_sign_or_support(report: Any) -> None:
    edges = report.data()["edges"]
    signs = [edge["standardized"] >= 0 for edge in edges]
    assert report.page.input_value("#colour") == "link"
    report.page.select_option("#colour", "sign")
    colours = report.graph("cy.edges().map(e => e.style('line-color'))")
    assert len({colour for colour, sign in zip(colours, signs, strict=True) if sign}) == 1
    assert len(set(colours)) == len(set(signs)) == 2
    assert report.page.locator(".by-sign").first.is_visible()
    report.page.select_option("#colour", "link")
    shades = report.graph("cy.edges().map(e => e.style('line-color'))")
    assert len(set(shades)) == len({edge["link"] for edge in edges})
    assert not report.page.locator(".by-sign").first.is_visible()
    assert report.page.locator(".by-link").is_visible()
    report.page.select_option("#colour", "arrow")
    shades = report.graph("cy.edges('.directed').map(e => e.style('line-color'))")
    arrows = {edge["arrow"] for edge in edges if edge["type"] == "-->"}
    assert len(set(shades)) == len(arrows)
    assert report.page.locator(".by-arrow").is_visible()


def test_a_report_of_the_graph_alone_has_no_sliders(
    open_report: Any, small: dict[str, Any]
) -> None:
    report = open_report({"discovery": small["discovery"]})
    assert report.page.locator("input[type=range]").count() == 0
    report.page.click("[data-edge='0']")
    assert report.ids("edge.selected") == {0}
    assert "Coefficient" not in report.details()


def test_a_name_is_shown_where_the_pointer_is(open_report: Any) -> None:
    report = open_report(example(300, degree=2))
    pointed = report.page.locator("#pointed")
    assert not pointed.is_visible()
    report.page.evaluate("document.getElementById('graph').scrollIntoView()")
    for v in (7, 150, 299):
        x, y = report.on_screen(f"n{v}")
        report.page.mouse.move(x - 3, y)
        report.page.mouse.move(x, y)
        pointed.wait_for(state="visible")
        assert pointed.inner_text() == f"V{v}"
    box = report.page.locator("#canvas").bounding_box()
    report.page.mouse.move(box["x"] + 3, box["y"] + 3)
    assert not pointed.is_visible()


def test_labels_of_a_dense_graph_can_be_read(open_report: Any) -> None:
    names = tuple(f"variable_{k}" for k in range(31))
    report = open_report(example(31, names=names, degree=14))
    zoom = report.graph("cy.zoom()")
    assert zoom < 0.7
    sizes = report.graph("cy.nodes().map(v => parseFloat(v.style('font-size')) * cy.zoom())")
    assert min(sizes) >= 8.5  # pixels; most have 11, where there is room
    assert report.graph(
        "cy.nodes().every(a => cy.nodes().every(b => { if (a === b) return true;"
        "const [p, q] = [a.position(), b.position()];"
        "return Math.abs(p.x - q.x) >= (a.width() + b.width()) / 2 ||"
        "Math.abs(p.y - q.y) >= (a.height() + b.height()) / 2; }))"
    ), "boxes do not touch"


def test_what_is_tapped_on_a_telephone_is_told_in_view(
    open_report: Any, small: dict[str, Any]
) -> None:
    report = open_report(
        small, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    report.page.evaluate("document.getElementById('graph').scrollIntoView()")
    report.page.touchscreen.tap(*report.on_screen("n4"))
    report.page.wait_for_function("document.querySelector('#details h3')")
    assert report.details().startswith("V4")
    heading = report.page.locator("#details h3").bounding_box()
    assert 0 < heading["y"] < 844 - heading["height"]


def test_a_telephone_begins_with_a_neighbourhood(open_report: Any) -> None:
    """The busiest of many variables and what is beside it, in view and large enough to read."""
    report = open_report(
        example(24), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    busiest = report.graph("cy.nodes().max(v => v.connectedEdges().not('.absent').length).ele.id()")
    near = f"cy.getElementById({busiest!r}).closedNeighborhood('node')"
    inside = "(b => b.x1 >= 0 && b.y1 >= 0 && b.x2 <= cy.width() && b.y2 <= cy.height())"
    assert report.graph(f"{near}.every(v => {inside}(v.renderedBoundingBox()))")
    assert not report.graph(f"cy.nodes().every(v => {inside}(v.renderedBoundingBox()))")
    assert report.graph(f"{near}.map(v => parseFloat(v.style('font-size')) * cy.zoom())[0]") >= 8.5
    assert report.details().startswith(f"V{busiest[1:]}")


def test_the_sliders_go_by_probabilities_or_by_resamples(
    open_report: Any, small: dict[str, Any]
) -> None:
    data, _, _ = qwo.simulate("er", n_variables=12, n_samples=40, degree=3, random_state=1)
    found = qwo.posterior(
        qwo.Moments.from_data(data, names=small["discovery"].names), n_draws=200, random_state=1
    )
    report = open_report({**small, "posterior": found})
    edges = report.data()["edges"]
    for judge, key in (("posterior", "p_link"), ("bootstrap", "link")):
        report.page.locator("#judge").select_option(judge)
        report.slide("#least-link", 70)
        expected = {e for e, edge in enumerate(edges) if edge[key] >= 0.7}
        assert 0 < len(expected) < len(edges)
        assert report.ids("edge[id]") - report.ids("edge.absent") == expected
    report.press("[data-edge='0']")
    assert "90 % interval" in report.details()
    header = report.download("csv").decode().splitlines()[0]
    assert header.endswith("undirected,p_link,p_arrow,p_reverse,p_undirected,coin_toss")


def test_a_tangle_opens_with_its_surest_edges_and_says_so(open_report: Any) -> None:
    report = open_report(example(40, degree=10))
    edges = report.data()["edges"]
    assert len(edges) > 150
    told = report.page.locator("#shown").inner_text()
    shown = int(told.split()[0])
    assert 0 < shown <= 150
    assert told == f"{shown} of {len(edges)} edges shown; move the sliders to see the others"
    report.slide("#least-link", 0)
    assert report.page.locator("#shown").inner_text() == f"{len(edges)} of {len(edges)} edges shown"


def test_links_below_a_half_are_faint(report: Any) -> None:
    weak = {e for e, edge in enumerate(report.data()["edges"]) if edge["link"] < 0.5}
    assert weak
    assert report.ids("edge.weak") == weak
