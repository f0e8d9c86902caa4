"""Penalties below 2 on dense graphs: ``python -m benchmarks.dense``.

Random graphs whose coefficients are from .1 to .9, every variable scaled to variance 1 before it
acts. SHD of the graph that is shown to the true class, with the penalty chosen and with fixed ones,
on data that no rule was chosen on. Rows are kept in ``benchmarks/results/dense.csv``: started
again, it goes on where it was. The table goes to the page on the penalty.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Literal

import numpy as np

import qwo
from benchmarks.arrows import draw_linear
from benchmarks.peers.markdown import markdown_table, update_page
from benchmarks.price import PAGE, RESULTS
from benchmarks.rows import Row, extend_rows
from qwo.graph.compare import shd
from qwo.simulation.random_models import random_dag

KINDS = ((60, 10, 1000), (30, 8, 2000), (60, 16, 1000), (40, 4, 1000))
"""Variables, mean degree and rows; the last is a sparse one to compare with."""

EFFECTS = 0.1, 0.9
PENALTIES: tuple[float | Literal["auto"], ...] = ("auto", 2.0, 1.75, 1.5)
COLUMNS = ("n", "degree", "N", "seed", "price", "auto", "2", "1.75", "1.5")
FIRST_SEED = 7000


def measured(n: int, degree: int, N: int, seed: int) -> list[Row]:
    """The penalty that is chosen on a data set, and wrong marks at each."""
    rng = np.random.default_rng([seed, n, degree, N])
    dag = random_dag("er", n, degree, shuffle=True, rng=rng)
    moments = qwo.Moments.from_data(draw_linear(dag, N, EFFECTS, rng))
    truth = qwo.to_cpdag(dag)
    found = [qwo.discover(moments, penalty_discount=p, random_state=0) for p in PENALTIES]
    away = [shd(one.graph.matrix, truth) for one in found]
    chosen = found[0].params["penalty_discount"]
    return [dict(zip(COLUMNS[4:], (chosen, *away), strict=True))]


def table(rows: Sequence[Row]) -> str:
    """By kind: mean penalty, mean SHD, and what choosing gains on 2 in per cent."""
    lines = []
    for kind in KINDS:
        own = [row for row in rows if (row["n"], row["degree"], row["N"]) == kind]
        if not own:
            continue
        price, auto, two, *others = np.array([[row[c] for c in COLUMNS[4:]] for row in own]).T
        gain = 100 * (two - auto) / two.mean()
        error = gain.std(ddof=1) / np.sqrt(len(own))
        text = f"{gain.mean():.1f} ± {error:.1f} %".replace("-", "−")
        means = [f"{values.mean():.1f}" for values in (auto, two, *others)]
        name = "n = {}, degree {}, N = {}".format(*kind)
        lines.append([name, str(len(own)), f"{price.mean():.2f}", *means, text])
    header = ["graphs", "sets", "penalty chosen", "SHD", "c = 2", "c = 1.75", "c = 1.5", "gain"]
    return markdown_table(header, lines)


def main() -> None:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=40, help="data sets of each kind")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(FIRST_SEED, FIRST_SEED + given.sets)
    cells = (dict(zip(COLUMNS, (*kind, s), strict=False)) for s in seeds for kind in KINDS)
    text = table(extend_rows(RESULTS / "dense.csv", cells, measured))
    print(text)
    update_page(PAGE, text, "dense")


if __name__ == "__main__":
    main()
