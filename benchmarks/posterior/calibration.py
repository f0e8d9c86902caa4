"""Calibration: what the posterior and resamples say of models that are known, and what is so.

Models of the prior, and half as many random graphs with strong edges; N = 100 (n = 10, 20) and 200
(n = 50, 100). Beside the posterior 100 resamples with replacement and 100 halves of the same data
(40 of each for n = 100, where a search with replacement takes seconds), each searched at penalty 2:
an undirected edge counts half for each direction; paths and effects are those of a member of the
class, drawn anew for each resample, and intervals quantiles of its estimates. The log loss takes
probabilities clipped to [0.005, 0.995].

A calibration error in tenths is above 0 by chance alone, the more so the fewer the pairs. What it
would be if the posterior were exactly right is found by putting draws of the posterior in the place
of the truth: ``ece_if_right`` is the mean over 100 such worlds, ``ece_if_right_95`` their 95th
percentile. ``worse`` is how much higher the log loss is than that of the posterior, a mean over the
data sets with its standard error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.posterior.models import MODELS, paths, total
from benchmarks.posterior.rows import Key, Row
from qwo.graph.sampling import sample_dag
from qwo.resample.draws import Resampling, Scheme, search_seed
from qwo.types import FloatArray, Mask

SETTINGS = {10: 100, 20: 100, 50: 200, 100: 200}
CLIP = 0.005
SURE = 0.02
BOUNDS = (np.nextafter(SURE, 1), *(np.arange(1, 10) / 10), 1 - SURE)
"""Between the bins: tenths, the first and the last cut in two, so that sure pairs lie apart."""

RESAMPLES = {10: 100, 20: 100, 50: 100, 100: 40}
WORLDS = 100
PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "posterior-calibration.png"
PANELS = {"prior": "models of the prior", "er": "random graphs, strong edges"}

Arrays = dict[str, FloatArray]
Counts = dict[str, Any]

TRUTHS: dict[str, Callable[[Mask], Mask]] = {
    "link": lambda dag: dag | dag.T,
    "edge": lambda dag: dag,
    "arrow": lambda dag: qwo.to_cpdag(dag.astype(np.int8)) == 1,
    "path": paths,
}


def posterior_says(data: FloatArray) -> tuple[Arrays, list[Mask]]:
    found = qwo.posterior(data, random_state=1)
    n = found.n_variables
    low, high, low_if_any, high_if_any = np.zeros((4, n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j, effect in zip(others, found.effects(i, others), strict=True):
            low[i, j], high[i, j] = effect.interval(0.9)
            low_if_any[i, j], high_if_any[i, j] = effect.interval(0.9, if_any=True)
    worlds = [dag == 1 for k, dag in enumerate(found.draws()) if k % (2000 // WORLDS) == 0]
    return {
        "edge": found.edge_probabilities,
        "link": found.link_probabilities,
        "arrow": found.arrow_probabilities,
        "path": found.path_probabilities,
        "low": low,
        "high": high,
        "low_if_any": low_if_any,
        "high_if_any": high_if_any,
    }, worlds


def resamples_say(resampling: Resampling, data: FloatArray) -> Arrays:
    """Shares of the resamples that `qwo.bootstrap` takes, and of members of their classes."""
    N, n = data.shape
    scheme = Scheme(resampling, N, N // 2 if resampling == "halves" else N)
    rng = np.random.default_rng(1)
    counts = {what: np.zeros((n, n)) for what in TRUTHS}
    effects = np.zeros((RESAMPLES[n], n, n))
    for k in range(RESAMPLES[n]):
        moments = qwo.Moments.from_data(np.repeat(data, scheme.weights(1, k), axis=0))
        found = qwo.discover(moments, penalty_discount=2.0, random_state=search_seed(1, k))
        dag = sample_dag(found.cpdag, rng)
        arrow, line = found.cpdag == 1, found.cpdag == 2
        counts["arrow"] += arrow
        counts["edge"] += arrow + line / 2
        counts["link"] += arrow + arrow.T + line
        counts["path"] += paths(dag == 1)
        effects[k] = total(qwo.fit_sem(moments, dag).coefficients)
    low, high = np.quantile(effects, [0.05, 0.95], axis=0)
    shares = {what: count / RESAMPLES[n] for what, count in counts.items()}
    return shares | {"low": low, "high": high}


METHODS = ("posterior", "replacement", "halves")
COVERAGES = (
    "coverage",
    "coverage_nonzero",
    "coverage_likely",
    "coverage_if_any",
    "known_if_any",
)


def tallied(model: str, n: int, k: int, method: str) -> Row:
    """What a method says of one data set beside what is so, as sums: those of sets can be added."""
    rng = np.random.default_rng([n, k, 8])
    data, coefficients = MODELS[model](n, SETTINGS[n], rng)
    started = time.process_time()
    worlds: list[Mask] = []
    if method == "posterior":
        says, worlds = posterior_says(data)
    else:
        says = resamples_say("halves" if method == "halves" else "replacement", data)
    seconds = time.process_time() - started
    row: Row = {"seconds": seconds, **coverage(says, total(coefficients))}
    for what, truth in TRUTHS.items():
        chosen = (
            np.triu(np.ones((n, n), dtype=bool), 1) if what == "link" else ~np.eye(n, dtype=bool)
        )
        p = np.clip(says[what][chosen], 0, 1)
        row[what] = sums(p, truth(coefficients != 0)[chosen])
        row[what]["worlds"] = [in_bins(p, truth(world)[chosen]) for world in worlds]
    return row


def coverage(says: Arrays, effects: FloatArray) -> Counts:
    off = ~np.eye(len(effects), dtype=bool)
    covered = (says["low"] <= effects) & (effects <= says["high"])
    there, likely = (effects != 0) & off, (says["path"] > 0.5) & off
    rows = [
        ("coverage", covered, off),
        ("coverage_nonzero", covered, there),
        ("coverage_likely", covered, likely),
    ]
    if "low_if_any" in says:
        held = (says["low_if_any"] <= effects) & (effects <= says["high_if_any"])
        known = there & ~np.isnan(says["low_if_any"])
        rows += [("coverage_if_any", held, known), ("known_if_any", known, there)]
    return {name: [int(held[where].sum()), int(where.sum())] for name, held, where in rows}


def sums(p: FloatArray, truth: Mask) -> Counts:
    clipped = np.clip(p, CLIP, 1 - CLIP)
    yes, no = -np.log(clipped), -np.log1p(-clipped)
    return {
        "pairs": len(p),
        "log_loss": float(np.where(truth, yes, no).sum()),
        "log_loss_if_right": float((p * yes + (1 - p) * no).sum()),
        "brier": float(((p - truth) ** 2).sum()),
        "count": in_bins(p, np.ones(len(p))),
        "p": in_bins(p, p),
        "true": in_bins(p, truth),
    }


def in_bins(p: FloatArray, values: Any) -> list[float]:
    place = np.digitize(p, BOUNDS)
    summed = np.bincount(place, weights=values, minlength=len(BOUNDS) + 1)
    return [int(x) if x == int(x) else round(float(x), 6) for x in summed]


def keys(sets: Iterable[int]) -> list[Key]:
    """What there is to do: the longest first, then about the same share of every other setting.

    The searches of one data set with replacement take minutes where there are most variables: begun
    last, they would not be done when a run is cut short.
    """
    turns = []
    for n, wanted in zip(SETTINGS, sets, strict=False):
        for model in MODELS:
            count = wanted if model == "prior" else -(-wanted // 2)
            turns += [(n < max(SETTINGS), k / count, -n, model, k) for k in range(count)]
    methods = sorted(METHODS, reverse=True)
    return [(m, -n, k, method) for *_, n, m, k in sorted(turns) for method in methods]


def ece(count: FloatArray, p: FloatArray, true: FloatArray) -> float:
    """Mean over pairs of |mean probability - share that is true| of their bin."""
    return float(np.abs(p - true).sum(axis=-1).mean() / max(count.sum(), 1))


def tenths(bins: FloatArray) -> FloatArray:
    """The sure pairs put back into the first and the last tenth."""
    merged = bins[..., 1:-1].copy()
    merged[..., 0] += bins[..., 0]
    merged[..., -1] += bins[..., -1]
    return merged


def report(done: dict[Key, Row]) -> list[Row]:
    """Figures of every setting, over the data sets that all methods have seen."""
    rows: list[Row] = []
    for model in MODELS:
        for n in SETTINGS:
            of = [key[2] for key in sorted(done, key=str) if key[:2] == (model, n)]
            sets = sorted(k for k in set(of) if of.count(k) == len(METHODS))
            for method in METHODS if sets else ():
                rows += _figures(model, n, method, sets, done)
    return rows


def _figures(model: str, n: int, method: str, sets: list[Any], done: dict[Key, Row]) -> list[Row]:
    mine = [done[model, n, k, method] for k in sets]
    best = [done[model, n, k, "posterior"] for k in sets]
    shares = {
        name: float(np.divide(*np.sum([row.get(name, [np.nan] * 2) for row in mine], axis=0)))
        for name in COVERAGES
    }
    head = {"model": model, "n": n, "samples": SETTINGS[n], "sets": len(sets), "method": method}
    seconds = float(np.mean([row["seconds"] for row in mine]))
    rows: list[Row] = []
    for what in TRUTHS:
        loss, ours = (
            np.array([row[what]["log_loss"] / row[what]["pairs"] for row in of])
            for of in (mine, best)
        )
        figures = {
            "log_loss": float(loss.mean()),
            "worse": float((loss - ours).mean()),
            "worse_se": float((loss - ours).std() / np.sqrt(max(len(sets) - 1, 1))),
        }
        figures |= _binned([row[what] for row in mine])
        rows.append({**head, "of": what, **figures, **shares, "seconds": seconds})
    return rows


def _binned(tallies: list[Counts]) -> dict[str, float]:
    count, p, true = (
        np.sum([tally[name] for tally in tallies], axis=0) for name in ("count", "p", "true")
    )
    pairs = sum(tally["pairs"] for tally in tallies)
    unsure = slice(1, -1)
    worlds = np.sum([tally["worlds"] for tally in tallies], axis=0)
    right = [ece(tenths(count), tenths(p), tenths(world)) for world in worlds] or [np.nan]
    return {
        "log_loss_if_right": sum(tally["log_loss_if_right"] for tally in tallies) / pairs,
        "brier": sum(tally["brier"] for tally in tallies) / pairs,
        "ece": ece(tenths(count), tenths(p), tenths(true)),
        "ece_if_right": float(np.mean(right)),
        "ece_if_right_95": float(np.quantile(right, 0.95)),
        "ece_unsure": ece(count[unsure], p[unsure], true[unsure]),
        "n_unsure": int(count[unsure].sum()),
    }


def draw(done: dict[Key, Row]) -> None:
    """Share of true edges against their probability, in tenths: a panel for each kind of model."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(PANELS), figsize=(8.0, 4.0), sharex=True, sharey=True)
    for panel, (model, title) in zip(axes, PANELS.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for method in METHODS:
            of = [row["edge"] for key, row in done.items() if (key[0], key[3]) == (model, method)]
            count, p, true = (
                tenths(np.sum([tally[name] for tally in of], axis=0))
                for name in ("count", "p", "true")
            )
            there = count > 0
            panel.plot(
                p[there] / count[there],
                true[there] / count[there],
                marker="o",
                markersize=4,
                label=method,
            )
        panel.set(title=title, xlabel="probability or support of an edge", aspect="equal")
    axes[0].set_ylabel("share of them that are true")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
