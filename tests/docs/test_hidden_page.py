"""The page on hidden causes says what the stored results say."""

from benchmarks.hidden_page import PAGE, page


def test_the_page_is_made_of_the_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
