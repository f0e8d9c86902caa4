"""Feedback: cyclic models found in exact moments and samples, beside dglearn; false alarms.

    python -m benchmarks.feedback exact samples acyclic published \\
        [--sets N] [--dglearn CHECKOUT] [--published CHECKOUT]

dglearn (github.com/syanga/dglearn) is called from a checkout, as it has no package; the published
simulations are those of github.com/cmu-phil/example-causal-datasets, simulated/feedbacks (CC0), of
Sanchez-Romero et al. (2019). Each part is a table in ``benchmarks/results/feedback``.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import qwo
from qwo.feedback.classes import equivalence_class
from qwo.order.cyclic import as_mask, cyclic_coefficients

RESULTS = Path(__file__).parent / "results" / "feedback"
SIZES = (5, 8, 12, 20, 30, 50)
SAMPLES = (500, 1000, 2000, 5000, 10_000)


def cyclic_model(rng, n, degree=2.5, back=1, condition=50.0):
    """Coefficients (row i: equation of i) and noise variances of a random stable cyclic model."""
    while True:
        order = rng.permutation(n)
        b = np.zeros((n, n))
        for i in range(n):
            for j in range(i):
                if rng.random() < degree / (n - 1):
                    b[order[i], order[j]] = rng.choice([-1, 1]) * rng.uniform(0.4, 1.0)
        added = 0
        while added < back:
            i, j = sorted(rng.choice(n, 2, replace=False))
            if b[order[i], order[j]] == 0:
                b[order[i], order[j]] = rng.choice([-1, 1]) * rng.uniform(0.4, 1.0)
                added += 1
        stable = np.abs(np.linalg.eigvals(b)).max() < 0.95
        if stable and np.linalg.cond(np.eye(n) - b) < condition:
            return b, rng.uniform(0.5, 2.0, n)


def covariance_of(b, variances):
    total = np.linalg.inv(np.eye(len(b)) - b)
    return total * variances @ total.T


def score_of(data, graph, penalty):
    """2·loglik - penalty·edges·log N of a directed graph, cycles allowed."""
    correlation, rows = np.corrcoef(data.T), len(data)
    b = np.eye(len(correlation)) - cyclic_coefficients(correlation, graph)
    noise = np.einsum("ij,jk,ik->i", b, correlation, b)
    fit = rows * (2 * np.linalg.slogdet(b)[1] - np.log(noise).sum())
    return fit - penalty * np.count_nonzero(graph) * math.log(rows)


def distance(graph, b, variances):
    """Arrows that differ from the nearest graph that the model is equivalent to."""
    total = 0
    for block in equivalence_class(b, variances):
        own = list(block.variables)
        total += min(int((m.graph[:, own] != graph[:, own]).sum()) for m in block.members)
    return total


def shown(found):
    return found.dag if found.feedback.graph is None else found.feedback.member


def exact(sets, _options):
    """Equation (12): at most the true number of non-zeros, from exact moments."""
    for n in SIZES:
        for back in range(1, 6):
            rng = np.random.default_rng([n, back])
            for k in range(sets):
                b, variances = cyclic_model(rng, n, back=back)
                precision = np.linalg.inv(covariance_of(b, variances))
                moments = qwo.Moments.from_precision(precision)
                begun = time.process_time()
                found = qwo.discover(moments, feedback=True, random_state=0)
                seconds = time.process_time() - begun
                true = int((b != 0).sum())
                yield {
                    "n": n,
                    "back_edges": back,
                    "set": k,
                    "true_edges": true,
                    "dag_edges": int(found.dag.sum()),
                    "edges": int(shown(found).sum()),
                    "at_most_true": int(shown(found).sum()) <= true,
                    "seconds": round(seconds, 3),
                }


def samples(sets, options):
    """Score less that of the true graph, distance to its class, seconds; beside dglearn."""
    for n in SIZES:
        for rows in SAMPLES:
            rng = np.random.default_rng([n, rows])
            for k in range(sets):
                b, variances = cyclic_model(rng, n, degree=2.0, back=1 + k % 3)
                noise = rng.standard_normal((rows, n)) * np.sqrt(variances)
                data = noise @ np.linalg.inv(np.eye(n) - b).T
                begun = time.process_time()
                found = qwo.discover(data, feedback=True, penalty_discount=2, random_state=0)
                seconds = time.process_time() - begun
                truth = score_of(data, b.T != 0, 2)
                row = {
                    "n": n,
                    "rows": rows,
                    "set": k,
                    "true_edges": int((b != 0).sum()),
                    "cycles_found": found.feedback.graph is not None,
                    "gain_over_truth": round(found.score - truth, 2),
                    "dag_over_truth": round(score_of(data, found.dag, 2) - truth, 2),
                    "distance": distance(shown(found), b, variances),
                    "dag_distance": distance(found.dag, b, variances),
                    "seconds": round(seconds, 3),
                }
                if options.dglearn and n <= 8 and k < 4:
                    row |= _dglearn(data, b, variances, truth)
                yield row


def _dglearn(data, b, variances, truth):
    from dglearn import CyclicManager, reduce_support, tabu_search, virtual_refine

    # Its BIC is loglik - coefficient·edges·log N: 1 is our penalty of 2.
    begun = time.process_time()
    manager = CyclicManager(data, bic_coef=1.0)
    support, _, _ = tabu_search(manager, 4, 4, first_ascent=False, verbose=0)
    support = virtual_refine(manager, support, patience=0, max_path_len=6, verbose=0)
    support = reduce_support(support, fill_diagonal=False)
    seconds = time.process_time() - begun
    graph = as_mask(np.asarray(support))
    np.fill_diagonal(graph, 0)
    # Entry (i, j) of a support is that of Q = (I - B) Ω^-½: column j is the equation of j.
    return {
        "dglearn_over_truth": round(score_of(data, graph, 2) - truth, 2),
        "dglearn_distance": distance(graph, b, variances),
        "dglearn_seconds": round(seconds, 3),
    }


def acyclic(sets, _options):
    """How often cycles are claimed of data without."""
    for n, degree in ((5, 2), (8, 2), (8, 4), (15, 3), (30, 3), (30, 5)):
        for rows in (200, 1000, 5000):
            for k in range(sets):
                data, _, _ = qwo.simulate(
                    "er", n_variables=n, n_samples=rows, degree=degree, random_state=1000 + k
                )
                begun = time.process_time()
                found = qwo.discover(data, feedback=True, random_state=0)
                seconds = time.process_time() - begun
                begun = time.process_time()
                qwo.discover(data, random_state=0)
                plain = time.process_time() - begun
                yield {
                    "n": n,
                    "degree": degree,
                    "rows": rows,
                    "set": k,
                    "claimed": found.feedback.graph is not None,
                    "gain_over_needed": round(found.feedback.gain / found.feedback.needed, 3),
                    "seconds": round(seconds, 3),
                    "plain_seconds": round(plain, 3),
                }


def published(sets, options):
    """The simulations of Sanchez-Romero et al.: adjacencies, arrows and two-cycles found."""
    base = options.published / "simulated" / "feedbacks"
    for folder in sorted((base / "data").iterdir()):
        truth_file = base / "ground.truth" / folder.name / f"{folder.name}.ground.truth.graph.txt"
        names, true = _read_truth(truth_file)
        for path in sorted(folder.iterdir())[:sets]:
            begun = time.process_time()
            found = qwo.discover(path, feedback=True, random_state=0)
            seconds = time.process_time() - begun
            order = [found.names.index(name) for name in names]
            graph = shown(found)[np.ix_(order, order)]
            links, true_links = np.triu(graph | graph.T), np.triu(true | true.T)
            two, true_two = np.triu(graph & graph.T), np.triu(true & true.T)
            yield {
                "case": folder.name,
                "set": path.name.split(".")[0],
                "true_links": int(true_links.sum()),
                "links": int(links.sum()),
                "right_links": int((links & true_links).sum()),
                "true_arrows": int(true.sum()),
                "arrows": int(graph.sum()),
                "right_arrows": int((graph & true).sum()),
                "true_two_cycles": int(true_two.sum()),
                "two_cycles": int(two.sum()),
                "right_two_cycles": int((two & true_two).sum()),
                "feedback": found.feedback.graph is not None,
                "seconds": round(seconds, 3),
            }


def _read_truth(path):
    lines = path.read_text().splitlines()
    names = lines[1].replace(";", ",").split(",")
    graph = np.zeros((len(names), len(names)), dtype=np.int8)
    for line in lines:
        if "-->" in line:
            _, cause, _, effect = line.split()[:4]
            graph[names.index(cause), names.index(effect)] = 1
    return names, graph


PARTS = {"exact": exact, "samples": samples, "acyclic": acyclic, "published": published}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--dglearn", type=Path)
    parser.add_argument("--published", type=Path)
    options = parser.parse_args()
    if options.dglearn:
        sys.path.insert(0, str(options.dglearn))
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        rows = list(PARTS[part](options.sets, options))
        header = list(dict.fromkeys(key for row in rows for key in row))
        with (RESULTS / f"{part}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, header, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(part, len(rows), "rows")


if __name__ == "__main__":
    main()
