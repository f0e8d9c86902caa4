"""The pages on categories, missing and long data run, and print what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import read_blocks, run_page

FOLDER = Path(__file__).parents[2] / "docs" / "howto"
PAGES = [FOLDER / "categories.md", FOLDER / "missing-data.md", FOLDER / "long-data.md"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # those of Dask are not ours to mend
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("dask.dataframe")
    blocks = 0
    for block, printed in run_page(page, ("dask",)):
        blocks += 1
        assert block.matches(printed), (
            f"{page.name}, line {block.line}: the page shows\n{block.output}\nbut this was "
            f"printed:\n{printed}"
        )
    assert blocks == len(read_blocks(page)) == page.read_text(encoding="utf-8").count("```py")
