"""The page on assumptions says what goes together as it is when tried."""

from __future__ import annotations

from qwo.discovery.readings import APART, DROPPED
from qwo.options import DROPPING
from tests.docs.together import PAGE, stored, tables


def test_the_tables_are_what_each_pair_of_options_gives() -> None:
    assert stored() == tables()


def test_every_option_that_drops_an_assumption_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert set(DROPPED) <= set(DROPPING)
    for option in DROPPED:
        assert f"`{option}" in text
    for pair, reason in APART.items():
        assert len(pair) == 2
        assert reason
