from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import chain, write_table


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write where they are."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A table of a → b ← c → d."""
    return write_table(tmp_path / "data.csv", chain(), "abcd")
