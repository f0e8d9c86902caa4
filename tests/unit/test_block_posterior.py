"""Posterior and BDeu's bootstrap of tables with categories, whose columns enter as blocks."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.bayes.result import Posterior
from qwo.bayes.scores import BlockFamilies, bge_score, bic_score, block_bge, block_bic
from qwo.errors import InputError
from qwo.order.blocks import columns_of


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """group → x → y → flag, of which group has three levels and flag two."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 150)
    x = 0.5 * group + rng.normal(size=150)
    y = 0.4 * x + rng.normal(size=150)
    flag = np.where(0.5 * y + rng.normal(size=150) > 0, "yes", "no")
    return pd.DataFrame({"group": np.array(list("abc"))[group], "x": x, "y": y, "flag": flag})


def all_dags(n: int) -> Any:
    pairs = [(i, j) for i in range(n) for j in range(i)]
    for choice in product((0, 1, 2), repeat=len(pairs)):
        dag = np.zeros((n, n), dtype=np.int8)
        for (i, j), mark in zip(pairs, choice, strict=True):
            dag[(i, j) if mark == 1 else (j, i)] = mark > 0
        if np.trace(np.linalg.matrix_power(np.eye(n) + dag, n)) == n:
            yield dag


def test_single_columns_have_the_usual_scores() -> None:
    data, dag, _ = qwo.simulate("er", n_variables=6, n_samples=90, degree=3, random_state=2)
    moments = qwo.Moments.from_data(data)
    for plain, blocks in (
        (bge_score(moments, 0.25, 0.3), block_bge(moments, 0.25, 0.3)),
        (bic_score(moments, 1.5, 0.3), block_bic(moments, 1.5, 0.3)),
    ):
        assert blocks.of_graph(dag) == pytest.approx(plain.of_graph(dag), abs=1e-8)


def test_tables_hold_what_the_definition_says(table: pd.DataFrame) -> None:
    moments = qwo.Moments.from_frame(table)
    for family in (block_bge(moments, 0.25, 0.2), block_bic(moments, 1.0, 0.2)):
        for child, candidates, core in ((0, [1, 3], [2]), (1, [0, 2, 3], []), (3, [0], [1])):
            scores = family.table(child, candidates, core)
            for mask, score in enumerate(scores):
                chosen = [u for bit, u in enumerate(candidates) if mask >> bit & 1]
                assert score == pytest.approx(slow(family, child, [*core, *chosen]), abs=1e-7)


def slow(family: BlockFamilies, child: int, parents: list[int]) -> float:
    """log s(v, P) by its definition."""
    columns = columns_of(family.sizes)

    def log_det(variables: list[int]) -> float:
        places = np.concatenate([np.empty(0, int), *(columns[v] for v in variables)]).astype(int)
        return float(np.linalg.slogdet(family.matrix[np.ix_(places, places)])[1])

    few = int(family.sizes[parents].sum()) if parents else 0
    many, size = few + int(family.sizes[child]), family.n_samples
    both, rest, odds = log_det([*parents, child]), log_det(parents), len(parents) * family.log_odds
    if family.name == "bic":
        return -size / 2 * (both - rest) - family.penalty * (many - few) * few + odds
    with_child = family.totals[many] - (size + many + 2) / 2 * both
    return float(with_child - family.totals[few] + (size + few + 2) / 2 * rest + odds)


@pytest.mark.parametrize("score", ["bge", "bic"])
def test_probabilities_are_those_of_all_graphs(table: pd.DataFrame, score: Any) -> None:
    drawn = qwo.posterior(table, score=score, n_draws=4000, random_state=0)
    moments, prior = qwo.Moments.from_frame(table), 1 / 6
    family = (
        block_bge(moments, drawn.params["t"], prior)
        if score == "bge"
        else block_bic(moments, 1.0, prior)
    )
    graphs = list(all_dags(4))
    logs = np.array([family.of_graph(dag) for dag in graphs])
    weights = np.exp(logs - logs.max())
    exact = np.einsum("k,kij->ij", weights / weights.sum(), np.array(graphs, float))
    assert np.abs(drawn.edge_probabilities - exact).max() < 0.03


def test_knowledge_files_and_effects(table: pd.DataFrame, tmp_path: Path) -> None:
    drawn = qwo.posterior(table, knowledge={"roots": ["group"]}, n_draws=200, random_state=0)
    assert (drawn.edge_probabilities[:, 0] == 0).all()
    drawn.save(tmp_path / "drawn.npz")
    assert Posterior.load(tmp_path / "drawn.npz").names == drawn.names
    with pytest.raises(InputError, match="categories"):
        drawn.effect("x", "y")
    found = qwo.discover(table, random_state=0)
    causes = found.causes_of("y", posterior=drawn)
    assert all(effect.source != "posterior" for effect in causes)


def test_many_variables_have_lists_of_candidates() -> None:
    data, dag, _ = qwo.simulate("er", n_variables=18, n_samples=600, degree=2, random_state=4)
    frame = pd.DataFrame(data).rename(columns=lambda k: f"x{k}")
    frame["x3"] = pd.cut(frame["x3"], 4, labels=list("abcd")).astype(str)
    drawn = qwo.posterior(frame, n_draws=200, random_state=0)
    assert max(map(len, drawn.candidates)) == 11
    strong = (drawn.link_probabilities > 0.5) & ((dag + dag.T) == 1)
    assert strong.sum() >= 0.8 * 2 * dag.sum()
    assert "candidates for each variable" in drawn.summary()


def test_bdeu_has_a_bootstrap() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 300)
    b = (a + rng.integers(0, 2, 300)) % 3
    frame = pd.DataFrame({"a": np.array(list("xyz"))[a], "b": np.array(list("uvw"))[b]})
    frame["c"] = np.array(["no", "yes"])[rng.integers(0, 2, 300)]
    sure = qwo.bootstrap(frame, score="bdeu", n_resamples=6, random_state=0)
    links = {(p.first, p.second): p.link for p in sure.to_frame().itertuples()}
    assert links["a", "b"] == 1
    assert sure.params["score"] == "bdeu"
    again = qwo.bootstrap(frame, score="bdeu", n_resamples=6, random_state=0)
    assert (again.undirected_counts == sure.undirected_counts).all()
    with pytest.raises(InputError, match="counts complete rows"):
        qwo.bootstrap(frame, score="bdeu", n_resamples=2, missing="em")
    frame.loc[0, "a"] = None
    with pytest.raises(InputError) as refused:
        qwo.bootstrap(frame, score="bdeu", n_resamples=2)
    assert {cure.value for cure in refused.value.cures} == {"drop"}
