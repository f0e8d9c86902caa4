"""Tables of where the numbers differ from the paper's: the published code, starts, versions."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from qwo.reproduction.aggregate import Cells, Point
from qwo.reproduction.figures import DEGREES, HIGH_DIMENSIONAL
from qwo.reproduction.paper import load_paper_figures
from qwo.reproduction.tables import ABSENT, markdown, triple, two
from qwo.text import two_digits

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
