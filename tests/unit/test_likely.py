"""Probabilities of edges beforehand: a term of the score, which data can overrule."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.discovery.likely import log_odds, total
from qwo.errors import InputError, KnowledgeError


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    b = 0.4 * a + rng.normal(size=200)
    c = 0.3 * b + rng.normal(size=200)
    d = 0.15 * a + rng.normal(size=200)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def all_dags(n: int) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    for choice in product((0, 1, 2), repeat=len(pairs)):
        dag = np.zeros((n, n), dtype=np.int8)
        for (i, j), mark in zip(pairs, choice, strict=True):
            dag[(i, j) if mark == 1 else (j, i)] = mark > 0
        power = np.linalg.matrix_power(np.eye(n) + dag, n)
        if np.trace(power) == n:
            yield dag


@pytest.mark.parametrize(
    "likely",
    [
        {("a", "b"): 0.8},
        {("c", "b"): 0.9, ("b", "a"): 0.7},
        {("a", "d"): 0.9999},
        {("a", "b"): 0.0001, ("d", "c"): 0.3},
    ],
)
def test_the_best_of_all_graphs_is_found(table: pd.DataFrame, likely: Any) -> None:
    known = qwo.Knowledge(likely=likely)
    found = qwo.discover(table, knowledge=known, penalty_discount=2.0, random_state=0)
    moments = qwo.Moments.from_frame(table)
    bonus = log_odds(known, moments.names)
    best = max(total(dag, moments, 2.0, bonus) for dag in all_dags(4))
    assert total(found.dag, moments, 2.0, bonus) == pytest.approx(best)
    assert found.score == pytest.approx(best)


def test_it_directs_what_data_leave_open_and_adds_what_is_nearly_there(
    table: pd.DataFrame,
) -> None:
    plain = qwo.discover(table, random_state=0)
    assert ("a", "---", "b") in plain.edges
    told = qwo.discover(table, knowledge={"likely": {("a", "b"): 0.8}}, random_state=0)
    assert ("a", "-->", "b") in told.edges
    assert ("b", "-->", "c") in told.edges
    assert told.params["likely"] == [("a", "b", 0.8)]
    sure = qwo.discover(table, knowledge={"likely": {("a", "d"): 0.9999}}, random_state=0)
    assert ("a", "-->", "d") in sure.edges
    assert ("a", "-->", "d") not in plain.edges


def test_data_overrule_it(table: pd.DataFrame) -> None:
    known = {"likely": {("a", "b"): 0.01}}
    found = qwo.discover(table, knowledge=known, random_state=0)
    assert any({x, y} == {"a", "b"} for x, _, y in found.edges)


def test_categories_and_many_variables() -> None:
    data, dag, _ = qwo.simulate("er", n_variables=90, n_samples=400, degree=2, random_state=3)
    frame = pd.DataFrame(data).rename(columns=str)
    told = {(str(i), str(j)): 0.8 for i, j in np.argwhere(dag)[::3].tolist()}
    plain = qwo.discover(frame, random_state=0)
    found = qwo.discover(frame, knowledge={"likely": told}, random_state=0)
    right = [int(((graph.cpdag == 1) & (dag == 1)).sum()) for graph in (plain, found)]
    assert right[1] > right[0]
    frame["group"] = np.digitize(data[:, 0], [-0.5, 0.5])
    other = str(np.flatnonzero(dag[0] | dag[:, 0])[0])
    columns = ["group", "0", other]
    types = {"group": "nominal"}
    mixed = qwo.discover(
        frame[columns],
        types=types,
        knowledge={"likely": {("0", "group"): 0.7}},
        penalty_discount=2.0,
        random_state=0,
    )
    assert ("0", "-->", "group") in mixed.edges
    moments = qwo.Moments.from_frame(frame[columns], types=types)
    bonus = log_odds(qwo.Knowledge(likely={("0", "group"): 0.7}), moments.names)
    best = max(total(graph, moments, 2.0, bonus) for graph in all_dags(3))
    assert mixed.score == pytest.approx(best)


def test_one_half_says_nothing(table: pd.DataFrame) -> None:
    plain = qwo.discover(table, random_state=0)
    same = qwo.discover(table, knowledge={"likely": {("a", "b"): 0.5}}, random_state=0)
    assert (plain.cpdag == same.cpdag).all()


@pytest.mark.parametrize("chance", [0, 1, 1.5, "much"])
def test_certainty_is_no_probability(chance: Any) -> None:
    with pytest.raises(KnowledgeError, match="above 0 and below 1"):
        qwo.Knowledge(likely={("a", "b"): chance})


def test_it_is_refused_where_nothing_takes_account_of_it(table: pd.DataFrame) -> None:
    known = qwo.Knowledge(likely={("a", "b"): 0.8})
    for ask in (
        lambda: qwo.bootstrap(table, knowledge=known, n_resamples=2),
        lambda: qwo.posterior(table, knowledge=known),
        lambda: qwo.discover(table, knowledge=known, search="grasp"),
    ):
        with pytest.raises(InputError, match="likely"):
            ask()
    assert "a --> b (0.8)" in str(known)
