"""Tables with categories: blocks of columns, and what others make of the same tables.

Run with ``python -m benchmarks.mixed``; it goes on where it stopped, and ``--table`` prints what
is there. Two families of models on random graphs of average degree 3: *conditional* ones, in which
categories depend on their parents by a multinomial logit and shift the means of their children, and
*discretised* ones, linear Gaussian models of which some columns are cut into categories without an
order. SHD counts the pairs of variables whose edge in the CPDAG is wrong. Scores are our degenerate
Gaussian ones at c = 2 of every graph, Tetrad's BOSS and GRaSP (one start) maximising the same
("dg"), or Tetrad's conditional Gaussian score at its default ("cg"). The peers live in the
environments of ``python -m benchmarks.peers.environments tetrad python``; without one, its methods
are left out.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import qwo
from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.rows import timed
from benchmarks.timing import print_table
from qwo.moments import Moments

Table = npt.NDArray[np.float64]

RESULTS = Path(__file__).parent / "results" / "mixed.csv"
HOMES = {"tetrad": "tetrad", "causal-learn": "python", "pgmpy": "python"}
"""The environment of each tool."""

PEERS = ("tetrad boss-dg", "tetrad grasp-dg")
"""The methods that are quick enough for every table; the others are in `benchmarks.mixed_peers`."""


LEAST_TIME = 30.0
"""Seconds that are left when another seed is begun."""


class Cell(NamedTuple):
    """A data set: its size, model, share of categories, rows and seed."""

    variables: int
    model: str
    share: float
    rows: int
    seed: int


class Sample(NamedTuple):
    """A table of numbers and codes, how many levels each column has (0: a number), and its DAG."""

    values: Table
    levels: list[int]
    dag: npt.NDArray[np.int8]


def conditional(dag: npt.NDArray[np.int8], levels: list[int], rows: int, rng: Any) -> Table:
    """Categories by a multinomial logit of their parents; numbers with means shifted by theirs."""
    n = len(dag)
    values, shown = np.empty((rows, n)), np.empty((rows, n), dtype=object)
    for v in qwo.graph.topological_order(dag):
        parents = [shown[:, u] for u in np.flatnonzero(dag[:, v])]
        own = max(levels[v], 1)
        signal = np.zeros((rows, own))
        for u, parent in zip(np.flatnonzero(dag[:, v]), parents, strict=True):
            effects = rng.normal(size=(max(levels[u], 1), own))
            effects *= rng.uniform(0.8, 1.6) / np.abs(effects).mean()
            column = np.stack(parent).astype(float)
            column = column[:, None] if column.ndim == 1 else column
            signal += column @ effects
        if levels[v]:
            noisy = signal + rng.gumbel(size=signal.shape)
            values[:, v] = noisy.argmax(axis=1)
            shown[:, v] = list(np.eye(own)[noisy.argmax(axis=1)])
        else:
            number = signal[:, 0] + rng.normal(size=rows)
            values[:, v] = number
            shown[:, v] = (number - number.mean()) / number.std()
    return values


def discretised(dag: npt.NDArray[np.int8], levels: list[int], rows: int, rng: Any) -> Table:
    """A linear Gaussian model; some columns cut at random quantiles, the pieces in random order."""
    values, _, _ = qwo.simulate(dag, n_samples=rows, random_state=rng, standardize=True)
    for v, own in enumerate(levels):
        if own:
            cuts = np.quantile(values[:, v], np.sort(rng.dirichlet([4.0] * own).cumsum()[:-1]))
            values[:, v] = rng.permutation(own)[np.digitize(values[:, v], cuts)]
    return values


MODELS: dict[str, Callable[..., Table]] = {"conditional": conditional, "discretised": discretised}


def draw(cell: Cell) -> Sample:
    """One data set."""
    rng = np.random.default_rng(cell.seed)
    n = cell.variables
    _, dag, _ = qwo.simulate("er", n_variables=n, n_samples=3, degree=3, random_state=rng)
    chosen = rng.permutation(n)[: round(cell.share * n)]
    levels = [int(rng.integers(2, 6)) if v in chosen else 0 for v in range(n)]
    return Sample(MODELS[cell.model](dag, levels, cell.rows, rng), levels, dag)


def moments_of(sample: Sample) -> Moments:
    """Those with categories as such."""
    names = [f"X{v}" for v in range(len(sample.levels))]
    types = {name: "nominal" for name, own in zip(names, sample.levels, strict=True) if own}
    return Moments.from_data(pd.DataFrame(sample.values, columns=names), types=types or None)


class Answer(NamedTuple):
    """What a method found in a data set, and the CPU seconds that it took."""

    method: str
    cpdag: npt.NDArray[np.int8]
    seconds: float


def ours(sample: Sample, moments: Moments) -> Iterator[Answer]:
    """Our searches: blocks with fewer and more restarts, and codes as numbers."""
    tables = {f"blocks, {r} restarts": (moments, {"restarts": r}) for r in (0, 1, 20)}
    tables["codes as numbers"] = (Moments.from_data(sample.values), {})
    for method, (table, options) in tables.items():
        how = {"penalty_discount": 2.0, "random_state": 0, **options}
        found, seconds = timed(qwo.discover, table, **how)
        yield Answer(method, found.cpdag, seconds)


def of_peers(
    cells: dict[Cell, Sample], methods: list[str], limit: float
) -> Iterator[tuple[Cell, Answer]]:
    """What methods of one environment find, as far as they get in so many seconds."""
    environment = ENVIRONMENTS[HOMES[methods[0].split()[0]]]
    if not environment.is_ready:
        return
    listed = list(cells)
    with tempfile.TemporaryDirectory() as folder:
        for k, cell in enumerate(listed):
            sample = cells[cell]
            np.savez(
                Path(folder, f"{k}.npz"),
                values=sample.values,
                levels=sample.levels,
                methods=methods,
            )
        command = [str(environment.python), "-m", "benchmarks.mixed_peers", folder]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True, timeout=limit
            ).stdout
        except subprocess.TimeoutExpired as late:
            printed = late.stdout or b""
            done = printed.decode() if isinstance(printed, bytes) else printed
    for line in done.splitlines():
        if line.startswith("{") and line.endswith("}"):
            answer = json.loads(line)
            cpdag = np.array(answer["graph"], dtype=np.int8)
            yield listed[answer["sample"]], Answer(answer["method"], cpdag, answer["seconds"])


def row_of(cell: Cell, answer: Answer, sample: Sample, moments: Moments) -> dict[str, Any]:
    """A line of the results."""
    found = qwo.compare(answer.cpdag, qwo.to_cpdag(sample.dag))
    try:
        score = qwo.score_graph(moments, answer.cpdag, penalty_discount=2.0).score
    except qwo.InputError:  # no DAG is in this class
        score = np.nan
    return cell._asdict() | {
        "method": answer.method,
        "shd": found.shd_cpdag,
        "precision": round(found.arrowhead.precision, 4),
        "recall": round(found.arrowhead.recall, 4),
        "score": round(score, 4),
        "seconds": round(answer.seconds, 4),
    }


def measured(cells: list[Cell], peers: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """All methods on some data sets."""
    samples = {cell: draw(cell) for cell in cells}
    moments = {cell: moments_of(sample) for cell, sample in samples.items()}
    for cell, sample in samples.items():
        for answer in ours(sample, moments[cell]):
            yield row_of(cell, answer, sample, moments[cell])
    for home in dict.fromkeys(HOMES.values()):
        methods = [m for m in peers if HOMES[m.split()[0]] == home]
        for cell, answer in of_peers(samples, methods, limit) if methods else ():
            yield row_of(cell, answer, samples[cell], moments[cell])


def run(options: argparse.Namespace) -> None:
    """Go on, the small tables first, seed by seed, until all is there or the time is over."""
    file, until = options.results, time.monotonic() + options.budget
    for n, seed in itertools.product(options.variables, range(options.models)):
        done = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=Cell._fields)
        known = set(done[list(Cell._fields)].itertuples(index=False, name=None))
        cells = [
            Cell(n, model, share, rows, seed)
            for model in MODELS
            for share in options.shares
            for rows in options.samples
        ]
        cells = [cell for cell in cells if tuple(cell) not in known]
        left = until - time.monotonic()
        if left < LEAST_TIME:
            return
        if cells:
            new = pd.DataFrame(measured(cells, options.peers, min(options.limit, left)))
            pd.concat([done, new] if len(done) else [new]).to_csv(file, index=False)


def table(file: Path) -> None:
    """Print means over data sets; gaps are to our own best score, "above" counts better ones."""
    results = pd.read_csv(file)
    keys = list(Cell._fields)
    best = results[results["method"] == "blocks, 20 restarts"].set_index(keys)["score"]
    results["gap"] = best.loc[pd.MultiIndex.from_frame(results[keys])].to_numpy() - results["score"]
    results["above"] = results["gap"] < -1e-3
    groups = results.groupby([*keys[:-1], "method"], sort=False)
    rows = []
    for key, group in groups:
        error = group["shd"].std(ddof=0) / np.sqrt(len(group))
        digits = {"precision": 2, "recall": 2, "gap": 1, "seconds": 3}
        rows.append(
            [
                *map(str, key),
                str(len(group)),
                f"{group['shd'].mean():.1f} ± {error:.1f}",
                *(f"{group[name].mean():.{d}f}" for name, d in digits.items()),
                str(int(group["above"].sum())),
            ]
        )
    measures = ["sets", "SHD", "precision", "recall", "gap", "CPU s", "above"]
    print_table([*keys[:-1], "method", *measures], sorted(rows, key=lambda row: row[:4]))


def against(file: Path) -> None:
    """Print how often our searches score less than Tetrad's, and how much less time they take."""
    results = pd.read_csv(file)
    wide = results.pivot(index=list(Cell._fields), columns="method", values=["score", "seconds"])
    wide = wide[[cell[2] > 0 for cell in wide.index]]
    rows = []
    for peer in PEERS:
        for own in (m for m in dict.fromkeys(results["method"]) if m.startswith("blocks")):
            both = wide[wide["score"].get(peer, wide["score"][own] * np.nan).notna()]
            if len(both):
                less = (both["score"][own] < both["score"][peer] - 1e-3).sum()
                ratio = both["seconds"][peer].sum() / both["seconds"][own].sum()
                rows.append([peer, own, str(len(both)), str(less), f"{ratio:.1f}"])
    print_table(["peer", "ours", "sets", "scores less", "times the CPU of ours"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variables", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    parser.add_argument("--models", type=int, default=20, help="Data sets a point.")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), help="Methods of others.")
    parser.add_argument("--budget", type=float, default=600.0, help="Seconds for this turn.")
    parser.add_argument("--limit", type=float, default=300.0, help="Seconds for peers, a seed.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="Print what is there.")
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    if not options.table:
        run(options)
    table(options.results)
    against(options.results)


if __name__ == "__main__":
    main()
