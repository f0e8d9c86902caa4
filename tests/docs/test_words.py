"""The words of a reader's field: phrases that she would stumble over are nowhere to be met."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qwo.cli import app

ROOT = Path(__file__).parents[2]
PLACES = [
    ROOT / "README.md",
    *(
        p
        for folder in ("howto", "tutorials", "concepts")
        for p in (ROOT / "docs" / folder).glob("*")
    ),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "src" / "qwo").rglob("*.py"),
    *(ROOT / "src" / "qwo" / "report" / "templates").iterdir(),
    *(ROOT / "web" / "src").glob("*.ts"),
]
PHRASES = (
    "coin toss",
    "in any order by nature",
    "and no category",
    "change of shares",
    "every edge of the variable dearer",
    "worth its price",
    "Text is so anyway",
    "at length.",
    "would bear a price",
    "how well it rings",
    "taken for granted",
    "takes for granted",
    "expected false:",
    "takes them for missing",
    "takes them for categories",
    "could not be had",
    "where they pay",
    "mend the line",
    "makes it no variable",
    "stay unseen",
    "can do with that",
    "at the very least",
    "chance look like structure",
)


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_page_or_message_has_it(phrase: str) -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in PLACES
        if path.suffix in (".md", ".py", ".html", ".ts")
        and phrase.lower() in " ".join(path.read_text(encoding="utf-8").split()).lower()
    ]
    assert not found


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md", "docs/cli.md"])
def test_a_penalty_is_no_price(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall(r"\bprices?\b", text)) <= 1


@pytest.mark.parametrize("command", ["learn", "audit", "check", "bootstrap", "posterior"])
def test_help_is_in_plain_words(command: str) -> None:
    text = CliRunner().invoke(app, [command, "--help"]).output
    for word in ("price", "cure", "rings", "granted"):
        assert not re.search(rf"\b{word}\b", text), word
