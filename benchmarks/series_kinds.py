"""Series that look like those of brain scans, climate, rivers, markets, panels and walks.

    python -m benchmarks.series_kinds [--sets K] [--kinds NAME ...] [--methods NAME ...]

Unlike in `benchmarks.series` the model of no method is that of the data, but in panels and walks.
Results go to ``results/series_kinds.csv``, of seeds from 900 on; seeds below 900 and from 1000 on
were looked at while the package was written. `benchmarks.series` writes the page.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.series import (
    KIND_MEASURES,
    KIND_RESULTS,
    LAGS,
    PEERS,
    autoregression,
    f1,
    peer_graphs,
    qwo_graph,
)

FIRST_SEED = 900


@dataclass(frozen=True)
class Drawn:
    """Rows × variables (or units × rows × variables), and which variable acts on which, by lag."""

    data: Any
    graph: Any


def network(rng: Any, n: int, edges: int) -> Any:
    """A random acyclic graph in a random order."""
    order, found = rng.permutation(n), np.zeros((n, n), bool)
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    for k in rng.choice(len(pairs), min(edges, len(pairs)), replace=False):
        found[pairs[k]] = True
    return found


def scans(seed: int, n: int, seconds: float, error: float = 0.1, slow: float = 0.5) -> Drawn:
    """Slow networks seen through the response of the blood: ten minutes, a scan each few seconds.

    z' = (-z + A z) / .5 s + noise, steps of 50 ms; difference of two gammas whose peak differs a
    little between places; errors of a tenth or a hundredth of the variance.
    """
    from scipy.stats import gamma

    rng = np.random.default_rng([seed, n, 1])
    truth, step = network(rng, n, n), 0.05
    weights = truth * rng.uniform(0.3, 0.6, (n, n)) * np.where(rng.random((n, n)) < 0.8, 1, -1)
    rows = round(640 / step)
    noise, state = rng.normal(size=(rows, n)), np.zeros(n)
    seen = np.empty((rows, n))
    for t in range(rows):
        state = state + step / slow * (state @ weights - state) + np.sqrt(step) * noise[t]
        seen[t] = state
    at = np.arange(0, 30, step)
    blood = np.empty_like(seen)
    for v in range(n):
        peak = 6 + rng.normal() * 0.5
        kernel = gamma.pdf(at, peak) - gamma.pdf(at, peak + 10) / 6
        blood[:, v] = np.convolve(seen[:, v], kernel)[:rows]
    scanned = blood[round(40 / step) :: round(seconds / step)]
    scanned = scanned / scanned.std(axis=0)
    return Drawn(scanned + np.sqrt(error) * rng.normal(size=scanned.shape), truth[None])


def lagged(rng: Any, n: int, own: tuple[float, float], now: float) -> Any:
    """Coefficients of 3 lags whose series fade: n edges, a share of them of the present."""
    while True:
        weights = np.zeros((4, n, n))
        weights[1][np.diag_indices(n)] = rng.uniform(*own, n)
        acyclic = network(rng, n, n * n)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        for k in rng.choice(len(pairs), n, replace=False):
            a, b = pairs[k]
            lag = 0 if rng.random() < now and acyclic[a, b] else int(rng.integers(1, 4))
            weights[lag, a, b] = rng.uniform(0.15, 0.4) * rng.choice([-1.0, 1.0])
        start = np.linalg.inv(np.eye(n) - weights[0])
        companion = np.eye(3 * n, k=-n)
        companion[:n] = np.hstack([(weights[k] @ start).T for k in (1, 2, 3)])
        if np.abs(np.linalg.eigvals(companion)).max() < max(own[1], 0.9) + 0.005:
            return weights


def follow(weights: Any, noise: Any) -> Any:
    n, start = weights.shape[1], np.linalg.inv(np.eye(weights.shape[1]) - weights[0])
    rows = np.zeros((len(noise), n))
    for t in range(3, len(noise)):
        past = sum(rows[t - k] @ weights[k] for k in (1, 2, 3))
        rows[t] = (past + noise[t]) @ start
    return rows


def climate(seed: int, n: int, rows: int) -> Drawn:
    """Months: slow series, a cycle of the year, some with a line."""
    rng = np.random.default_rng([seed, n, 2])
    weights = lagged(rng, n, (0.85, 0.98), 0.5)
    data = follow(weights, rng.normal(size=(rows + 300, n)))[300:]
    time = np.arange(rows)
    data += rng.uniform(0, 4, n) * np.cos(2 * np.pi * time[:, None] / 12 + rng.uniform(0, 6, n))
    rising = rng.random(n) < 0.4
    data += rising * rng.uniform(-4, 4, n) * (time / rows)[:, None]
    return Drawn(data, weights != 0)


def river(seed: int, n: int, rows: int) -> Drawn:
    """Days: gauges of a river that runs together; rain with long tails, water that takes days."""
    rng = np.random.default_rng([seed, n, 3])
    below = [int(rng.integers(k + 1, min(k + 4, n))) for k in range(n - 1)]
    truth = np.zeros((n, n), bool)
    truth[np.arange(n - 1), below] = True
    rain = rng.gamma(0.15, 1.0, (rows + 200, n)) ** 1.5
    rain *= np.exp(rng.normal(size=rain.shape) * 0.5)
    flow = np.zeros_like(rain)
    for v in range(n):
        came = rain[:, v].copy()
        for u in np.flatnonzero(truth[:, v]):
            late, share = rng.uniform(0.3, 2.5), rng.uniform(0.4, 0.9)
            kernel = np.diff(np.r_[0, 1 - np.exp(-(((np.arange(1, 7)) / (late + 0.5)) ** 2))])
            came += share * np.convolve(flow[:, u], kernel)[: len(came)]
        keeps = rng.uniform(0.6, 0.92)
        for t in range(1, len(came)):
            flow[t, v] = keeps * flow[t - 1, v] + (1 - keeps) * came[t]
    flow = flow * np.exp(0.03 * rng.normal(size=flow.shape))
    data = flow[200:]
    mixed = rng.permutation(n)
    return Drawn(data[:, mixed], truth[np.ix_(mixed, mixed)][None])


def panel(seed: int, n: int, rows: int, units: int = 80) -> Drawn:
    """Years of firms: few rows each, a mean of its own, spread that differs."""
    rng = np.random.default_rng([seed, n, 4])
    weights = lagged(rng, n, (0.3, 0.8), 0.4)
    data = []
    for _ in range(units):
        noise = rng.standard_t(6, (rows + 60, n)) * np.exp(rng.normal() * 0.3)
        data.append(follow(weights, noise)[60:] + 3 * rng.normal(size=n))
    return Drawn(np.array(data), weights != 0)


def walk(seed: int, n: int, rows: int) -> Drawn:
    """Prices: changes act on changes; levels wander."""
    rng = np.random.default_rng([seed, n, 5])
    weights = lagged(rng, n, (0.0, 0.3), 0.4)
    moves = follow(weights, rng.standard_t(5, (rows + 60, n)))[60:]
    return Drawn(moves.cumsum(axis=0), weights != 0)


def market(seed: int, n: int, rows: int) -> Drawn:
    """Calm and storms that come in all series at once."""
    rng = np.random.default_rng([seed, n, 6])
    weights = lagged(rng, n, (0.0, 0.4), 0.4)
    size, noise = 0.0, rng.normal(size=(rows + 60, n))
    for t in range(len(noise)):
        size = 0.95 * size + 0.3 * rng.normal()
        noise[t] *= np.exp(size)
    return Drawn(follow(weights, noise)[60:], weights != 0)


KINDS: dict[str, Callable[[int], Drawn]] = {
    "scans each .5 s, n 5": lambda seed: scans(seed, 5, 0.5),
    "scans each .5 s, small errors, n 5": lambda seed: scans(seed, 5, 0.5, 0.01),
    "scans each 1 s, n 5": lambda seed: scans(seed, 5, 1.0),
    "scans each 2 s, n 5": lambda seed: scans(seed, 5, 2.0),
    "scans each .5 s, small errors, n 10": lambda seed: scans(seed, 10, 0.5, 0.01),
    "scans each 1 s, n 10": lambda seed: scans(seed, 10, 1.0),
    "scans each 2 s, n 15": lambda seed: scans(seed, 15, 2.0),
    "months, n 6, T 300": lambda seed: climate(seed, 6, 300),
    "months, n 10, T 500": lambda seed: climate(seed, 10, 500),
    "river, n 8, T 1000": lambda seed: river(seed, 8, 1000),
    "river, n 12, T 3000": lambda seed: river(seed, 12, 3000),
    "market, n 6, T 1000": lambda seed: market(seed, 6, 1000),
    "panel 80 × 8, n 5": lambda seed: panel(seed, 5, 8),
    "panel 80 × 15, n 8": lambda seed: panel(seed, 8, 15),
    "walks, n 6, T 300": lambda seed: walk(seed, 6, 300),
    "walks, n 10, T 1000": lambda seed: walk(seed, 10, 1000),
}
METHODS = ("qwo", "qwo auto", "PCMCI+", "VAR")


def prepared(data: Any, kind: str) -> Any:
    """What methods get that take nothing off: changes, or what season and line leave."""
    if kind.startswith("walks"):
        return np.diff(data, axis=0)
    if kind.startswith("months"):
        time = np.arange(len(data))
        design = np.column_stack([np.eye(12)[time % 12], time - time.mean()])
        return data - design @ np.linalg.lstsq(design, data, rcond=None)[0]
    return data


def scores(found: Any, truth: Any) -> dict[str, float]:
    """F1 of the summary graph; where lags are true, of lagged edges and links of the present."""
    n = truth.shape[1]
    off, upper = ~np.eye(n, dtype=bool), np.triu_indices(n, 1)
    real = truth.any(axis=0) & off
    arrow = ((found[1:] == 1).any(axis=0) | ((found[0] == 1) & (found[0].T == 0))) & off
    near = (found != 0).any(axis=0) & off
    told = {"links": f1((near | near.T)[upper], (real | real.T)[upper]), "arrows": f1(arrow, real)}
    if len(truth) > 1:
        own, true = np.zeros((2, max(len(found), len(truth)), n, n), bool)
        own[: len(found)], true[: len(truth)] = found == 1, truth
        told["lagged"] = f1(own[1:] & off, true[1:] & off)
        now = (found[0] != 0) | (found[0] != 0).T
        told["present"] = f1(now[upper], (truth[0] | truth[0].T)[upper])
    return told


def graphs(method: str, kind: str, drawn: list[Drawn], limit: float) -> Any:
    """Graphs of a method; `auto` takes seasons and lines off by itself."""
    sets = [Drawn(prepared(own.data, kind), own.graph) for own in drawn]
    if method in PEERS:
        return peer_graphs(method, sets, limit)[0]  # type: ignore[arg-type]
    if method == "VAR":
        return [autoregression(own.data) for own in sets]
    if method == "qwo":
        return [qwo_graph(own.data, LAGS) for own in sets]
    given = sets if kind.startswith("walks") else drawn
    return [qwo_graph(own.data, "auto") for own in given]


def main() -> None:
    """Run the kinds, and put their rows in the place of those that there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a peer and kind")
    asked = parser.parse_args()
    for kind in asked.kinds:
        drawn = [KINDS[kind](seed) for seed in range(asked.first, asked.first + asked.sets)]
        for method in asked.methods:
            found = graphs(method, kind, drawn, asked.limit)
            own = [scores(np.asarray(g), d.graph) for g, d in zip(found, drawn, strict=False)]
            row: dict[str, Any] = {"kind": kind, "method": method, "sets": len(own)}
            for measure in own[0]:
                values = [s[measure] for s in own]
                row[measure] = f"{np.mean(values):.3f}"
                row[f"{measure}_error"] = f"{np.std(values, ddof=1) / np.sqrt(len(own)):.3f}"
            print(row, flush=True)
            if asked.first == FIRST_SEED:
                _store(row)


def _store(row: dict[str, Any]) -> None:
    old: list[dict[str, Any]] = []
    if KIND_RESULTS.exists():
        with KIND_RESULTS.open() as file:
            old = list(csv.DictReader(file))
    same = {"kind": row["kind"], "method": row["method"]}
    kept = [r for r in old if {name: r[name] for name in same} != same]
    place = {kind: k for k, kind in enumerate(KINDS)}
    kept = sorted([*kept, row], key=lambda r: (place[r["kind"]], METHODS.index(r["method"])))
    measures = [f"{m}{e}" for m in KIND_MEASURES for e in ("", "_error")]
    with KIND_RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, ("kind", "method", "sets", *measures), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


if __name__ == "__main__":
    main()
