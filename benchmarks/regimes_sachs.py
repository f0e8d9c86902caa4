"""The nine conditions of Sachs et al. beside the consensus network: ours and peers.

``python -m benchmarks.regimes_sachs`` measures, stores and writes the table of the page; with
``--page`` it writes what is stored. Peers live in the environment ``regimes``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import qwo
from benchmarks.peers.process import ROOT
from benchmarks.regimes import Problem, peers
from benchmarks.rows import Row, read_rows, write_rows
from qwo.datasets import load_sachs

RESULTS = Path(__file__).with_name("results") / "regimes-sachs.csv"
PAGE = ROOT / "docs" / "howto" / "experiments.md"
MARKS = "  <!-- rows: python -m benchmarks.regimes_sachs -->\n", "  <!-- end of rows -->"
COUNTS = ("links", "arrows", "right", "reversed", "open", "not in it", "missing", "distance")
# What each reagent is known to act on, of the proteins that were measured.
DESIGN = {
    "+ Akt inhibitor": ["Akt"],
    "+ G06976": ["PKC"],
    "+ psitectorigenin": ["PIP2"],
    "+ U0126": ["Mek"],
    "+ LY294002": ["PIP3"],
    "PMA": ["PKC"],
    "β2cAMP": ["PKA"],
}
PEERS = {
    "UT-IGSP": "UT-IGSP (causaldag 0.1a163)",
    "GIES, targets given": "GIES (gies 0.0.3), targets by design",
    "GnIES": "GnIES (gnies 0.3.3)",
}


def counted(graph: np.ndarray, truth: np.ndarray) -> dict[str, int]:
    """How a graph (1 = arrow, 2 = line) differs from a DAG, pair by pair."""
    linked, true = (graph != 0) | (graph.T != 0), (truth != 0) | (truth.T != 0)
    arrow = (graph == 1) & (graph.T == 0)
    lines = np.triu(linked & ~arrow & ~arrow.T)
    found = {
        "links": np.triu(linked).sum(),
        "arrows": arrow.sum(),
        "right": (arrow & (truth == 1)).sum(),
        "reversed": (arrow & (truth.T == 1)).sum(),
        "open": (lines & true).sum(),
        "not in it": np.triu(linked & ~true).sum(),
        "missing": np.triu(true & ~linked).sum(),
    }
    apart = ("reversed", "open", "not in it", "missing")
    return {k: int(v) for k, v in found.items()} | {"distance": int(sum(found[k] for k in apart))}


def ours() -> dict[str, np.ndarray]:
    """One condition, all rows pooled in random order, and all rows with their conditions."""
    cells = load_sachs(observational=False).to_frame(conditions=True)
    mixed = cells.sample(frac=1, random_state=0).drop(columns="condition")
    one = load_sachs().to_frame()
    return {
        f"{len(one)} cells of one condition": qwo.discover(one, random_state=0).shown,
        "all cells pooled": qwo.discover(mixed, random_state=0).shown,
        '`regime="condition"`': qwo.discover(cells, regime="condition", random_state=0).shown,
    }


def theirs() -> dict[str, np.ndarray]:
    cells = load_sachs(observational=False).to_frame(conditions=True)
    names = [name for name in cells if name != "condition"]
    parts, targets = [], []
    for label, rows in cells.groupby("condition", sort=False):
        parts.append(rows[names].to_numpy())
        targets.append([name in DESIGN.get(str(label), ()) for name in names])
    given = Problem(parts, np.zeros((len(names),) * 2), np.array(targets))
    found = {label: peers(method, [given]) for method, label in PEERS.items()}
    return {label: answer[0].graph for label, answer in found.items() if answer}


def rows_of(stored: list[Row]) -> str:
    """Lines of the page's table."""
    return "".join(
        f"  | {row['method']} | {' | '.join(str(row[name]) for name in COUNTS)} |\n"
        for row in stored
    )


def with_rows(page: str, stored: list[Row]) -> str:
    start, end = MARKS
    before, _, rest = page.partition(start)
    head = f"  | | {' | '.join(COUNTS)} |\n  {'|---' * (len(COUNTS) + 1)}|\n"
    return f"{before}{start}\n{head}{rows_of(stored)}\n{end}{rest.partition(end)[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write what is stored into the page")
    if not parser.parse_args().page:
        truth = np.asarray(load_sachs().truth)
        graphs = {**ours(), **theirs()}
        rows = [{"method": name, **counted(graph, truth)} for name, graph in graphs.items()]
        write_rows(RESULTS, rows, ("method", *COUNTS))
    PAGE.write_text(with_rows(PAGE.read_text("utf-8"), read_rows(RESULTS)), "utf-8")


if __name__ == "__main__":
    main()
