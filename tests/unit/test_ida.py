"""IDA, against all DAGs of the class, each with its own total effects."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from qwo.errors import ColumnNameError, GraphError, MissingValuesError
from qwo.graph import Knowledge, ancestor_matrix, enumerate_dags, to_cpdag, to_dag, to_mpdag
from qwo.moments import Moments
from qwo.sem import adjusted_effect, fit_sem, ida, ida_all, total_effects
from qwo.simulation import simulate
from tests.oracles.random_models import model_covariance, random_dag


def distinct(values):
    """The values that differ, in increasing order."""
    ordered = np.sort(np.asarray(values))
    return ordered[np.append(True, np.diff(ordered) > 1e-9)]


def assert_same_effects(moments, graph, cause):
    """The possible effects are those over all members of the class, by sums over paths."""
    members = [
        total_effects(fit_sem(moments, dag)).estimates[cause] for dag in enumerate_dags(graph)
    ]
    for name, possible in ida_all(moments, graph, cause).items():
        expected = distinct([effects[moments.names.index(name)] for effects in members])
        np.testing.assert_allclose(distinct(possible.estimates), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_possible_effects_are_those_of_all_members(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    dag = random_dag(rng, n, density=rng.uniform(0.3, 0.9))
    moments = Moments.from_covariance(model_covariance(rng, dag), None)
    for cause in range(n):
        assert_same_effects(moments, to_cpdag(dag), cause)


@pytest.mark.parametrize("seed", range(25))
def test_background_knowledge_leaves_fewer_effects(seed):
    rng = np.random.default_rng(100 + seed)
    dag = random_dag(rng, 5, density=0.8)
    while not (to_cpdag(dag) == 2).any():
        dag = random_dag(rng, 5, density=0.8)
    moments = Moments.from_covariance(model_covariance(rng, dag), None)
    undirected = np.argwhere((to_cpdag(dag) == 2) & (dag == 1))
    required = rng.choice(undirected, 1).tolist()
    graph = to_mpdag(dag, Knowledge(required=required).resolve(moments.names))
    for cause in range(5):
        assert_same_effects(moments, graph, cause)


def test_a_dag_stands_for_itself():
    data, dag, _ = simulate("er", n_variables=6, n_samples=200, degree=3, random_state=1)
    for cause in range(6):
        for possible in ida_all(data, dag, cause).values():
            assert len(possible) == 1


def test_each_effect_is_the_regression_given_its_parent_set():
    data, dag, _ = simulate("er", n_variables=7, n_samples=90, degree=3, random_state=0)
    moments, cpdag = Moments.from_data(data), to_cpdag(dag)
    together = ida_all(moments, cpdag, "X1")
    assert len(together) == 6
    assert len(together["X0"]) > 1
    for name, possible in together.items():
        alone = ida(moments, cpdag, 1, name)
        np.testing.assert_allclose(alone.estimates, possible.estimates, rtol=1e-12)
        np.testing.assert_allclose(alone.standard_errors, possible.standard_errors, rtol=1e-12)
        assert alone.parent_sets == possible.parent_sets
        for effect, parents in zip(possible, possible.parent_sets, strict=True):
            if name in parents:
                assert (effect.estimate, effect.standard_error) == (0, 0)
            else:
                expected = adjusted_effect(moments, "X1", name, parents)
                assert effect.estimate == pytest.approx(expected.estimate, rel=1e-12)
                assert effect.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
                assert effect.df == expected.df


def test_an_undirected_pair():
    data, dag, _ = simulate(np.array([[0, 1], [0, 0]]), n_samples=50, random_state=0)
    possible = ida(data, to_cpdag(dag), 0, 1)
    assert possible.parent_sets == ((), ("X1",))
    assert possible.estimates[1] == possible.lower_bound == 0
    assert possible[0].estimate == adjusted_effect(data, 0, 1).estimate
    assert math.isnan(possible[-1].p_value)
    assert [effect.estimate for effect in possible[::-1]] == possible.estimates[::-1].tolist()
    assert str(possible).startswith("X0 → X1, by the parents")


def test_a_star_of_many_neighbours_takes_one_set_for_each():
    n = 60
    star = np.zeros((n, n), dtype=np.int8)
    star[0, 1:] = star[1:, 0] = 2
    data, _, _ = simulate(to_dag(star), n_samples=200, random_state=0)
    possible = ida(data, star, 0, 1)
    assert possible.parent_sets == ((), *((f"X{k}",) for k in range(1, n)))


def test_a_graph_that_is_not_closed_under_orientation_rules():
    """X0 → X1 — X2 leaves X1 → X2 only."""
    chain = np.array([[0, 1, 0], [0, 0, 2], [0, 2, 0]])
    data, _, _ = simulate(to_dag(chain), n_samples=50, random_state=0)
    assert ida(data, chain, 1, 2).parent_sets == (("X0",),)


def test_forms_of_a_graph():
    data, dag, _ = simulate("er", n_variables=5, n_samples=100, degree=2, random_state=3)
    cpdag = to_cpdag(dag)
    expected = ida(data, cpdag, 0, 1).estimates

    class Found:
        names = tuple(f"X{k}" for k in range(5))

    found = Found()
    found.cpdag = cpdag
    arcs = nx.from_numpy_array((cpdag > 0).astype(int), create_using=nx.DiGraph)
    for form in (found, arcs, cpdag.tolist()):
        np.testing.assert_array_equal(ida(data, form, 0, 1).estimates, expected)


def test_graphs_and_variables_that_are_refused():
    data, dag, _ = simulate("er", n_variables=4, n_samples=50, random_state=3)
    square = np.zeros((4, 4), dtype=np.int8)
    for i, j in ((0, 1), (1, 2), (2, 3), (3, 0)):
        square[i, j] = square[j, i] = 2
    with pytest.raises(GraphError, match="no DAG has the skeleton"):
        ida(data, square, 0, 1)
    with pytest.raises(ColumnNameError, match="cause: no variable is called 'z'"):
        ida_all(data, dag, "z")


@pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
@pytest.mark.parametrize("missing", ["drop", "em"])
def test_missing_values(missing):
    data, dag, _ = simulate("er", n_variables=4, n_samples=100, degree=2, random_state=3)
    data[:9, 2] = np.nan
    moments = Moments.from_data(data, missing=missing)
    expected = ida(moments, to_cpdag(dag), "X0", "X3")
    assert list(ida(data, to_cpdag(dag), "X0", "X3", missing=missing)) == list(expected)
    together = ida_all(data, to_cpdag(dag), "X0", missing=missing)["X3"]
    # Several effects at a time are other products of matrices, with other rounding.
    for one, other in zip(together, expected, strict=True):
        assert one.estimate == pytest.approx(other.estimate, rel=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)
    adjusted = adjusted_effect(data, "X0", "X3", ["X1"], missing=missing)
    assert adjusted == adjusted_effect(moments, "X0", "X3", ["X1"])
    with pytest.raises(MissingValuesError):
        ida(data, to_cpdag(dag), "X0", "X3")


def test_every_possible_effect_has_its_interval():
    data, dag, _ = simulate("er", n_variables=6, n_samples=300, degree=3, random_state=5)
    moments = Moments.from_data(data)
    for name, possible in ida_all(moments, to_cpdag(dag), 0).items():
        ends = [effect.interval() for effect in possible]
        for parents, effect, (low, high) in zip(possible.parent_sets, possible, ends, strict=True):
            if name in parents:
                assert low == high == 0
                continue
            given = adjusted_effect(moments, 0, name, parents)
            assert (low, high) == pytest.approx(given.interval())
            assert f"[{low:.4g}, {high:.4g}]" in str(possible)
            assert effect.df == given.df
        assert possible.interval() == (min(e[0] for e in ends), max(e[1] for e in ends))


@pytest.mark.parametrize("seed", range(30))
def test_directed_paths_of_possible_effects_against_all_members(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 6, 0.4)
    graph = to_cpdag(dag)
    if seed % 2:
        edges = np.argwhere(dag)
        required = edges[rng.random(len(edges)) < 0.3].tolist()
        names = [f"X{k}" for k in range(6)]
        graph = to_mpdag(dag, Knowledge(required=required).resolve(names))
    moments = Moments.from_covariance(model_covariance(rng, dag), 100)
    reach = {}
    for member in enumerate_dags(graph):
        parents = tuple(f"X{p}" for p in np.flatnonzero(member[:, 0]))
        reach.setdefault(parents, set()).add(tuple(ancestor_matrix(member)[0].tolist()))
    for k, (name, possible) in enumerate(ida_all(moments, graph, 0).items(), start=1):
        assert name == f"X{k}"
        for parents, directed in zip(possible.parent_sets, possible.directed, strict=True):
            assert {row[k] for row in reach[parents]} == {bool(directed)}
