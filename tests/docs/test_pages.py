"""Pages that no other test runs: their python blocks and console sessions print what they show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import pytest

from qwo.datasets import load_sachs
from tests.docs.consoles import Session, read_steps, same
from tests.docs.pages import Block, read_blocks, run_block

DOCS = Path(__file__).parents[2] / "docs"
ELSEWHERE = {
    "cli.md": "test_consoles",
    "howto/bootstrap.md": "test_bootstrap_page",
    "howto/long-data.md": "test_data_howto",
    "howto/missing-data.md": "test_data_howto",
    "tutorials/first-ten-minutes.md": "test_consoles",
    "tutorials/clinical-table.md": "test_consoles",
    "tutorials/sachs.md": "test_tutorials",
}


def has_code(page: Path) -> bool:
    return bool(read_blocks(page) or [*read_steps(page)])


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


PAGES = [
    page for page in sorted(DOCS.rglob("*.md")) if name_of(page) not in ELSEWHERE and has_code(page)
]
PACKAGES = {"dask": "dask.distributed", "dowhy": "dowhy"}


class Shown(NamedTuple):
    """A block or a command: its line, what the page shows, what it printed, whether they agree."""

    line: int
    shown: str
    printed: str
    agree: bool


def run_everything(page: Path, packages: Collection[str] = ()) -> Iterator[Shown]:
    """Run blocks and commands as they follow each other on the page."""
    parts = [*read_blocks(page), *(step for step in read_steps(page) if not step.is_python)]
    session, names = Session(), dict[str, Any](__name__="__main__")
    for part in sorted(parts, key=lambda part: part.line):
        if not part.packages <= set(packages):
            continue
        if isinstance(part, Block):
            printed = run_block(part, names, page.name)
            yield Shown(part.line, part.output, printed, part.matches(printed))
        else:
            printed = session.run(part.command)
            yield Shown(part.line, part.output, printed, same(part.output, printed))


def check(page: Path, packages: Collection[str] = ()) -> None:
    for step in run_everything(page, packages):
        assert step.agree, (
            f"{page.name}, line {step.line}: the page shows\n{step.shown}\n"
            f"but this was printed:\n{step.printed}"
        )


@pytest.fixture(autouse=True)
def folder_with_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages write their files where they are, and draw without a screen.

    The first page begins with the user's table.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDULER", "")  # a page sets it; it is forgotten afterwards
    mpl.use("Agg")
    load_sachs().to_frame().to_csv("cells.csv", index=False)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_needs_nothing_else(page: Path) -> None:
    check(page)


@pytest.mark.filterwarnings("ignore")  # those of other packages are not ours to mend
@pytest.mark.parametrize(
    ("page", "package"),
    [
        pytest.param(page, package, id=f"{name_of(page)}-{package}")
        for page in PAGES
        for package in sorted(set().union(*(block.packages for block in read_blocks(page))))
    ],
)
def test_what_needs_another_package(page: Path, package: str) -> None:
    pytest.importorskip(
        PACKAGES[package], reason=f"{package} is missing: blocks of {page.name} did not run"
    )
    check(page, [package])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_block_is_overlooked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(read_blocks(page)) == text.count("```py")
    commands = [step for step in read_steps(page) if not step.is_python]
    assert len(commands) == sum(line.startswith("$ ") for line in text.splitlines())


def test_pages_that_other_tests_run_are_there() -> None:
    assert all((DOCS / page).is_file() for page in ELSEWHERE)


def test_cards_of_the_first_page_lead_to_one_page_each() -> None:
    """A second page below a link made the card's options end there."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    cards = re.findall(r":::\{grid-item-card\}.*\n((?::.*\n)*)", text)
    links = [re.search(r":link: (.*)\n:link-type: doc\n", options) for options in cards]
    assert cards
    assert all(link is not None and (DOCS / f"{link[1]}.md").is_file() for link in links)
