"""Numbers in the page's prose come from the results; what is written there by hand are settings."""

from __future__ import annotations

import re
from importlib.resources import files

SETTINGS = {
    "the experiments' own settings": {"10,000", "500", "2", "3", "4", "5", "8", "10", "20", "0.5"},
    "dense graphs have weights in ±[0.1, 0.3]": {"0.1", "0.3"},
    "levels, intervals, formulas": {"95", "1", "0", "2024", "0.1.4.8"},
}


def test_every_number_in_the_prose_is_a_setting() -> None:
    text = files("qwo.reproduction").joinpath("templates", "page.md.j2").read_text("utf-8")
    prose = re.sub(r"{{.*?}}|{%.*?%}|`[^`]*`|\(#?[\w./-]*\)", "", text, flags=re.DOTALL)
    numbers = set(re.findall(r"(?<![\w.^])\d[\d.,]*\d|(?<![\w.^])\d", prose))
    assert numbers <= set().union(*SETTINGS.values())
