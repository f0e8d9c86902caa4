"""The page about the bootstrap: its code prints what it shows, and its commands work."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest

from tests.docs.consoles import Session, read_steps, same
from tests.docs.pages import read_blocks, run_page

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "bootstrap.md"


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for block, printed in run_page(PAGE):
        assert block.matches(printed), f"line {block.line}: this was printed:\n{printed}"
        ran += 1
    assert ran == len(read_blocks(PAGE)) == PAGE.read_text(encoding="utf-8").count("```python")
    session = Session()
    for step in read_steps(PAGE):
        if not step.is_python:
            printed = session.run(step.command)
            assert session.last_code == 0, printed
            assert same(step.output, printed), f"line {step.line}: this was printed:\n{printed}"
    supports = [Path(folder, "support.csv").read_bytes() for folder in ("sure", "both")]
    assert supports[0] == supports[1]
