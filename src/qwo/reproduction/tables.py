"""Tables of the page in Markdown: ours beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from qwo.reproduction.aggregate import Cells, Exponent, Point, growth_exponent, growth_points
from qwo.reproduction.claims import Numbers
from qwo.reproduction.figures import DEGREES, GAUSSIAN, HIGH_DIMENSIONAL
from qwo.reproduction.paper import load_paper_figures, load_paper_table2, raw_bdeu
from qwo.text import count, two_digits

NETWORKS = ("CANCER", "SURVEY", "ASIA", "SACHS", "ER2")
TABLE2_METRICS = {"SKF1": "skf1", "PSHD": "pshd", "time_s": "cpu"}
TABLE2_METHODS = (
    ("QWO", "GRaSP", "GRaSP₀, our order factor", "grasp0/qwo"),
    ("QWO", "GRaSP", "GRaSP₂, our order factor", "grasp2/qwo"),
    ("QWO", "HC", "HC, our order factor", "hc/qwo"),
    ("BIC", "GRaSP", "causal-learn's own GRaSP and score", "cl-grasp/cl-bic"),
    ("BIC", "GRaSP", "GRaSP₂, causal-learn's score", "grasp2/cl-bic"),
    ("BIC", "GRaSP", "GRaSP₀, our engine", "grasp0/bic"),
    ("BIC", "GRaSP", "GRaSP₂, our engine", "grasp2/bic"),
    ("BIC", "HC", "HC, causal-learn's score", "hc/cl-bic"),
    ("BIC", "HC", "HC, our engine", "hc/bic"),
    ("BDeu", "GRaSP", "GRaSP₂, raw values", "grasp2/cl-bdeu-raw"),
    ("BDeu", "GRaSP", "GRaSP₂, ten intervals", "grasp2/cl-bdeu"),
    ("BDeu", "HC", "HC, raw values", "hc/cl-bdeu-raw"),
    ("BDeu", "HC", "HC, ten intervals", "hc/cl-bdeu"),
    ("CV General", "GRaSP", "GRaSP₂, as it is", "grasp2/cl-cv"),
    ("CV General", "GRaSP", "GRaSP₂, centred", "grasp2/cl-cv-centred"),
    ("CV General", "HC", "HC, as it is", "hc/cl-cv"),
    ("CV General", "HC", "HC, centred", "hc/cl-cv-centred"),
)
GROWTH = (
    ("QWO, our order factor", "order-factor", None, "3", "2", "1", "0", "0"),
    ("QWO, the paper's Algorithm 1", "algorithm-1", None, "3", "2", "1", "0", "0"),
    ("BIC, our engine, degree 4", "bic", None, "5", "4", "1", "0", "0"),
    ("BIC, our engine, degree n/2", "bic", "dense", "5", "4", "", "", ""),
    ("BIC, causal-learn, degree 4", "cl-bic", None, "5", "4", "1", "0", "0"),
    ("BIC, causal-learn, degree n/2", "cl-bic", "dense", "5", "4", "", "", ""),
    ("BDeu, causal-learn", "cl-bdeu", None, "≥ 3", "≥ 2", "≥ 1", "≥ 1", "≥ 1"),
    ("CV General, causal-learn", "cl-cv", None, "2", "1", "1", "3", "3"),
)
GROWTH_COLUMNS = (
    ("initial", "n"),
    ("update", "n"),
    ("update", "d"),
    ("initial", "N"),
    ("update", "N"),
)
ABSENT = "–"
PLOTTED_SECONDS = 120.0
"""Where the paper's axis of time ends; what is above it was extrapolated."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A table in Markdown; so many first columns are aligned left, the others right."""
    ruler = ["---"] * texts + ["---:"] * (len(header) - texts)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ruler, *rows])


def growth_table(cells: Cells) -> str:
    """Table 1: exponents with their 95 % intervals, and those of the paper in brackets."""
    header = ["module", *(f"{phase}, in {vary}" for phase, vary in GROWTH_COLUMNS)]
    rows = []
    for label, module, density, *paper in GROWTH:
        row = [label]
        for (phase, vary), theirs in zip(GROWTH_COLUMNS, paper, strict=True):
            found = _own_exponent(cells, module, phase, vary, density)
            beside = f" ({theirs})" if theirs else ""
            row.append(_slope(found) + beside)
        rows.append(row)
    return markdown(header, rows)


def _own_exponent(
    cells: Cells, module: str, phase: str, vary: str, density: str | None
) -> Exponent | None:
    return growth_exponent(growth_points(cells, module, phase, vary, density=density), vary)


