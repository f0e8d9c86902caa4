"""Forty kinds of data, most of which break the model: wrong arrows at z of 3 or more.

    python -m benchmarks.curved_kinds run --out benchmarks/results/curved-kinds.csv
    python -m benchmarks.curved_kinds table benchmarks/results/curved-kinds.csv

Ten variables and 1500 rows, random graphs of mean degree 3, noise of a shape drawn for each
variable. Nothing was chosen on these kinds. `wrong` of `sure` are the arrows of real edges with
enough evidence that point the wrong way; `extra` are such arrows of edges that are none.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.curved import METHODS
from benchmarks.curved_data import unit
from benchmarks.rows import extend_rows, read_rows

Rng = np.random.Generator
NOISES: tuple[Callable[[Rng, int], np.ndarray], ...] = (
    lambda rng, n: rng.standard_normal(n),
    lambda rng, n: rng.laplace(size=n),
    lambda rng, n: rng.gamma(2, size=n),
    lambda rng, n: rng.choice([-1.0, 1.0], n) + 0.4 * rng.standard_normal(n),
    lambda rng, n: rng.standard_t(3, size=n),
    lambda rng, n: rng.standard_normal(n) * np.where(rng.random(n) < 0.05, 4, 1),
    lambda rng, n: rng.beta(2, 5, n),
)
SPREADS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "spread by |x|": lambda x: 0.4 + 0.6 * np.abs(x),
    "spread by |x|, curves": lambda x: 0.4 + 0.6 * np.abs(x),
    "spread by x²": lambda x: np.sqrt(0.3 + 0.7 * x**2),
    "two spreads": lambda x: np.where(x > 0, 1.5, 0.6),
}
JOINT: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "products": lambda a, b: 0.7 * a * b,
    "signs of products": lambda a, b: 0.8 * np.sign(a * b),
    "slopes that change": lambda a, b: 0.8 * a * (b > 0),
}
MADE: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "bent scales": lambda _, y: np.exp(0.6 * y),
    "counts": lambda rng, y: rng.poisson(np.exp(0.5 * y + 1)).astype(float),
    "five levels": lambda _, y: np.digitize(y, [-1.2, -0.4, 0.4, 1.2]).astype(float),
    "yes and no": lambda rng, y: (y > 0.4 * rng.normal()).astype(float),
    "many zeros": lambda rng, y: np.where(rng.random(len(y)) < 0.3, 0, y - y.min()),
}
"""What half of the variables are made into before they have effects."""
SEEN: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "rounded to .2": lambda _, y: np.round(y / 0.2) * 0.2,
    "rounded to .5": lambda _, y: np.round(y / 0.5) * 0.5,
    "rounded to .5, curves": lambda _, y: np.round(y / 0.5) * 0.5,
    "clipped above": lambda _, y: np.minimum(y, 1.0),
    "clipped on both sides": lambda _, y: np.clip(y, -1.3, 1.3),
    "half are clipped, curves": lambda rng, y: np.maximum(y, -0.6) if rng.random() < 0.5 else y,
    "sensors that saturate": lambda _, y: np.tanh(1.2 * y),
    "sensors that saturate, curves": lambda _, y: np.tanh(1.2 * y),
    "errors of measurement": lambda rng, y: y + 0.4 * rng.standard_normal(len(y)),
    "some ties, curves": lambda rng, y: np.where(rng.random(len(y)) < 0.04, np.round(y), y),
}
"""How each variable is seen; its effects are those of what it is."""
FURTHER: dict[str, Callable[[Rng, np.ndarray, np.ndarray], np.ndarray]] = {
    "largest of causes": lambda _, own, causes: own + 0.8 * causes.max(axis=1, initial=0.0),
    "ratios": lambda _, own, causes: own * np.exp(np.clip(0.4 * causes[:, :1], -1, 1)).prod(axis=1),
    "steep doses": lambda _, own, causes: own + (1 / (1 + np.exp(3 - 4 * causes))).sum(axis=1),
    "half of the effect late": lambda _, own, causes: own + 0.5 * np.roll(causes, 1, 0).sum(axis=1),
    "drift": lambda rng, own, _: own + rng.uniform(-1, 1) * np.linspace(-1, 1, len(own)),
    "two instruments": lambda _, own, __: own * np.where(np.arange(len(own)) % 3, 1.0, 1.8),
    "angles": lambda _, own, __: np.angle(np.exp(1.3j * unit(own))),
}
"""What is made of effects and noise, by causes."""
APART = ("hidden causes", "shared noise", "chosen rows")
PLAIN = ("normal noise", "mixed noise", "noise that lasts", "two populations", "outliers")
KINDS = (*PLAIN, "rows twice", "thresholds", "nearly exact", *SPREADS, *JOINT, *MADE, *SEEN)
KINDS = (*KINDS, *FURTHER, *APART)


def _noise(kind: str, causes: np.ndarray, rng: Rng) -> np.ndarray:
    """Noise of a shape of its own, for rows whose causes these are."""
    rows = len(causes)
    shape = 0 if kind == "normal noise" else rng.integers(len(NOISES))
    noise = rng.uniform(0.5, 1) * unit(NOISES[shape](rng, rows))
    if kind == "noise that lasts":
        for t in range(1, rows):
            noise[t] = 0.6 * noise[t - 1] + 0.8 * noise[t]
    if kind in SPREADS and causes.shape[1]:
        noise = noise * SPREADS[kind](causes[:, 0])
    return 0.1 * noise if kind == "nearly exact" and rng.random() < 0.3 else noise


def _effect(kind: str, x: np.ndarray, rng: Rng) -> np.ndarray:
    if kind == "thresholds":
        return (x > 0.5 * rng.normal()).astype(float)
    if not kind.endswith("curves"):
        return x
    bent = (np.tanh(2 * x), np.sin(1.5 * x + rng.normal()), x + 0.5 * (x**2 - 1), x)
    return bent[rng.integers(len(bent))]


def _shared(kind: str, n: int, rows: int, rng: Rng) -> np.ndarray:
    """What variables have in common beside the causes that are seen, a row for each."""
    found = np.zeros((n, rows))
    if kind == "hidden causes":
        for pair in rng.permutation(n)[:4].reshape(2, 2):
            found[pair] = 0.7 * unit(rng.laplace(size=rows))
    if kind == "shared noise":
        found[:] = 0.4 * unit(rng.laplace(size=rows))
    return found


def data_set(kind: str, seed: int, n: int = 10, rows: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Rows as they are seen, and the DAG behind them."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), seed, 35])
    asked, rows = rows, 2 * rows if kind == "chosen rows" else rows
    order, dag = rng.permutation(n), np.zeros((n, n), np.int8)
    dag[np.ix_(order, order)] = np.triu(rng.random((n, n)) < 3 / (n - 1), 1)
    x, seen, half = np.empty((rows, n)), np.empty((rows, n)), rng.random(rows) < 0.5
    shared = _shared(kind, n, rows, rng)
    for v in order:
        causes = x[:, np.flatnonzero(dag[:, v])]
        own = _noise(kind, causes, rng)
        for cause in causes.T:
            slope = rng.uniform(0.5, 1) * rng.choice([-1, 1])
            own = own + slope * unit(_effect(kind, cause, rng))
        if kind in JOINT and causes.shape[1] > 1:
            own = own + JOINT[kind](causes[:, 0], causes[:, 1])
        if kind == "two populations" and causes.shape[1]:
            own = own + np.where(half, 0.8, -0.8) * causes[:, 0]
        own = unit(FURTHER[kind](rng, own, causes) if kind in FURTHER else own + shared[v])
        if kind == "outliers":
            own = own + 10 * (rng.random(rows) < 0.005) * rng.choice([-1, 1], rows)
        if kind in MADE and rng.random() < 0.5:
            own = unit(MADE[kind](rng, own))
        x[:, v] = own
        seen[:, v] = SEEN[kind](rng, own) if kind in SEEN else own
    if kind == "chosen rows":
        seen = seen[np.argsort(-seen[:, :2].sum(axis=1))[:asked]]
    return (np.concatenate([seen[::2]] * 2) if kind == "rows twice" else seen), dag


def measure(kind: str, seed: int) -> list[dict[str, Any]]:
    """One row for each method that asks the noise."""
    x, dag = data_set(kind, seed)
    found = []
    for method in ("noise", "curved"):
        noise = qwo.discover(x, random_state=0, **METHODS[method]).noise
        sure = np.argwhere(noise.supported if noise is not None else np.zeros_like(dag))
        real = [(i, j) for i, j in sure if dag[i, j] or dag[j, i]]
        wrong = sum(not dag[i, j] for i, j in real)
        told = {"sure": len(real), "wrong": wrong, "extra": len(sure) - len(real)}
        found.append({"method": method, **told})
    return found


def table(path: Path) -> str:
    """Wrong of sure arrows by kind, as a table of Markdown, and of all."""
    records = read_rows(path)
    lines = ["| data | sets | noise | curved |", "|---|---|---|---|"]
    for kind in (*dict.fromkeys(r["kind"] for r in records), "all"):
        own = [r for r in records if kind in (r["kind"], "all")]
        shown = []
        for method in ("noise", "curved"):
            part = [r for r in own if r["method"] == method]
            shown.append(" of ".join(str(sum(r[k] for r in part)) for k in ("wrong", "sure")))
        name = kind.replace("|", r"\|")
        lines.append(f"| {name} | {len(own) // 2} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--sets", type=int, default=10)
    run.add_argument("--seconds", type=float, default=480)
    commands.add_parser("table").add_argument("file", type=Path)
    asked = parser.parse_args()
    if asked.command == "table":
        print(table(asked.file))
        return
    warnings.simplefilter("ignore", qwo.DataWarning)
    cells = ({"kind": kind, "seed": seed} for seed in range(asked.sets) for kind in KINDS)
    print(len(extend_rows(asked.out, cells, measure, asked.seconds)), "rows")


if __name__ == "__main__":
    main()
