"""Figures that are drawn from stored results when the documentation is built."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from qwo.reproduction.aggregate import Cells
from qwo.reproduction.figures import draw_figures
from qwo.reproduction.items import COLUMNS
from qwo.reproduction.store import ResultStore


def draw(app: Sphinx) -> None:
    """Draw what is older than the runs that it shows."""
    folder = Path(app.srcdir, "reproduction")
    runs, last = folder / "runs.csv", folder / "growth.png"
    if not last.exists() or last.stat().st_mtime < runs.stat().st_mtime:
        draw_figures(Cells(ResultStore(runs, COLUMNS).rows().values()), folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before any page is read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
