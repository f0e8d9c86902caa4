"""Equivalence classes: CPDAG, extension, Meek's rules and knowledge, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from qwo.errors import GraphError, KnowledgeError
from qwo.graph import (
    Knowledge,
    as_cpdag,
    check_pdag,
    enumerate_dags,
    is_cpdag,
    is_topological,
    meek_closure,
    same_equivalence_class,
    skeleton,
    to_cpdag,
    to_dag,
    to_mpdag,
    topological_order,
    v_structures,
)
from tests.oracles.equivalence import all_dags, equivalence_class, is_acyclic, union_graph
from tests.oracles.random_models import random_dag

CYCLE = np.array([[0, 2, 0, 2], [2, 0, 2, 0], [0, 2, 0, 2], [2, 0, 2, 0]], dtype=np.int8)


def test_every_dag_on_four_vertices():
    dags = list(all_dags(4))
    assert len(dags) == 543
    cpdags = set()
    for dag in dags:
        cpdag = to_cpdag(dag)
        np.testing.assert_array_equal(cpdag, union_graph(equivalence_class(dag)))
        cpdags.add(cpdag.tobytes())
    assert len(cpdags) == 185


@pytest.mark.parametrize("density", [0.3, 0.6, 0.9])
def test_random_dags_on_five_vertices(density):
    rng = np.random.default_rng(5)
    for _ in range(30):
        dag = random_dag(rng, 5, density)
        members = equivalence_class(dag)
        cpdag = to_cpdag(dag)
        np.testing.assert_array_equal(cpdag, union_graph(members))
        listed = [member.tobytes() for member in enumerate_dags(cpdag)]
        assert len(listed) == len(set(listed))
        assert set(listed) == {member.tobytes() for member in members}


@pytest.mark.parametrize("seed", range(20))
def test_extension_and_closure_of_larger_cpdags(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 25, 0.15)
    cpdag = to_cpdag(dag)
    member = to_dag(cpdag)
    assert is_acyclic(member)
    assert v_structures(member) == v_structures(dag)
    np.testing.assert_array_equal(skeleton(member), skeleton(dag))
    np.testing.assert_array_equal(to_cpdag(member), cpdag)
    np.testing.assert_array_equal(meek_closure(cpdag), cpdag)
    assert same_equivalence_class(member, dag)


@pytest.mark.parametrize("seed", range(20))
def test_the_pattern_closes_to_the_cpdag(seed):
    dag = random_dag(np.random.default_rng(seed), 12, 0.3)
    pattern = 2 * skeleton(dag)
    for i, k, j in v_structures(dag):
        pattern[[i, j], k], pattern[k, [i, j]] = 1, 0
    np.testing.assert_array_equal(meek_closure(pattern), to_cpdag(dag))


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([(0, 1, 1), (1, 2, 2)], (1, 2)),
        ([(0, 1, 1), (1, 2, 1), (0, 2, 2)], (0, 2)),
        ([(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 3, 1), (2, 3, 1)], (0, 3)),
        ([(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 2, 1), (2, 3, 1)], (0, 3)),
    ],
    ids=["rule 1", "rule 2", "rule 3", "rule 4"],
)
def test_each_rule_of_meek(edges, expected):
    pdag = np.zeros((4, 4), dtype=np.int8)
    for i, j, kind in edges:
        pdag[i, j] = kind
        pdag[j, i] = kind if kind == 2 else 0
    closed = meek_closure(pdag)
    tail, head = expected
    assert (closed[tail, head], closed[head, tail]) == (1, 0)


@pytest.mark.parametrize("seed", range(60))
def test_mpdag_is_what_the_allowed_members_share(seed):
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, 5, 0.7)
    knowledge = true_knowledge(rng, dag).resolve([str(v) for v in range(5)])
    allowed = [member for member in equivalence_class(dag) if allows(knowledge, member)]
    np.testing.assert_array_equal(to_mpdag(dag, knowledge), union_graph(allowed))


def true_knowledge(rng, dag):
    """A few statements that hold in the DAG: tiers, an edge, the absence of an edge."""
    order = topological_order(dag)
    cut = int(rng.integers(0, 6))
    edges = np.argwhere(dag)
    absent = np.argwhere((dag == 0) & ~np.eye(5, dtype=bool))
    return Knowledge(
        tiers=[order[:cut], order[cut:]] if rng.random() < 0.5 else None,
        required=edges[rng.random(len(edges)) < 0.2].tolist(),
        forbidden=absent[rng.random(len(absent)) < 0.2].tolist(),
    )


def allows(knowledge, dag):
    try:
        knowledge.check_dag(dag)
    except KnowledgeError:
        return False
    return True


def test_tiers_on_both_sides_of_an_untiered_variable_direct_the_edge_between():
    knowledge = Knowledge(tiers=[["a"], ["b"]]).resolve(["a", "m", "b"])
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_array_equal(to_mpdag(chain, knowledge), [[0, 2, 0], [2, 0, 1], [0, 0, 0]])


def test_tiers_reach_across_a_long_path_and_the_arrows_behind_it():
    # x — c — d → e ← f, where e must come before x: c → x and d → c follow.
    names = ["x", "c", "d", "e", "f"]
    dag = np.zeros((5, 5), dtype=np.int8)
    dag[[2, 1, 2, 4], [1, 0, 3, 3]] = 1
    knowledge = Knowledge(tiers=[["e"], ["x"]]).resolve(names)
    found = to_mpdag(dag, knowledge)
    assert (found[1, 0], found[0, 1]) == (1, 0)
    assert (found[2, 1], found[1, 2]) == (2, 2)


@pytest.mark.parametrize("seed", range(8))
def test_mpdag_of_random_knowledge_is_what_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    found = 0
    while found < 100:
        n = int(rng.integers(2, 6))
        dag = random_dag(rng, n, float(rng.choice([0.3, 0.5, 0.8])))
        knowledge = any_knowledge(rng, dag)
        if not keeps(knowledge, dag):
            continue
        found += 1
        allowed = [member for member in equivalence_class(dag) if keeps(knowledge, member)]
        resolved = knowledge.resolve([f"v{v}" for v in range(n)])
        np.testing.assert_array_equal(
            to_mpdag(dag, resolved), union_graph(allowed), f"{knowledge} on\n{dag}"
        )


def any_knowledge(rng, dag):
    """Tiers with and without variables outside them, edges, roots and leaves, true or not."""
    n, n_tiers = len(dag), int(rng.integers(1, 4))
    placed, tier = rng.random(n) < rng.choice([0.3, 0.6, 1.0]), rng.integers(0, n_tiers, n)
    tiers = [np.flatnonzero(placed & (tier == t)).tolist() for t in range(n_tiers)]
    some = rng.random((4, n, n))
    return Knowledge(
        tiers if rng.random() < 0.8 else None,
        forbidden=np.argwhere((some[0] < 0.05) & ~np.eye(n, dtype=bool)).tolist(),
        required=np.argwhere((some[1] < 0.07) & (dag == 1)).tolist(),
        roots=np.flatnonzero(some[2, 0] < 0.05),
        leaves=np.flatnonzero(some[3, 0] < 0.05),
    )


def keeps(knowledge, dag):
    """Whether a DAG keeps the knowledge, by the definition of each of its parts."""
    reach = np.linalg.matrix_power(dag.astype(np.int64) + np.eye(len(dag), dtype=np.int64), 5) > 0
    tier_of = {v: t for t, tier in enumerate(knowledge.tiers) for v in tier}
    return (
        not any(dag[edge] for edge in knowledge.forbidden)
        and all(dag[edge] for edge in knowledge.required)
        and not any(dag[:, v].any() for v in knowledge.roots)
        and not any(dag[v].any() for v in knowledge.leaves)
        and not any(reach[i, j] and tier_of[i] > tier_of[j] for i in tier_of for j in tier_of)
    )


def test_mpdag_refuses_a_dag_that_violates_the_knowledge():
    knowledge = Knowledge(forbidden=[("a", "b")]).resolve(["a", "b"])
    with pytest.raises(KnowledgeError, match="a → b"):
        to_mpdag([[0, 1], [0, 0]], knowledge)


def test_to_dag_keeps_a_dag():
    for dag in all_dags(4):
        np.testing.assert_array_equal(to_dag(dag), dag)


def test_a_graph_without_extension_is_refused():
    with pytest.raises(GraphError, match="'a', 'b', 'c', 'd'"):
        to_dag(CYCLE, names=list("abcd"))
    with pytest.raises(GraphError, match="no DAG"):
        enumerate_dags(CYCLE)
    assert not is_cpdag(CYCLE)


def test_extensions_follow_arrows_that_are_not_closed():
    # 0 → 1 → 2 and 0 — 2: only 0 → 2 closes no cycle.
    np.testing.assert_array_equal(
        to_dag([[0, 1, 2], [0, 0, 1], [2, 0, 0]]), [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    )
    with pytest.raises(GraphError, match="no DAG"):
        to_dag(np.roll(np.eye(3), 1, axis=1))


def test_is_cpdag_tells_cpdags_from_other_graphs():
    chain = np.eye(3, k=1, dtype=np.int8)
    assert not is_cpdag(chain)
    assert is_cpdag(to_cpdag(chain))
    assert is_cpdag([[0, 1, 0], [0, 0, 0], [0, 1, 0]])


def test_as_cpdag_takes_either_kind():
    rng = np.random.default_rng(1)
    for _ in range(20):
        dag = random_dag(rng, 6)
        np.testing.assert_array_equal(as_cpdag(dag), to_cpdag(dag))
        np.testing.assert_array_equal(as_cpdag(to_cpdag(dag)), to_cpdag(dag))


def test_enumeration_stops_at_the_limit():
    complete = 2 * (1 - np.eye(6, dtype=np.int8))
    assert len(list(enumerate_dags(complete, limit=10))) == 10
    assert len(list(enumerate_dags(complete))) == 720
    assert all(is_topological(topological_order(dag), dag) for dag in enumerate_dags(complete, 3))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([[0, 1], [1, 0]], "1 and 1.*2 and 2 for undirected"),
        ([[0, 2], [0, 0]], "2 and 0"),
        ([[0, 2], [1, 0]], "2 and 1"),
        ([[1, 0], [0, 0]], "a has an edge to itself"),
        ([[0, 0], [0, 2]], "b has an edge to itself"),
        ([[0, 3], [0, 0]], "a → b is 3"),
    ],
)
def test_matrices_of_other_conventions_are_refused(graph, message):
    with pytest.raises(GraphError, match=message):
        check_pdag(graph, names=["a", "b"])


def test_a_cycle_has_no_cpdag():
    with pytest.raises(GraphError, match="a → b → c → a"):
        to_cpdag(np.roll(np.eye(3), 1, axis=1), names=list("abc"))


def test_a_long_chain_closes_in_one_pass():
    n = 2000
    pdag = to_cpdag(np.eye(n, k=1, dtype=np.int8))
    pdag[0, 1], pdag[1, 0] = 1, 0
    np.testing.assert_array_equal(meek_closure(pdag), np.eye(n, k=1, dtype=np.int8))
