"""Everything can be reached and worked without a mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def test_arrow_keys_walk_the_graph(report: Any) -> None:
    page = report.page
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowDown")
    (first,) = report.ids("node.selected")
    height = "cy.getElementById('n{}').position('y')"
    tops = [report.graph(height.format(v)) for v in range(12)]
    assert tops[first] == min(tops)
    page.keyboard.press("ArrowDown")
    (second,) = report.ids("node.selected")
    assert report.arguments["discovery"].dag[first, second] == 1
    page.keyboard.press("ArrowUp")
    (back,) = report.ids("node.selected")
    assert report.arguments["discovery"].dag[back, second] == 1
    page.keyboard.press("ArrowRight")
    (beside,) = report.ids("node.selected")
    assert report.graph(f"cy.getElementById('n{beside}').position('x')") > report.graph(
        f"cy.getElementById('n{back}').position('x')"
    )
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "details"
    page.locator("#canvas").focus()
    page.keyboard.press("Escape")
    assert report.ids("node.selected") == set()


def test_keys_zoom_and_move_the_view(report: Any) -> None:
    page = report.page
    page.locator("#canvas").focus()
    start, pan = report.graph("cy.zoom()"), report.graph("cy.pan()")
    page.keyboard.press("+")
    assert report.graph("cy.zoom()") > start
    page.keyboard.press("-")
    assert report.graph("cy.zoom()") == pytest.approx(start)
    page.keyboard.press("Shift+ArrowRight")
    assert report.graph("cy.pan()")["x"] == pytest.approx(pan["x"] - 60)
    page.keyboard.press("0")
    assert report.graph("cy.pan()")["x"] == pytest.approx(pan["x"])


def test_controls_follow_one_another_by_tab(report: Any) -> None:
    page = report.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    seen = []
    for _ in range(23):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
    wanted = [
        "zoom-in", "zoom-out", "fit-view", "reset", "canvas", "find", "relation",
        "least-link", "least-arrow", "least-coefficient", "colour", "hide-isolated",
    ]  # fmt: skip
    assert [name for name in seen if name in wanted] == wanted


def test_sliders_move_by_keys(report: Any) -> None:
    page = report.page
    page.locator("#least-link").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#least-link-value").inner_text() == "1 %"
    page.keyboard.press("End")
    edges = report.data()["edges"]
    full = sum(edge["link"] >= 1 for edge in edges)
    assert page.locator("#shown").inner_text() == f"{full} of {len(edges)} edges shown"


def test_tables_sort_by_keys(report: Any) -> None:
    button = report.page.locator("[data-table=edges] th button").nth(3)
    button.focus()
    report.page.keyboard.press("Enter")
    head = report.page.locator("[data-table=edges] th").nth(3)
    assert head.get_attribute("aria-sort") == "descending"
    report.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_report: Any, small: dict[str, Any], scheme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; make report-bundle installs it")
    report = open_report(small, color_scheme=scheme)
    report.page.evaluate(AXE.read_text("utf-8"))
    for step in ("", "document.querySelector('[data-edge]').click()"):
        if step:
            report.page.evaluate(step)
        found = report.page.evaluate("axe.run().then((result) => result.violations)")
        assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
