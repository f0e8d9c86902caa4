"""Lagged and simultaneous effects: qwo beside PCMCI+, VARLiNGAM, SvarFges and a VAR.

    python -m benchmarks.series [--sets K] [--cells NAME ...] [--methods NAME ...]

Random structural autoregressions (`qwo.simulation.simulate_series`); the largest lag, 3, is told to
all but ``qwo, lags="auto"``. Scores are F1 of lagged edges between different variables, of links
and of arrows of the present, and of the skeleton of the summary graph; CPU is that of the fit
alone. Results go to ``results/series.csv``, one row a cell and method. Settings of qwo were chosen
on seeds below 100; what is stored is of seeds from 100 on.
"""

from __future__ import annotations

import argparse
import csv
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.rows import timed, write_rows
from qwo.simulation import SeriesSimulation, simulate_series

RESULTS = Path(__file__).parent / "results" / "series.csv"
KIND_RESULTS = RESULTS.with_name("series_kinds.csv")
WORKER = Path(__file__).parent / "peers" / "series_worker.py"
LAGS, FIRST_SEED = 3, 100
METHODS = ("qwo", "qwo auto", "qwo noise", "PCMCI+", "VARLiNGAM", "SvarFges", "VAR")
ON = " on "
"""Behind our name the number of data sets that a peer ended with."""

KIND_MEASURES = ("links", "arrows", "lagged", "present")
MEASURES = ("lagged_f1", "link_f1", "arrow_f1", "summary_f1", "cpu")


@dataclass(frozen=True)
class SeriesCell:
    """One kind of data, and how many data sets are drawn; peers take part up to their limits."""

    name: str
    n: int
    rows: int
    sets: int
    autocorrelation: tuple[float, float] = (0.3, 0.9)
    noise: str = "gaussian"
    units: int | None = None
    peers: tuple[str, ...] = METHODS

    def data(self, seed: int) -> SeriesSimulation:
        return simulate_series(
            n_variables=self.n,
            n_samples=self.rows,
            lags=LAGS,
            autocorrelation=self.autocorrelation,
            noise=self.noise,
            units=self.units,
            random_state=[seed, self.n, self.rows],
        )


GAUSSIAN = tuple(method for method in METHODS if method != "qwo noise")
PANEL = ("qwo", "qwo auto", "PCMCI+", "VAR")
SLOW = (0.9, 0.98)
CELLS = (
    SeriesCell("n 5, T 100", 5, 100, 20, peers=GAUSSIAN),
    SeriesCell("n 5, T 500", 5, 500, 20),
    SeriesCell("n 5, T 2000", 5, 2000, 20, peers=GAUSSIAN),
    SeriesCell("n 5, T 5000", 5, 5000, 20, peers=GAUSSIAN),
    SeriesCell("n 5, T 500, autocorrelation .9 to .98", 5, 500, 20, SLOW, peers=GAUSSIAN),
    SeriesCell("n 5, T 500, exponential noise", 5, 500, 20, noise="exponential"),
    SeriesCell("n 5, T 500, uniform noise", 5, 500, 20, noise="uniform"),
    SeriesCell("n 5, panel 50 × 30", 5, 30, 20, units=50, peers=PANEL),
    SeriesCell("n 10, T 100", 10, 100, 20, peers=GAUSSIAN),
    SeriesCell("n 10, T 500", 10, 500, 20, peers=GAUSSIAN),
    SeriesCell("n 10, T 2000", 10, 2000, 20, peers=GAUSSIAN),
    SeriesCell("n 10, T 500, autocorrelation .9 to .98", 10, 500, 20, SLOW, peers=GAUSSIAN),
    SeriesCell("n 10, T 500, exponential noise", 10, 500, 20, noise="exponential"),
    SeriesCell("n 10, panel 50 × 30", 10, 30, 20, units=50, peers=PANEL),
    SeriesCell("n 20, T 100", 20, 100, 20, peers=GAUSSIAN),
    SeriesCell("n 20, T 500", 20, 500, 20, peers=GAUSSIAN),
    SeriesCell("n 20, T 500, autocorrelation .9 to .98", 20, 500, 20, SLOW, peers=GAUSSIAN),
    SeriesCell("n 20, T 500, exponential noise", 20, 500, 20, noise="exponential"),
    SeriesCell("n 20, T 5000", 20, 5000, 20, peers=GAUSSIAN),
    SeriesCell("n 50, T 1000", 50, 1000, 20, peers=GAUSSIAN),
    SeriesCell("n 100, T 2000", 100, 2000, 20, peers=GAUSSIAN),
)


