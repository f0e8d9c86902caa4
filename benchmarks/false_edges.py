"""False edges expected and found: ``python -m benchmarks.false_edges``.

Variables that have nothing to do with each other, random graphs of degree 1 to 6, and stars, whose
hub causes all others (out) or has them all for causes (in); effects are uniform in size within the
bounds of a kind, on noise of variance 1. Where the data choose the penalty, edges that are more
likely false than true are left out: they count, with their rates, as those that are drawn. Counts
of each kind are kept in ``benchmarks/results/false-edges.csv``, and shown on the page on the
penalty.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from typing import Literal, NamedTuple

import numpy as np

import qwo
from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.peers.process import ROOT
from benchmarks.rows import Row, read_rows, write_rows
from qwo.types import Adjacency, FloatArray

RESULTS = ROOT / "benchmarks" / "results" / "false-edges.csv"
PAGE = ROOT / "docs" / "howto" / "choosing-the-penalty.md"
COLUMNS = ("kind", "price", "sets", "edges", "expected", "false", "left_out")


class Kind(NamedTuple):
    """Data of one kind, how many sets of them, and the bounds of effects."""

    graph: str
    n: int
    rows: int
    sets: int
    low: float = 0.2
    high: float = 0.9

    @property
    def name(self) -> str:
        """As the table has it."""
        effects = "" if self.graph == "noise" else f", effects {self.low:g} to {self.high:g}"
        return f"{self.graph}, n = {self.n}, N = {self.rows}{effects}"

    def draw(self, seed: int) -> tuple[FloatArray, Adjacency]:
        """Rows, columns shuffled, and the true DAG."""
        n, rng = self.n, np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        dag = np.zeros((n, n), np.int8)
        if self.graph.startswith("degree"):
            dag = np.triu(rng.random((n, n)) < float(self.graph[7:]) / (n - 1), 1).astype(np.int8)
        elif self.graph == "star, out":
            dag[0, 1:] = 1
        elif self.graph == "star, in":
            dag[:-1, -1] = 1
        weights = dag * rng.uniform(self.low, self.high, (n, n)) * rng.choice([-1, 1], (n, n))
        data = rng.standard_normal((self.rows, n)) @ np.linalg.inv(np.eye(n) - weights)
        places = rng.permutation(n)
        return data[:, places], dag[np.ix_(places, places)]


KINDS = (
    Kind("noise", 5, 100, 1500),
    Kind("noise", 10, 300, 750),
    Kind("noise", 20, 1000, 375),
    Kind("noise", 50, 1000, 200),
    Kind("degree 1", 20, 500, 300),
    Kind("degree 1", 50, 300, 100),
    Kind("degree 2", 30, 300, 150),
    Kind("degree 4", 30, 500, 100),
    Kind("degree 6", 12, 200, 300),
    Kind("degree 6", 12, 200, 300, 0.5, 1.5),
    Kind("star, out", 20, 200, 150),
    Kind("star, in", 20, 200, 150),
)
PRICES: tuple[float | Literal["auto"], ...] = ("auto", 2.0)


def counted(kind: Kind, price: float | Literal["auto"], share: float = 1.0) -> Row:
    """Edges of all data sets of a kind, and how many of them are expected and found to be false."""
    edges = left = false = 0
    expected, sets = 0.0, max(round(kind.sets * share), 1)
    for seed in range(sets):
        data, dag = kind.draw(seed)
        found = qwo.discover(data, penalty_discount=price, random_state=seed)
        places = {name: k for k, name in enumerate(found.names)}
        pairs = [(places[e.source], places[e.target]) for e in found.weak_edges]
        left += len(pairs)
        pairs += [(int(a), int(b)) for a, b in np.argwhere(found.dag)]
        edges += len(pairs)
        false += sum(dag[a, b] == 0 and dag[b, a] == 0 for a, b in pairs)
        assert found.evidence is not None
        expected += found.evidence.expected_false + sum(e.false_rate for e in found.weak_edges)
    values = kind.name, price, sets, edges, round(expected, 1), false, left
    return dict(zip(COLUMNS, values, strict=True))


def report(rows: list[Row]) -> str:
    """The table of all kinds."""
    lines = []
    for row in rows:
        price = "chosen" if row["price"] == "auto" else "2"
        ratio = f"{float(row['false']) / float(row['expected']):.2f}"
        counts = (f"{float(row[name]):.0f}" for name in ("sets", "edges", "expected", "false"))
        lines.append((str(row["kind"]), price, *counts, ratio, f"{float(row['left_out']):.0f}"))
    header = ("data", "penalty", "sets", "edges", "expected", "found", "ratio", "left out")
    return markdown_table(header, lines, texts=2)


def main() -> None:
    """Count all kinds anew, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the data sets")
    parser.add_argument("--page", action="store_true", help="make the page of what is stored")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if not arguments.page:
        rows = [counted(kind, price, arguments.share) for kind in KINDS for price in PRICES]
        write_rows(RESULTS, rows, COLUMNS)
    table = report(read_rows(RESULTS))
    print(table)
    update_page(PAGE, table, "false-edges")


if __name__ == "__main__":
    main()
