"""Every tutorial runs from top to bottom and prints what its page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import TUTORIALS, read_blocks, run_page

PAGES = sorted(TUTORIALS.glob("*.md"))
NEEDS = [
    pytest.param(page, package, id=f"{page.name}-{package}")
    for page in PAGES
    for package in sorted(set().union(*(block.packages for block in read_blocks(page))))
]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tutorials write their files where they are."""
    monkeypatch.chdir(tmp_path)


def check(page: Path, packages: tuple[str, ...] = ()) -> int:
    count = 0
    for block, printed in run_page(page, packages):
        place = f"{page.name}, line {block.line}"
        assert block.matches(printed), (
            f"{place}: the page shows\n{block.output}\nbut this was printed:\n{printed}"
        )
        count += 1
    return count


def test_there_are_tutorials() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_is_overlooked(page: Path) -> None:
    assert len(read_blocks(page)) == page.read_text(encoding="utf-8").count("```py")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_needs_nothing_else(page: Path) -> None:
    assert check(page)


@pytest.mark.filterwarnings("ignore")  # those of other packages are not ours to mend
@pytest.mark.parametrize(
    ("page", "package"), NEEDS, ids=lambda value: getattr(value, "name", value)
)
def test_what_needs_another_package(page: Path, package: str) -> None:
    pytest.importorskip(
        package, reason=f"{package} is not installed: its blocks in {page.name} did not run"
    )
    assert check(page, (package,))


PAGE = """
```python
1 + 1
```

```text
{}
```

```python needs-nothing
print("never")
```
"""


@pytest.mark.parametrize(
    ("shown", "right"), [("2", True), ("...", True), ("3", False), ("", False)]
)
def test_a_page_that_shows_something_else_fails(shown: str, right: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(shown), encoding="utf-8")
    [(block, printed)] = run_page(page)
    assert printed == "2\n"
    assert block.line == 3
    assert block.matches(printed) is right


def test_an_output_that_the_page_does_not_show_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('unseen')\n```\n", encoding="utf-8")
    [(block, printed)] = run_page(page)
    assert not block.matches(printed)