def f1(found: Any, truth: Any) -> float:
    total = int(found.sum() + truth.sum())
    return 1.0 if total == 0 else 2 * int((found & truth).sum()) / total


def measured(found: Any, truth: Any) -> dict[str, float]:
    """F1 of what was found (0, 1, 2 by lag, cause and effect) against the edges that there are."""
    depth, n = max(len(found), len(truth)), truth.shape[1]
    pad = [np.zeros((depth, n, n), np.int8) for _ in range(2)]
    pad[0][: len(found)], pad[1][: len(truth)] = found, truth
    own, real = pad
    off, upper = ~np.eye(n, dtype=bool), np.triu_indices(n, 1)
    link = (own[0] != 0) | (own[0].T != 0)
    real_link = (real[0] != 0) | (real[0].T != 0)
    near = link | ((own[1:] != 0).any(axis=0) & off)
    real_near = real_link | ((real[1:] != 0).any(axis=0) & off)
    near, real_near = near | near.T, real_near | real_near.T
    return {
        "lagged_f1": f1((own[1:] == 1) & off, (real[1:] == 1) & off),
        "link_f1": f1(link[upper], real_link[upper]),
        "arrow_f1": f1((own[0] == 1) & (own[0].T == 0), real[0] == 1),
        "summary_f1": f1(near[upper], real_near[upper]),
    }


def qwo_graph(data: Any, lags: int | str, **options: Any) -> Any:
    import qwo

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = qwo.discover(data, lags=lags, within=data.ndim == 3, random_state=0, **options)
    assert found.series is not None
    return found.series.matrices


def autoregression(data: Any, level: float = 0.05) -> Any:
    """A full vector autoregression: coefficients and residual correlations at a false rate."""
    from scipy.stats import norm
    from scipy.stats import t as student

    from qwo.series.sums import stacked_rows

    units = data if data.ndim == 3 else data[None]
    centred = units - units.mean(axis=1, keepdims=True)
    count, rows, n = centred.shape
    ends = np.arange(1, count + 1) * rows
    bounds = np.stack([ends - rows, ends], axis=1)
    stacked = stacked_rows(centred.reshape(-1, n), bounds, LAGS)
    now, past = stacked[:, :n], stacked[:, n:]
    inverse = np.linalg.pinv(past.T @ past)
    slopes = inverse @ past.T @ now
    left = now - past @ slopes
    free = len(now) - past.shape[1] - count
    errors = np.sqrt(np.outer(np.diagonal(inverse), (left**2).sum(axis=0) / free))
    chance = 2 * student.sf(np.abs(slopes / errors), free)
    graph = np.zeros((LAGS + 1, n, n), np.int8)
    graph[1:] = _accepted(chance, level).reshape(LAGS, n, n)
    precision = np.linalg.pinv(np.cov(left.T))
    scale = np.sqrt(np.diagonal(precision))
    partial = -precision / np.outer(scale, scale)
    upper = np.triu_indices(n, 1)
    z = np.arctanh(np.clip(partial[upper], -0.9999, 0.9999)) * np.sqrt(max(free - n, 1))
    links = np.zeros((n, n), np.int8)
    links[upper] = 2 * _accepted(2 * norm.sf(np.abs(z)), level)
    graph[0] = links + links.T
    return graph


def _accepted(chance: Any, level: float) -> Any:
    flat = chance.ravel()
    order = np.argsort(flat)
    passing = np.flatnonzero(flat[order] <= level * np.arange(1, len(flat) + 1) / len(flat))
    accepted = np.zeros(len(flat), bool)
    accepted[order[: passing[-1] + 1 if len(passing) else 0]] = True
    return accepted.reshape(chance.shape)


PEERS = {"PCMCI+": "series", "VARLiNGAM": "series", "SvarFges": "tetrad"}
"""The peers, and the environments that they live in."""


