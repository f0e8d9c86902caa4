"""Tables of the page in Markdown: ours beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qwo.reproduction.aggregate import Cells, Exponent, Point, common_seconds, growth_exponent
from qwo.reproduction.figures import DEGREES, GAUSSIAN, HIGH_DIMENSIONAL
from qwo.reproduction.paper import load_paper_figures, load_paper_table2
from qwo.text import two_digits

NETWORKS = ("CANCER", "SURVEY", "ASIA", "SACHS", "ER2")
TABLE2_METRICS = {"SKF1": "skf1", "PSHD": "pshd", "time_s": "cpu"}
TABLE2_METHODS = (
    ("QWO", "GRaSP", "GRaSP₀, our order factor", "grasp0/qwo"),
    ("QWO", "GRaSP", "GRaSP₂, our order factor", "grasp2/qwo"),
    ("QWO", "HC", "HC, our order factor", "hc/qwo"),
    ("BIC", "GRaSP", "causal-learn's own GRaSP and score", "cl-grasp/cl-bic"),
    ("BIC", "GRaSP", "GRaSP₂, causal-learn's score", "grasp2/cl-bic"),
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
ABSENT, CUT = "–", "cut off"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; the first column is aligned left, the others right."""
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ruler, *rows])


def growth_table(cells: Cells) -> str:
    """Table 1: exponents with their 95 % intervals, and those of the paper in brackets."""
    header = ["module", *(f"{phase}, in {vary}" for phase, vary in GROWTH_COLUMNS)]
    rows = []
    for label, module, density, *paper in GROWTH:
        row = [label]
        for (phase, vary), theirs in zip(GROWTH_COLUMNS, paper, strict=True):
            found = growth_exponent(cells, module, phase, vary, density)
            row.append(_exponent(found, theirs))
        rows.append(row)
    return markdown(header, rows)


def _exponent(found: Exponent | None, paper: str) -> str:
    if found is None:
        return f"{ABSENT} ({paper})" if paper else ABSENT
    beside = f" ({paper})" if paper else ""
    return f"{found.slope:.2f} ± {found.half_width:.2f}{beside}"


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
            found = growth_exponent(cells, module, phase, "n", density, scale="common")
            if found is None:
                row.append(ABSENT)
                continue
            n = found.sizes[-1]
            seconds = common_seconds(cells, module, phase, density, n)
            cost = f"{two_digits(1e3 * seconds)} ms at {n}"
            row.append(f"{found.slope:.2f} ± {found.half_width:.2f}, {cost}")
        rows.append(row)
    header = ["module", "code", *(f"{phase}, {names[d]}" for phase, d in COMMON_COLUMNS)]
    return markdown(header, rows)


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


def _coverage(curve: Sequence[Point]) -> str:
    """Such as ``30 to n = 50, 12 at 75, then cut off``."""
    ended = [cell for cell in curve if cell.count]
    if not ended:
        return CUT if curve else "never run"
    most = ended[0].count
    full = [cell.run["n_variables"] for cell in ended if cell.count == most]
    parts = [f"{most} to n = {max(full)}"]
    parts += [f"{cell.count} at {cell.run['n_variables']}" for cell in ended if cell.count != most]
    return ", ".join(parts) + (", then cut off" if any(c.cut_off for c in curve) else "")


def growth_sizes(cells: Cells) -> str:
    """The sizes that the exponents are over."""
    rows = []
    for label, module, density, *_ in GROWTH:
        found = [growth_exponent(cells, module, p, v, density) for p, v in GROWTH_COLUMNS]
        rows.append([label, *(", ".join(map(str, e.sizes)) if e else ABSENT for e in found)])
    return markdown(["module", *(f"{p}, {v}" for p, v in GROWTH_COLUMNS)], rows)


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
            row.append(f"{_ours(cell, metric)} ({published[module, search, graph]:g})")
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
    if not cell.count:
        return CUT
    ours = TABLE2_METRICS[metric]
    mean = cell.mean(ours)
    if metric == "time_s":
        return two_digits(mean)
    if cell.count == 1:
        return f"{mean:.2f}, one graph"
    return f"{mean:.2f} ± {cell.deviation(ours):.2f}, {cell.count}"


HABIT_STEPS = (
    ("as the paper's text says", "{text}/qwo", None),
    ("search as in the code", "code-{search}/own-test", None),
    ("+ its edge test", "code-{search}/its-test", None),
    ("+ its stale Q", "code-{search}/as-published", None),
    ("+ one weight per parent: as published", "code-{search}/as-published", "parent"),
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
    """SKF1, PSHD by its definition, PSHD as the published code computes it, and graphs."""
    if cell is None:
        return ABSENT
    reversed_too = cell.values["pshd_reversed"]
    turned = f"{cell.mean('pshd_reversed'):.2f}" if reversed_too else ABSENT
    return f"{_two(cell)} / {turned} ({cell.count})"


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
        rows.append([label, *map(_two, found)])
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
        rows.append([label, *map(_triple, found)])
    return markdown(["", *(f"ER{d}, {names[m]}" for d, m in columns)], rows)


def _two(cell: Point | None) -> str:
    if cell is None:
        return ABSENT
    return f"{cell.mean('skf1'):.3f} / {cell.mean('pshd'):.2f}"


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


COMPARED = (
    ("HC-QWO", "hc/qwo", "HC-QWO"),
    ("GRaSP₀-QWO", "grasp0/qwo", "grasp-QWO"),
    ("GRaSP₂-QWO", "grasp2/qwo", "grasp-QWO"),
    ("HC-BIC, our engine", "hc/bic", "HC-BIC"),
    ("HC-BIC, our engine, random start", "hc-random/bic", "HC-BIC"),
    ("HC-BIC, causal-learn's score", "hc/cl-bic", "HC-BIC"),
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
    if any(cell.cut_off and cell.run["n_variables"] < n for cell in curve):
        return CUT
    return _triple(next((cell for cell in curve if cell.run["n_variables"] == n), None))


def _triple(cell: Point | None) -> str:
    if cell is None or not cell.count:
        return ABSENT if cell is None else CUT
    seconds = f"{two_digits(cell.mean('cpu'))} s"
    return f"{cell.mean('skf1'):.3f} / {cell.mean('pshd'):.2f} / {seconds}, {cell.count} graphs"


def _in_brackets(values: Sequence[float | None]) -> str:
    if all(value is None for value in values):
        return ""
    known = [ABSENT if value is None else f"{value:.3g}" for value in values]
    return f" ({' / '.join(known)} s)"
