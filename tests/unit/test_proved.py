"""What `discover` says is proved is so: knowledge, few rows, ties, parents that pay together."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import DataWarning
from qwo.moments import Moments
from tests.helpers.exact_dag import gaussian_cost, least_cost


def suppressors(seed: int, n_noise: int = 0) -> pd.DataFrame:
    """Two columns that nearly determine each other, and a child of their difference."""
    rng = np.random.default_rng(seed)
    before = rng.standard_normal(1000)
    after = before + 0.03 * rng.standard_normal(1000)
    child = (after - before) / 0.03 + rng.standard_normal(1000)
    columns = {"before": before, "after": after, "y": child}
    return pd.DataFrame(columns | {f"e{k}": rng.standard_normal(1000) for k in range(n_noise)})


TIERS = qwo.Knowledge(tiers=[["before"], ["after"], ["y"]])


def test_parents_that_pay_only_together_are_found_under_tiers() -> None:
    found = qwo.discover(suppressors(0), knowledge=TIERS, penalty_discount=2.0, random_state=0)
    assert found.proved
    assert set(found.edges) == {
        ("before", "-->", "after"),
        ("before", "-->", "y"),
        ("after", "-->", "y"),
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_few_rows_limit_the_parents_and_the_best_graph_is_found(seed: int) -> None:
    """One search in six was short here, and nobody said that nothing was proved."""
    data = qwo.simulate("er", n_variables=7, n_samples=15, degree=3, random_state=seed).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        moments = Moments.from_data(data)
        found = qwo.discover(moments, penalty_discount=2.0, random_state=0)
    local = gaussian_cost(moments, 2 * np.log(15))
    assert found.proved
    assert -found.score == pytest.approx(least_cost(7, local, most=5), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_with_the_true_tiers_no_graph_is_better(seed: int) -> None:
    """One search in twelve was short, of up to eight variables."""
    data, dag, _ = qwo.simulate(
        "er", n_variables=6, n_samples=200, degree=3, random_state=50_000 + seed
    )
    moments, order = Moments.from_data(data), qwo.graph.topological_order(dag)
    tiers = [[moments.names[v] for v in order[k : k + 2]] for k in (0, 2, 4)]
    known = qwo.Knowledge(tiers=tiers)
    found = qwo.discover(moments, knowledge=known, penalty_discount=2.0, random_state=0)
    local = gaussian_cost(moments, 2 * np.log(200))
    assert found.proved
    assert -found.score == pytest.approx(
        least_cost(6, local, known.resolve(moments.names)), abs=1e-6
    )


def test_two_graphs_within_a_thousandth_of_a_penalty_are_not_the_same() -> None:
    """With columns exchanged, the one or the other was taken."""
    data = qwo.simulate(
        "er", n_variables=4, n_samples=100, degree=3, weights=(0.1, 0.8), random_state=1070
    ).data
    table = pd.DataFrame(data, columns=list("abcd"))
    found, again = (
        qwo.discover(table[columns], penalty_discount=2.0, random_state=0)
        for columns in (list("abcd"), list("bacd"))
    )
    assert set(again.edges) == set(found.edges)
    assert found.score == pytest.approx(again.score, abs=1e-9)


def test_nothing_is_proved_of_many_variables_or_by_another_search() -> None:
    small = qwo.simulate("er", n_variables=5, n_samples=200, random_state=0).data
    large = qwo.simulate("er", n_variables=17, n_samples=200, random_state=0).data
    assert qwo.discover(small, random_state=0).proved
    assert not qwo.discover(large, random_state=0).proved
    assert not qwo.discover(small, search="grasp", random_state=0).proved
    assert not qwo.discover(small, restarts=0, random_state=0).proved


def test_the_exact_search_proves_more_variables_and_says_what_it_takes() -> None:
    data = qwo.simulate("er", n_variables=25, n_samples=300, random_state=0).data
    exact = qwo.discover(data[:, :17], search="exact", penalty_discount=2.0)
    found = qwo.discover(data[:, :17], penalty_discount=2.0, random_state=0)
    assert exact.proved
    assert exact.score >= found.score - 1e-9
    with pytest.raises(qwo.InputError, match="no restarts"):
        qwo.discover(data, search="exact", restarts=5)


def test_the_exact_search_says_where_rounding_would_decide() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 4))
    data[:, 3] = data[:, 0] + data[:, 1] + 1e-6 * rng.standard_normal(200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        moments = Moments.from_data(data)
    with pytest.warns(DataWarning, match="all but determine another"):
        found = qwo.discover(moments, search="exact", penalty_discount=2.0)
    assert not found.proved