def peer_graphs(method: str, sets: Sequence[SeriesSimulation], limit: float) -> tuple[Any, Any]:
    """Graphs of a peer, of as many data sets as it ends with in time, and its CPU times."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **{str(k): own.data for k, own in enumerate(sets)})
        python = ENVIRONMENTS[PEERS[method]].python
        command = [str(python), str(WORKER), method, str(LAGS), str(limit)]
        done = subprocess.run(
            [*command, str(source), str(target)], check=False, capture_output=True
        )
        if done.returncode not in (0, -signal.SIGXCPU, -signal.SIGKILL):
            raise subprocess.CalledProcessError(done.returncode, command, stderr=done.stderr)
        stored = np.load(target)
        return [stored[str(k)] for k in range(len(stored["cpu"]))], stored["cpu"]


def own_graphs(method: str, sets: Sequence[SeriesSimulation], limit: float) -> tuple[Any, Any]:
    """The same of a method of this process."""
    call = {
        "qwo": lambda data: qwo_graph(data, LAGS),
        "qwo auto": lambda data: qwo_graph(data, "auto"),
        "qwo noise": lambda data: qwo_graph(data, LAGS, arrows="noise"),
        "VAR": autoregression,
    }[method]
    call(sets[0].data)  # what is imported at the first call is not its work
    graphs, cpu = [], []
    for own in sets:
        graph, seconds = timed(call, own.data)
        graphs.append(graph)
        cpu.append(seconds)
        if sum(cpu) > limit:
            break
    return graphs, np.array(cpu)


def run_cell(
    cell: SeriesCell, most: int, limit: float, methods: Sequence[str]
) -> list[dict[str, Any]]:
    """One row for each of the methods."""
    seeds = range(FIRST_SEED, FIRST_SEED + min(cell.sets, most))
    sets = [cell.data(seed) for seed in seeds]
    rows = []
    for method in [method for method in cell.peers if method in methods]:
        try:
            call = peer_graphs if method in PEERS else own_graphs
            graphs, cpu = call(method, sets, limit)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"{cell.name}, {method}: {type(error).__name__}", file=sys.stderr)
            rows.append({"cell": cell.name, "method": method, "sets": 0})
            continue
        scores = [measured(g, own.graph) for g, own in zip(graphs, sets, strict=False)]
        fewer = [k for k in _fewer_sets(cell) if k < len(scores)] if method == "qwo" else []
        for k in (len(scores), *fewer):
            name = method if k == len(scores) else f"{method}{ON}{k}"
            means = {m: f"{np.mean([s[m] for s in scores[:k]]):.3f}" for m in MEASURES[:-1]}
            row = {"cell": cell.name, "method": name, "sets": k}
            rows.append(row | means | {"cpu": f"{cpu[:k].mean():.4f}"})
            print(rows[-1], flush=True)
    return rows


def _stored() -> list[dict[str, Any]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def _fewer_sets(cell: SeriesCell) -> list[int]:
    """Numbers of data sets that peers ended with which did not end with all."""
    counts = {int(row["sets"]) for row in _stored() if row["cell"] == cell.name}
    return sorted(counts - {0})


PAGE = RESULTS.parents[2] / "docs" / "benchmarks" / "series.md"

HEAD = """# Time series

Random structural autoregressions: each series has an effect of its own last row, and there is one
more edge a series on average, three in ten of them without a lag, the others one to three rows
late (coefficients of size .2 to .5). All methods but qwo with `lags="auto"` are told that three
lags are enough; "qwo noise" is `arrows="noise"`. PCMCI+ (tigramite) tests partial correlations at
.01, VARLiNGAM (lingam) prunes, SvarFges (Tetrad) has penalty discount 2, the vector autoregression
keeps coefficients and residual links at a false discovery rate of 5 %. Series of a panel have
means of their own, which all methods take off. F1 of lagged edges between different series, of
links and of arrows within one row, and of links of the summary graph, means over data sets (1
where there is nothing to find and nothing was found). Where a peer did not end with all data sets
(no further one was begun after 6 to 110 seconds of processor time), their number is in brackets,
and above it stands qwo on the same data sets; bold is the best of those on the same data sets; "cut
off" is a first one that took more than three times as long. Methods that a table lacks were not run
there. Settings of qwo were chosen on other seeds. CPU seconds of the fit, and how many times those
of qwo they are: on one machine whose two cores were busy, and not in one run.

1000 such series of 1000 rows took 7.0 s of processor time with `lags=3` (one data set; F1 of
lagged edges .989, of links .984, of the summary graph .988), 300 series .7 s; peers were not run.
With five series of 100 rows an eighth of our time goes into the audit, an eighth into tests of
stationarity, and a twentieth each into noise that may be uneven and into residuals that may depend
on each other: there is no one thing to save.

    python -m benchmarks.peers.environments series tetrad
    python -m benchmarks.series

