"""How often each search stops short of the best: ``python -m benchmarks.peers.search_error``.

From the results of the standard profile, on the first ten data sets of the middle-sized kinds.
"""

from __future__ import annotations

from statistics import fmean

from benchmarks.peers.__main__ import RESULTS
from benchmarks.peers.analysis import figures_of
from benchmarks.peers.cells import STANDARD, Cell
from benchmarks.peers.methods import FLOP, OURS
from benchmarks.peers.results import Results
from benchmarks.timing import print_table

METHODS = [method.name for method in (*OURS[:4], *FLOP[:2])]
DATA_SETS = 10
VISIBLE = 0.01


def main() -> None:
    """Print the share of data sets with a gap, the mean gap and the time of each method."""
    table = Results(RESULTS, "standard").table()
    cells = [figures for figures in figures_of(STANDARD, table) if is_middle_sized(figures.cell)]
    rows = []
    for method in METHODS:
        gaps, seconds = (
            [
                value
                for figures in cells
                for seed, value in figures.values(method, name).items()
                if seed < DATA_SETS
            ]
            for name in ("gap", "cpu")
        )
        share = fmean(gap > VISIBLE for gap in gaps)
        shown = f"{share:.0%}", f"{fmean(gaps):.2f}", f"{1e3 * fmean(seconds):.0f}"
        rows.append((method, str(len(gaps)), *shown))
    print_table(("method", "data sets", f"gap > {VISIBLE}", "mean gap", "CPU ms"), rows)


def is_middle_sized(cell: Cell) -> bool:
    """Whether searches may err there, and both tools have ten data sets of them."""
    kind = cell.kind
    return 30 < kind.n < 120 and kind.n < kind.n_samples and (kind.degree or 0) <= 8


if __name__ == "__main__":
    main()
