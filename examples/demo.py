"""What ``make demo`` runs: the proteins of Sachs et al. under nine conditions, on the command line.

The table comes with the package; it is written to files first, to begin where a user would.
"""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import qwo
from qwo.datasets import load_sachs
from qwo.regimes.classes import next_experiments
from qwo.text import count

OUTPUT = Path("demo-output")
CELLS, ONE = OUTPUT / "cells.csv", OUTPUT / "one-condition.csv"
RESULT = OUTPUT / "result"
ACTS_ON = {
    "+ Akt inhibitor": "Akt",
    "+ G06976": "PKC",
    "+ psitectorigenin": "PIP2",
    "+ U0126": "Mek",
    "PMA": "PKC",
    "β2cAMP": "PKA",
}
"""What Sachs et al. (2005) used each reagent for, where that is one of the proteins measured."""

OWN_FILE = """
With a file of your own:
  qwo audit yours.csv                              what is doubtful in the data
  qwo learn yours.csv -o result --bootstrap 200    a graph, and how sure each edge is
  qwo learn yours.csv -o result --regime COLUMN    where a column tells conditions apart"""


def write_tables() -> None:
    """All cells with the condition they were measured under, and those of the first alone."""
    sachs = load_sachs(observational=False, log=False)
    rows = [
        [*row, label] for row, label in zip(sachs.values.tolist(), sachs.conditions, strict=True)
    ]
    first = [row[:-1] for row in rows if row[-1] == sachs.conditions[0]]
    OUTPUT.mkdir(exist_ok=True)
    for path, header, table in (
        (CELLS, [*sachs.names, "condition"], rows),
        (ONE, list(sachs.names), first),
    ):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *table])


def learn(*arguments: object, shown: bool = False) -> str:
    """Run ``qwo learn`` on logarithms; what it prints is shown, or returned."""
    words = ["learn", *map(str, arguments), "--transform", "log"]
    print(f"\n$ {shlex.join(['qwo', *words])}", flush=True)
    command = [sys.executable, "-m", "qwo.cli", *words]
    if shown:
        subprocess.run(command, check=True)
        return ""
    done = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    return done.stdout


def told(text: str, truth: Sequence[tuple[str, str]]) -> str:
    """How many links and arrows there are, and how many links the consensus network has not."""
    edges = json.loads(text)["edges"]
    arrows = sum(mark == "-->" for _, mark, _ in edges)
    others = sum({a, b} not in [set(pair) for pair in truth] for a, _, b in edges)
    return (
        f"{len(edges)} links, {arrows} with a direction; "
        f"{others} {'is' if others == 1 else 'are'} not in the consensus network"
    )


def on_target() -> str:
    """Whether what each reagent is known to act on is among what changed under it."""
    text = (RESULT / "result.json").read_text(encoding="utf-8")
    touched: dict[str, list[str]] = {label: [] for label in ACTS_ON}
    for pair in json.loads(text)["regimes"]["targets"]:
        if pair["status"] == "target":
            touched[pair["regime"]].append(pair["variable"])
    lines = ["What each reagent is known to act on, and whether that is among what changed:"]
    for label, known in ACTS_ON.items():
        n = len(touched[label])
        others = f"no, but {count(n, 'other')}"
        said = others if n else "no: nothing is far above the usual differences"
        if known in touched[label]:
            said = f"yes, with {count(n - 1, 'other')}" if n > 1 else "yes, alone"
        lines.append(f"  {label:<17}  {known:<4}  {said}")
    return "\n".join(lines)


def next_step() -> str:
    """Which experiments would direct what is left open."""
    graph = qwo.read_graph(RESULT / "cpdag.json")
    worth = next_experiments(graph.matrix)
    best = [graph.names[v] for v, edges in worth.items() if edges == max(worth.values())]
    left = sum(edge.mark == "---" for edge in graph.edges)
    return (
        f"What to do next: {left} links are open. An experiment that sets {', '.join(best[:-1])} or"
        f" {best[-1]}\nis expected to direct {max(worth.values()):.2g} of them."
    )


def main() -> None:
    started = time.perf_counter()
    write_tables()
    sachs = load_sachs()
    places = zip(*sachs.truth.nonzero(), strict=True)
    truth = [(sachs.names[i], sachs.names[j]) for i, j in places]
    print(
        "Eleven proteins in 7466 single cells, measured under nine conditions (Sachs et al. 2005)."
    )
    print("\nThe cells of one condition:", end="")
    print(told(learn(ONE), truth))
    print("\nAll cells thrown together, as if conditions did not matter:", end="")
    print(told(learn(CELLS, "--drop", "condition"), truth))
    print("\nAll cells, and what differs between conditions is found along with the graph:", end="")
    learn(CELLS, "--regime", "condition", "--output", RESULT, "--force", shown=True)
    print(told((RESULT / "result.json").read_text(encoding="utf-8"), truth))
    print(f"\n{on_target()}")
    print(f"\n{next_step()}")
    print(
        "\nThe consensus network is a summary of the literature, not a truth: it rests on other"
        "\nexperiments, and published versions of it differ. The page shows what each reagent"
        "\ntouched, why each arrow points as it does, and what to try next."
    )
    print(f"\n{time.perf_counter() - started:.0f} seconds. Open in a browser:")
    print(f"  {(RESULT / 'report.html').resolve().as_uri()}")
    print(OWN_FILE)


if __name__ == "__main__":
    main()
