"""``python -m benchmarks.regimes``: graphs and targets from rows of several conditions, and peers.

Each data set has a reference condition of 500 rows and R others of 150, which each change the
equations of one or three variables; kinds of change are `KINDS`. Nothing is told of the targets,
except to the methods named so. Peers live in an environment of their own (``python -m
benchmarks.peers.environments regimes``) and are asked through `benchmarks.regimes_peers`; without
it their rows stay as they were.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import qwo
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.peers.process import ROOT
from benchmarks.rows import Row, read_rows, write_rows
from qwo.graph.compare import shd
from qwo.regimes.classes import interventional_class

RESULTS = Path(__file__).with_name("results") / "regimes.csv"
PAGE = ROOT / "docs" / "benchmarks" / "regimes.md"
COLUMNS = (
    "n", "conditions", "touched", "kind", "method", "sets", "shd_class", "shd_dag", "f1", "cpu",
    "seed",
)  # fmt: skip
KINDS = {
    "perfect": "set to a value two standard deviations off, whatever the causes",
    "same mean": "set, at the usual mean",
    "shift": "the mean moves by a standard deviation",
    "variance": "the residual standard deviation times 0.4 or 2.5",
    "slopes": "the effects of the causes times −½",
    "mixed": "one of the above for each target",
    "drift": "shift, and every mean of every condition is off by .15 standard deviations",
    "curved": "shift by two standard deviations; effects bend, x + .12 x²",
}
OURS = ("qwo", "qwo, reference named", "qwo, targets given", "mean test")
PEERS = ("UT-IGSP", "GIES, targets given", "GnIES")
# Data sets a point; what is not here is not run.
SETS = {
    "qwo": {10: 20, 20: 20, 50: 20, 100: 20},
    "qwo, reference named": {10: 20, 20: 20},
    "qwo, targets given": {10: 20, 20: 20},
    "mean test": {10: 20, 20: 20, 50: 20, 100: 20},
    "UT-IGSP": {10: 20, 20: 20},
    "GIES, targets given": {10: 20, 20: 5},
    "GnIES": {10: 2},
}
CUT_OFF = "cut off"
PEER_SECONDS = 20.0
FIRST_SEED = 90_000  # settings were chosen on seeds 1000 to 2019 and 70000 to 70019


class Problem(NamedTuple):
    """Tables, the reference first; the DAG; targets of each table."""

    parts: list[np.ndarray]
    dag: np.ndarray
    targets: np.ndarray


class Found(NamedTuple):
    """The class or DAG found, targets if the method finds them, seconds of the processor."""

    graph: np.ndarray | None
    targets: np.ndarray | None
    cpu: float


def problem(n: int, conditions: int, touched: int, kind: str, seed: int) -> Problem:
    rng = np.random.default_rng([seed, n, conditions, touched, list(KINDS).index(kind)])
    dag = np.triu(rng.random((n, n)) < 3 / (n - 1), 1)
    weights = dag * rng.uniform(0.3, 1.0, (n, n)) * rng.choice([-1, 1], (n, n))
    noise = rng.uniform(1, 2, n)
    spread = np.sqrt((noise**2) @ np.linalg.inv(np.eye(n) - weights) ** 2)
    model = Model(weights, noise, spread)
    able = np.flatnonzero(dag.any(axis=0)) if kind in ("slopes", "same mean") else np.arange(n)
    parts, targets = [], np.zeros((conditions + 1, n), dtype=bool)
    for r in range(conditions + 1):
        if r:
            targets[r, rng.choice(able, min(touched, len(able)), replace=False)] = True
        parts.append(_rows(rng, model, kind, targets[r], 150 if r else 500))
    order = rng.permutation(n)
    moved = dag[np.ix_(order, order)].astype(np.int8)
    return Problem([part[:, order] for part in parts], moved, targets[:, order])


class Model(NamedTuple):
    """Effects, standard deviations of the noise, and those of the variables."""

    weights: np.ndarray
    noise: np.ndarray
    spread: np.ndarray


def _rows(
    rng: np.random.Generator, model: Model, kind: str, touched: np.ndarray, size: int
) -> np.ndarray:
    weights, noise, spread = model
    effects, scale, mean = weights.copy(), noise.copy(), np.zeros(len(noise))
    if kind == "drift" and size < 500:
        mean = 0.15 * spread * rng.standard_normal(len(noise))
    for t in np.flatnonzero(touched):
        simple = ["perfect", "shift", "variance", *["slopes"] * bool(weights[:, t].any())]
        own = rng.choice(simple) if kind == "mixed" else kind
        if own in ("perfect", "same mean"):
            effects[:, t], mean[t] = 0, 2 * spread[t] * (own == "perfect")
        elif own in ("shift", "drift", "curved"):
            mean[t] += (2 if own == "curved" else 1) * spread[t] * rng.choice([-1, 1])
        elif own == "variance":
            scale[t] *= rng.choice([0.4, 2.5])
        else:
            effects[:, t] *= -0.5
    rows = mean + scale * rng.standard_normal((size, len(noise)))
    for v in range(len(noise)):
        causes = rows + 0.12 * rows**2 / spread if kind == "curved" else rows
        rows[:, v] += causes[:, :v] @ effects[:v, v]
    return rows


def ours(method: str, given: Problem) -> Found:
    tables = {str(r): part for r, part in enumerate(given.parts)}
    told: dict[str, Any] = {}
    if method == "qwo, targets given":
        listed = [np.flatnonzero(own).tolist() for own in given.targets]
        told["targets"] = {str(r): [f"X{v}" for v in own] for r, own in enumerate(listed)}
    if method == "qwo, reference named":
        told["reference"] = "0"
    start = time.process_time()
    if method == "mean test":
        return Found(None, mean_test(given), time.process_time() - start)
    found = qwo.discover(tables, random_state=0, **told)
    cpu = time.process_time() - start
    assert found.regimes is not None
    targets = None if "targets" in told else found.regimes.targets
    return Found(found.cpdag, targets, cpu)


def mean_test(given: Problem) -> np.ndarray:
    """Welch's test of each mean against the reference, at 1 % over all."""
    from scipy.stats import ttest_ind

    first, *others = given.parts
    found = np.zeros_like(given.targets)
    for r, part in enumerate(others, 1):
        p = ttest_ind(part, first, equal_var=False).pvalue
        found[r] = p < 0.01 / (len(others) * part.shape[1])
    return found


