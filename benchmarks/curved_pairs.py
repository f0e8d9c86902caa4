"""The cause–effect pairs of Mooij et al. (2016): how often noise and curves tell cause from effect.

    python -m benchmarks.curved_pairs FOLDER

FOLDER is ``real/pairs`` of github.com/cmu-phil/example-causal-datasets (CC0), which is not part of
this package. Pairs of single columns only. A pair counts with its weight; where no edge is found,
half of it counts as right. Printed: the accuracy where every pair is decided, by the member of the
class with the likelier noise, and that of the pairs decided at z of `level` or more.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import qwo

LEVELS = (3.0, 5.0)


def pairs(folder: Path) -> list[tuple[int, np.ndarray, bool, float]]:
    """Number, rows, whether the first column is the cause, and weight."""
    found = []
    for line in (folder / "ground.truth" / "pairmeta.txt").read_text().splitlines():
        number, first, last, other, end, weight = line.split()
        if first != last or other != end:
            continue
        rows = np.genfromtxt(folder / "data" / f"pair.{int(number)}.txt", skip_header=1)
        if rows.shape[1] == 2:
            rows = rows[np.isfinite(rows).all(axis=1)]
            found.append((int(number), rows, first == "1", float(weight)))
    return found


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    results = []
    for number, rows, forward, weight in pairs(folder):
        found = qwo.discover(rows[:: len(rows) // 3000 + 1], relations="curved", random_state=0)
        edge = np.argwhere(found.dag)
        right, z = 0.5, np.nan
        if len(edge):
            i, j = edge[0]
            right = float((i == 0) == forward)
            z = float(found.noise.z[i, j]) if found.noise is not None else np.nan
        results.append((number, right, z, weight))
    table = np.array(results)
    right, z, weight = table[:, 1], np.nan_to_num(table[:, 2], nan=0.0), table[:, 3]
    share = right @ weight / weight.sum()
    error = np.sqrt(share * (1 - share) * (weight**2).sum()) / weight.sum()
    print(f"{len(table)} pairs, all decided: {share:.3f} ± {error:.3f}")
    for level in LEVELS:
        sure = z >= level
        told = weight[sure].sum()
        print(
            f"z >= {level:g}: {sure.sum()} pairs ({told / weight.sum():.2f} of the weight), "
            f"accuracy {right[sure] @ weight[sure] / max(told, 1e-9):.3f}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
