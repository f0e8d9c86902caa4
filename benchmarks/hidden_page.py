"""The page on hidden causes, made from the stored results."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

from benchmarks.hidden import ORACLE, SAMPLES
from benchmarks.peers.process import ROOT

PAGE = ROOT / "docs" / "benchmarks" / "hidden.md"

HEAD = """# Hidden causes

Made by `python -m benchmarks.hidden page` from `benchmarks/results/hidden.csv` and
`hidden_oracle.csv`.

Random linear models: a DAG of mean degree 2, 4, 3, 6 in turn on the measured variables, and 20 %,
10 %, 0 % as many hidden roots of 2 to 4 children; coefficients ±[0.2, 1], noise variances [1, 3],
noise gaussian, exponential or Laplace. *Wrong marks* are ends of edges that differ from the true
PAG, an edge too many or too few counting twice. *Legal* is the share of results that are the PAG
of some graph. Tetrad 7.6.6 (alpha 0.01, penalty discount 2, complete rules) and causal-learn's
FCI (alpha 0.01) get the same rows; a method that took over 20 seconds on a set is not given the
rest of the line, and GFci, GraspFci, LvLite and causal-learn are not run above 20 variables.
*Gap* is wrong marks less ours, on the same sets, with its standard error.
"""


def rows_of(path: Any) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _f1(rows: list[dict[str, str]], what: str) -> str:
    hit, found, true = (sum(int(r[f"{what}_{k}"]) for r in rows) for k in ("hit", "found", "true"))
    return f"{2 * hit / (found + true):.2f}" if found + true else "–"


def _tables() -> Iterator[str]:
    cells: dict[tuple[int, int], dict[str, list[dict[str, str]]]] = {}
    for row in rows_of(SAMPLES):
        key = int(row["n"]), int(row["rows"])
        cells.setdefault(key, defaultdict(list))[row["method"]].append(row)
    for (n, size), methods in sorted(cells.items()):
        yield f"## {n} variables, {size:,} rows, {len(methods['qwo'])} sets\n"
        yield "| method | sets | wrong marks | gap | F1 of links, heads, tails, ↔ | legal | CPU s |"
        yield "|---|---|---|---|---|---|---|"
        own = {r["seed"]: int(r["wrong"]) for r in methods["qwo"]}
        for method, rows in sorted(
            methods.items(), key=lambda m: mean(int(r["wrong"]) for r in m[1])
        ):
            gaps = [int(r["wrong"]) - own[r["seed"]] for r in rows]
            error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else 0.0
            gap = "" if method == "qwo" else f"{mean(gaps):+.1f} ± {error:.1f}"
            scores = ", ".join(_f1(rows, what) for what in ("edge", "head", "tail", "hidden"))
            legal = f"{100 * mean(int(r['legal']) for r in rows):.0f} %"
            cpu = f"{mean(float(r['cpu']) for r in rows):.3f}"
            wrong = f"{mean(int(r['wrong']) for r in rows):.1f}"
            yield f"| {method} | {len(rows)} | {wrong} | {gap} | {scores} | {legal} | {cpu} |"
        yield ""


def _oracle() -> str:
    rows = rows_of(ORACLE)
    graphs, right = (sum(int(r[k]) for r in rows) for k in ("graphs", "right"))
    return f"""## From exact correlations

Of {graphs:,} random models with 4 to 8 measured and 0 to 5 hidden variables, coefficients
±[0.4, 1], the class found is exactly the true one in {right:,}. Where it is not, the graph
found has an edge less and costs less than the true one at the 10¹² rows that stand for
infinity: the model is not faithful to that accuracy.

## The light tunnel, and proteins

Causal Chambers' light tunnel (10,000 rows), red, green and blue hidden, truth projected to
the other 17 variables: 66 wrong marks, as many as the class of the best DAG; Fci 65, BFci
69, LvDumb 68. Three hidden causes of nearly all sensors make 12 pairs ↔; Fci and BFci find
2 of them, ours none. Sachs et al. without PKA: no sign of hidden causes
([how-to](../howto/hidden-causes.md)).
"""


def page() -> str:
    return "\n".join([HEAD, _oracle(), *_tables()]).rstrip() + "\n"


def write_page() -> None:
    PAGE.write_text(page(), encoding="utf-8")
