"""The page: what was run, and how it compares with the paper, from the rows of a store."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from qwo.files import write_whole
from qwo.reproduction import tables
from qwo.reproduction.aggregate import AXES, Cells, cells_as_csv
from qwo.reproduction.claims import claims
from qwo.reproduction.figures import DEGREES, HIGH_DIMENSIONAL, draw_figures
from qwo.reproduction.paper import load_paper_table2
from qwo.reproduction.store import Row

SHOWN_SIZES = (50, 100, 150)


def write_page(rows: Collection[Row], folder: Path) -> Path:
    """Write page, figures and compact tables of results into a folder; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = Cells(rows)
    figures = draw_figures(cells, folder)
    searches = cells.select(kind="search")
    write_whole(folder / "results-searches.csv", cells_as_csv(searches))
    write_whole(folder / "results-growth.csv", _growth_csv(cells))
    path = folder / "index.md"
    write_whole(path, _render(cells, rows, figures))
    return path


def _render(cells: Cells, rows: Collection[Row], figures: list[str]) -> str:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    source = files("qwo.reproduction").joinpath("templates", "page.md.j2").read_text("utf-8")
    sizes = _shown_sizes(cells)
    habits_size = _largest(cells, "code-hc/as-published")
    return environment.from_string(source).render(
        claims=claims(cells),
        common=tables.common_table(cells),
        coverage=tables.coverage_table(cells),
        figures=figures,
        growth=tables.growth_table(cells),
        growth_sizes=tables.growth_sizes(cells),
        habits=tables.habits_table(cells, habits_size),
        habits_size=habits_size,
        high=[tables.high_dimensional_table(cells, degree, sizes) for degree in DEGREES],
        low={name: tables.low_dimensional_table(cells, name) for name in tables.TABLE2_METRICS},
        made=_made(rows),
        starts=tables.starts_table(cells),
        versions=tables.versions_table(cells, _largest(cells, "grasp2-depth1/qwo")),
        versions_size=_largest(cells, "grasp2-depth1/qwo"),
        **_numbers(cells),
    )


def _shown_sizes(cells: Cells) -> list[int]:
    """The sizes of the tables: those of the paper's notes, or the largest that there are."""
    known = {c.run["n_variables"] for c in cells.select(**HIGH_DIMENSIONAL)}
    return [n for n in SHOWN_SIZES if n in known] or sorted(known)[-2:]


def _largest(cells: Cells, method: str) -> int:
    """The largest size at which a method has results; that of the smallest graphs if none."""
    found = [cell.run["n_variables"] for cell in cells.select(method=method) if cell.count]
    return max(found, default=5)


def _made(rows: Collection[Row]) -> dict[str, Any]:
    """How many runs there are, of how many graphs, by which versions."""
    records = [row.record for row in rows]
    core = records[-1]["core"] if records else {}
    return {
        "runs": len(rows),
        "cut_off": sum(row.outcome["status"] == "cut off" for row in rows),
        "versions": sorted({f"qwo {record['qwo']}" for record in records}),
        "python": sorted({record["python"] for record in records}),
        "numpy": sorted({record["numpy"] for record in records}),
        "causal_learn": sorted({r["causal-learn"] for r in records if "causal-learn" in r}),
        "core": f"{core.get('compiler')}, {core.get('kernels')} kernels",
        "budgets": sorted({row.outcome["budget"] for row in rows}),
        "cpu_hours": sum(row.outcome.get("cpu") or 0.0 for row in rows) / 3600,
    }


def _numbers(cells: Cells) -> dict[str, Any]:
    """Single numbers that the prose quotes; None where they were not measured."""
    raw, intervals = (
        tables.small_graph(cells, "CANCER", f"grasp2/{score}")
        for score in ("cl-bdeu-raw", "cl-bdeu")
    )
    paper = {
        cell.metric: f"{cell.value:g}"
        for cell in load_paper_table2()
        if (cell.graph, cell.module, cell.search) == ("CANCER", "BDeu", "GRaSP")
    }
    return {
        "bdeu_raw": raw if raw is not None and raw.count else None,
        "bdeu_intervals": intervals if intervals is not None and intervals.count else None,
        "bdeu_paper": paper,
    }


def _growth_csv(cells: Cells) -> str:
    lines = ["module,phase,varies,size,density,scale,runs,cpu_mean,cpu_sd,scores"]
    for cell in cells.select(kind="growth"):
        run = cell.run
        if cell.count:
            size, density = run[AXES[run["vary"]]], run.get("density", "sparse")
            scores = f"{cell.mean('scores'):.6g}" if cell.values["scores"] else ""
            lines.append(
                f"{run['method']},{run['phase']},{run['vary']},{size},{density},"
                f"{run.get('scale', 'own')},{cell.count},"
                f"{cell.mean('cpu'):.6g},{cell.deviation('cpu'):.6g},{scores}"
            )
    return "\n".join(lines) + "\n"
