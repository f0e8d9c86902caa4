"""The compiled tables and chains of the posterior, against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

import qwo
from qwo import InputError, Moments, _core
from qwo.bayes.candidates import Constraints, ParentLists
from qwo.bayes.chains import ChainRecord, Chains, convergence, edge_traces, shares
from qwo.bayes.scores import FamilyScore, bge_score, bic_score
from tests.helpers.exact_posterior import edges_by_orders, family_scores

N = 7
ALL = [[u for u in range(N) if u != v] for v in range(N)]
NONE: list[list[int]] = [[] for _ in range(N)]


def moments(seed: int, n: int = N, n_samples: int = 60) -> Moments:
    data, _, _ = qwo.simulate("er", n_variables=n, n_samples=n_samples, degree=3, random_state=seed)
    return Moments.from_data(data)


def scores(seed: int) -> list[FamilyScore]:
    found = moments(seed)
    return [bge_score(found, 0.1, 0.2), bic_score(found, 1.0, 0.2)]


def tables_of(
    score: FamilyScore, candidates: list[list[int]], core: list[list[int]] = NONE
) -> _core.ScoreTables:
    lists = ParentLists(candidates, core)
    return lists.tables(score, Constraints.of(None, score.n_variables), 1)


def full_mask(candidates: list[int], mask: int) -> int:
    """The mask over a list as a mask over all variables."""
    return sum(1 << u for b, u in enumerate(candidates) if mask >> b & 1)


@pytest.mark.parametrize("seed", [0, 1])
def test_scores_and_sums_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for score in scores(seed):
        tables, exact = tables_of(score, ALL), family_scores(score)
        for v in range(N):
            logs = np.array([exact[v, full_mask(ALL[v], m)] for m in range(1 << N - 1)])
            found = [tables.score(v, m) for m in range(1 << N - 1)]
            np.testing.assert_allclose(found, logs, rtol=0, atol=1e-9)
            for allowed in rng.integers(1 << N - 1, size=8).tolist():
                inside = np.array([m for m in range(1 << N - 1) if m & ~allowed == 0])
                assert tables.sum(v, allowed) == pytest.approx(
                    np.logaddexp.reduce(logs[inside]), abs=1e-9
                )
                for place in range(N - 1):
                    if allowed >> place & 1:
                        having = inside[(inside >> place & 1) == 1]
                        assert tables.sum_with(v, allowed, place) == pytest.approx(
                            np.logaddexp.reduce(logs[having]), abs=1e-9
                        )


def test_core_parents_are_in_every_set() -> None:
    core = [[1, 4], [], [], [0], [], [], [2]]
    candidates = [[u for u in ALL[v] if u not in core[v]] for v in range(N)]
    for score in scores(2):
        tables, exact = tables_of(score, candidates, core), family_scores(score)
        for v in range(N):
            fixed = sum(1 << u for u in core[v])
            for mask in range(1 << len(candidates[v])):
                wanted = exact[v, fixed | full_mask(candidates[v], mask)]
                assert tables.score(v, mask) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("place", [-1, 0, 4])
def test_sets_are_drawn_in_proportion_to_their_scores(place: int) -> None:
    score = scores(3)[0]
    tables = tables_of(score, ALL)
    allowed, n_draws = 0b111011 if place < 0 else 0b110111, 40_000
    for v in (0, 3):
        logs = np.array([tables.score(v, m) for m in range(1 << N - 1)])
        masks = np.arange(1 << N - 1)
        legal = (masks & ~allowed) == 0
        if place >= 0:
            legal &= (masks >> place & 1) == 1
        weights = np.where(legal, np.exp(logs - logs.max()), 0)
        expected = n_draws * weights / weights.sum()
        drawn = tables.draws(v, allowed, n_draws, seed=v + 1, place=place)
        counts = np.bincount(drawn, minlength=1 << N - 1)
        assert counts[~legal].sum() == 0
        often = expected > 5
        statistic = ((counts - expected)[often] ** 2 / expected[often]).sum()
        assert chi2.sf(statistic, max(1, often.sum() - 1)) > 1e-3


def test_scores_that_span_thousands_of_nats_neither_overflow_nor_vanish() -> None:
    found = moments(5, n_samples=50_000)
    tables = tables_of(bge_score(found, 0.01, 0.1), ALL)
    exact = family_scores(bge_score(found, 0.01, 0.1))
    for v in range(N):
        logs = [exact[v, full_mask(ALL[v], m)] for m in range(1 << N - 1)]
        assert tables.sum(v, 0) == pytest.approx(logs[0], rel=1e-12)
        assert tables.sum(v, (1 << N - 1) - 1) == pytest.approx(
            np.logaddexp.reduce(logs), rel=1e-12
        )


@pytest.mark.parametrize(("n", "n_samples"), [(7, 30), (10, 60), (12, 200)])
def test_order_moves_have_the_order_posterior(n: int, n_samples: int) -> None:
    # burn_in() makes sweeps of the order move and draws a DAG given the order.
    score = bge_score(moments(4, n, n_samples), 0.2, 0.5)
    exact = edges_by_orders(score)
    lists = [[u for u in range(n) if u != v] for v in range(n)]
    tables, runs = tables_of(score, lists, [[] for _ in lists]), []
    still = {"joint": 0.0, "reversals": 0.0, "paths": 0.0, "parents": 0.0}
    for seed in range(4):
        chain = _core.GraphChain(tables, np.random.default_rng(seed).permutation(n), seed)
        chain.burn_in(100, 100)
        draws = []
        for _ in range(1500):
            chain.burn_in(2)
            draws.append(chain.run(1, **still)[0][0])
        runs.append(draws)
    masks, unsure = np.array(runs), (exact > 1e-3) & (exact < 1 - 1e-3)
    _, ess = convergence(edge_traces(masks, lists, unsure))
    found, p = shares(masks, lists)[unsure], exact[unsure]
    z = (found - p) / np.sqrt(p * (1 - p) / ess)
    assert len(z) > n
    assert np.abs(z).max() < 4.5
    assert np.sqrt((z**2).mean()) < 1.5
    np.testing.assert_allclose(shares(masks, lists)[~unsure], exact[~unsure], atol=5e-3)


def test_no_sum_exceeds_that_over_all_sets() -> None:
    """What the chain refuses moves by, before it has looked at the graph."""
    tables = tables_of(scores(8)[0], ALL)
    everything = (1 << N - 1) - 1
    for v, place in product(range(N), range(N - 1)):
        most = tables.sum_with(v, everything, place)
        for allowed in range(1 << N - 1):
            if allowed >> place & 1:
                assert tables.sum_with(v, allowed, place) <= most + 1e-9
                assert tables.sum_with(v, allowed, place) >= tables.score(v, allowed) - 1e-9


def test_edges_outside_the_lists_weigh_what_one_more_edge_weighs_or_one() -> None:
    score = bge_score(moments(6), 0.2, 0.3)
    lists = [[(v + 1) % N, (v + 2) % N] for v in range(N)]
    tables, exact = tables_of(score, lists), family_scores(score)
    chain = _core.GraphChain(tables, np.arange(N), 3)
    chain.burn_in(5)
    masks, log_scores = chain.run(1)
    possible = np.ones((N, N), dtype=np.uint8)
    ratios, _ = tables.ratios_outside(masks, possible)
    parents = [full_mask(lists[v], int(masks[0, v])) for v in range(N)]
    assert log_scores[0] == pytest.approx(sum(exact[v, parents[v]] for v in range(N)), abs=1e-8)
    reach = _reach(parents)
    for v in range(N):
        for w in range(N):
            legal = w != v and w not in lists[v] and not reach[v, w]
            wanted = np.exp(exact[v, parents[v] | 1 << w] - exact[v, parents[v]]) if legal else 0
            assert ratios[w, v] == pytest.approx(min(wanted, 1.0), rel=1e-8)


def test_core_edges_are_weighed_against_leaving_or_turning_them() -> None:
    score = bge_score(moments(7), 0.2, 0.3)
    core: list[list[int]] = [[1], [], [], [2], [], [], []]
    lists = [[u for u in ((v + 1) % N, (v + 2) % N) if u not in core[v]] for v in range(N)]
    tables, exact = tables_of(score, lists, core), family_scores(score)
    chain = _core.GraphChain(tables, np.array([6, 5, 4, 2, 3, 1, 0]), 3)
    chain.burn_in(5)
    masks, _ = chain.run(1)
    ratios = tables.ratios_of_core(masks)
    parents = [
        full_mask(lists[v], int(masks[0, v])) | sum(1 << u for u in core[v]) for v in range(N)
    ]
    for u, v in ((1, 0), (2, 3)):
        dropped = parents[v] ^ 1 << u
        best = exact[v, dropped] - exact[v, parents[v]]
        rest = [p if w != v else dropped for w, p in enumerate(parents)]
        if not _reach(rest)[u, v]:
            best = max(best, best + exact[u, parents[u] | 1 << v] - exact[u, parents[u]])
        assert ratios[u, v] == pytest.approx(np.exp(best), rel=1e-8)
    assert np.count_nonzero(ratios) == 2


def _reach(parents: list[int]) -> np.ndarray[Any, Any]:
    """Entry (i, j): a directed path leads from i to j."""
    graph = np.array([[parents[j] >> i & 1 for j in range(N)] for i in range(N)])
    return np.linalg.matrix_power(graph + np.eye(N, dtype=int), N) - np.eye(N, dtype=int) > 0


def test_paths_and_blankets_are_counted() -> None:
    # Draw 0: 0 → 1 → 2; draw 1: 0 → 2 ← 1.
    candidates = [[], [0], [0, 1]]
    masks = np.array([[0, 1, 2], [0, 0, 3]], dtype=np.uint32)
    paths, blankets = _core.count_relations(candidates, [[], [], []], masks)
    np.testing.assert_array_equal(paths, [[0, 1, 2], [0, 0, 2], [0, 0, 0]])
    np.testing.assert_array_equal(blankets, [[0, 2, 1], [2, 0, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": [[0], [], []]},
        {"candidates": [[1, 1], [], []]},
        {"candidates": [[3], [], []]},
        {"candidates": [[-1], [], []]},
        {"candidates": [[1], []]},
        {"core": [[1], [], []]},
        {"core": [[7], [], []]},
        {"earlier": [[], []]},
        {"constants": np.zeros(1), "exponents": np.zeros(1)},
        {"constants": np.full(3, np.nan)},
        {"exponents": np.ones(2)},
        {"matrix": np.ones((3, 2))},
        {"matrix": np.full((3, 3), np.inf)},
    ],
)
def test_tables_refuse_what_does_not_fit(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {
        "matrix": np.eye(3),
        "constants": np.zeros(3),
        "exponents": np.ones(3),
        "determinant": 0.5,
        "candidates": [[1], [0, 2], []],
        "core": [[], [], []],
        "earlier": [[], [], []],
    }
    _core.ScoreTables(**right)
    with pytest.raises((ValueError, IndexError)):
        _core.ScoreTables(**right | wrong)


def test_calls_from_python_are_checked() -> None:
    tables = _core.ScoreTables(
        np.eye(3), np.zeros(3), np.ones(3), 0.5, [[1], [0], []], [[], [], [0]], [[], [], []]
    )
    order, draws = np.array([0, 1, 2]), np.zeros((1, 3), dtype=np.uint32)
    for call in (
        lambda: tables.score(3, 0),
        lambda: tables.score(0, 2),
        lambda: tables.sum(-1, 0),
        lambda: tables.sum_with(0, 1, 1),
        lambda: tables.sum_with(0, 0, 0),
        lambda: tables.draws(0, 1, -1, 1),
        lambda: _core.GraphChain(tables, np.array([0, 1]), 1),
        lambda: _core.GraphChain(tables, np.array([0, 0, 1]), 1),
        lambda: _core.GraphChain(tables, np.array([2, 1, 0]), 1),  # 0 must come before 2
        lambda: _core.GraphChain(tables, order, 1).run(-1),
        lambda: _core.GraphChain(tables, order, 1).run(1, thin=0),
        lambda: _core.GraphChain(tables, order, 1).run(1, joint=np.nan),
        lambda: _core.GraphChain(tables, order, 1).burn_in(-1),
        lambda: tables.ratios_outside(draws[:, :2].copy(), np.ones((3, 3), dtype=np.uint8)),
        lambda: tables.ratios_outside(draws, np.ones((2, 3), dtype=np.uint8)),
        lambda: tables.ratios_of_core(draws[:0]),
        lambda: tables.ratios_of_core(np.array([[1, 1, 0]], dtype=np.uint32)),  # a cycle
        lambda: _core.count_relations([[1], []], [[], []], np.array([[2, 0]], dtype=np.uint32)),
    ):
        with pytest.raises((ValueError, IndexError)):
            call()


def test_chains_that_disagree_keep_their_draws() -> None:
    """Draws that are twice as far apart are every other one of a chain that goes on."""
    tables = tables_of(scores(0)[0], ALL)
    orders = [np.random.default_rng(k).permutation(N) for k in range(2)]

    def drawn(n_draws: int, verdicts: list[bool]) -> ChainRecord:
        chains = Chains(tables, orders, [1, 2], 1)
        return chains.run(n_draws, lambda: True, lambda _: None, lambda _: verdicts.pop(0))

    long, short = drawn(32, [True]), drawn(8, [False, False, True])
    assert (short.thin, short.masks.shape) == (4, (2, 8, N))
    assert np.array_equal(short.masks, long.masks[:, 3::4])
    assert np.array_equal(short.log_scores, long.log_scores[:, 3::4])
    assert np.array_equal(short.edges, long.edges)


@pytest.mark.parametrize("seed", range(10))
def test_the_first_draw_with_a_cycle_is_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    core = [[3], *NONE[1:]]
    lists = [[u for u in own if u not in core[v]] for v, own in enumerate(ALL)]
    masks = np.zeros((200, N), dtype=np.uint32)
    cyclic = np.zeros(200, dtype=bool)
    for d in range(200):
        edges = [(3, 0)]
        for v, own in enumerate(lists):
            chosen = rng.random(len(own)) < 0.12
            masks[d, v] = chosen @ 2 ** np.arange(len(own))
            edges += [(u, v) for u, taken in zip(own, chosen, strict=True) if taken]
        cyclic[d] = not nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    assert 0 < cyclic.sum() < 200
    with pytest.raises(InputError, match=f"draw {cyclic.argmax()} has a cycle"):
        _core.count_relations(lists, core, masks)
    _core.count_relations(lists, core, np.ascontiguousarray(masks[~cyclic]))
