"""What the pages say of the posterior is what its results say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.posterior.page import PAGE, better, read, write_page

ROOT = Path(__file__).parents[2]
NEARER = ("posterior", "bic_posterior")


def words(path: Path) -> str:
    return re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))


def span(values: list[float], form: str) -> str:
    return f"{form.format(min(values))} to {form.format(max(values))}"


def test_the_tables_are_those_of_the_results(tmp_path: Path) -> None:
    copy = tmp_path / PAGE.name
    copy.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_page(copy)
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def calibration(method: str, of: str, what: str) -> list[float]:
    return [
        float(row[what])
        for row in read("calibration")
        if (row["method"], row["of"]) == (method, of)
    ]


COVERAGES = (
    "coverage",
    "coverage_likely",
    "coverage_nonzero",
    "coverage_if_any",
    "known_if_any",
)


def said_of_calibration() -> list[str]:
    ece = {method: calibration(method, "edge", "ece") for method in ("replacement", "halves")}
    shares = {
        what: [100 * share for share in calibration("posterior", "edge", what)]
        for what in COVERAGES
    }
    return [
        f"in all {len(calibration('posterior', 'edge', 'ece'))} settings",
        f"of edges is {span(calibration('posterior', 'edge', 'ece'), '{:.4f}')}",
        f"with replacement {span(ece['replacement'], '{:.4f}')}",
        f"of halves {span(ece['halves'], '{:.4f}')}",
        f"hold it for {span(shares['coverage'], '{:.0f}')} % of all pairs",
        f"{span(shares['coverage_likely'], '{:.0f}')} % where an effect is more likely than not",
        f"only {span(shares['coverage_nonzero'], '{:.0f}')} % lie in their interval",
        f"hold {span(shares['coverage_if_any'], '{:.0f}')} % of them",
        f"{span(shares['known_if_any'], '{:.0f}')} % of the effects that are there have one",
    ]


def said_of_distances() -> list[str]:
    rows = read("distance")
    few = [row for row in rows if int(row["samples"]) < int(row["n"])]
    many = [row for row in rows if int(row["samples"]) > 2 * int(row["n"])]
    [hard] = [row for row in rows if (row["degree"], row["samples"]) == ("8", "50")]
    dense = [-float(hard[f"{score}_nearer"]) for score in NEARER]

    def mean(what: str, samples: str) -> float:
        of = [float(row[what]) for row in rows if row["samples"] == samples]
        return sum(of) / len(of)

    counted = []
    for kinds in (few, many):
        for score in NEARER:
            signs = [better(row, score) for row in kinds]
            counted.append(f"nearer in {signs.count(1)} and further in {signs.count(-1)}")
    return [
        f"In {len(few)} kinds with fewer rows than variables",
        *(f"it is {said}" for said in counted[1:2]),
        f"{counted[0]} with BGe",
        f"In the {len(many)} kinds with more than twice as many rows as variables",
        f"{counted[3]}, with BGe {counted[2]}",
        f"{dense[1]:.0f} edges further (with BGe {dense[0]:.0f})",
        "with {} rows {:.0f} on average, where {:.0f} is true".format(
            rows[0]["samples"],
            *(mean(row, rows[0]["samples"]) for row in ("expected", "posterior")),
        ),
    ]


def said_of_times() -> list[str]:
    rows = read("time")
    sentences = []
    for n in ("50", "100", "200"):
        seconds = [float(row["seconds"]) for row in rows if row["n"] == n]
        sentences.append(f"{n} variables took {span(seconds, '{:.1f}')} s")
    assert min(float(row["agreeing"]) for row in rows) >= 0.99
    return sentences


def said_of_peers() -> list[str]:
    rows = {(row["n"], row["samples"], row["run"]): row for row in read("peers")}

    ours = rows["20", "200", "qwo 200 draws"]
    theirs = rows["20", "200", "gadget mended 180 s"]
    ratio = float(theirs["seconds"]) / float(ours["seconds"])
    exact = {run: rows["4", "60", run] for run in ("gadget 60 s", "gadget mended 60 s")}
    return [
        f"off by {float(exact['gadget 60 s']['max_deviation']):.2f} after 60 s",
        f"it is off by {float(exact['gadget mended 60 s']['max_deviation']):.2f} there",
        f"after {100 * int(ratio / 100)} times the time of 200 draws here",
    ]


@pytest.mark.parametrize(
    "said", [said_of_calibration, said_of_distances, said_of_times, said_of_peers]
)
def test_sentences_have_the_figures_of_the_results(said: Any) -> None:
    page = words(PAGE) + words(ROOT / "docs" / "howto" / "how-sure.md")
    missing = [sentence for sentence in said() if sentence not in page]
    assert not missing, missing


def test_the_log_loss_is_lower_than_that_of_resamples_everywhere() -> None:
    for method in ("replacement", "halves"):
        for of in ("link", "edge", "arrow", "path"):
            assert min(calibration(method, of, "worse")) > 0


def test_no_peer_comes_as_near_as_200_draws_with_20_variables_or_more() -> None:
    rows = read("peers")
    ours = {(row["n"], row["samples"]): row for row in rows if row["run"] == "qwo 200 draws"}
    others = [row for row in rows if int(row["n"]) >= 20 and row["run"][:4] in ("gadg", "dibs")]
    answers = [row for row in others if row["rms_deviation"]]
    assert answers
    for row in answers:
        nearest = float(ours[row["n"], row["samples"]]["rms_deviation"])
        assert float(row["rms_deviation"]) > 3 * nearest
