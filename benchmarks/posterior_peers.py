"""The posterior beside Gadget (`sumu` 0.1.2) and DiBS (`dibs-lib` 1.3.3): the same data and target.

    python -m benchmarks.posterior_peers ours          # data, reference, our runs
    PEER/bin/python benchmarks/posterior_peers.py gadget [--cap 180]
    PEER/bin/python benchmarks/posterior_peers.py dibs [--cap 180]
    python -m benchmarks.posterior_peers table

Random graphs of degree 4, standardised; BGe with T = I/2 and prior odds κ = 1/(2(n - 1)) of an edge
for all three: the peers' t, our prior. The peers live in environments of their own and find the
data in .cache/posterior-peers, where every run leaves its probabilities of edges. The reference is
the sum over all DAGs for 4 variables, where all must agree with it; else a run of ours with 40,000
draws, and a second one with another seed tells how far it can be trusted. Processor seconds;
deviations are those of P(i → j) from the reference over all ordered pairs.

Gadget runs with the settings of its own page (K = 15 candidates, d = 3, 16 tempered chains); with
100 variables, where these take minutes to prepare, with K = 10, d = 2 and 8 chains. When it has
used 20, 60 and 180 processor seconds, DAGs are drawn from the second half of its chain so far, up
to 500. As released its split of a part draws variables with replacement, and takes the size of the
split from the wrong sum: its chain has another target then, as 4 variables show. "mended" puts in a
move that is uniform over all splits and merges. DiBS answers twice: its particles alike (dibs) and
weighted by their scores (dibs+). A run that has no answer at its cap is ended.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

STORE = Path(__file__).parent.parent / ".cache" / "posterior-peers"
RESULT = Path(__file__).parent / "results" / "posterior-peers.csv"
CELLS = ((4, 60), (20, 200), (20, 1000), (50, 200), (50, 1000), (100, 200), (100, 1000))
Answers = Iterator[tuple[str, Any, float]]
"""Names of runs, their probabilities of edges and mean log scores."""


def odds(n: int) -> float:
    return 1 / (2 * (n - 1))


def file_of(cell: tuple[int, int], name: str) -> Path:
    return STORE / f"{cell[0]}-{cell[1]}-{name}.npz"


def keep(cell: tuple[int, int], names: dict[str, float], work: Callable[[], Answers]) -> None:
    """Run once in a process of its own, and keep what it answers with its processor seconds.

    Much of the peers' work is compiled, and hears no signal: only another process can end it, when
    it has used half as much again as the last answer may take. A name has the seconds after which
    it is kept as a run without an answer.
    """
    if all(file_of(cell, name).exists() for name in names):
        return
    child = multiprocessing.get_context("fork").Process(
        target=_keep, args=(cell, work, 1.5 * max(names.values()))
    )
    child.start()
    child.join()
    if child.exitcode and child.exitcode > 0:
        raise SystemExit(f"{cell}, {names}: exit code {child.exitcode}")
    for name, seconds in names.items():
        if not file_of(cell, name).exists():
            np.savez(file_of(cell, name), edges=np.nan, score=np.nan, seconds=seconds)
            print(cell, name, f"no answer in {seconds:g} s", flush=True)


def _keep(cell: tuple[int, int], work: Callable[[], Answers], cap: float) -> None:
    started = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(started + cap), int(started + cap)))
    for name, edges, score in work():
        seconds = time.process_time() - started
        np.savez(file_of(cell, name), edges=edges, score=score, seconds=seconds)
        print(cell, name, f"{seconds:.2f} s, score {score:.1f}", flush=True)


def data_of(cell: tuple[int, int]) -> Any:
    with np.load(file_of(cell, "data")) as archive:
        return archive["data"]


def ours(cell: tuple[int, int], _: float) -> None:
    import qwo

    n, n_samples = cell
    data, dag, _ = qwo.simulate(
        "er",
        n_variables=n,
        n_samples=n_samples,
        degree=2 if n == 4 else 4,
        standardize=True,
        random_state=n,
    )
    STORE.mkdir(parents=True, exist_ok=True)
    np.savez(file_of(cell, "data"), data=data, dag=dag)

    def run(name: str, n_draws: int, seed: int) -> Answers:
        found = qwo.posterior(data, t=0.5, n_draws=n_draws, random_state=seed)
        yield name, found.edge_probabilities, float(found.log_scores.mean())

    qwo.posterior(data[:, :4], n_draws=16, random_state=0)  # modules are loaded outside the clock
    if n == 4:
        keep(cell, {"reference": LONG}, lambda: enumerated(data))
    else:
        keep(cell, {"reference": LONG}, lambda: run("reference", 40_000, 1))
        keep(cell, {"again": LONG}, lambda: run("again", 40_000, 2))
    for n_draws in (200, 2000):
        name = f"qwo {n_draws} draws"
        keep(cell, {name: LONG}, lambda name=name, n_draws=n_draws: run(name, n_draws, 3))


def enumerated(data: Any) -> Answers:
    """The sum over all DAGs, a table of families for each variable: for a few variables only."""
    import qwo
    from qwo.bayes.scores import bge_score

    n = data.shape[1]
    score = bge_score(qwo.Moments.from_data(data), 0.5, odds(n))
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    dags = []
    for there in itertools.product((0, 1), repeat=len(pairs)):
        dag = np.zeros((n, n), dtype=np.int8)
        dag[tuple(np.transpose(pairs))] = there
        if np.trace(np.linalg.matrix_power(np.eye(n) + dag, n)) == n:
            dags.append(dag)
    logs = np.array([score.of_graph(dag) for dag in dags])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    yield "reference", np.tensordot(weights, dags, 1), float(weights @ logs)


def split_or_merge(R: Any, validate: bool = False) -> Any:
    """A proposal uniform over the merges of neighbouring parts and the splits of a part in two.

    In the place of Gadget's own: the partition, the probabilities of this proposal and of the one
    that leads back, and the variables whose scores change.
    """

    def ways(parts: Any) -> int:
        return len(parts) - 1 + sum(2 ** len(part) - 2 for part in parts)

    if validate:
        return True
    R, k = list(R), random.randrange(ways(R))
    if k < len(R) - 1:
        changed = [*R[:k], R[k] | R[k + 1], *R[k + 2 :]]
        rescored = R[k + 1].union(*R[k + 2 : k + 3])
    else:
        k -= len(R) - 1
        i = 0
        while k >= 2 ** len(R[i]) - 2:
            k -= 2 ** len(R[i]) - 2
            i += 1
        first = {v for bit, v in enumerate(sorted(R[i])) if k + 1 >> bit & 1}
        changed = [*R[:i], first, R[i] - first, *R[i + 1 :]]
        rescored = (R[i] - first).union(*R[i + 1 : i + 2])
    return tuple(changed), 1 / ways(R), 1 / ways(changed), rescored


BUDGETS = (20, 60, 180)
LONG = 3600


def gadget(cell: tuple[int, int], cap: float) -> None:
    from sumu import gadget as sumu
    from sumu import mcmc

    n = cell[0]

    def prior(self: Any) -> None:
        self._prior = -np.arange(self.data.n) * np.log(odds(n))

    sumu.LocalScore.precompute_prior = prior
    released = mcmc.R_basic_move
    split_or_merge.__name__ = released.__name__  # under which it keeps count of the moves

    def run(name: str, budgets: list[int]) -> Answers:
        np.random.seed(1)  # noqa: NPY002 - its only source of randomness
        random.seed(1)
        chain = sumu.Gadget(
            data=sumu.Data(data_of(cell), discrete=False),
            scoref="bge",
            ess=10,
            max_id=-1,
            cp_algo="greedy-lite",
            tolerance=2**-32,
            K=min(n - 1, 15 if n < 100 else 10),
            d=3 if n < 100 else 2,
            mc3_chains=16 if n < 100 else 8,
        )
        started = time.process_time()
        chain._find_candidate_parents()
        chain._precompute_scores_for_all_candidate_psets()
        chain._precompute_candidate_restricted_scoring()
        chain._precompute_candidate_complement_scoring()
        chain._init_mcmc()
        seen: list[Any] = []
        for budget in budgets:
            while time.process_time() - started < budget:
                seen.append(chain.mcmc.sample()[0])
            if half := seen[len(seen) // 2 :]:
                chain.Rs = half[:: -(-len(half) // 500)]
                yield f"{name} {budget} s", *shares(n, *chain._sample_dags())

    for name, move, longest in (
        ("gadget mended", split_or_merge, cap),
        ("gadget", released, min(cap, 60) if n <= 20 else 0),
    ):
        if not longest:
            continue
        mcmc.R_basic_move = move
        budgets = [budget for budget in BUDGETS if budget <= longest]
        names = {f"{name} {budget} s": budget for budget in budgets}
        keep(cell, names, lambda name=name, budgets=budgets: run(name, budgets))


def shares(n: int, dags: list[Any], scores: list[float]) -> tuple[Any, float]:
    edges = np.zeros((n, n))
    for dag in dags:
        for v, *parents in dag:
            for u in parents[0] if parents else ():
                edges[u, v] += 1
    return edges / len(dags), float(np.mean(scores))


def dibs(cell: tuple[int, int], cap: float) -> None:
    import jax
    from dibs.inference import MarginalDiBS
    from dibs.models import BGe, ErdosReniDAGDistribution

    n = cell[0]
    graphs = ErdosReniDAGDistribution(n_vars=n)
    graphs.p = odds(n) / (1 + odds(n))

    def run(names: list[str], particles: int, steps: int) -> Answers:
        chain = MarginalDiBS(
            x=jax.numpy.array(data_of(cell)), graph_model=graphs, likelihood_model=BGe(n_vars=n)
        )
        found = chain.sample(key=jax.random.PRNGKey(1), n_particles=particles, steps=steps)
        for name, weighted in zip(names, (chain.get_empirical, chain.get_mixture), strict=True):
            answer = weighted(found)
            weights = np.exp(np.asarray(answer.logp))
            yield name, np.tensordot(weights, np.asarray(answer.g), 1), float("nan")

    for particles, steps in ((10, 200), (30, 1000)):
        names = {f"{title} {particles} × {steps}": cap for title in ("dibs", "dibs+")}
        keep(cell, names, lambda names=list(names), p=particles, k=steps: run(names, p, k))


def average_precision(p: Any, truth: Any) -> float:
    ranked = truth[np.argsort(-p, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked > 0].mean())


def area(p: Any, truth: Any) -> float:
    """How often a true edge is ranked above a pair without; half of a tie counts."""
    gaps = np.subtract.outer(p[truth > 0], p[truth == 0])
    return float((gaps > 0).mean() + (gaps == 0).mean() / 2)


def table() -> None:
    rows = []
    for n, n_samples in CELLS:
        if not file_of((n, n_samples), "reference").exists():
            continue
        with np.load(file_of((n, n_samples), "data")) as archive:
            dag = archive["dag"]
        off = ~np.eye(n, dtype=bool)
        with np.load(file_of((n, n_samples), "reference")) as archive:
            reference, best = archive["edges"][off], float(archive["score"])
        for file in sorted(STORE.glob(f"{n}-{n_samples}-*.npz")):
            name = file.stem.split("-", 2)[2]
            if name in ("data", "reference"):
                continue
            with np.load(file) as archive:
                found, score = archive["edges"], float(archive["score"])
                seconds = float(archive["seconds"])
            head = {"n": n, "samples": n_samples, "run": name, "seconds": f"{seconds:.2f}"}
            if not np.isfinite(found).all():
                rows.append(head)
                continue
            edges = found[off]
            gap = edges - reference
            rows.append(
                head
                | {
                    "score_below": f"{best - score:.1f}",
                    "max_deviation": f"{np.abs(gap).max():.3f}",
                    "rms_deviation": f"{np.sqrt((gap**2).mean()):.4f}",
                    "average_precision": f"{average_precision(edges, dag[off]):.3f}",
                    "auroc": f"{area(edges, dag[off]):.4f}",
                }
            )
            print(*rows[-1].values())
    from benchmarks.rows import write_rows

    write_rows(RESULT, rows, list(max(rows, key=len)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("ours", "gadget", "dibs", "table"))
    parser.add_argument("--cap", type=float, default=180.0)
    parser.add_argument("--cells", type=int, nargs="+", default=range(len(CELLS)))
    arguments = parser.parse_args()
    if arguments.what == "table":
        table()
        return
    work = {"ours": ours, "gadget": gadget, "dibs": dibs}[arguments.what]
    for place in arguments.cells:
        work(CELLS[place], arguments.cap)


if __name__ == "__main__":
    sys.exit(main())
