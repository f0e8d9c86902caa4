"""The page: what was run, and how it compares with the paper, from the rows of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from qwo.datasets import load_network
from qwo.reproduction import differences, tables
from qwo.reproduction.aggregate import AXES, FEWEST, Cells, cells_as_csv
from qwo.reproduction.claims import COMPARABLE, MUCH, claims
from qwo.reproduction.figures import DEGREES, HIGH_DIMENSIONAL, draw_figures
from qwo.reproduction.paper import load_paper_table2, true_edges_found
from qwo.reproduction.store import Row
from qwo.text import write_whole

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
        habits=differences.habits_table(cells, habits_size),
        habits_size=habits_size,
        high=[tables.high_dimensional_table(cells, degree, sizes) for degree in DEGREES],
        low={name: tables.low_dimensional_table(cells, name) for name in tables.TABLE2_METRICS},
        made=_made(rows),
        much=MUCH,
        plotted=tables.PLOTTED_SECONDS,
        published_ratios=differences.published_ratios(),
        raw_bdeu=_raw_bdeu(),
        reversals=differences.reversals(cells, habits_size),
        starts=differences.starts_table(cells),
        versions=differences.versions_table(cells, _largest(cells, "grasp2-depth1/qwo")),
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
