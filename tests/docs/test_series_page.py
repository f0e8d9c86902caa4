"""The page on time series shows the stored results."""

from __future__ import annotations

from benchmarks.series import PAGE, page


def test_the_page_shows_the_stored_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