def peers(method: str, given: list[Problem]) -> list[Found]:
    """What a peer finds; runs that take too long have no graph."""
    with tempfile.TemporaryDirectory() as folder:
        for k, own in enumerate(given):
            np.savez(Path(folder) / f"{k}.npz", *own.parts, targets=own.targets)
        program = Path(__file__).with_name("regimes_peers.py")
        command = [ENVIRONMENTS["regimes"].python, program, method, folder, str(PEER_SECONDS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer is None:
            break
        targets = answer["targets"] and np.array(answer["targets"], dtype=bool)
        graph = np.array(answer["graph"], dtype=np.int8)
        if method == "UT-IGSP":
            graph = interventional_class(graph, targets)
        found.append(Found(np.where(graph & graph.T, 2, graph), targets, answer["cpu"]))
    return found


def judged(given: Problem, found: Found) -> tuple[float, float, float, float]:
    """Distances to the class that the true targets leave and to the DAG, F1 of targets, time."""
    to_class = to_dag = f1 = float("nan")
    if found.graph is not None:
        to_class = shd(found.graph, interventional_class(given.dag, given.targets))
        to_dag = shd(found.graph, given.dag)
    if found.targets is not None:
        hits = (found.targets & given.targets).sum()
        f1 = 2 * hits / max(1, found.targets.sum() + given.targets.sum())
    return to_class, to_dag, f1, found.cpu


def cells(sizes: dict[int, int]) -> Iterator[tuple[int, int, int, str]]:
    return product(sizes, (5, 10, 20), (1, 3), KINDS)


def measured(cell: tuple[int, int, int, str], method: str, sets: int) -> Row:
    """The means over some data sets; a method that one of them takes too long for is cut off."""
    given = [problem(*cell, FIRST_SEED + k) for k in range(sets)]
    found = [ours(method, own) for own in given] if method in OURS else peers(method, given)
    means = [CUT_OFF, "nan", "nan", f"{PEER_SECONDS:g}"]
    if len(found) == len(given):
        figures = [judged(*pair) for pair in zip(given, found, strict=True)]
        means = [f"{mean:.4g}" for mean in np.mean(figures, axis=0)]
    return dict(zip(COLUMNS, (*cell, method, sets, *means, FIRST_SEED), strict=True))


def run(methods: list[str], sizes: list[int]) -> None:
    """Measure cells that are not stored yet with as many data sets, and store each at once."""
    warnings.simplefilter("ignore")
    for n, method in product(sizes, methods):
        sets = SETS[method].get(n, 0)
        for cell in cells({n: 0}) if sets else ():
            stored = read_rows(RESULTS) if RESULTS.exists() else []
            others = [r for r in stored if tuple(r[c] for c in COLUMNS[:5]) != (*cell, method)]
            known = any(
                (r["sets"], r["seed"]) == (sets, FIRST_SEED) for r in stored if r not in others
            )
            if known or (method not in OURS and cell[1] != 10):
                continue
            row = measured(cell, method, sets)
            write_rows(RESULTS, sorted([*others, row], key=_place), COLUMNS)
        print(n, method, flush=True)


def _place(row: Row) -> tuple[int, ...]:
    order, kinds = (*OURS, *PEERS), list(KINDS)
    numbers = (int(row[c]) for c in ("n", "conditions", "touched"))
    return (*numbers, kinds.index(row["kind"]), order.index(row["method"]))


def table(rows: list[Row], n: int, conditions: int, touched: int) -> str:
    """Distance to the class / F1 of targets, methods in rows and kinds of change in columns."""
    heads = (*KINDS, "seconds", "sets", "seed")
    lines = []
    for method in (*OURS, *PEERS):
        own = {
            r["kind"]: r
            for r in rows
            if (r["n"], r["conditions"], r["touched"], r["method"])
            == (n, conditions, touched, method)
        }
        if own:
            entries = [_entry(own.get(kind)) for kind in KINDS]
            cpu = np.mean([float(r["cpu"]) for r in own.values()])
            least = [str(min(int(r[name]) for r in own.values())) for name in ("sets", "seed")]
            lines.append([method, *entries, f"{cpu:.2g}", *least])
        elif lines:
            lines.append([method, *["not run"] * len(KINDS), "", "", ""])
    return markdown_table(("", *heads), lines)


def _entry(row: Row | None) -> str:
    if row is None:
        return ""
    if row["shd_class"] == CUT_OFF:
        return CUT_OFF
    shd, f1 = float(row["shd_class"]), float(row["f1"])
    texts = [f"{shd:.1f}" if np.isfinite(shd) else "", f"{f1:.2f}" if np.isfinite(f1) else ""]
    return " / ".join(text or "–" for text in texts)


def page_tables(rows: list[Row]) -> str:
    """What the page has between its marks."""
    found = []
    shown = [*product(SETS["qwo"], (10,), (1, 3)), (20, 5, 1), (20, 20, 1)]  # the file has all
    for n, conditions, touched in shown:
        text = table(rows, n, conditions, touched)
        if "\n" in text:
            head = f"{n} variables, {conditions} conditions and a reference, {touched} touched each"
            found.append(f"**{head}**\n\n{text}")
    return "\n\n".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default=";".join((*OURS, *PEERS)), help="separated by ;")
    parser.add_argument("--sizes", default="10,20,50,100")
    parser.add_argument("--page", action="store_true", help="write the tables into the page")
    given = parser.parse_args()
    if not given.page:
        run(given.methods.split(";"), [int(n) for n in given.sizes.split(",")])
    update_page(PAGE, page_tables(read_rows(RESULTS)), "tables")


if __name__ == "__main__":
    main()
