"""Curved relations and arrows from the noise: distance to the truth, evidence and time.

    python -m benchmarks.curved run --out benchmarks/results/curved.csv
    python -m benchmarks.curved table benchmarks/results/curved.csv [FILE of peers]
    .venv-peers-python/bin/python -m benchmarks.curved_peers --out FILE direct-lingam …

Random graphs of mean degree 3; every variable is standardised as it is made; an edge is w f(x) with
f of unit variance and w from 0.5 to 1; noise has 0.5 to 1 standard deviations. The structural
Hamming distance is to the DAG: an undirected edge counts 1, and so does a wrong arrow. `wrong` of
`sure` are the arrows of real edges with z of 3 or more that point the wrong way. Times are
processor seconds of one thread.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.curved_data import KINDS, NOISES, OTHER_KINDS, data_set, distances
from benchmarks.rows import Row, extend_rows, read_rows, timed
from qwo.graph.compare import shd

CELL = ("kind", "noise", "n", "rows", "seed")
CURVED = ("random", "sine", "square", "network")
"""Kinds without lines, where arrows from the noise of lines are asked in one size alone."""
METHODS: dict[str, dict[str, Any]] = {
    "linear": {},
    "noise": {"arrows": "noise"},
    "curved": {"relations": "curved"},
}


def measure(kind: str, noise: str, n: int, rows: int, seed: int) -> Iterator[dict[str, Any]]:
    """One row of the table for each method."""
    x, dag = data_set(kind, noise, n, rows, seed)
    for method, options in METHODS.items():
        if method == "noise" and kind in CURVED and (n, rows) != (10, 2000):
            continue
        found, seconds = timed(qwo.discover, x, random_state=0, **options)
        wrong = sure = 0
        if found.noise is not None:
            pairs = np.argwhere(found.noise.supported & ((dag + dag.T) != 0))
            sure, wrong = len(pairs), int(sum(not dag[i, j] for i, j in pairs))
        yield {
            "method": method,
            **distances(found.cpdag, dag),
            "shd_class": shd(qwo.to_cpdag(found.dag), qwo.to_cpdag(dag)),
            "wrong": wrong,
            "sure": sure,
            "seconds": round(seconds, 4),
        }


FIVE = tuple(noise for noise in NOISES if noise != "spread")
MAIN = (("random", "gauss"), ("linear", "exponential"), ("linear", "gauss"))
CROSSED = ((10, 2000, 20), (10, 200, 20), (20, 2000, 20), (10, 500, 20))
LARGER = ((50, 2000, 20), (100, 2000, 4), (300, 1000, 2))
AFTER = ((50, 2000, 4), (10, 10_000, 4))
"""Variables, rows and data sets of cells: all kinds meet all noises first, `MAIN` is done with more
variables, and then all meet again."""


def grid() -> Iterator[tuple[str, str, int, int, int]]:
    """Cell by cell, those first that say most."""
    for n, rows, sets in (*CROSSED, *LARGER, *AFTER):
        cells = [(kind, noise) for kind in KINDS for noise in FIVE]
        if (n, rows, sets) in LARGER:
            cells = list(MAIN)
        if (n, rows) == (10, 2000):
            cells += [(kind, "spread") for kind in KINDS]
            cells += [(kind, noise) for kind in OTHER_KINDS for noise in ("gauss", "exponential")]
        yield from ((*cell, n, rows, seed) for seed in range(sets) for cell in cells)


def _mean(records: list[Row], name: str) -> float:
    return float(np.mean([r[name] for r in records]))


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def table(path: Path) -> str:
    """Means over data sets, the linear search first, as a table of Markdown."""
    cells: dict[tuple[Any, ...], dict[str, dict[str, list[Row]]]] = {}
    for record in read_rows(path):
        key = record["kind"], record["n"], record["rows"]
        own = cells.setdefault(key, {}).setdefault(record["method"], {})
        own.setdefault(record["noise"], []).append(record)
    lines = [
        f"| relations | n | rows | sets | {' | '.join(NOISES)} | class | wrong | seconds |",
        "|" + "---|" * (len(NOISES) + 7),
    ]
    for (kind, n, rows), methods in cells.items():
        for method in ("noise", "curved"):
            if method not in methods or (method == "noise" and "linear" not in kind):
                continue
            own, plain = methods[method], methods["linear"]
            shown = [
                f"{_mean(plain[noise], 'shd'):.1f} / {_mean(own[noise], 'shd'):.1f}"
                if noise in own
                else ""
                for noise in NOISES
            ]
            every = [record for noise in own.values() for record in noise]
            lines_ = [record for noise in plain.values() for record in noise]
            both = [
                " / ".join(form.format(_mean(part, name)) for part in (lines_, every))
                for name, form in (("shd_class", "{:.1f}"), ("seconds", "{:.2g}"))
            ]
            wrong = " of ".join(str(sum(r[k] for r in every)) for k in ("wrong", "sure"))
            sets = sorted({len(records) for records in own.values()})
            name = kind if method == "curved" else f'{kind}, `arrows="noise"`'
            numbers = f"{n} | {rows} | {'–'.join(map(str, sets[:1] + sets[1:][-1:]))}"
            told = " | ".join([*shown, both[0], wrong, both[1]])
            lines.append(f"| {name} | {numbers} | {told} |")
    return "\n".join(lines)


def beside(path: Path, peers: Path) -> str:
    """Peers and what answers the same question on the same data sets, as a table of Markdown."""
    own = {tuple(r[k] for k in (*CELL, "method")): r for r in read_rows(path)}
    cells: dict[tuple[Any, ...], list[tuple[Row, Row]]] = {}
    for record in read_rows(peers):
        method = "noise" if record["method"] == "direct-lingam" else "curved"
        key = (*(record[k] for k in CELL), method)
        if key in own:
            place = record["method"], record["kind"], record["n"], record["rows"]
            cells.setdefault(place, []).append((record, own[key]))
    lines = [
        "| peer | relations | n | rows | sets | distance | ours | closest noise | times |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    closer = total = 0
    for key, pairs in cells.items():
        there, here = ([pair[k] for pair in pairs] for k in (0, 1))
        by_noise = {}
        for noise in dict.fromkeys(record["noise"] for record in there):
            own_pairs = [(a, b) for a, b in pairs if a["noise"] == noise]
            gaps = np.array([a["shd"] - b["shd"] for a, b in own_pairs])
            error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
            by_noise[noise] = gaps.mean(), error
            closer, total = closer + int(gaps.mean() < 0), total + 1
        noise = min(by_noise, key=lambda name: by_noise[name][0])
        gap, error = by_noise[noise]
        told = f"{noise} {gap:+.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")
        ratio = _mean(there, "seconds") / _mean(here, "seconds")
        means = f"{_mean(there, 'shd'):.1f} | {_mean(here, 'shd'):.1f}"
        lines.append(
            f"| {' | '.join(map(str, key))} | {len(pairs)} | {means} | {told} | {_times(ratio)} |"
        )
    lines.append(f"| all | the peer is closer in {closer} of {total} cells {'| ' * 7}|")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--seconds", type=float, default=480)
    shown = commands.add_parser("table")
    shown.add_argument("file", type=Path)
    shown.add_argument("peers", type=Path, nargs="?")
    asked = parser.parse_args()
    if asked.command == "table":
        print(beside(asked.file, asked.peers) if asked.peers else table(asked.file))
        return
    warnings.simplefilter("ignore", qwo.DataWarning)
    cells = (dict(zip(CELL, cell, strict=True)) for cell in grid())
    print(len(extend_rows(asked.out, cells, measure, asked.seconds)), "rows")


if __name__ == "__main__":
    main()
