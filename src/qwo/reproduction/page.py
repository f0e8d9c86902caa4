"""The page: what was run, and how it compares with the paper, from the rows of a store.

Tables of where the numbers differ stand here, too: the published code, starts, versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined

from qwo.datasets import load_network
from qwo.reproduction import tables
from qwo.reproduction.aggregate import AXES, FEWEST, Cells, Point, cells_as_csv
from qwo.reproduction.claims import COMPARABLE, MUCH, claims
from qwo.reproduction.figures import DEGREES, HIGH_DIMENSIONAL, draw_figures
from qwo.reproduction.paper import load_paper_figures, load_paper_table2, true_edges_found
from qwo.reproduction.store import Row
from qwo.reproduction.tables import ABSENT, markdown, triple, two
from qwo.text import two_digits, write_whole

SHOWN_SIZES = (50, 100, 150)


def write_page(rows: Collection[Row], folder: Path) -> Path:
    """Write page, figures and compact tables of results into a folder; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = Cells(rows)
    figures = draw_figures(cells, folder)
    write_whole(folder / "results-searches.csv", cells_as_csv(cells.select(kind="search")))
    write_whole(folder / "results-growth.csv", _growth_csv(cells))
    path = folder / "index.md"
    write_whole(path, render(cells, rows, figures))
    return path


def render(cells: Cells, rows: Collection[Row], figures: Collection[str]) -> str:
    """The page in Markdown."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    source = files("qwo.reproduction").joinpath("templates", "page.md.j2").read_text("utf-8")
    sizes = _shown_sizes(cells)
    habits_size = _largest(cells, "code-hc/as-published")
    judged, evidence = claims(cells)
    return environment.from_string(source).render(
        claims=judged,
        comparable=COMPARABLE,
        common=tables.common_table(cells),
        coverage=tables.coverage_table(cells),
        evidence=tables.evidence_tables(evidence),
        fewest=FEWEST,
        figures=figures,
        growth=tables.growth_table(cells),
        growth_sizes=tables.growth_sizes(cells),
        habits=habits_table(cells, habits_size),
        habits_size=habits_size,
        high=[tables.high_dimensional_table(cells, degree, sizes) for degree in DEGREES],
        low={name: tables.low_dimensional_table(cells, name) for name in tables.TABLE2_METRICS},
        made=_made(rows),
        much=MUCH,
        plotted=tables.PLOTTED_SECONDS,
        published_ratios=published_ratios(),
        raw_bdeu=_raw_bdeu(),
        reversals=reversals(cells, habits_size),
        starts=starts_table(cells),
        versions=versions_table(cells, _largest(cells, "grasp2-depth1/qwo")),
        versions_size=_largest(cells, "grasp2-depth1/qwo"),
    )


def _shown_sizes(cells: Cells) -> list[int]:
    """The sizes of the tables: those of the paper's notes, or the largest that there are."""
    known = {c.run["n_variables"] for c in cells.select(**HIGH_DIMENSIONAL)}
    return [n for n in SHOWN_SIZES if n in known] or sorted(known)[-2:]


def _largest(cells: Cells, method: str) -> int:
    """The largest size at which a method has results; that of the smallest graphs if none."""
    found = [cell.run["n_variables"] for cell in cells.select(method=method) if cell.complete]
    return max(found, default=5)


def _made(rows: Collection[Row]) -> dict[str, Any]:
    """How many runs there are, by which versions, and what is stored of them."""
    records = [row.record for row in rows]
    core = records[-1]["core"] if records else {}

    def all_of(name: str) -> list[str]:
        return sorted({str(record[name]) for record in records if record.get(name)})

    return {
        "runs": len(rows),
        "cut_off": sum(row.outcome["status"] == "cut off" for row in rows),
        "versions": all_of("qwo"),
        "python": all_of("python"),
        "numpy": all_of("numpy"),
        "causal_learn": all_of("causal-learn"),
        "commits": all_of("commit"),
        "processors": all_of("processor"),
        "authors": all_of("authors"),
        "with_commit": sum("commit" in record for record in records),
        "with_memory": sum("memory" in row.outcome for row in rows),
        "core": f"{core.get('compiler')}, {core.get('kernels')} kernels",
        "budgets": _budgets(rows),
        "cpu_hours": sum(row.outcome.get("cpu") or 0.0 for row in rows) / 3600,
    }


