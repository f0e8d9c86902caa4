"""What the runs say about each claim of the paper, in sentences with their numbers."""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

from qwo.reproduction.aggregate import (
    Cells,
    Point,
    common_seconds,
    growth_exponent,
    paired_difference,
)
from qwo.reproduction.figures import DEGREES, HIGH_DIMENSIONAL
from qwo.reproduction.paper import load_paper_figures
from qwo.text import two_digits

SMALL, LARGE = 0.02, 0.05
"""Differences in SKF1 up to the first count as none, from the second on as real."""

SEARCHES = (("HC", "hc"), ("GRaSP₀", "grasp0"), ("GRaSP₂", "grasp2"))


DENSITIES = ((None, "degree 4"), ("dense", "degree n/2"))
PHASES = ("initial", "update")


class Claim(NamedTuple):
    """A claim of the paper, whether it holds, and the numbers."""

    claim: str
    verdict: str
    numbers: str


def claims(cells: Cells) -> list[Claim]:
    """All claims, in the paper's order."""
    judged = {
        "QWO builds and updates G^π faster than BIC, by a factor of n²": _speed(cells),
        "Whole searches are much faster with QWO than with BIC": _search_time(cells),
        "Accuracy is comparable to that of BIC": _accuracy(cells),
        "Noise that is not Gaussian does little harm": _noise(cells),
        "The error comes mainly from the estimated covariance": _oracle(cells),
    }
    unknown = ("could not be tested: not run", "")
    return [Claim(claim, *(found or unknown)) for claim, found in judged.items()]


Judgement = tuple[str, str] | None


def _speed(cells: Cells) -> Judgement:
    """Both in Python, at the same sizes; the exponents, and the times at the largest."""
    least, ratios, numbers = [], [], []
    for density, graphs in DENSITIES:
        for phase in PHASES:
            qwo = growth_exponent(cells, "algorithm-1", phase, "n", density, scale="common")
            bic = growth_exponent(cells, "cl-bic", phase, "n", density, scale="common")
            if not (qwo and bic and qwo.sizes == bic.sizes):
                continue
            wide = hypot(qwo.half_width, bic.half_width)
            least.append(bic.slope - qwo.slope + wide)
            n = qwo.sizes[-1]
            ratios.append(
                common_seconds(cells, "cl-bic", phase, density, n)
                / common_seconds(cells, "algorithm-1", phase, density, n)
            )
            numbers.append(
                f"{phase}, {graphs}, n = {qwo.sizes[0]} … {n}: n^{bic.slope:.1f} for "
                f"causal-learn's BIC, n^{qwo.slope:.1f} for Algorithm 1 in NumPy "
                f"(difference ± {wide:.1f}), {two_digits(ratios[-1])} times its time at n = {n}"
            )
    if not ratios:
        return None
    faster = "faster: holds" if min(ratios) > 1 else "faster: does not hold everywhere"
    factor = "holds" if min(least) >= 2 else "does not hold at these sizes"
    return f"{faster}; by n²: {factor}", "; ".join(numbers)


def _search_time(cells: Cells) -> Judgement:
    ratios, numbers = [], []
    for degree in DEGREES:
        for label, qwo, bic in (
            ("HC, causal-learn's score", "hc/qwo", "hc/cl-bic"),
            ("GRaSP, causal-learn", "grasp2/qwo", "cl-grasp/cl-bic"),
            ("HC, our engine", "hc/qwo", "hc/bic"),
            ("GRaSP₂, our engine", "grasp2/qwo", "grasp2/bic"),
        ):
            pair = _pair(cells, qwo, bic, degree)
            if pair is not None:
                ours, theirs = pair
                ratios.append(theirs.mean("cpu") / ours.mean("cpu"))
                n = ours.run["n_variables"]
                numbers.append(f"BIC by {label}: {ratios[-1]:.0f} times (ER{degree}, n = {n})")
    if not ratios:
        return None
    return ("holds" if min(ratios) > 1 else "holds mostly"), "; ".join(
        [*numbers, _published_ratios()]
    )


def _published_ratios() -> str:
    """How the times of hill climbing compare in the paper's own figure of ER2 graphs."""
    seconds = {
        (p.method, p.n_variables): p.value
        for p in load_paper_figures()
        if (p.graph, p.metric) == ("ER2", "time_s")
    }
    ratios = []
    for n in (20, 50):
        bic, qwo = seconds["HC-BIC", n], seconds["HC-QWO", n]
        if bic and qwo:
            ratios.append(f"{bic / qwo:.0f} at n = {n}")
    return f"in the paper's figure of ER2, HC-BIC to HC-QWO: {', '.join(ratios)}"