def _slope(found: Exponent | None) -> str:
    return f"{found.slope:.2f} ± {found.half_width:.2f}" if found else ABSENT


COMMON = (
    ("Algorithm 1, line by line", "Python", "algorithm-1-lines"),
    ("Algorithm 1, products of matrices", "NumPy", "algorithm-1"),
    ("BIC, causal-learn's score", "NumPy", "cl-bic"),
    ("BIC, our engine", "compiled", "bic"),
    ("QWO, our order factor", "compiled", "order-factor"),
)
COMMON_COLUMNS = tuple(
    (phase, density) for density in (None, "dense") for phase in ("initial", "update")
)


def common_table(cells: Cells) -> str:
    """All modules at the same sizes: exponent, and milliseconds at the largest size."""
    names = {None: "degree 4", "dense": "degree n/2"}
    rows = []
    for label, code, module in COMMON:
        row = [label, code]
        for phase, density in COMMON_COLUMNS:
            points = growth_points(cells, module, phase, "n", density=density, scale="common")
            found = growth_exponent(points, "n")
            cost = ""
            if found:
                milliseconds = two_digits(1e3 * points[-1].mean("cpu"))
                cost = f", {milliseconds} ms at {found.sizes[-1]}"
            row.append(_slope(found) + cost)
        rows.append(row)
    header = ["module", "code", *(f"{phase}, {names[d]}" for phase, d in COMMON_COLUMNS)]
    return markdown(header, rows)


def growth_sizes(cells: Cells) -> str:
    """The sizes that the exponents are over, and the graphs of each."""
    rows = []
    for label, module, density, *_ in GROWTH:
        found = [_own_exponent(cells, module, p, v, density) for p, v in GROWTH_COLUMNS]
        rows.append([label, *map(_extent, found)])
    return markdown(["module", *(f"{p}, {v}" for p, v in GROWTH_COLUMNS)], rows)


def _extent(found: Exponent | None) -> str:
    return (
        f"{', '.join(map(str, found.sizes))}; {count(found.graphs, 'graph')}" if found else ABSENT
    )


def evidence_tables(evidence: Iterable[Numbers]) -> list[tuple[str, str]]:
    """The numbers behind the verdicts, a table for each claim."""
    return [
        (
            title,
            markdown(["", *(f"n = {n}" for n in sizes)], [[label, *row] for label, row in rows]),
        )
        for title, sizes, rows in evidence
    ]


COVERED = {
    "Gaussian": {},
    "exponential": {"noise": "exponential"},
    "Gumbel": {"noise": "gumbel"},
    "oracle": {"covariance": "oracle"},
}


def coverage_table(cells: Cells) -> str:
    """On how many graphs each curve rests, up to which size, and what was never run."""
    rows = []
    for label, method, _ in COMPARED:
        row = [label]
        for data in COVERED.values():
            curves = [
                cells.select(**HIGH_DIMENSIONAL | data, degree=d, method=method) for d in DEGREES
            ]
            row.append("; ".join(map(_coverage, curves)) if any(curves) else "never run")
        rows.append(row)
    return markdown(["method, ER2; ER3; ER4", *COVERED], rows)


def _cut(point: Point) -> str:
    """How a point was cut off, with its budget; the mean of those that ended would flatter."""
    ended = f" ({point.count} of {point.tried} ended)" if point.count else ""
    return f"cut off at {point.cut_at:g} s{ended}"


def _coverage(curve: Sequence[Point]) -> str:
    """Such as ``30 to n = 50, 10 to n = 75, cut off at 60 s (3 of 4 ended) at 100``."""
    if not curve:
        return "never run"
    parts: list[str] = []
    for graphs, same in groupby((p for p in curve if p.complete), key=lambda p: p.count):
        parts.append(f"{graphs} to n = {[p.run['n_variables'] for p in same][-1]}")
    parts += [f"{_cut(p)} at {p.run['n_variables']}" for p in curve if p.cut_at is not None]
    return ", ".join(parts)


