"""GRaSP: the kinds of edges, the depths, and the true class from an exact covariance."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from qwo.errors import ArgumentError
from qwo.graph import covered_edges, same_equivalence_class
from qwo.graph.resolved_knowledge import Precedence
from qwo.search import grasp
from qwo.search.grasp import Tucks, draw_signatures
from tests.helpers.plain_engine import PlainEngine
from tests.helpers.random_knowledge import random_knowledge
from tests.oracles.random_models import model_covariance, random_dag, to_correlation

TAU = 1e-16


def make_case(seed, n=None, density=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9)) if n is None else n
    dag = random_dag(rng, n, rng.choice([0.2, 0.4, 0.6]) if density is None else density)
    engine = PlainEngine(to_correlation(model_covariance(rng, dag)), TAU)
    engine.reset(rng.permutation(n))
    return engine, dag


def kinds(engine):
    """For each edge: covered, singular, neither; by listing all directed paths."""
    dag = engine.dag()
    graph = nx.from_numpy_array(dag, create_using=nx.DiGraph)
    covered = set(covered_edges(dag))
    return {
        edge: 0
        if edge in covered
        else 1
        if len(list(nx.all_simple_paths(graph, *edge))) == 1
        else 2
        for edge in graph.edges
    }


class Recorder(PlainEngine):
    """Notes, for each tuck, the kind of its edge and how many tucks it follows.

    One mark is that of the best state, one that of the tuck itself.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.tucked = []

    def tuck(self, x, y):
        self.tucked.append((len(self._marks) - 2, kinds(self)[x, y]))
        return super().tuck(x, y)


def record(seed, **options):
    engine, _ = make_case(seed, n=7, density=0.5)
    recorder = Recorder(engine._correlation, TAU)
    recorder.reset(engine.order)
    grasp(recorder, random_state=seed, **options)
    return recorder.tucked


@pytest.mark.parametrize("seed", range(6))
def test_edges_are_sorted_by_kind(seed):
    engine, _ = make_case(seed, n=7, density=0.5)
    tucks = Tucks(engine.order, engine.dag(), draw_signatures(np.random.default_rng(0), 7))
    expected = kinds(engine)
    edges = list(zip(tucks.tails.tolist(), tucks.heads.tolist(), strict=True))
    assert sorted(edges) == sorted(expected)
    assert [bool(c) for c in tucks.covered] == [expected[edge] == 0 for edge in edges]
    assert [bool(s) for s in tucks.singular] == [expected[edge] <= 1 for edge in edges]


@pytest.mark.parametrize("seed", range(6))
def test_allowed_tucks_are_those_that_lead_to_allowed_orders(seed):
    rng = np.random.default_rng(seed)
    engine, _ = make_case(seed, n=7, density=0.4)
    knowledge = random_knowledge(rng, 7)
    precedence = Precedence.of(knowledge)
    assert precedence is not None
    start = knowledge.topological_start(engine.order)
    engine.reset(start)
    tucks = Tucks(engine.order, engine.dag(), draw_signatures(rng, 7))
    for x, y, allowed in zip(tucks.tails, tucks.heads, tucks.allowed(precedence), strict=True):
        engine.reset(start)
        engine.tuck(x, y)
        assert allowed == knowledge.allows_order(engine.order)


def test_a_state_is_a_dag():
    engine, _ = make_case(4, n=6, density=0.4)
    signatures = draw_signatures(np.random.default_rng(0), 6)
    rng = np.random.default_rng(1)
    states = {}
    for _ in range(200):
        engine.reset(rng.permutation(6))
        state = Tucks(engine.order, engine.dag(), signatures).state
        states.setdefault(state, engine.dag())
        np.testing.assert_array_equal(states[state], engine.dag())
    assert len({dag.tobytes() for dag in states.values()}) == len(states) > 10


@pytest.mark.parametrize("version", [0, 1, 2])
def test_versions_tuck_their_edges_only(version):
    tucked = record(1, version=version, depth=3, singular_depth=None, nonsingular_depth=None)
    assert {kind for _, kind in tucked} == set(range(version + 1))


@pytest.mark.parametrize("limits", [(1, 1, 1), (3, 1, 1), (3, 2, 1), (4, 3, 0), (2, 5, 5)])
def test_each_kind_of_edge_has_its_depth(limits):
    names = ("depth", "singular_depth", "nonsingular_depth")
    reached = [0, 0, 0]
    for seed in range(4):
        for before, kind in record(seed, version=2, **dict(zip(names, limits, strict=True))):
            reached[kind] = max(reached[kind], before + 1)
    assert reached == [min(limits[: kind + 1]) for kind in range(3)]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("version", [0, 2])
def test_an_exact_covariance_gives_the_true_class(seed, version):
    """Unbounded depth, any start, any faithful DAG: GRaSP is consistent."""
    engine, dag = make_case(seed)
    outcome = grasp(engine, version=version, depth=None, random_state=seed)
    assert outcome.status == "converged"
    assert outcome.cost == dag.sum()
    assert same_equivalence_class(engine.dag(), dag)


def test_depth_three_mostly_gives_the_true_class():
    """The paper's setting, and the default: 367 and 399 of 400 such graphs."""
    recovered = {"paper": 0, "default": 0}
    for name, options in (("paper", {"version": 0, "depth": 3}), ("default", {})):
        for seed in range(60):
            engine, dag = make_case(seed)
            grasp(engine, random_state=seed, **options)
            recovered[name] += same_equivalence_class(engine.dag(), dag)
    assert recovered["paper"] >= 48
    assert recovered["default"] >= 56


@pytest.mark.parametrize("seed", range(5))
def test_no_allowed_tuck_improves_the_result(seed):
    rng = np.random.default_rng(seed)
    engine, _ = make_case(seed, n=8, density=0.4)
    knowledge = random_knowledge(rng, 8)
    engine.reset(knowledge.topological_start(engine.order))
    outcome = grasp(engine, knowledge=knowledge, random_state=seed)
    assert knowledge.allows_order(outcome.order)
    for y in range(8):
        for x in engine.parents(y).tolist():
            mark = engine.mark()
            cost = engine.tuck(x, y)
            assert cost >= outcome.cost or not knowledge.allows_order(engine.order)
            engine.undo(mark)


def test_a_single_variable():
    outcome = grasp(PlainEngine(np.eye(1), TAU))
    assert outcome.status == "converged"
    assert outcome.order.tolist() == [0]
    assert outcome.cost == 0


def test_bad_arguments_are_refused():
    engine, _ = make_case(0)
    with pytest.raises(ArgumentError, match="version is 3; wanted 0, 1 or 2"):
        grasp(engine, version=3)
    with pytest.raises(ArgumentError, match="depth is 0; wanted 1 or more, or None"):
        grasp(engine, depth=0)
    with pytest.raises(ArgumentError, match="nonsingular_depth is -1; wanted 0 or more"):
        grasp(engine, nonsingular_depth=-1)
