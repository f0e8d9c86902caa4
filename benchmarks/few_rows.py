"""``python -m benchmarks.few_rows``: what the default search finds of a graph in few rows.

Random graphs with two neighbours a variable, 20 for each number of columns and rows. For each the
share of the true links that was found, and the share of the links found that are true.
"""

from __future__ import annotations

import warnings

import numpy as np

import qwo
from benchmarks.timing import print_table
from qwo.errors import DataWarning

COLUMNS = (7, 10, 20)
ROWS_EACH = (1.5, 2, 3, 5, 8)
GRAPHS = 20


def shares(n_variables: int, n_samples: int) -> tuple[float, float]:
    """Of all graphs together: links found of those that are there, and true ones of those found."""
    both = found = true = 0
    pairs = np.triu_indices(n_variables, 1)
    for seed in range(GRAPHS):
        drawn = qwo.simulate(
            "er", n_variables=n_variables, n_samples=n_samples, degree=2, random_state=seed
        )
        graph = qwo.discover(drawn.data, random_state=0).cpdag
        links, truth = ((matrix + matrix.T)[pairs] > 0 for matrix in (graph, drawn.dag))
        both += int((links & truth).sum())
        found += int(links.sum())
        true += int(truth.sum())
    return both / true, both / found


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", DataWarning)
    header = ["rows for each column", *(f"{n} columns: found, true" for n in COLUMNS)]
    rows = []
    for each in ROWS_EACH:
        cells = [shares(n, round(each * n)) for n in COLUMNS]
        rows.append([f"{each:g}", *(f"{found:.2f}, {true:.2f}" for found, true in cells)])
    print_table(header, rows)


if __name__ == "__main__":
    main()
