"""Numbers that the QWO paper reports: points read off its figures, and its Table 2.

M. Shahverdikondori, E. Mokhtarian and N. Kiyavash, *QWO: Speeding Up Permutation-Based Causal
Discovery in LiGAMs*, NeurIPS 2024; read off with the error of each point, and copied from the
table, for comparison.

BDeu of raw numbers, where every value is a category of its own, has a closed form.
Let all N values of every variable differ, and α be the equivalent sample size. Without parents a
variable has one configuration with N counts of 1, and the score of causal-learn is

    log Γ(α) - log Γ(α + N) + N log(α / N),

about -2 N log N. With any parents at all, every row is a configuration of its own, with one count:

    N (log(α / (q N)) - log(α / q)) = -N log N,

whatever the parents and however many there are. So a first parent gains N log N, a second one
nothing, and the prior on structures, which favours few parents, leaves exactly one. Which one the
data do not say: the scores of all predecessors are equal. Every graph that is found is a tree with
n - 1 edges, and if t of the e true edges are among them,

    SKF1 = 2 t / (n - 1 + e).
"""

from __future__ import annotations

import csv
import statistics
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from qwo.datasets import load_network
from qwo.graph import pshd


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


TREES = 200
"""How many random trees the mean PSHD is over."""


def true_edges_found(skf1: float, n: int, e: int) -> int:
    """The t that an SKF1 of a tree with n - 1 edges belongs to, next to it."""
    return round(skf1 * (n - 1 + e) / 2)


@cache
def raw_bdeu(graph: str, metric: str) -> str | None:
    """What BDeu of raw values gives on average on a network: a tree with parents at random.

    Each pair of variables is an edge with probability 2/n, so that e·2/n of the e true edges are
    among its n - 1, and SKF1 = 2t / (n - 1 + e) is 4e / (n(n - 1 + e)) on average.
    """
    if graph == "ER2":
        return None
    truth = load_network(graph.lower()).dag
    n, e = len(truth), int(truth.sum())
    if metric == "SKF1":
        return f"{4 * e / (n * (n - 1 + e)):.2f} by formula"
    rng = np.random.default_rng(0)
    distances = []
    for _ in range(TREES):
        tree, order = np.zeros_like(truth), rng.permutation(n)
        for k in range(1, n):
            tree[order[rng.integers(k)], order[k]] = 1
        distances.append(pshd(tree, truth))
    return f"{statistics.fmean(distances):.2f} by {TREES} random trees"
