"""The posterior: is it calibrated, how long does it take, do its chains agree?

    python -m benchmarks.posterior calibration [--sets 40 20 5 3] [--minutes 10]
    python -m benchmarks.posterior time [--minutes 10]
    python -m benchmarks.posterior distance [--sets 10] [--minutes 10]

Calibration: models drawn from the prior (DAGs with κ to the number of edges, coefficients of BGe),
and half as many random graphs of average degree 3 with coefficients of at least 0.5; N = 100
(n = 10, 20) and 200 (n = 50, 100). Beside it 100 resamples with replacement and 100 halves of the
same data, each searched at penalty 2: an undirected edge counts half for each direction; paths and
effects are those of a member of the class, drawn anew for each resample, and intervals quantiles of
its estimates. The log loss takes probabilities clipped to [0.005, 0.995]. What each method says of
a data set is kept in .cache/posterior, other rows in *.jsonl beside the results: a run that has
used up its minutes goes on where it ended.
Time is that of the processor, for whole calls of `qwo.posterior`. Distance is the SHD of the graph
of least expected SHD, and of `qwo.discover` by default and at penalty 2, from the true CPDAG.
Results go to benchmarks/results/posterior-*.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import qwo
from benchmarks.timing import print_table
from qwo.files import whole_file
from qwo.graph.dag import topological_order
from qwo.graph.sampling import sample_dag
from qwo.resample.draws import Resampling, Scheme, search_seed
from qwo.types import Adjacency, FloatArray, Mask

RESULTS = Path(__file__).parent / "results"
CLIP = 0.005
SETTINGS = ((10, 100), (20, 100), (50, 200), (100, 200))
PRIOR_T = 0.1
RESAMPLES = 100
PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "posterior-calibration.png"
PANELS = {"prior": "models of the prior", "er": "random graphs, strong edges"}
STORE = Path(__file__).parent.parent / ".cache" / "posterior"

Arrays = dict[str, FloatArray]
Row = dict[str, Any]
Judge = Callable[[FloatArray], Arrays]


def prior_dag(n: int, rng: np.random.Generator) -> Adjacency:
    """A DAG with probability proportional to κ^edges, by adding and dropping single edges."""
    odds = 1 / (2 * (n - 1))
    dag = np.zeros((n, n), dtype=np.int8)
    for _ in range(40 * n * n):
        i, j = rng.integers(n, size=2)
        if dag[i, j]:
            dag[i, j] = 0
        elif i != j and not dag[j, i] and rng.random() < odds and not reaches(dag, j, i):
            dag[i, j] = 1
    return dag


def reaches(dag: Adjacency, start: int, end: int) -> bool:
    stack, seen = [start], {start}
    while stack:
        v = stack.pop()
        if v == end:
            return True
        fresh = set(np.flatnonzero(dag[v]).tolist()) - seen
        seen |= fresh
        stack += fresh
    return False


def prior_sample(n: int, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Rows of a model with a DAG of the prior and coefficients of BGe with T = tI, and those."""
    dag = prior_dag(n, rng)
    rows, coefficients = np.zeros((n_samples, n)), np.zeros((n, n))
    for v in topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        variance = PRIOR_T / 2 / rng.gamma((len(parents) + 3) / 2)
        coefficients[parents, v] = rng.normal(size=len(parents)) * np.sqrt(variance / PRIOR_T)
        noise = np.sqrt(variance) * rng.normal(size=n_samples)
        rows[:, v] = rows @ coefficients[:, v] + noise
    return rows, coefficients