writes `benchmarks/results/series.csv` and this page.

"""


def page() -> str:
    """The page with the stored results."""
    rows, parts = _stored(), [HEAD]
    for cell in dict.fromkeys(row["cell"] for row in rows):
        own = [row for row in rows if row["cell"] == cell]
        parts.append(f"## {cell} ({own[0]['sets']} data sets)\n\n")
        parts.append("| method | lagged | link | arrow | summary | CPU, s | times qwo's |\n")
        parts.append("|---|---|---|---|---|---|---|\n")
        counts = sorted({int(r["sets"]) for r in own if r["method"] in PEERS}, reverse=True)
        for k in dict.fromkeys([int(own[0]["sets"]), *counts]):
            parts += _lines([r for r in own if int(r["sets"]) == k], k != int(own[0]["sets"]))
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n" + kinds_section()


def _lines(rows: list[dict[str, Any]], told: bool) -> list[str]:
    """Methods that ended with the same data sets, the first of which is ours."""
    if not int(rows[0]["sets"]):
        return [f"| {row['method']} | cut off |  |  |  |  |  |\n" for row in rows]
    best = {m: max(float(row[m]) for row in rows) for m in MEASURES[:-1]}
    found = []
    for row in rows:
        shown = [f"**{row[m]}**" if float(row[m]) == best[m] else row[m] for m in MEASURES[:-1]]
        name = row["method"].partition(ON)[0] + (f" ({row['sets']})" if told else "")
        ratio = float(row["cpu"]) / float(rows[0]["cpu"])
        found.append(f"| {name} | {' | '.join(shown)} | {row['cpu']} | {ratio:.2g} |\n")
    return found


KINDS_HEAD = """
## Series that are not of any method's model

Simulated, 20 data sets each: ten minutes of brain scans (a slow network of neurons through the
response of the blood, whose delay differs between places; errors of measurement of a tenth or a
hundredth of the variance), months (slow series, a cycle of the year, some with a line), rivers
(rain with long tails, water that takes days, noise in proportion), markets (calm and storms in all
series at once), panels of firms (80 units of 8 or 15 rows with means of their own) and walks (given
as changes to all). The two of qwo differ by `lags=3` and `lags="auto"`; all others, and qwo with
three lags, get months less season and line, which `auto` takes off by itself. F1 of the summary
graph, its links and its arrows; of lagged edges and links of the present where true lags are whole
rows; ± standard error. PCMCI+ was run on nine of the kinds. No constant of qwo was chosen on these
data sets. A vector autoregression draws arrows both ways, which counts as one right and one wrong.
Walks fit the model of all methods, and the best cannot be told from each other with 300 rows.

    python -m benchmarks.series_kinds

"""


def kinds_section() -> str:
    """The section on other kinds of series, from the stored results."""
    with KIND_RESULTS.open() as file:
        rows = list(csv.DictReader(file))
    parts = [KINDS_HEAD, "| data | method | links | arrows | lagged | present |\n"]
    parts.append("|---|---|---|---|---|---|\n")
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for k, row in enumerate(row for row in rows if row["kind"] == kind):
            told = [f"{row[m]} ± {row[f'{m}_error']}" if row[m] else "" for m in KIND_MEASURES]
            name = row["method"] + (f" ({row['sets']})" if row["sets"] != "20" else "")
            parts.append(f"| {kind if not k else ''} | {name} | {' | '.join(told)} |\n")
    return "".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--cells", nargs="*", default=None)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a method and cell")
    asked = parser.parse_args(arguments)
    for cell in CELLS:
        if asked.cells is None or cell.name in asked.cells:
            _store(cell.name, run_cell(cell, asked.sets, asked.limit, asked.methods))


def _store(cell: str, rows: list[dict[str, Any]]) -> None:
    """Put the rows of a cell in the place of those that there were of the same methods."""
    anew, place = {row["method"] for row in rows}, {cell.name: k for k, cell in enumerate(CELLS)}

    def method(row: dict[str, Any]) -> str:
        return str(row["method"].partition(ON)[0])

    old = [row for row in _stored() if row["cell"] != cell or method(row) not in anew]
    kept = sorted([*old, *rows], key=lambda r: (place[r["cell"]], METHODS.index(method(r))))
    write_rows(RESULTS, kept, ("cell", "method", "sets", *MEASURES))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
