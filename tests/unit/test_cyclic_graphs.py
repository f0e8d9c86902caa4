"""Graphs with cycles beside data and beside each other: `check`, `compare`, `score_graph`."""

from itertools import chain, combinations

import numpy as np
import pytest

import qwo
from qwo.agreement.families import separated_pairs
from qwo.graph import CausalGraph
from qwo.graph.compare_marks import CyclicComparison
from qwo.graph.cyclic_class import equivalence_class

NAMES = ("income", "rain", "price", "quantity")
MARKET = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=np.int8)


def market(rows: int = 2000, seed: int = 1) -> np.ndarray:
    effects = np.where(
        MARKET, [[0.8, 0, 0.8, 0], [0, 0, 0, 0.7], [0, 0, 0, 0.9], [0, 0, -0.4, 0]], 0
    )
    return np.random.default_rng(seed).normal(size=(rows, 4)) @ np.linalg.inv(np.eye(4) - effects)


def graph_of(matrix) -> CausalGraph:
    return CausalGraph(NAMES[: len(matrix)], np.asarray(matrix, dtype=np.int8), "cyclic")


def random_graph(rng, n):
    graph = (rng.random((n, n)) < 0.35).astype(np.int8)
    np.fill_diagonal(graph, 0)
    return graph


def partial(covariance, u, v, given):
    own = [u, v, *given]
    precision = np.linalg.inv(covariance[np.ix_(own, own)])
    return -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])


@pytest.mark.parametrize("seed", range(12))
def test_separated_pairs_are_all_that_some_set_separates(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    b = graph * rng.uniform(0.2, 0.6, graph.shape) * rng.choice([-1, 1], graph.shape)
    total = np.linalg.inv(np.eye(5) - b)
    covariance = total.T * rng.uniform(0.5, 2, 5) @ total
    found = {(u, v): given for u, v, given in separated_pairs(graph)}
    for u, v in combinations(range(5), 2):
        if (u, v) in found:
            assert partial(covariance, u, v, found[u, v]) == pytest.approx(0, abs=1e-9)
            continue
        rest = [w for w in range(5) if w not in (u, v)]
        sets = chain.from_iterable(combinations(rest, k) for k in range(4))
        assert all(abs(partial(covariance, u, v, given)) > 1e-6 for given in sets)


class TestCheck:
    def test_a_graph_that_was_learnt_passes(self):
        data = market()
        found = qwo.discover(data, feedback=True, random_state=0)
        checked = qwo.check(data, found, n_draws=40, random_state=0)
        assert checked.learnt
        assert not checked.alarm
        assert [test.name for test in checked.tests] == ["implied independences", "overall fit"]
        assert len(checked.to_frame()) == 1
        assert not checked.changes
        assert "No alarm" in checked.summary()

    def test_a_right_graph_rarely_has_an_alarm(self):
        graph = CausalGraph.from_matrix(MARKET, kind="cyclic")
        alarms = [
            qwo.check(market(500, seed), graph, n_draws=20, random_state=seed).alarm
            for seed in range(8)
        ]
        assert sum(alarms) <= 2

    def test_a_wrong_graph_is_told_with_the_missing_edge(self):
        wrong = MARKET.copy()
        wrong[1, 3], wrong[0, 3] = 0, 1
        checked = qwo.check(
            market(), CausalGraph.from_matrix(wrong, kind="cyclic"), n_draws=40, random_state=0
        )
        assert checked.alarm
        assert {(c.kind, c.cause, c.effect) for c in checked.changes} >= {("add", 1, 3)}
        assert "should be independent given" in checked.summary()

    @pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
    def test_what_it_cannot_take_is_said(self):
        graph = CausalGraph.from_matrix(MARKET, kind="cyclic")
        few = qwo.Moments.from_covariance(np.cov(market().T), n_samples=6)
        with pytest.raises(qwo.InputError, match="more samples than variables"):
            qwo.check(few, graph)
        lines = MARKET.copy()
        lines[0, 1] = lines[1, 0] = 2
        with pytest.raises(qwo.InputError, match="undirected edges and cycles"):
            qwo.check(market(), CausalGraph.from_matrix(lines, kind="cyclic"))


class TestCompare:
    def test_the_same_graph_is_exact(self):
        told = qwo.compare(graph_of(MARKET), graph_of(MARKET))
        assert isinstance(told, CyclicComparison)
        assert told.exact
        assert (told.shd, told.shd_nearest, told.link_f1, told.arrow_f1) == (0, 0, 1, 1)

    def test_a_cycle_the_other_way_round_is_of_the_same_class(self):
        ring = np.zeros((4, 4), dtype=np.int8)
        ring[[0, 1, 2], [1, 2, 0]] = 1
        ring[3, 0] = 1
        members = [
            m.graph
            for m in max(
                equivalence_class(0.5 * ring.T, np.ones(4)), key=lambda b: len(b.members)
            ).members
        ]
        other = next(m for m in members if (m != ring).any())
        told = qwo.compare(graph_of(other), graph_of(ring))
        assert told.exact
        assert told.shd > 0
        assert told.members == len(members)
        assert "one of the true class" in str(told)

    def test_a_dag_beside_a_graph_with_cycles(self):
        dag = MARKET.copy()
        dag[3, 2] = 0
        told = qwo.compare(CausalGraph(NAMES, dag, "dag"), graph_of(MARKET))
        assert told.shd == 1
        assert [str(edge) for edge in told.missing] == ["quantity → price"]
        assert told.to_dict()["missing"] == [["quantity", "-->", "price"]]

    def test_results_are_compared(self):
        found = qwo.discover(market(), feedback=True, random_state=0)
        assert qwo.compare(found, CausalGraph.from_matrix(MARKET, kind="cyclic")).exact

    def test_a_line_is_one_arrow(self):
        lines = MARKET.copy()
        lines[0, 2] = lines[2, 0] = 2
        assert qwo.compare(graph_of(lines), graph_of(MARKET)).shd == 0
        with pytest.raises(qwo.InputError, match="give a directed graph"):
            qwo.compare(graph_of(MARKET), graph_of(lines))

    @pytest.mark.parametrize("seed", range(6))
    def test_nearest_is_that_of_all_members(self, seed):
        rng = np.random.default_rng(seed)
        true, ours = random_graph(rng, 4), random_graph(rng, 4)
        b = true.T * rng.uniform(0.3, 0.9, true.shape)
        blocks = equivalence_class(b, np.ones(4))
        best = 0
        for block in blocks:
            own = list(block.variables)
            best += min(int((m.graph[:, own] != ours[:, own]).sum()) for m in block.members)
        assert qwo.compare(graph_of(ours), graph_of(true)).shd_nearest == best


def test_the_score_is_that_of_the_search():
    data = market()
    found = qwo.discover(data, feedback=True, random_state=0, penalty_discount=2)
    own = qwo.score_graph(data, found)
    assert own.score == pytest.approx(found.score, abs=1e-2)
    fitted = qwo.fit_sem(data, found)
    assert own.log_likelihood == pytest.approx(fitted.log_likelihood(data).sum(), abs=1e-6)
    assert np.linalg.slogdet(fitted.implied_covariance())[1] == pytest.approx(
        fitted.log_determinant, abs=1e-9
    )
