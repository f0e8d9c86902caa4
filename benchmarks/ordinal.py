"""Ordinal columns as scores, and as pieces of normal variables: which is better where.

Run with ``python -m benchmarks.ordinal``. Random graphs of 20 variables, average degree 3, with
binary columns or columns of 2 to 5 levels. *Cut*: a linear Gaussian model, some columns of which
are cut at random places; *weakly cut*: the same with coefficients of 0.2 to 0.5 instead of those of
`qwo.simulate`. *Levels act*: children depend on the levels that are seen, by a cumulative logit or
by a line. SHD counts the pairs of variables whose edge in the CPDAG is wrong.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

import qwo
from benchmarks.timing import print_table
from qwo.errors import SampleSizeError

Table = npt.NDArray[np.float64]


def _pieces(column: Table, levels: int, rng: Any) -> Table:
    shares = rng.dirichlet([4.0] * levels).cumsum()[:-1]
    return np.digitize(column, np.quantile(column, shares)).astype(float)


def cut(dag: Any, levels: list[int], rows: int, rng: Any) -> Table:
    """A linear Gaussian model, then cut."""
    values, _, _ = qwo.simulate(dag, n_samples=rows, random_state=rng, standardize=True)
    return _cut(values, levels, rng)


def weakly_cut(dag: Any, levels: list[int], rows: int, rng: Any) -> Table:
    """One with small coefficients."""
    values = np.zeros((rows, len(dag)))
    for v in qwo.graph.topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        slopes = rng.uniform(0.2, 0.5, len(parents)) * rng.choice([-1, 1], len(parents))
        values[:, v] = values[:, parents] @ slopes + rng.normal(size=rows)
        values[:, v] /= values[:, v].std()
    return _cut(values, levels, rng)


def _cut(values: Table, levels: list[int], rng: Any) -> Table:
    for v, own in enumerate(levels):
        if own:
            values[:, v] = _pieces(values[:, v], own, rng)
    return values


def levels_act(dag: Any, levels: list[int], rows: int, rng: Any) -> Table:
    """Children depend on the levels, not on what was cut."""
    values, scores = np.empty((2, rows, len(dag)))
    for v in qwo.graph.topological_order(dag):
        parents = np.flatnonzero(dag[:, v])
        slopes = rng.uniform(0.6, 1.2, len(parents)) * rng.choice([-1, 1], len(parents))
        signal = scores[:, parents] @ slopes
        if levels[v]:
            values[:, v] = _pieces(signal + 0.7 * rng.logistic(size=rows), levels[v], rng)
        else:
            values[:, v] = signal + rng.normal(size=rows)
        scores[:, v] = (values[:, v] - values[:, v].mean()) / values[:, v].std()
    return values


MODELS = {"cut": cut, "weakly cut": weakly_cut, "levels act": levels_act}


def learnt(data: Table, estimator: str) -> tuple[Any, float]:
    """The class found, and the sample size; no edge where the information is next to none."""
    try:
        found = qwo.discover(
            data, covariance_estimator=estimator, penalty_discount=2.0, gamma=0, random_state=0
        )
    except SampleSizeError:
        return np.zeros((data.shape[1],) * 2, dtype=np.int8), 0.0
    return found.cpdag, found.params["n_samples"]


def point(model: str, share: float, most: int, rows: int, sets: int) -> list[str]:
    """Mean SHD of both over data sets, their difference, and the effective sample size."""
    found = []
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        _, dag, _ = qwo.simulate("er", n_variables=20, n_samples=3, degree=3, random_state=rng)
        chosen = rng.permutation(20)[: round(share * 20)]
        levels = [int(rng.integers(2, most + 1)) if v in chosen else 0 for v in range(20)]
        data = MODELS[model](dag, levels, rows, rng)
        row, true = [], qwo.to_cpdag(dag)
        for estimator in ("plain", "latent"):
            cpdag, size = learnt(data, estimator)
            row += [qwo.compare(cpdag, true).shd_cpdag, size]
        found.append(row)
    shd = np.array(found, dtype=float)
    change = shd[:, 2] - shd[:, 0]
    error = change.std() / np.sqrt(sets)
    means = shd.mean(axis=0)
    kind = "binary" if most == 2 else f"2–{most} levels"
    numbers = [f"{means[0]:.1f}", f"{means[2]:.1f}", f"{change.mean():+.1f} ± {error:.1f}"]
    return [model, f"{share:.0%} {kind}", str(rows), *numbers, f"{means[3]:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--sets", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore", qwo.DataWarning)
    rows = []
    for model in MODELS:
        for share, most in ((0.5, 2), (1.0, 2), (0.5, 5), (1.0, 5)):
            for size in options.samples:
                rows.append(point(model, share, most, size, options.sets))
                print(*rows[-1], flush=True)
    print_table(["model", "ordinal", "N", "scores", "latent", "difference", "effective N"], rows)


if __name__ == "__main__":
    main()
