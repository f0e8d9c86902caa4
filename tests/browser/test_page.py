"""The page as a whole: quiet, safe, light and dark, narrow, on paper, and without scripts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest

import qwo.report.page
from tests.helpers.reports import HOSTILE_NAMES, example

BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def test_sections_are_there(open_report: Callable[..., Any], small: Any) -> None:
    report = open_report(small | {"figures": True})
    headings = report.page.locator("h2").all_inner_texts()
    assert headings == [
        "Graph",
        "Worth knowing",
        "Edges",
        "Variables",
        "Stability",
        "Fit of the linear model",
        "Data",
        "Search",
        "Figures",
        "Reproduce",
    ]
    assert report.page.locator("#command").inner_text() == "qwo learn data.csv --seed 7"
    for link in report.page.locator("nav a").all():
        assert report.page.locator(link.get_attribute("href")).count() == 1


def test_hostile_names_are_only_text(open_report: Callable[..., Any], hostile: Any) -> None:
    report = open_report(hostile)
    page = report.page
    assert page.title() == "</title><script>alert(3)</script>"
    assert page.locator("script").count() == 2
    assert page.locator("img[src=x]").count() == 0
    names = page.locator("[data-table=variables] tbody td:first-child").all_inner_texts()
    # The browser folds white space, as it does in any text.
    assert [" ".join(name.split()) for name in names] == [
        " ".join(name.split()) for name in HOSTILE_NAMES
    ]
    for v, name in enumerate(HOSTILE_NAMES):
        page.fill("#find", name.replace("\n", " ") if "\n" not in name else "break")
        assert v in report.ids("node.match")
        report.press(f"[data-variable='{v}']")
        heading = page.locator("#details h3").inner_text()
        assert " ".join(heading.split()) == " ".join(name.split())
    for e in range(len(report.data()["edges"])):
        report.press(f"[data-edge='{e}']")
    assert page.evaluate("({}).polluted === undefined && Object.keys({}).length === 0")


def test_theme_follows_the_system_until_chosen(open_report: Callable[..., Any], small: Any) -> None:
    report = open_report(small | {"figures": True}, color_scheme="light")
    page = report.page
    node = "cy.getElementById('n0').style('background-color')"
    figure = "getComputedStyle(document.querySelector('#figures svg text')).fill"
    light, light_node, light_text = (
        page.evaluate(BACKGROUND),
        report.graph(node),
        page.evaluate(figure),
    )
    page.emulate_media(color_scheme="dark")
    # Scripts hear of it with the next frame.
    page.locator("#theme[aria-pressed=true]").wait_for()
    dark, dark_node = page.evaluate(BACKGROUND), report.graph(node)
    assert dark != light
    assert dark_node != light_node
    assert page.evaluate(figure) != light_text
    page.click("#theme")
    assert page.evaluate(BACKGROUND) == light
    assert report.graph(node) == light_node
    assert page.locator("#theme").get_attribute("aria-pressed") == "false"
    assert page.evaluate(figure) == light_text
    page.click("#theme")
    assert page.evaluate(BACKGROUND) == dark


@pytest.mark.parametrize("width", [340, 700, 1600])
def test_fits_any_width(open_report: Callable[..., Any], hostile: Any, width: int) -> None:
    report = open_report(hostile, viewport={"width": width, "height": 800})
    assert report.page.evaluate("document.scrollingElement.scrollWidth") <= width
    assert report.page.locator("#canvas").bounding_box()["width"] > 0.55 * width - 60


def test_paper_shows_the_still_picture(report: Any) -> None:
    page = report.page
    assert not page.locator(".still").is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".still svg").is_visible()
    assert not page.locator("#canvas").is_visible()
    assert not page.locator(".downloads").is_visible()
    assert page.locator("[data-table=edges] tbody tr").first.is_visible()


def test_works_without_scripts(open_report: Callable[..., Any], small: Any) -> None:
    report = open_report(small, java_script_enabled=False)
    assert report.page.locator(".still svg").is_visible()
    assert not report.page.locator("#canvas").is_visible()
    rows = report.page.locator("[data-table=edges] tbody tr")
    assert rows.count() == small["discovery"].n_edges
    assert not report.page.locator("[data-edge]").first.is_visible()


def test_falls_back_where_npm_was_missing(
    open_report: Callable[..., Any], hostile: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qwo.report.page, "find_bundle", lambda: None)
    report = open_report(hostile)
    page = report.page
    assert page.locator("script").count() == 0
    assert "built without npm" in page.locator("#without-bundle").inner_text()
    assert page.locator(".still svg").is_visible()
    assert page.locator(".still svg .node").count() == len(HOSTILE_NAMES)
    assert page.locator("[data-table=edges] tbody tr").count() == hostile["discovery"].n_edges


def test_a_thousand_variables_stay_responsive(open_report: Callable[..., Any]) -> None:
    report = open_report(example(1000))
    page = report.page
    assert report.graph("cy.nodes().length") == 1000
    frames = page.evaluate(
        """async () => {
          const cy = document.getElementById("canvas")._cyreg.cy;
          const times = [];
          for (let k = 0; k < 20; k++) {
            const start = performance.now();
            cy.zoom({ level: 0.2 * 1.1 ** k, renderedPosition: { x: 300, y: 300 } });
            cy.panBy({ x: 10, y: 5 });
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            times.push(performance.now() - start);
          }
          return times;
        }"""
    )
    # A laptop takes some 30 ms; the bound leaves room for a busy machine without a graphics card.
    assert sorted(frames)[10] < 1500
    for action in (
        "document.querySelector('[data-variable=\"7\"]').click()",
        "slider.value = 80; slider.dispatchEvent(new Event('input'))",
        "document.querySelector('[data-table=edges] th:nth-child(4) button').click()",
        "document.getElementById('theme').click()",
    ):
        spent = page.evaluate(
            "() => { const slider = document.getElementById('least-link');"
            f"const start = performance.now(); {action}; return performance.now() - start; }}"
        )
        assert spent < 5000, action
    image = report.download("png")
    assert max(struct.unpack(">II", image[16:24])) <= 5001
    page.fill("#find", "V999")
    page.press("#find", "Enter")
    assert report.ids("node.selected") == {999}
    assert 0 < report.on_screen("n999")[0] < 1280


@pytest.mark.parametrize("title", ["short", "a title of many lines " * 16])
def test_the_graph_ends_within_the_window_whatever_is_above_it(
    open_report: Callable[..., Any], small: Any, title: str
) -> None:
    report = open_report(small | {"title": title}, viewport={"width": 1400, "height": 1000})
    report.page.evaluate("document.getElementById('filters').removeAttribute('open')")
    stage = report.page.locator(".stage").bounding_box()
    assert 940 <= stage["y"] + stage["height"] <= 1000
