"""The benchmark on rows of several conditions: its data, and that the page says what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import regimes, regimes_sachs
from benchmarks.rows import read_rows
from qwo.datasets import load_sachs


@pytest.mark.parametrize("kind", regimes.KINDS)
def test_data_are_what_they_are_called(kind: str) -> None:
    given = regimes.problem(6, 4, 1, kind, 3)
    assert [len(part) for part in given.parts] == [500, *[150] * 4]
    assert given.targets.sum(axis=1).tolist() == [0, 1, 1, 1, 1]
    assert not np.trace(np.linalg.matrix_power(given.dag.astype(int) + np.eye(6, dtype=int), 6)) > 6


def test_a_perfect_graph_with_its_targets_is_judged_so() -> None:
    given = regimes.problem(6, 4, 1, "shift", 1)
    graph = regimes.interventional_class(given.dag, given.targets)
    best = regimes.judged(given, regimes.Found(graph, given.targets, 0.5))
    assert (best[0], best[2], best[3]) == (0, 1.0, 0.5)
    assert regimes.judged(given, regimes.Found(None, ~given.targets, 0.1))[2] == 0.0


def test_the_page_has_the_tables_of_what_is_stored() -> None:
    page = regimes.PAGE.read_text("utf-8")
    part = page.partition("<!-- begin tables -->")[2].partition("<!-- end tables -->")[0]
    assert part.strip() == regimes.page_tables(read_rows(regimes.RESULTS))


def test_claims_of_the_pages_hold() -> None:
    rows = read_rows(regimes.RESULTS)
    own = [r for r in rows if r["method"] == "qwo"]
    small = [r for r in own if (r["n"], r["conditions"], r["touched"]) == (10, 10, 1)]
    assert len(small) == 8
    assert min(float(r["f1"]) for r in small) >= 0.965
    most = [float(r["shd_class"]) for r in own if r["n"] <= 20 and r["conditions"] >= 10]
    assert max(most) <= 1.5
    assert [len(own), sum(float(r["f1"]) < 0.95 for r in own)] == [192, 19]
    assert min(float(r["f1"]) for r in own) >= 0.9
    assert {(r["sets"], r["seed"]) for r in own} == {(20, 90000)}
    cell = ("n", "conditions", "touched", "kind")
    ours = {tuple(r[k] for k in cell): float(r["shd_class"]) for r in own}
    for r in rows:
        if r["method"] == "UT-IGSP":
            assert float(r["shd_class"]) > ours[tuple(r[k] for k in cell)]
    told = {tuple(r[k] for k in cell): r for r in rows if r["method"] == "qwo, targets given"}
    pairs = [
        (float(r["shd_class"]), float(told[tuple(r[k] for k in cell)]["shd_class"]))
        for r in rows
        if r["method"] == "GIES, targets given" and r["n"] == 10
    ]
    assert [pair for pair in pairs if pair[0] < pair[1]] == [(0, 0.1), (0, 0.05)]


def test_the_page_of_experiments_has_the_rows_of_what_is_stored() -> None:
    page = regimes_sachs.PAGE.read_text("utf-8")
    stored = read_rows(regimes_sachs.RESULTS)
    assert regimes_sachs.with_rows(page, stored) == page
    assert regimes_sachs.rows_of(stored) in page


def test_our_rows_beside_the_consensus_network_are_what_is_found() -> None:
    truth = np.asarray(load_sachs().truth)
    stored = {
        r["method"]: {k: r[k] for k in regimes_sachs.COUNTS}
        for r in read_rows(regimes_sachs.RESULTS)
    }
    for name, graph in regimes_sachs.ours().items():
        assert regimes_sachs.counted(graph, truth) == stored[name]


def test_differences_from_a_dag_are_counted_by_pairs() -> None:
    truth = np.array([[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    graph = np.array([[0, 1, 2, 0], [0, 0, 0, 0], [2, 1, 0, 2], [0, 0, 2, 0]])
    found = regimes_sachs.counted(graph, truth)
    assert list(found.values()) == [4, 2, 1, 1, 1, 1, 1, 4]


def test_who_knows_the_reference_finds_more_targets_than_peers_that_do() -> None:
    rows = read_rows(regimes.RESULTS)
    cell = ("n", "conditions", "touched", "kind")
    told = {tuple(r[k] for k in cell): r for r in rows if r["method"] == "qwo, reference named"}
    peers = [r for r in rows if r["method"] in ("UT-IGSP", "mean test") and r["n"] <= 20]
    assert len(peers) > 100
    for r in peers:
        assert float(told[tuple(r[k] for k in cell)]["f1"]) > float(r["f1"])