def _budgets(rows: Collection[Row]) -> str:
    """How many searches had which budget, such as ``4 s: 100 runs, 60 s: 20 runs``."""
    counts = Counter(row.outcome["budget"] for row in rows)
    return ", ".join(f"{budget:g} s: {count} runs" for budget, count in sorted(counts.items()))


def _raw_bdeu() -> list[dict[str, Any]]:
    """The paper's SKF1 of BDeu on networks as 2t / (n - 1 + e)."""
    found = []
    for cell in load_paper_table2():
        if (cell.module, cell.metric) == ("BDeu", "SKF1") and cell.graph != "ER2":
            dag = load_network(cell.graph.lower()).dag
            n, e = len(dag), int(dag.sum())
            t = true_edges_found(cell.value, n, e)
            found.append({"graph": cell.graph, "search": cell.search, "value": cell.value})
            found[-1] |= {"t": t, "both": n - 1 + e, "formula": f"{2 * t / (n - 1 + e):.3f}"}
    return found


def _growth_csv(cells: Cells) -> str:
    lines = []
    for point in cells.select(kind="growth"):
        run = point.run
        size, density = run[AXES[run["vary"]]], run.get("density", "sparse")
        kind = (run["method"], run["phase"], run["vary"], density, run.get("scale", "own"), size)
        numbers = ["", "", ""]
        if point.complete:
            scores = f"{point.mean('scores'):.6g}" if point.values["scores"] else ""
            numbers = [f"{point.mean('cpu'):.6g}", f"{point.deviation('cpu'):.6g}", scores]
        lines.append((kind, [*map(str, kind), str(point.count), f"{point.cut_at or ''}", *numbers]))
    header = "module,phase,varies,density,scale,size,runs,cut_off_at,cpu_mean,cpu_sd,scores"
    return "\n".join([header, *(",".join(line) for _, line in sorted(lines))]) + "\n"


HABIT_STEPS = (
    ("as the paper's text says", "{text}/qwo", None),
    ("search as in the code", "code-{search}/own-test", None),
    ("+ its edge test", "code-{search}/its-test", None),
    ("+ its stale Q", "code-{search}/as-published", None),
    ("+ one weight per parent: as published", "code-{search}/as-published", "parent"),
    ("**the authors' own code**", "authors/{search}", "parent"),
)


def habits_table(cells: Cells, n: int) -> str:
    """What each habit of the published code does to SKF1 and PSHD at one size."""
    header = ["", *(f"ER{d} {s}" for d in DEGREES for s in ("GRaSP", "HC"))]
    rows = []
    for label, method, weights in HABIT_STEPS:
        row = [label]
        for degree in DEGREES:
            for search, text in (("grasp", "grasp0"), ("hc", "hc")):
                cell = cells.find(
                    **HIGH_DIMENSIONAL | {"weights": weights},
                    degree=degree,
                    n_variables=n,
                    method=method.format(search=search, text=text),
                )
                row.append(_both(cell))
        rows.append(row)
    paper = [_published(degree, search, n) for degree in DEGREES for search in ("grasp", "HC")]
    return markdown(header, [*rows, ["the paper's figure", *paper]])


def _both(cell: Point | None) -> str:
    """SKF1, PSHD by its definition, PSHD as the published code computes it, seconds, graphs."""
    if cell is None:
        return ABSENT
    reversed_too = cell.values["pshd_reversed"]
    turned = f"{cell.mean('pshd_reversed'):.2f}" if reversed_too else ABSENT
    return f"{two(cell)} / {turned} / {two_digits(cell.mean('cpu'))} s ({cell.count})"


STARTS = (("order by Markov boundaries", "hc/bic"), ("random order", "hc-random/bic"))
START_POINTS = ((2, 30), (2, 50), (3, 30), (3, 50), (4, 20), (4, 30))


