"""Numbers that the QWO paper reports: points read off its figures, and its Table 2.

M. Shahverdikondori, E. Mokhtarian and N. Kiyavash, *QWO: Speeding Up Permutation-Based Causal
Discovery in LiGAMs*, NeurIPS 2024; read off with the error of each point, and copied from the
table, for comparison.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple


class PaperPoint(NamedTuple):
    """A point of a curve in the paper's figures of Gaussian data.

    Graphs are ER2, ER3 or ER4, metrics SKF1, PSHD or time_s, methods as in the legend. The value is
    None where the curve leaves the plot; the error of reading is how far off it may be.
    """

    graph: str
    metric: str
    method: str
    n_variables: int
    value: float | None
    reading_error: float | None


class PaperCell(NamedTuple):
    """A number of the paper's Table 2: graph, module, search, metric and value."""

    graph: str
    module: str
    search: str
    metric: str
    value: float


def load_paper_figures() -> tuple[PaperPoint, ...]:
    """Points read off the figures of the paper's Gaussian experiments (N = 10,000, 30 graphs)."""
    return tuple(
        PaperPoint(
            row["graph"],
            row["metric"],
            row["method"],
            int(row["n_variables"]),
            _number(row["value"]),
            _number(row["abs_reading_error"]),
        )
        for row in _rows("qwo_paper_figures.csv")
    )


def load_paper_table2() -> tuple[PaperCell, ...]:
    """The paper's Table 2: small graphs, N = 500."""
    return tuple(
        PaperCell(graph, row["module"], row["search"], row["metric"], float(row[graph]))
        for row in _rows("qwo_paper_table2.csv")
        for graph in ("CANCER", "SURVEY", "ASIA", "SACHS", "ER2")
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = files("qwo.reproduction").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _number(text: str) -> float | None:
    return float(text) if text else None
