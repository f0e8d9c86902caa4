"""Tables sort, filter, grow, and lead to the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.helpers.reports import example


def column(report: Any, table: str, k: int) -> list[str]:
    cells = report.page.locator(f"[data-table={table}] tbody td:nth-child({k + 1})")
    result: list[str] = [text.strip() for text in cells.all_inner_texts()]
    return result


def test_numbers_sort_by_value(report: Any) -> None:
    edges = report.data()["edges"]
    head = report.page.locator("[data-table=edges] th button", has_text="Coefficient")
    expected = sorted((edge["coefficient"] for edge in edges), reverse=True)
    heads = report.page.locator("[data-table=edges] th").all_inner_texts()
    k = next(k for k, text in enumerate(heads) if "Coefficient" in text)
    head.click()
    assert column(report, "edges", k) == [f"{value:.3f}" for value in expected]
    head.click()
    assert column(report, "edges", k) == [f"{value:.3f}" for value in expected[::-1]]


def test_names_sort_as_people_count(report: Any) -> None:
    head = report.page.locator("[data-table=variables] th button", has_text="Variable")
    head.click()
    assert column(report, "variables", 0) == [f"V{k}" for k in range(12)]
    head.click()
    assert column(report, "variables", 0) == [f"V{k}" for k in reversed(range(12))]


def test_only_one_column_is_marked_as_sorted(report: Any) -> None:
    heads = report.page.locator("[data-table=supports] th")
    for k in (3, 4):
        heads.nth(k).locator("button").click()
        states = [heads.nth(j).get_attribute("aria-sort") for j in range(heads.count())]
        assert states == ["descending" if j == k else "none" for j in range(len(states))]


def test_filter_keeps_rows_with_the_name(report: Any) -> None:
    edges = report.data()["edges"]
    report.page.fill("[data-table=edges] .filter", "V11")
    kept = [edge for edge in edges if "V11" in (edge["source"], edge["target"])]
    assert column(report, "edges", 0) == [edge["source"] for edge in kept]
    counted = report.page.locator("[data-table=edges] .count").inner_text()
    assert counted == f"{len(kept)} of {len(edges)} rows"
    report.page.fill("[data-table=edges] .filter", "")
    assert len(column(report, "edges", 0)) == len(edges)


def test_a_row_shows_its_edge_in_the_graph(report: Any) -> None:
    report.page.locator("[data-table=edges] th button", has_text="Link wrong").click()
    row = report.page.locator("[data-table=edges] tbody tr").first
    row.locator("button").click()
    doubts = [edge["link_doubt"] for edge in report.data()["edges"]]
    assert [doubts[e] for e in report.ids("edge.selected")] == [max(doubts)]
    assert report.page.evaluate("document.activeElement.id") == "details"


def test_long_tables_start_short(open_report: Callable[..., Any]) -> None:
    report = open_report(example(150, degree=4))
    edges = len(report.data()["edges"])
    assert edges > 200
    assert len(column(report, "edges", 0)) == 100
    more = report.page.locator("[data-table=edges] .more")
    assert f"{edges - 100} left" in more.inner_text()
    more.click()
    assert len(column(report, "edges", 0)) == edges
    assert not more.is_visible()
