"""Verdicts: by intervals, at all sizes, and silent where runs are few or were cut off."""

from __future__ import annotations

import pytest

from qwo.reproduction.aggregate import Cells, growth_exponent, growth_points, interval, paired
from qwo.reproduction.claims import claims
from qwo.reproduction.figures import HIGH_DIMENSIONAL
from qwo.reproduction.store import Row

DATA = {k: v for k, v in HIGH_DIMENSIONAL.items() if v is not None} | {"degree": 2}


def rows_of(method, values, *, n=50, status="done", **outcome):
    """Runs of a method whose SKF1 are given, by seed."""
    return [
        Row(
            DATA | {"method": method, "n_variables": n, "seed": seed},
            {"status": status, "skf1": value, "pshd": 0.0, "cpu": 1.0, "budget": 60.0} | outcome,
            {},
        )
        for seed, value in enumerate(values)
    ]


def verdict(rows, claim):
    judged, _ = claims(Cells(rows))
    (found,) = [line for line in judged if line.claim.startswith(claim)]
    return found


ACCURACY = "Accuracy is comparable to that of BIC: HC"
SPREAD = [0.001 * k for k in range(10)]


@pytest.mark.parametrize(
    ("shift", "said"),
    [(0.0, "holds"), (-0.1, "does not hold"), (0.1, "does not hold"), (-0.02, "cannot be told")],
)
def test_accuracy_is_judged_by_the_interval_of_paired_differences(shift, said):
    bic = [0.9 + 0.01 * k for k in range(10)]
    qwo = [b + shift + s - 0.0045 for b, s in zip(bic, SPREAD, strict=True)]
    found = verdict(rows_of("hc/qwo", qwo) + rows_of("hc/bic", bic), ACCURACY)
    assert found.verdict == said
    assert "1 points" in found.on_what


def test_few_graphs_tell_nothing():
    rows = rows_of("hc/qwo", [0.5] * 3) + rows_of("hc/bic", [0.9] * 3)
    assert verdict(rows, ACCURACY).verdict == "cannot be told"


def test_all_sizes_count_and_not_the_largest_alone():
    same = [0.9 + s for s in SPREAD]
    good = rows_of("hc/qwo", same, n=150) + rows_of("hc/bic", same, n=150)
    bad = [
        *rows_of("hc/qwo", [0.5 + s for s in SPREAD], n=20),
        *rows_of("hc/bic", [0.9 + s * s for s in SPREAD], n=20),
    ]
    assert verdict(good, ACCURACY).verdict == "holds"
    assert verdict(good + bad, ACCURACY).verdict == "holds at some points only"


def test_a_point_of_which_one_run_was_cut_off_counts_nowhere():
    rows = rows_of("hc/qwo", [0.9] * 10) + rows_of("hc/bic", [0.9] * 10)
    assert verdict(rows, ACCURACY).verdict == "holds"
    rows[-1] = rows[-1]._replace(outcome={"status": "cut off", "cpu": 60.0, "budget": 60.0})
    cells = Cells(rows)
    assert cells.find(**DATA, method="hc/bic") is None
    (point,) = cells.select(method="hc/bic")
    assert (point.count, point.tried, point.cut_at) == (9, 10, 60.0)
    assert verdict(rows, ACCURACY).verdict == "cannot be told"


def test_searches_are_timed_without_the_covariance_that_both_need():
    qwo = rows_of("hc/qwo", [0.9] * 6, cpu=1.1, prepared=1.0)
    bic = rows_of("hc/bic", [0.9] * 6, cpu=3.0, prepared=1.0)
    judged, evidence = claims(Cells(qwo + bic))
    lines = [line for line in judged if line.claim.startswith("Whole searches are")]
    found = {line.claim: line.verdict for line in lines if line.on_what.startswith("our engines")}
    assert sorted(found.values()) == ["holds", "holds"]
    (table,) = [e for e in evidence if e.title.endswith("whole searches")]
    assert table.rows == [("compiled, HC, ER2", ["20 (20 to 20)"])]


def test_the_open_problem_keeps_its_line():
    judged, _ = claims(Cells([]))
    assert "cycles" in judged[-1].claim
    assert {line.verdict for line in judged[:-1]} == {"cannot be told"}


def growth_rows(exponent):
    return [
        Row(
            {
                "kind": "growth",
                "method": "bic",
                "phase": "initial",
                "vary": "n",
                "n_variables": n,
                "seed": seed,
            },
            {"status": "done", "cpu": (1 + 0.1 * seed) * (n**exponent if n > 5 else 1e9)},
            {},
        )
        for n in (5, 10, 20, 40)
        for seed in (0, 1)
    ]


def test_an_exponent_is_the_slope_at_the_largest_sizes():
    cells = Cells(growth_rows(3))
    found = growth_exponent(growth_points(cells, "bic", "initial", "n"), "n")
    assert found.slope == pytest.approx(3)
    assert (found.sizes, found.graphs) == ((10, 20, 40), 2)
    assert 0 < found.half_width < 0.2
    assert growth_exponent(growth_points(cells, "bic", "update", "n"), "n") is None


def test_differences_are_paired_by_graph():
    cells = Cells(rows_of("a", [0.5, 0.7, 1.0]) + rows_of("b", [0.4, 0.6]))
    first, second = cells.find(method="a"), cells.find(method="b")
    assert paired(first, second, "skf1")[:3] == (pytest.approx(0.1), pytest.approx(0.0), 2)


def test_an_interval_is_student_s():
    found = interval([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half == pytest.approx(4.302653 / 3**0.5, rel=1e-6)
