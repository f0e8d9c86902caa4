"""Feedback: cyclic models found in exact moments and samples, beside dglearn and CCD; false alarms.

    python -m benchmarks.feedback exact samples acyclic published \\
        [--sets N] [--dglearn PYTHON CHECKOUT] [--tetrad PYTHON] [--published CHECKOUT] \\
        [--results FOLDER]

dglearn (github.com/syanga/dglearn) has no package: it takes a Python with numpy, scipy, matplotlib,
networkx and tqdm, and a checkout. CCD and FASK are those of Tetrad 7.6.6
(``benchmarks.peers.environments``). The published simulations are those of Sanchez-Romero et al.
(2019) in github.com/cmu-phil/example-causal-datasets, simulated/feedbacks (CC0). Each part is a
table in ``benchmarks/results/feedback``, to which runs add what it has not got yet.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import qwo
from benchmarks.rows import extend_rows, read_rows, timed
from qwo.graph.cyclic_class import equivalence_class
from qwo.order.linalg import cyclic_coefficients

RESULTS = Path(__file__).parent / "results" / "feedback"
WORKER = Path(__file__).parent / "peers" / "cyclic_worker.py"
SIZES = (5, 8, 12, 20, 30, 50)
SAMPLES = tuple(product((5, 10, 20, 50), (500, 2000, 10_000)))
DGLEARN_SETS = {5: 5, 10: 1}
"""So many data sets of a size go to dglearn, which has two minutes for each."""
TOO_LONG = 3
"""What a worker returns that has run out of time."""
DENSITIES = ((5, 2), (8, 2), (8, 4), (15, 3), (30, 3), (30, 5))
KINDS = ("weak effects", "exponential noise", "curved", "hidden causes", "near copies")
"""What else data without cycles may be, beside linear, Gaussian and observed in full."""


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


def without_cycles(kind, n, degree, rows, seed):
    """Data of a random DAG, of a kind."""
    options = {"n_variables": n, "n_samples": rows, "degree": degree, "random_state": seed}
    if kind == "weak effects":
        return qwo.simulate("er", weights=(0.1, 0.3), **options).data
    if kind == "exponential noise":
        return qwo.simulate("er", noise="exponential", **options).data
    if kind == "hidden causes":
        return qwo.simulate("er", hidden=2, **(options | {"n_variables": n + 2})).data
    rng = np.random.default_rng([seed, 1])
    data, dag, b = qwo.simulate("er", **options)
    if kind == "near copies":  # a fifth of the columns are others with a little noise
        for _ in range(n // 5):
            copy, of = rng.choice(n, 2, replace=False)
            data[:, copy] = data[:, of] + 0.03 * data[:, of].std() * rng.standard_normal(rows)
    if kind == "curved":
        bends = (np.tanh, np.abs, np.square, lambda x: x)
        for v in qwo.graph.topological_order(dag):
            data[:, v] = rng.standard_normal(rows)
            for u in np.flatnonzero(dag[:, v]):
                z = data[:, u] / data[:, u].std()
                data[:, v] += b[u, v] * bends[rng.integers(4)](z)
    return data


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


def distance(graph, blocks):
    """Arrows that differ from the nearest graph that the model is equivalent to."""
    total = 0
    for block in blocks:
        own = list(block.variables)
        total += min(int((m.graph[:, own] != graph[:, own]).sum()) for m in block.members)
    return total


def shown(found):
    return found.dag if found.feedback.graph is None else found.feedback.member


def peer(python, method, given, limit=120.0, **environment):
    """What a peer finds in some arrays, and its processor seconds: as many as it ends with."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{k}.npy") for k in range(len(given))]
        for file, array in zip(files, given, strict=True):
            np.save(file, array)
        done = subprocess.run(
            [python, WORKER, method, str(limit), *files],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not answers and done.returncode != TOO_LONG:
        raise RuntimeError(f"{method}: {done.stderr[-500:]}")
    return [(np.array(answer["found"], dtype=np.int8), answer["seconds"]) for answer in answers]


class Parts:
    """The tables, each with its cells and what is measured in one of them."""

    def __init__(self, options):
        self.options, self.sets = options, options.sets

    def exact(self):
        """Equation (12): at most the true number of non-zeros, from exact moments."""
        for n, back, k in product(SIZES, range(1, 6), range(min(self.sets, 10))):
            yield {"n": n, "back_edges": back, "set": k}

    def measure_exact(self, n, back_edges, **cell):
        rng = np.random.default_rng([n, back_edges, cell["set"]])
        b, variances = cyclic_model(rng, n, back=back_edges)
        moments = qwo.Moments.from_precision(np.linalg.inv(covariance_of(b, variances)))
        found, seconds = timed(lambda: qwo.discover(moments, feedback=True, random_state=0))
        true, edges = int((b != 0).sum()), int(shown(found).sum())
        yield {
            "true_edges": true,
            "dag_edges": int(found.dag.sum()),
            "edges": edges,
            "at_most_true": edges <= true,
            "seconds": round(seconds, 3),
        }

    def samples(self):
        """Score less that of the true graph, distance to its class, seconds; beside peers."""
        for n, rows in SAMPLES:
            yield {"n": n, "rows": rows}

    def measure_samples(self, n, rows):
        """Distances are to the nearest graph of the class, and of what CCD would make of both."""
        rng = np.random.default_rng([n, rows, 37])  # the search was developed on others
        models, tables = [], []
        for k in range(self.sets):
            b, variances = cyclic_model(rng, n, degree=2.0, back=1 + k % 3)
            noise = rng.standard_normal((rows, n)) * np.sqrt(variances)
            models.append((b, equivalence_class(b, variances)))
            tables.append(noise @ np.linalg.inv(np.eye(n) - b).T)
        true = [(b.T != 0).astype(np.int8) for b, _ in models]
        found = {"qwo": [], "qwo without feedback": []}
        options, unclaimed = {"penalty_discount": 2, "random_state": 0}, []
        warm = covariance_of(*cyclic_model(np.random.default_rng(1), 6, back=3))  # as peers are
        qwo.discover(qwo.Moments.from_covariance(warm, 10_000), feedback=True, random_state=0)
        for data in tables:
            own, seconds = timed(lambda data=data: qwo.discover(data, feedback=True, **options))
            found["qwo"].append((shown(own), seconds))
            unclaimed.append(0.0 if own.feedback.graph is not None else own.feedback.gain)
            own, seconds = timed(lambda data=data: qwo.discover(data, **options))
            found["qwo without feedback"].append((own.dag, seconds))
        if self.options.dglearn and n in DGLEARN_SETS:
            python, checkout = self.options.dglearn
            some = tables[: DGLEARN_SETS[n]]
            found["dglearn"] = peer(python, "dglearn", some, DGLEARN=checkout)
        marks, ccd = {}, []
        if self.options.tetrad:
            ccd = peer(self.options.tetrad, "ccd", tables)
            asked = {"true": true, **{name: [g for g, _ in own] for name, own in found.items()}}
            graphs = [graph for own in asked.values() for graph in own]
            told = iter(peer(self.options.tetrad, "ccd-oracle", graphs))
            marks = {name: [next(told)[0] for _ in own] for name, own in asked.items()}
        for name, graphs in found.items():
            for k, (graph, seconds) in enumerate(graphs):
                row = {
                    "set": k,
                    "method": name,
                    "over_truth": round(
                        score_of(tables[k], graph, 2) - score_of(tables[k], true[k], 2), 2
                    ),
                    "distance": distance(graph, models[k][1]),
                    "seconds": round(seconds, 4),
                }
                if name == "qwo":
                    # What the best graph with cycles gains that is not claimed.
                    row["unclaimed"] = round(unclaimed[k], 2)
                if marks:
                    row["mark_distance"] = _pairs(marks[name][k], marks["true"][k])
                yield row
        for k, (own, seconds) in enumerate(ccd):
            pairs = _pairs(own, marks["true"][k])
            yield {"set": k, "method": "CCD", "mark_distance": pairs, "seconds": round(seconds, 4)}

    def acyclic(self):
        """How often cycles are claimed of data without."""
        plain = [("linear", *cell) for cell in product(DENSITIES, (200, 1000, 5000))]
        others = product(KINDS, ((8, 2), (8, 4)), (1000, 5000))
        for (kind, (n, degree), rows), k in product([*plain, *others], range(self.sets)):
            yield {"kind": kind, "n": n, "degree": degree, "rows": rows, "set": k}

    def measure_acyclic(self, kind, n, degree, rows, **cell):
        seed = 9000 + cell["set"]  # the threshold was chosen on 1000 to 1999
        data = without_cycles(kind, n, degree, rows, seed)
        found, seconds = timed(lambda: qwo.discover(data, feedback=True, random_state=0))
        _, plain = timed(lambda: qwo.discover(data, random_state=0))
        yield {
            "claimed": found.feedback.graph is not None,
            "gain_over_needed": round(found.feedback.gain / found.feedback.needed, 3),
            "seconds": round(seconds, 3),
            "plain_seconds": round(plain, 3),
        }

    def published(self):
        """The simulations of Sanchez-Romero et al.: adjacencies, arrows and two-cycles found.

        Single data sets of 500 rows, and ten of them at a time, each standardised.
        """
        for folder, together in product(sorted(self._base("data").iterdir()), (1, 10)):
            yield {"case": folder.name, "together": together}

    def misfit(self):
        """Whether the true graphs fit those simulations, as models of an equilibrium."""
        for folder in sorted(self._base("data").iterdir()):
            yield {"case": folder.name}

    def measure_misfit(self, case):
        true, tables = self._simulated(case, 10)
        data = np.vstack(tables)
        model = qwo.fit_sem(data, qwo.CausalGraph.from_matrix(true, kind="cyclic"))
        found = qwo.discover(data, feedback=True, random_state=0)
        penalty = found.params["penalty_discount"]
        lagged = [np.corrcoef(t[:-1].T, t[1:].T)[: len(true), len(true) :] for t in tables]
        yield {
            "chi_square": round(model.chi_square[0], 1),
            "df": model.chi_square[1],
            "p_value": float(f"{model.chi_square[2]:.2g}"),
            "found_over_truth": round(found.score - score_of(data, true, penalty), 1),
            "autocorrelation": round(float(np.mean([np.diag(own).mean() for own in lagged])), 2),
        }

    def _simulated(self, case, sets):
        path = self._base("ground.truth") / case / f"{case}.ground.truth.graph.txt"
        names, true = _read_truth(path)
        files = sorted((self._base("data") / case).iterdir())[:sets]
        columns = [files[0].open().readline().split().index(name) for name in names]
        tables = [np.loadtxt(file, skiprows=1, usecols=columns) for file in files]
        return true, [(t - t.mean(axis=0)) / t.std(axis=0) for t in tables]

    def measure_published(self, case, together):
        true, tables = self._simulated(case, max(self.sets, together))
        starts = range(0, len(tables) - together + 1, together)
        stacked = [np.vstack(tables[k : k + together]) for k in starts]
        answers = {}
        methods = {"qwo": {}, "qwo, lags=0": {"lags": 0}} if together > 1 else {"qwo": {}}
        for name, options in methods.items():
            asked = {"feedback": True, "random_state": 0, **options}
            runs = [timed(lambda d=data: qwo.discover(d, **asked)) for data in stacked]  # noqa: B023
            answers[name] = [(shown(found), seconds) for found, seconds in runs]
        if self.options.tetrad and together > 1:
            answers["FASK"] = peer(self.options.tetrad, "fask", stacked)
        for method, graphs in answers.items():
            yield {"method": method, "sets": len(graphs), **_counts(graphs, true)}

    def _base(self, part):
        return self.options.published / "simulated" / "feedbacks" / part


def _pairs(marks, others):
    """Pairs of variables with other marks."""
    return int(np.triu((marks != others) | (marks != others).T).sum())


def _counts(graphs, true):
    """Links, arrows and cycles of two: true, drawn, and both, in all graphs together."""

    def kinds(graph):
        links, twos = np.triu(graph | graph.T), np.triu(graph & graph.T)
        return {"links": links, "arrows": graph, "two_cycles": twos}

    total = {}
    for name, real in kinds(true).items():
        own = [kinds(graph)[name] for graph, _ in graphs]
        total[f"true_{name}"] = len(graphs) * int(real.sum())
        total[name] = sum(int(one.sum()) for one in own)
        total[f"right_{name}"] = sum(int((one & real).sum()) for one in own)
    return {**total, "seconds": round(sum(seconds for _, seconds in graphs), 3)}


def _read_truth(path):
    lines = path.read_text().splitlines()
    names = lines[1].replace(";", ",").split(",")
    graph = np.zeros((len(names), len(names)), dtype=np.int8)
    for line in lines:
        if "-->" in line:
            _, cause, _, effect = line.split()[:4]
            graph[names.index(cause), names.index(effect)] = 1
    return names, graph


def sentences(folder=RESULTS):
    """What the tables say, as the page on feedback says it."""
    exact, acyclic, samples, published = (
        read_rows(folder / f"{part}.csv") for part in ("exact", "acyclic", "samples", "published")
    )
    few = sum(row["at_most_true"] for row in exact)
    yield f"at most the true number of edges was found in {few} of {len(exact)}"
    linear = [row for row in acyclic if row["kind"] == "linear"]
    dense = [row for row in linear if (row["n"], row["degree"]) == (8, 4)]
    claimed, among = (sum(row["claimed"] for row in rows) for rows in (linear, dense))
    yield (
        f"Of {len(linear)} data sets without cycles (5 to 30 variables, 200 to 5000 rows) cycles "
        f"are claimed in {claimed} ({100 * claimed / len(linear):.1f} %), {among} of them among "
        f"the {len(dense)} dense ones of 8 variables"
    )
    for kind in KINDS:
        rows = [row for row in acyclic if row["kind"] == kind]
        yield f"| {kind} | {sum(row['claimed'] for row in rows)} of {len(rows)} |"
    own = {_key(row): row for row in samples if row["method"] == "qwo"}
    best = {key: row["over_truth"] + row["unclaimed"] for key, row in own.items()}
    short, shown_short = (
        sum(score < -0.5 for score in scores)
        for scores in (best.values(), (row["over_truth"] for row in own.values()))
    )
    yield (
        f"the best graph found scores at least as much as the true one, within half a point, in "
        f"{len(own) - short} of {len(own)}, and what is claimed of it in {len(own) - shown_short}"
    )
    for peer_, measure in (("dglearn", "over_truth"), ("CCD", "mark_distance")):
        pairs = [(own[_key(row)], row) for row in samples if row["method"] == peer_]
        sign = 1 if measure == "over_truth" else -1
        gaps = [
            sign * ((best[_key(ours)] if sign > 0 else ours[measure]) - theirs[measure])
            for ours, theirs in pairs
        ]
        better = sum(gap > 0.5 for gap in gaps), sum(gap < -0.5 for gap in gaps)
        ratio = np.median([theirs["seconds"] / ours["seconds"] for ours, theirs in pairs])
        yield (
            f"{peer_} was worse in {better[0]} of {len(pairs)} and better in {better[1]}, and took "
            f"{ratio:.2g} times as long"
        )
    said = {"qwo": "`feedback=True`", "qwo, lags=0": "`feedback=True, lags=0`"}
    for method, together in (("qwo", 1), ("qwo", 10), ("qwo, lags=0", 10), ("FASK", 10)):
        rows = [r for r in published if (r["method"], r["together"]) == (method, together)]
        if not rows:
            continue

        def share(part, whole, rows=rows):
            return f"{100 * sum(r[part] for r in rows) / sum(r[whole] for r in rows):.0f} %"

        yield (
            f"| {said.get(method, method)}, {500 * together} rows | "
            f"{share('right_links', 'links')} / {share('right_links', 'true_links')} | "
            f"{share('right_arrows', 'arrows')} / {share('right_arrows', 'true_arrows')} | "
            f"{share('right_two_cycles', 'true_two_cycles')} |"
        )

    misfit = read_rows(folder / "misfit.csv")
    wrong = sum(row["p_value"] < 0.001 for row in misfit)
    below = sum(row["found_over_truth"] > 0 for row in misfit)
    low, high = (end(row["autocorrelation"] for row in misfit) for end in (min, max))
    yield (
        f"the true graph does not fit in {wrong} of {len(misfit)} (p < 0.001), and the graph found "
        f"scores more in {below}: rows follow each other with correlations of {low} to {high}"
    )


def _key(row):
    return row["n"], row["rows"], row["set"]


def main() -> None:
    parts = ("exact", "samples", "acyclic", "published", "misfit")
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--dglearn", nargs=2, metavar=("PYTHON", "CHECKOUT"))
    parser.add_argument("--tetrad", metavar="PYTHON")
    parser.add_argument("--published", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.results.mkdir(parents=True, exist_ok=True)
    tables = Parts(options)
    for part in options.parts:
        cells, measure = getattr(tables, part)(), getattr(tables, f"measure_{part}")
        print(part, len(extend_rows(options.results / f"{part}.csv", cells, measure)), "rows")


if __name__ == "__main__":
    main()