def low_dimensional_table(cells: Cells, metric: str) -> str:
    """Table 2 for one metric, a row for each method: ours ± deviation, the paper's in brackets."""
    published = {
        (c.module, c.search, c.graph): c.value for c in load_paper_table2() if c.metric == metric
    }
    rows = []
    for module, search, label, method in TABLE2_METHODS:
        row = [f"{module}: {label}"]
        for graph in NETWORKS:
            cell = small_graph(cells, graph, method)
            ours = _ours(cell, metric)
            if method.endswith("bdeu-raw") and metric != "time_s" and not (cell and cell.complete):
                ours = raw_bdeu(graph, metric) or ours
            row.append(f"{ours} ({published[module, search, graph]:g})")
        rows.append(row)
    default = [_ours(small_graph(cells, graph, "default"), metric) for graph in NETWORKS]
    return markdown(["method", *NETWORKS], [*rows, ["default search", *default]])


def small_graph(cells: Cells, graph: str, method: str) -> Point | None:
    """The cell of Table 2 for a method, with results or cut off."""
    wanted = {"degree": 2, "graph": "er"} if graph == "ER2" else {"graph": graph.lower()}
    found = cells.select(**GAUSSIAN | wanted, method=method, n_samples=500)
    return found[0] if found else None


def _ours(cell: Point | None, metric: str) -> str:
    if cell is None:
        return ABSENT
    if not cell.complete:
        return _cut(cell)
    ours = TABLE2_METRICS[metric]
    mean = cell.mean(ours)
    if metric == "time_s":
        return two_digits(mean)
    if cell.count == 1:
        return f"{mean:.2f}, one graph"
    return f"{mean:.2f} ± {cell.deviation(ours):.2f}, {cell.count}"


def two(cell: Point | None) -> str:
    """SKF1 / PSHD."""
    if cell is None:
        return ABSENT
    return f"{cell.mean('skf1'):.3f} / {cell.mean('pshd'):.2f}"


COMPARED = (
    ("HC-QWO", "hc/qwo", "HC-QWO"),
    ("GRaSP₀-QWO", "grasp0/qwo", "grasp-QWO"),
    ("GRaSP₂-QWO", "grasp2/qwo", "grasp-QWO"),
    ("HC-BIC, our engine", "hc/bic", "HC-BIC"),
    ("HC-BIC, our engine, random start", "hc-random/bic", "HC-BIC"),
    ("HC-BIC, causal-learn's score", "hc/cl-bic", "HC-BIC"),
    ("GRaSP₀-BIC, our engine", "grasp0/bic", "grasp-BIC"),
    ("GRaSP₂-BIC, our engine", "grasp2/bic", "grasp-BIC"),
    ("GRaSP-BIC, causal-learn", "cl-grasp/cl-bic", "grasp-BIC"),
    ("default search", "default", ""),
    ("FLOP, 20 restarts", "flop", ""),
)


def high_dimensional_table(cells: Cells, degree: int, sizes: Sequence[int]) -> str:
    """SKF1 / PSHD / seconds of every method at some sizes, the paper's in brackets."""
    points = {
        (p.method, p.n_variables, p.metric): p.value
        for p in load_paper_figures()
        if p.graph == f"ER{degree}"
    }
    rows = []
    for label, method, theirs in COMPARED:
        row = [label]
        curve = cells.select(**HIGH_DIMENSIONAL, degree=degree, method=method)
        for n in sizes:
            published = [points.get((theirs, n, metric)) for metric in TABLE2_METRICS]
            row.append(_at_size(curve, n) + _in_brackets(published))
        rows.append(row)
    return markdown([f"ER{degree}", *(f"n = {n}" for n in sizes)], rows)


def _at_size(curve: Sequence[Point], n: int) -> str:
    """The point of a curve at one size; what was cut off at a smaller one is cut off there too."""
    cut = [p.run["n_variables"] for p in curve if p.cut_at is not None and p.count == 0]
    if any(size < n for size in cut):
        return f"not run, cut off at n = {min(cut)}"
    return triple(next((cell for cell in curve if cell.run["n_variables"] == n), None))


def triple(cell: Point | None) -> str:
    """SKF1 / PSHD / seconds, with the number of graphs."""
    if cell is None or not cell.complete:
        return ABSENT if cell is None else _cut(cell)
    numbers = (
        f"{cell.mean('skf1'):.3f} / {cell.mean('pshd'):.2f} / {two_digits(cell.mean('cpu'))} s"
    )
    return f"{numbers}, {count(cell.count, 'graph')}"


def _in_brackets(values: Sequence[float | None]) -> str:
    if all(value is None for value in values):
        return ""
    known = [ABSENT if value is None else f"{value:.3g}" for value in values]
    seconds = values[-1]
    beyond = "*" if seconds is not None and seconds > PLOTTED_SECONDS else ""
    return f" ({' / '.join(known)}{beyond} s)"
