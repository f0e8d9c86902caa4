"""Figures that pages quote are those of the results that are kept beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import arrows, check, dense
from benchmarks.rows import read_rows

ROOT = Path(__file__).parents[2]


def rounded(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.1f}"


def test_the_page_on_gpus_has_the_figures_of_its_results() -> None:
    results: dict[str, Any] = json.loads((ROOT / "benchmarks/results/gpu.json").read_text())
    page = (ROOT / "docs/benchmarks/gpu.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\d,]+) \| ([\d.]+) \| ([^|]+) \| \.(\d+) \| ([^|]+) \|$", page, re.MULTILINE
    )
    assert {row[0].replace(",", "") for row in rows} == set(results) - {"machine"}
    for n, with_gpu, without, f1, moments in rows:
        by_device = results[n.replace(",", "")]
        assert with_gpu == rounded(by_device["gpu"]["seconds"])
        assert f1 == f"{by_device['gpu']['skeleton F1']:.3f}"[2:]
        assert ("cpu" in by_device) == (without != "not run")
        if "cpu" in by_device:
            assert without == rounded(by_device["cpu"]["seconds"])
            assert by_device["cpu"]["score"] == by_device["gpu"]["score"]
        if moments != "–":
            spent = [by_device[device]["moments seconds"] for device in ("gpu", "cpu")]
            assert moments == ", ".join(f"{seconds:.1f}" for seconds in spent)
    both = results["10000"]["cpu, 2 cores"]["seconds"]
    assert f"10,000 variables took {both:.1f} s" in page


def test_the_page_of_evidence_quotes_the_page_on_gpus() -> None:
    results: dict[str, Any] = json.loads((ROOT / "benchmarks/results/gpu.json").read_text())
    said = " ".join((ROOT / "docs/benchmarks/index.md").read_text(encoding="utf-8").split())
    for n, words in (("10000", "10,000 variables took"), ("20000", "20,000 took")):
        assert f"{words} {results[n]['gpu']['seconds']:.0f} s" in said
    assert f"{results['50000']['gpu']['seconds']:.0f} s, from their covariance matrix" in said


def test_the_page_of_evidence_quotes_the_page_on_flop() -> None:
    page = (ROOT / "docs/benchmarks/flop.md").read_text(encoding="utf-8")
    goals = page.partition("### Goals")[2].partition("###")[0]
    rows = [
        line.strip("| ").split(" | ") for line in goals.splitlines() if line.startswith("| n =")
    ]
    faster = [int(row[6]) for row in rows]
    said = " ".join((ROOT / "docs/benchmarks/index.md").read_text(encoding="utf-8").split())
    assert f"{min(faster)} to {max(faster)} times less processor time" in said
    assert ("no worse in all eight settings" in said) == (
        len(rows) == 8 and all(row[5] == "yes" for row in rows)
    )


def test_the_comparison_quotes_the_page_on_flop() -> None:
    page = (ROOT / "docs/benchmarks/flop.md").read_text(encoding="utf-8")
    figures = page.partition("### Figures")[2].partition("###")[0]
    rows = [
        line.strip("| ").split(" | ") for line in figures.splitlines() if line.startswith("| n =")
    ]
    said = (ROOT / "docs/comparison.md").read_text(encoding="utf-8").replace(",000", "000")
    theirs = {row[0]: row for row in rows if row[1].startswith("FLOP")}
    ours = [row for row in rows if row[1] == "qwo"]
    assert len(ours) == len(theirs) == 8
    for row in ours:
        flop = theirs[row[0]]
        shown = " | ".join((row[0], flop[2], row[2], flop[5], row[5], row[8]))
        assert f"| {shown} |" in said


CASES = {
    "right": "the true graph, given",
    "learnt": "the graph learnt from the data",
    "edge missing": "an edge missing",
    "edge turned": "a compelled edge turned",
    "turned inside": "an edge turned that the class leaves open",
    "other graph": "nodes permuted",
    "bent": "effects bent (x² for x), learnt",
    "hidden": "two causes of several variables hidden, learnt",
    "cycle": "feedback, learnt",
}


def test_the_page_on_checks_has_the_alarm_rates(capsys: pytest.CaptureFixture[str]) -> None:
    check.report(read_rows(ROOT / "benchmarks/results/check.csv"))
    told = {
        (found["noise"], found["case"]): f"{found['alarm']}, {found['area']}, {found['sets']}"
        for found in re.finditer(
            r"(?P<noise>\w+), N = 1000, (?P<case>[\w ]+) \((?P<sets>\d+)\): alarm (?P<alarm>\S+), "
            r"area (?P<area>[\d.]+);",
            capsys.readouterr().out,
        )
    }
    page = (ROOT / "docs/howto/checking-a-graph.md").read_text(encoding="utf-8")
    for case, words in CASES.items():
        assert f"| {words} | {told['normal', case]} | {told['exponential', case]} |" in page


def test_the_page_on_arrows_has_the_distances() -> None:
    page = (ROOT / "docs/howto/how-sure.md").read_text(encoding="utf-8")
    assert arrows.report() in page


def test_the_page_on_the_penalty_has_the_table_of_dense_graphs() -> None:
    page = (ROOT / "docs/howto/choosing-the-penalty.md").read_text(encoding="utf-8")
    assert dense.table(read_rows(dense.RESULTS / "dense.csv")) in page