def _accuracy(cells: Cells) -> Judgement:
    differences, numbers = [], []
    for label, search in (("HC", "hc"), ("GRaSP₂", "grasp2")):
        for degree in DEGREES:
            pair = _pair(cells, f"{search}/qwo", f"{search}/bic", degree)
            if pair is not None:
                mean, width = paired_difference(*pair, "skf1")
                differences.append(abs(mean))
                n = pair[0].run["n_variables"]
                numbers.append(f"{label}, ER{degree}, n = {n}: {mean:+.3f} ± {width:.3f}")
    if not differences:
        return None
    verdict = "holds" if max(differences) <= SMALL else "does not hold everywhere"
    lead = "SKF1 of QWO minus that of our BIC engine on the same graphs (± two standard errors): "
    return verdict, lead + "; ".join(numbers)


def _noise(cells: Cells) -> Judgement:
    lowest, numbers = [], []
    for noise in ("exponential", "gumbel"):
        differences = []
        for method in ("hc/qwo", "grasp2/qwo"):
            for cell in cells.select(**HIGH_DIMENSIONAL | {"noise": noise}, method=method):
                n, degree = cell.run["n_variables"], cell.run["degree"]
                gaussian = _point(cells, method, degree, n)
                if gaussian is not None and cell.count:
                    differences.append((paired_difference(cell, gaussian, "skf1")[0], n, degree))
        if differences:
            worst, n, degree = min(differences)
            lowest.append(worst)
            mean = sum(d for d, _, _ in differences) / len(differences)
            numbers.append(
                f"{noise}: SKF1 changes by {mean:+.4f} on average over {len(differences)} points, "
                f"at worst by {worst:+.3f} (ER{degree}, n = {n})"
            )
    if not lowest:
        return None
    verdict = "holds" if min(lowest) > -LARGE else "does not hold everywhere"
    return verdict, "; ".join(numbers)


def _oracle(cells: Cells) -> Judgement:
    verdicts, numbers = [], []
    for label, search in SEARCHES:
        pairs = []
        for degree in DEGREES:
            n = _largest(cells, f"{search}/qwo", degree=degree)
            sample = n and _point(cells, f"{search}/qwo", degree, n)
            exact = n and _point(cells, f"{search}/qwo", degree, n, covariance="oracle")
            if sample and exact:
                pairs.append((sample.mean("skf1"), exact.mean("skf1")))
                numbers.append(
                    f"{label}, ER{degree}, n = {n}: {pairs[-1][0]:.3f} from the sample, "
                    f"{pairs[-1][1]:.3f} from the exact covariance"
                )
        if pairs:
            verdicts.append(f"{label}: {_source_of_error(pairs)}")
    return ("; ".join(verdicts), "SKF1: " + "; ".join(numbers)) if verdicts else None


def _source_of_error(pairs: list[tuple[float, float]]) -> str:
    """Whether the exact covariance takes away most of what is missing to an SKF1 of 1."""
    missing = sum(1 - sample for sample, _ in pairs)
    left = sum(1 - exact for _, exact in pairs)
    return "holds" if left < missing / 2 else "does not, the search errs"


def _point(cells: Cells, method: str, degree: int, n: int, **data: object) -> Point | None:
    return cells.find(**HIGH_DIMENSIONAL | data, degree=degree, n_variables=n, method=method)


def _pair(cells: Cells, first: str, second: str, degree: int) -> tuple[Point, Point] | None:
    """Two methods at the largest size that both have."""
    n = _largest(cells, first, second, degree=degree)
    if n is None:
        return None
    one, other = _point(cells, first, degree, n), _point(cells, second, degree, n)
    return (one, other) if one and other else None


def _largest(cells: Cells, *methods: str, degree: int) -> int | None:
    """The largest size at which all these methods have results on Gaussian data."""
    sizes = [
        {
            cell.run["n_variables"]
            for cell in cells.select(**HIGH_DIMENSIONAL, degree=degree, method=method)
            if cell.count
        }
        for method in methods
    ]
    return max(set.intersection(*sizes), default=None)
