"""The posterior beside Gadget (`sumu` 0.1.2) and DiBS (`dibs-lib` 1.3.3): the same data and target.

    python -m benchmarks.posterior_peers ours          # data, reference, our runs
    PEER/bin/python benchmarks/posterior_peers.py gadget [--cap 120]
    PEER/bin/python benchmarks/posterior_peers.py dibs [--cap 120]
    python -m benchmarks.posterior_peers table

Random graphs of degree 4, standardised; BGe with T = I/2 and prior odds κ = 1/(2(n - 1)) of an edge
for all three: the peers' t, our prior. The peers live in environments of their own and find the
data in .cache/posterior-peers, where every run leaves its probabilities of edges. The reference is
a run of ours with 40,000 draws; a second one with another seed tells how far it can be trusted.
Processor seconds; deviations are those of P(i → j) from the reference over all ordered pairs. A run
that has no answer after its cap of processor seconds is ended, and longer ones of its cell are left
out.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

STORE = Path(__file__).parent.parent / ".cache" / "posterior-peers"
RESULT = Path(__file__).parent / "results" / "posterior-peers.csv"
CELLS = ((20, 200), (20, 1000), (50, 200), (50, 1000), (100, 200), (100, 1000))


def odds(n: int) -> float:
    return 1 / (2 * (n - 1))


def keep(
    cell: tuple[int, int],
    name: str,
    work: Callable[[], tuple[Any, float]],
    cap: float = 3600.0,
) -> bool:
    """Run once, keep probabilities, mean log score and processor seconds; whether in time."""
    file = STORE / f"{cell[0]}-{cell[1]}-{name}.npz"
    if not file.exists():
        # Much of the peers' work is compiled, and hears no signal: only another process can end it.
        child = multiprocessing.get_context("fork").Process(target=_keep, args=(file, work, cap))
        child.start()
        child.join()
        if child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
            np.savez(file, edges=np.nan, score=np.nan, seconds=cap)
            print(file.stem, f"no answer in {cap:g} s", flush=True)
        elif child.exitcode:
            raise SystemExit(f"{file.stem}: exit code {child.exitcode}")
    with np.load(file) as archive:
        return bool(np.isfinite(archive["edges"]).all())


def _keep(file: Path, work: Callable[[], tuple[Any, float]], cap: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(cap), int(cap)))
    started = time.process_time()
    edges, score = work()
    seconds = time.process_time() - started
    np.savez(file, edges=edges, score=score, seconds=seconds)
    print(file.stem, f"{seconds:.2f} s, score {score:.1f}", flush=True)


def data_of(cell: tuple[int, int]) -> Any:
    with np.load(STORE / f"{cell[0]}-{cell[1]}-data.npz") as archive:
        return archive["data"]


def ours(cell: tuple[int, int], _: float) -> None:
    import qwo

    n, n_samples = cell
    data, dag, _ = qwo.simulate(
        "er", n_variables=n, n_samples=n_samples, degree=4, standardize=True, random_state=n
    )
    STORE.mkdir(parents=True, exist_ok=True)
    np.savez(STORE / f"{n}-{n_samples}-data.npz", data=data, dag=dag)

    def run(n_draws: int, seed: int) -> tuple[Any, float]:
        found = qwo.posterior(data, t=0.5, n_draws=n_draws, random_state=seed)
        return found.edge_probabilities, float(found.log_scores.mean())

    qwo.posterior(data[:, :4], n_draws=16, random_state=0)  # modules are loaded outside the clock
    keep(cell, "reference", lambda: run(40_000, 1))
    keep(cell, "again", lambda: run(40_000, 2))
    for n_draws in (200, 2000):
        keep(cell, f"qwo {n_draws} draws", lambda n_draws=n_draws: run(n_draws, 3))


def gadget(cell: tuple[int, int], cap: float) -> None:
    from sumu import gadget as sumu

    n = cell[0]

    def prior(self: Any) -> None:
        self._prior = -np.arange(self.data.n) * np.log(odds(n))

    sumu.LocalScore.precompute_prior = prior

    def run(iterations: int) -> tuple[Any, float]:
        np.random.seed(1)  # noqa: NPY002 - its only source of randomness
        chain = sumu.Gadget(
            data=sumu.Data(data_of(cell), discrete=False),
            scoref="bge",
            ess=10,
            max_id=-1,
            K=10,
            d=2,
            cp_algo="greedy-lite",
            mc3_chains=8,
            burn_in=iterations // 2,
            iterations=iterations,
            thinning=10,
            tolerance=2**-32,
        )
        dags, scores = chain.sample()
        edges = np.zeros((n, n))
        for dag in dags:
            for v, *parents in dag:
                for u in parents[0] if parents else ():
                    edges[u, v] += 1
        return edges / len(dags), float(np.mean(scores))

    for iterations in (1000, 10_000, 100_000):
        if not keep(cell, f"gadget {iterations} iterations", lambda k=iterations: run(k), cap):
            return


def dibs(cell: tuple[int, int], cap: float) -> None:
    import jax
    from dibs.inference import MarginalDiBS
    from dibs.models import BGe, ErdosReniDAGDistribution

    n = cell[0]
    graphs = ErdosReniDAGDistribution(n_vars=n)
    graphs.p = odds(n) / (1 + odds(n))

    def run(particles: int, steps: int) -> tuple[Any, float]:
        chain = MarginalDiBS(
            x=jax.numpy.array(data_of(cell)), graph_model=graphs, likelihood_model=BGe(n_vars=n)
        )
        key = jax.random.PRNGKey(1)
        found = chain.get_mixture(chain.sample(key=key, n_particles=particles, steps=steps))
        weights = np.exp(np.asarray(found.logp))
        return np.tensordot(weights, np.asarray(found.g), 1), float("nan")

    for particles, steps in ((10, 200), (20, 1000)):
        name = f"dibs {particles} × {steps}"
        if not keep(cell, name, lambda p=particles, k=steps: run(p, k), cap):
            return


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
        if not (STORE / f"{n}-{n_samples}-reference.npz").exists():
            continue
        with np.load(STORE / f"{n}-{n_samples}-data.npz") as archive:
            dag = archive["dag"]
        off = ~np.eye(n, dtype=bool)
        with np.load(STORE / f"{n}-{n_samples}-reference.npz") as archive:
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
    with RESULT.open("w", newline="") as file:
        columns = list(max(rows, key=len))
        writer = csv.DictWriter(file, fieldnames=columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("ours", "gadget", "dibs", "table"))
    parser.add_argument("--cap", type=float, default=120.0)
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
