"""Figures that are drawn when the documentation is built: from stored results, and of plots."""

from __future__ import annotations

import sys
from pathlib import Path

import gallery
from sphinx.application import Sphinx

from qwo.reproduction.aggregate import Cells
from qwo.reproduction.figures import draw_figures
from qwo.reproduction.store import ResultStore
from qwo.reproduction.tasks import COLUMNS

MADE_BY = Path(gallery.__file__)


def draw(app: Sphinx) -> None:
    """Draw what is older than the runs that it shows."""
    docs = Path(app.srcdir)
    folder, results = docs / "reproduction", docs.parent / "benchmarks" / "results"
    if _is_older(folder / "growth.png", runs := folder / "runs.csv"):
        draw_figures(Cells(ResultStore(runs, COLUMNS).rows().values()), folder)
    if any(_is_older(gallery.FOLDER / f"{name}.png", MADE_BY) for name in gallery.PICTURES):
        gallery.main()
    # The benchmarks are no part of the package.
    sys.path.append(str(docs.parent))
    from benchmarks.peers import page as peers
    from benchmarks.peers.flop import plot as flop

    if _is_older(docs / "benchmarks" / "peers-growth.png", results / "peers-standard.csv"):
        peers.draw_again(docs / "benchmarks" / "peers.md", results)
    if _is_older(own := docs / "benchmarks" / "flop-restarts.png", kept := results / "flop.csv"):
        flop.draw_again(own, kept)


def _is_older(figure: Path, results: Path) -> bool:
    return not figure.exists() or figure.stat().st_mtime < results.stat().st_mtime


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before any page is read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