def starts_table(cells: Cells) -> str:
    """SKF1 / PSHD of hill climbing on BIC from two start orders."""
    rows = []
    for label, method in STARTS:
        found = [
            cells.find(**HIGH_DIMENSIONAL, degree=d, n_variables=n, method=method)
            for d, n in START_POINTS
        ]
        rows.append([label, *map(two, found)])
    paper = [_published(d, "HC", n, "BIC") for d, n in START_POINTS]
    header = ["start of HC-BIC", *(f"ER{d}, n = {n}" for d, n in START_POINTS)]
    return markdown(header, [*rows, ["the paper's figure", *paper]])


VERSIONS = {
    "covered edges (GRaSP₀), depth 3": "grasp0",
    "covered and singular edges (GRaSP₁), depth 3": "grasp1",
    "all edges (GRaSP₂), depth 1": "grasp2-depth1",
    "all edges, depth 2": "grasp2-depth2",
    "all edges, depth 3": "grasp2",
}


def versions_table(cells: Cells, n: int) -> str:
    """SKF1 / PSHD / seconds of GRaSP on QWO by version, depth and objective, at one size."""
    columns = [(d, m) for d in (2, 4) for m in ("qwo", "qwo-likelihood")]
    names = {"qwo": "edge count", "qwo-likelihood": "capped likelihood"}
    rows = []
    for label, search in VERSIONS.items():
        found = [
            cells.find(
                **HIGH_DIMENSIONAL, degree=degree, n_variables=n, method=f"{search}/{module}"
            )
            for degree, module in columns
        ]
        rows.append([label, *map(triple, found)])
    return markdown(["", *(f"ER{d}, {names[m]}" for d, m in columns)], rows)


def _published(degree: int, search: str, n: int, module: str = "QWO") -> str:
    wanted = (f"ER{degree}", f"{search}-{module}", n)
    found = {
        p.metric: p.value
        for p in load_paper_figures()
        if (p.graph, p.method, p.n_variables) == wanted
    }
    if not found:
        return ABSENT
    return f"{found['SKF1']:.3f} / {found['PSHD']:.2f}"


class Reversal(NamedTuple):
    """A line of the published code's model beside the paper's PSHD: by definition, and reversed."""

    label: str
    plain: float
    turned: float
    paper: float
    error: float

    @property
    def nearer(self) -> bool:
        """Whether counting reversed graphs brings it nearer, by more than the reading shows."""
        return abs(self.turned - self.paper) < abs(self.plain - self.paper) - 0.01

    @property
    def explained(self) -> bool:
        """Whether one way of counting is within two standard errors and the error of reading."""
        return min(abs(self.turned - self.paper), abs(self.plain - self.paper)) <= self.error


def reversals(cells: Cells, n: int) -> list[Reversal]:
    """What reversed graphs do to PSHD, of the authors' code where it was run, else of its model."""
    found = []
    for degree, (search, theirs) in product(DEGREES, (("grasp", "grasp-QWO"), ("hc", "HC-QWO"))):
        wanted = HIGH_DIMENSIONAL | {"weights": "parent", "degree": degree, "n_variables": n}
        point = cells.find(**wanted, method=f"authors/{search}") or cells.find(
            **wanted, method=f"code-{search}/as-published"
        )
        paper = next(
            p
            for p in load_paper_figures()
            if (p.graph, p.method, p.n_variables, p.metric) == (f"ER{degree}", theirs, n, "PSHD")
        )
        if point is None or paper.value is None:
            continue
        error = 2 * point.deviation("pshd") / point.count**0.5 + (paper.reading_error or 0.0)
        label = f"ER{degree} {'GRaSP' if search == 'grasp' else 'HC'}"
        means = point.mean("pshd"), point.mean("pshd_reversed")
        found.append(Reversal(label, *means, paper.value, error))
    return found


def published_ratios() -> str:
    """How the times of hill climbing compare in the paper's own figure of ER2 graphs."""
    seconds = {
        (p.method, p.n_variables): p.value
        for p in load_paper_figures()
        if (p.graph, p.metric) == ("ER2", "time_s")
    }
    ratios = []
    for n in (20, 40):
        bic, qwo = seconds["HC-BIC", n], seconds["HC-QWO", n]
        if bic and qwo:
            ratios.append(f"{bic / qwo:.0f} times (n = {n})")
    return " and ".join(ratios)