def er_sample(n: int, n_samples: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    data, _, coefficients = qwo.simulate(
        "er",
        n_variables=n,
        n_samples=n_samples,
        degree=3,
        standardize=True,
        random_state=int(rng.integers(2**31)),
    )
    return data, coefficients


MODELS = {"prior": prior_sample, "er": er_sample}


def total(coefficients: FloatArray) -> FloatArray:
    """Total effects (I - B)⁻¹, exactly zero where there is no path."""
    effects = np.linalg.inv(np.eye(len(coefficients)) - coefficients)
    effects[~paths(coefficients != 0)] = 0.0
    return effects


def paths(dag: Mask) -> Mask:
    closure = dag.copy()
    for _ in range(int(np.ceil(np.log2(len(dag))))):
        closure |= (closure.astype(np.float32) @ closure.astype(np.float32)) > 0
    return closure


def posterior_says(data: FloatArray) -> Arrays:
    found = qwo.posterior(data, random_state=1)
    n = found.n_variables
    low, high, low_if_any, high_if_any = np.zeros((4, n, n))
    for i in range(n):
        for j, effect in zip(others(i, n), found.effects(i, others(i, n)), strict=True):
            low[i, j], high[i, j] = effect.interval(0.9)
            low_if_any[i, j], high_if_any[i, j] = effect.interval(0.9, if_any=True)
    return {
        "edge": found.edge_probabilities,
        "link": found.link_probabilities,
        "arrow": found.arrow_probabilities,
        "path": found.path_probabilities,
        "low": low,
        "high": high,
        "low_if_any": low_if_any,
        "high_if_any": high_if_any,
    }


def others(i: int, n: int) -> list[int]:
    return [j for j in range(n) if j != i]


def resamples_say(resampling: Resampling) -> Judge:
    """Shares of the resamples that `qwo.bootstrap` takes, and of members of their classes."""

    def judge(data: FloatArray) -> Arrays:
        N, n = data.shape
        scheme = Scheme(resampling, N, N // 2 if resampling == "halves" else N)
        rng = np.random.default_rng(1)
        counts = {what: np.zeros((n, n)) for what in ("edge", "link", "arrow", "path")}
        effects = np.zeros((RESAMPLES, n, n))
        for k in range(RESAMPLES):
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
        known = np.where(effects != 0, effects, np.nan)
        known[:, (effects == 0).all(axis=0)] = 0.0
        low_if_any, high_if_any = np.nanquantile(known, [0.05, 0.95], axis=0)
        return {what: count / RESAMPLES for what, count in counts.items()} | {
            "low": low,
            "high": high,
            "low_if_any": low_if_any,
            "high_if_any": high_if_any,
        }

    return judge


METHODS: dict[str, Judge] = {
    "posterior": posterior_says,
    "replacement": resamples_say("replacement"),
    "halves": resamples_say("halves"),
}


def expected_calibration_error(p: FloatArray, truth: FloatArray, bins: int = 10) -> float:
    """Mean over predictions of |mean probability - share that is true| of their tenth."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [
        (place == b).mean() * abs(p[place == b].mean() - truth[place == b].mean())
        for b in np.unique(place)
    ]
    return float(np.sum(gaps))


def judge(p: FloatArray, truth: FloatArray) -> dict[str, float]:
    clipped = np.clip(p, CLIP, 1 - CLIP)
    loss = -np.where(truth > 0, np.log(clipped), np.log1p(-clipped))
    unsure = (p > 0.02) & (p < 0.98)
    return {
        "log_loss": float(loss.mean()),
        "brier": float(((p - truth) ** 2).mean()),
        "ece": expected_calibration_error(p, truth),
        "ece_unsure": expected_calibration_error(p[unsure], truth[unsure]),
        "n_unsure": int(unsure.sum()),
    }


def stored(model: str, place: int, k: int) -> bool:
    return all(file_of(model, place, k, method).exists() for method in METHODS)


def file_of(model: str, place: int, k: int, method: str) -> Path:
    return STORE / f"{model}-{SETTINGS[place][0]}-{k}-{method}.npz"


def said(model: str, place: int, k: int, method: str) -> Arrays:
    """What a method says of a data set, and the coefficients of the truth; from the store if there.

    The data set is known by the model, the place of its setting, and its number.
    """
    n, n_samples = SETTINGS[place]
    file = file_of(model, place, k, method)
    if not file.exists():
        data, coefficients = MODELS[model](n, n_samples, np.random.default_rng([n, k, 8]))
        started = time.process_time()
        arrays = METHODS[method](data)
        arrays["seconds"] = np.array(time.process_time() - started)
        STORE.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as made, made.open("wb") as stream:
            np.savez_compressed(stream, truth=coefficients, **arrays)
        print(file.stem, f"{arrays['seconds']:.2f} s", flush=True)
    with np.load(file) as archive:
        return dict(archive)


def calibration(sets: list[int], minutes: float) -> list[Row]:
    ends = time.monotonic() + 60 * minutes
    rows: list[Row] = []
    shown: dict[str, dict[str, list[Arrays]]] = {
        model: {method: [] for method in METHODS} for model in MODELS
    }
    for place, wanted in enumerate(sets):
        for model in MODELS:
            count = wanted if model == "prior" else -(-wanted // 2)
            done: dict[str, list[Arrays]] = {method: [] for method in METHODS}
            for k in range(count):
                if time.monotonic() > ends and not stored(model, place, k):
                    print(f"{model}, n = {SETTINGS[place][0]}: {k} of {count} sets in time")
                    break
                for method, answers in done.items():
                    answers.append(said(model, place, k, method))
            for method, answers in done.items():
                if answers:
                    rows += judged(model, place, method, answers)
                    shown[model][method] += answers
    draw(shown)
    return rows


def judged(model: str, place: int, method: str, answers: list[Arrays]) -> list[Row]:
    n, n_samples = SETTINGS[place]
    head = {"model": model, "n": n, "samples": n_samples, "sets": len(answers), "method": method}
    seconds = float(np.mean([answer["seconds"] for answer in answers]))
    off, upper = ~np.eye(n, dtype=bool), np.triu(np.ones((n, n), dtype=bool), 1)
    effects = np.concatenate([total(answer["truth"])[off] for answer in answers])
    low, high, low_if_any, high_if_any, likely = (
        np.concatenate([answer[what][off] for answer in answers])
        for what in ("low", "high", "low_if_any", "high_if_any", "path")
    )
    covered = (low <= effects) & (effects <= high)
    there = effects != 0
    covered_if_any = (low_if_any <= effects) & (effects <= high_if_any)
    coverage = {
        "coverage": float(covered.mean()),
        "coverage_nonzero": float(covered[there].mean()),
        "coverage_if_any": float(covered_if_any[there].mean()),
        "coverage_likely": float(covered[likely > 0.5].mean()),
    }
    rows: list[Row] = []
    for what, truth in TRUTHS.items():
        chosen = upper if what == "link" else off
        p = np.concatenate([answer[what][chosen] for answer in answers])
        true = np.concatenate([truth(answer["truth"] != 0)[chosen] for answer in answers])
        figures = judge(np.clip(p, 0, 1), true.astype(float))
        rows.append({**head, "of": what, **figures, **coverage, "seconds": seconds})
    return rows


def draw(shown: dict[str, dict[str, list[Arrays]]]) -> None:
    """Share of true edges against their probability, in tenths: a panel for each kind of model."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(shown), figsize=(8.0, 4.0), sharex=True, sharey=True)
    for panel, (model, methods) in zip(axes, shown.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for method, answers in methods.items():
            off = [~np.eye(len(answer["edge"]), dtype=bool) for answer in answers]
            p = np.concatenate([a["edge"][chosen] for a, chosen in zip(answers, off, strict=True)])
            true = np.concatenate(
                [a["truth"][chosen] != 0 for a, chosen in zip(answers, off, strict=True)]
            )
            tenth = np.minimum((10 * p).astype(int), 9)
            points = [(p[tenth == b].mean(), true[tenth == b].mean()) for b in np.unique(tenth)]
            panel.plot(*zip(*points, strict=True), marker="o", markersize=4, label=method)
        panel.set(title=PANELS[model], xlabel="probability or support of an edge", aspect="equal")
    axes[0].set_ylabel("share of them that are true")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


TRUTHS: dict[str, Callable[[Mask], Mask]] = {
    "link": lambda dag: dag | dag.T,
    "edge": lambda dag: dag,
    "arrow": lambda dag: qwo.to_cpdag(dag.astype(np.int8)) == 1,
    "path": paths,
}


def families(sizes: Iterable[int]) -> Iterable[tuple[str, int, int, int]]:
    for n in sizes:
        for graph in ("er", "scale-free"):
            for n_samples in (200, 1000):
                yield graph, n, n_samples, 1000 + n


def timed(graph: str, n: int, n_samples: int, degree: int) -> Row:
    """Processor seconds of one posterior, beside those of a search, and how its chains did."""
    data, _, _ = qwo.simulate(
        graph,
        n_variables=n,
        n_samples=n_samples,
        degree=degree,
        standardize=True,
        random_state=1000 + n,
    )
    moments = qwo.Moments.from_data(data)
    started = time.process_time()
    found = qwo.posterior(moments, random_state=1)
    seconds = time.process_time() - started
    started = time.process_time()
    qwo.discover(moments, random_state=1)
    discovery = time.process_time() - started
    p = found.edge_probabilities
    unsure = (p > CLIP) & (p < 1 - CLIP)
    rhat = found.rhat[unsure]
    return {
        "graph": graph,
        "n": n,
        "samples": n_samples,
        "degree": degree,
        "seconds": seconds,
        "discover": discovery,
        "longest_list": max(len(listed) for listed in found.candidates),
        "core": sum(len(core) for core in found.core),
        "unsure": int(unsure.sum()),
        "agreeing": float((rhat < 1.05).mean()) if rhat.size else 1.0,
        "rhat_99": found.to_dict()["rhat_99"],
        "least_ess": found.to_dict()["least_ess"],
        "sweeps_per_draw": found.params["sweeps_per_draw"],
        "outside": found.largest_outside,
        "t": found.params["t"],
    }


TIMED = [
    (graph, n, n_samples, degree)
    for n in (50, 100, 20, 200)
    for graph, degree in (("er", 4), ("er", 2), ("scale-free", 4))
    for n_samples in (200, 1000)
]


def kept(
    name: str, keys: Iterable[tuple[object, ...]], work: Callable[..., Row], minutes: float
) -> list[Row]:
    """The rows of all keys, those that were made before from a file, while there is time."""
    ends = time.monotonic() + 60 * minutes
    store = RESULTS / f"posterior-{name}.jsonl"
    rows = [json.loads(line) for line in store.open()] if store.exists() else []
    done = {tuple(row.values())[:4] for row in rows}
    with store.open("a") as file:
        for key in keys:
            if key not in done and time.monotonic() < ends:
                rows.append(work(*key))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
                print(rows[-1], flush=True)
    return sorted(rows, key=lambda row: (row["n"], *tuple(row.values())[:4]))


def shd(first: Adjacency, second: Adjacency) -> int:
    return int(np.triu((first != second) | (first.T != second.T), 1).sum())


def distance(graph: str, n: int, n_samples: int, seed: int) -> Row:
    """SHD from the true CPDAG of what each method finds in one data set, and CPU seconds."""
    data, dag, _ = qwo.simulate(
        graph,
        n_variables=n,
        n_samples=n_samples,
        degree=4,
        standardize=True,
        random_state=seed,
    )
    moments, truth = qwo.Moments.from_data(data), qwo.to_cpdag(dag)
    found = qwo.posterior(moments, random_state=1)
    bic = qwo.posterior(moments, random_state=1, score="bic", penalty_discount=1.5)
    return {
        "graph": graph,
        "n": n,
        "samples": n_samples,
        "seed": seed,
        "posterior": shd(found.least_shd_graph.matrix, truth),
        "expected": found.expected_shd,
        "bic_posterior": shd(bic.least_shd_graph.matrix, truth),
        "discover": shd(qwo.discover(moments, random_state=1).cpdag, truth),
        "discover_2": shd(qwo.discover(moments, penalty_discount=2.0, random_state=1).cpdag, truth),
    }


def write(name: str, rows: list[Row]) -> None:
    with (RESULTS / f"posterior-{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("calibration", "time", "distance"))
    parser.add_argument("--sets", type=int, nargs="+")
    parser.add_argument("--minutes", type=float, default=np.inf)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    if arguments.what == "calibration":
        rows = calibration(arguments.sets or [40, 20, 5, 3], arguments.minutes)
    elif arguments.what == "time":
        rows = kept("time", TIMED, timed, arguments.minutes)
    else:
        count = (arguments.sets or [10])[0]
        keys = [
            (graph, n, n_samples, 10 * seed + k)
            for k in range(count)
            for graph, n, n_samples, seed in families((50, 100))
        ]
        rows = kept("distance", keys, distance, arguments.minutes)
    write(arguments.what, rows)
    print_table(list(rows[0]), [[shown(value) for value in row.values()] for row in rows])


def shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
