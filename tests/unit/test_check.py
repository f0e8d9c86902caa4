"""`qwo.check`: what the data say against a graph."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import qwo
from qwo.agreement.families import (
    Correlations,
    block_strengths,
    deviance,
    failing,
    families,
    implied_independences,
    wanted_changes,
)
from qwo.agreement.residuals import (
    StandardRows,
    family_fits,
    held_out,
    influential_rows,
    open_linearity,
)
from qwo.agreement.subsets import _links, contradictions, draw_subsets
from qwo.errors import ArgumentError, KnowledgeError, SampleSizeError
from qwo.graph import ancestor_matrix, d_separated
from qwo.order.reference import partial_correlation


@pytest.fixture(scope="module")
def case():
    data, dag, _ = qwo.simulate("er", n_variables=8, n_samples=600, degree=3, random_state=5)
    return data, dag, qwo.Moments.from_data(data)


def quick(data, graph, **options):
    return qwo.check(data, graph, n_draws=20, n_subsets=2, random_state=0, **options)


def test_partial_correlations_are_those_of_the_definition(case):
    _, dag, moments = case
    for family in families(Correlations.of(moments), dag):
        v, parents = family.variable, family.parents.tolist()
        for u in range(len(dag)):
            if u != v:
                given = [p for p in parents if p != u]
                wanted = partial_correlation(moments.correlation, u, v, given)
                assert family.partial[u] == pytest.approx(wanted, abs=1e-12)


def test_there_is_one_implied_independence_for_each_pair_without_an_edge(case):
    _, dag, moments = case
    found = implied_independences(Correlations.of(moments), dag)
    n = len(dag)
    assert len(found) == n * (n - 1) // 2 - dag.sum()
    for u, v in zip(found.first, found.second, strict=True):
        assert d_separated(dag, int(u), int(v), np.flatnonzero(dag[:, v]).tolist())


def test_p_values_are_those_of_a_regression(case):
    data, dag, moments = case
    found = implied_independences(Correlations.of(moments), dag)
    u, v = int(found.first[0]), int(found.second[0])
    parents = np.flatnonzero(dag[:, v])
    columns = np.column_stack([np.ones(len(data)), data[:, [*parents, u]]])
    slopes, rest, *_ = np.linalg.lstsq(columns, data[:, v], rcond=None)
    freedom = len(data) - columns.shape[1]
    error = np.sqrt(rest[0] / freedom * np.linalg.inv(columns.T @ columns)[-1, -1])
    wanted = 2 * stats.t.sf(abs(slopes[-1] / error), freedom)
    assert found.p_values[0] == pytest.approx(wanted, rel=1e-8)


def test_failing_is_benjamini_and_hochberg():
    p = np.array([0.001, 0.6, 0.02, 0.03, 0.04])
    assert failing(p, 0.05).tolist() == [True, False, True, True, True]
    assert not failing(np.array([0.02, 0.5, 0.9]), 0.05).any()
    assert failing(np.zeros(0), 0.05).tolist() == []


def test_deviance_is_the_distance_to_the_saturated_model(case):
    _, dag, moments = case
    complete = np.triu(np.ones_like(dag), 1)
    assert deviance(Correlations.of(moments), complete) == pytest.approx(0.0, abs=1e-8)
    full = qwo.score_graph(moments, complete, 0.0).score
    assert deviance(Correlations.of(moments), dag) == pytest.approx(
        full - qwo.score_graph(moments, dag, 0.0).score
    )


def test_gains_of_changes_are_differences_of_scores(case):
    _, dag, moments = case
    rng = np.random.default_rng(0)
    wrong = np.triu((rng.random(dag.shape) < 0.4).astype(np.int8), 1)
    found = wanted_changes(Correlations.of(moments), wrong, 2.0 * log(600))
    assert {change.kind for change in found} == {"add", "remove", "turn"}
    before = float(qwo.score_graph(moments, wrong))
    for change in found:
        changed = wrong.copy()
        changed[change.cause, change.effect] = 0 if change.kind == "remove" else 1
        if change.kind == "turn":
            changed[change.effect, change.cause] = 0
        after = float(qwo.score_graph(moments, changed))
        assert change.gain == pytest.approx(after - before, rel=1e-6)
        assert change.gain > 0


def test_the_true_graph_wants_no_change(case):
    _, dag, moments = case
    assert wanted_changes(Correlations.of(moments), dag, 2.0 * log(600)) == []


def test_links_of_a_subset_are_those_that_nothing_in_it_separates():
    rng = np.random.default_rng(3)
    for _ in range(20):
        dag = np.triu((rng.random((6, 6)) < 0.4).astype(np.int8), 1)
        chosen = np.sort(rng.permutation(6)[:4])
        linked = _links(dag, ancestor_matrix(dag), chosen)
        for i, a in enumerate(chosen):
            for j, b in enumerate(chosen[:i]):
                others = [v for v in chosen if v not in (a, b)]
                sets = [
                    [v for k, v in enumerate(others) if code >> k & 1]
                    for code in range(2 ** len(others))
                ]
                separable = any(d_separated(dag, int(a), int(b), s) for s in sets)
                assert linked[i, j] == linked[j, i] == (not separable)


def test_a_right_graph_is_hardly_contradicted_by_subsets_and_a_reversed_one_is():
    _, dag, _ = qwo.simulate("er", n_variables=8, n_samples=10, degree=2, random_state=2)
    data, *_ = qwo.simulate(dag, n_samples=5000, random_state=3)
    moments = qwo.Moments.from_data(data)
    subsets = draw_subsets(8, 6, np.random.default_rng(0))
    right = contradictions(Correlations.of(moments), dag, 2.0, subsets)
    wrong = contradictions(Correlations.of(moments), dag[::-1, ::-1].copy(), 2.0, subsets)
    assert right.rate < 0.1 < wrong.rate


def test_rows_tell_bent_equations_and_outliers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    y = x**2 + 0.1 * rng.normal(size=500)
    z = x + rng.normal(size=500)
    z[7] += 30.0
    rows = np.column_stack([x, y, z])
    dag = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=np.int8)
    fits = list(family_fits(StandardRows.of(rows), dag))
    assert np.isnan(fits[0].linearity)
    assert fits[1].linearity < 1e-10 < fits[2].linearity
    assert fits[2].outliers == 1
    assert influential_rows(StandardRows.of(rows), dag, 1)[0][0] == 7


def test_held_out_likelihood_prefers_the_true_graph(case):
    data, dag, moments = case
    rows = (data - moments.means) / moments.scales
    found = held_out(StandardRows.of(rows[:100]), dag, np.random.default_rng(0))
    assert found.graph > found.saturated > 0
    assert held_out(StandardRows.of(rows[:30]), dag, np.random.default_rng(0)) is None


def test_a_right_graph_rings_seldom_and_a_wrong_one_does(case):
    _, dag, _ = case
    sets = [qwo.simulate(dag, n_samples=600, random_state=seed).data for seed in range(4)]
    # Fewer draws than these cannot ring at all.
    enough = {"n_draws": 99, "n_subsets": 0, "random_state": 0}
    alarms = [qwo.check(data, dag, **enough).alarm for data in sets]
    # With a chance of one in twenty each, two of four are one in seventy.
    assert sum(alarms) <= 1
    wrong = qwo.check(sets[0], dag[::-1, ::-1].copy(), **enough)
    assert wrong.alarm
    assert "Alarm" in wrong.summary()
    assert "should be independent" in str(wrong)


def test_the_same_seed_gives_the_same_check(case):
    data, dag, _ = case
    first, second = quick(data, dag), quick(data, dag)
    assert first.summary() == second.summary()
    assert first.tests == second.tests


def test_a_discovery_counts_as_learnt(case):
    data, dag, _ = case
    found = qwo.discover(data, random_state=0)
    assert quick(data, found).learnt
    assert not quick(data, dag).learnt
    assert not quick(data, found, learnt=False).learnt


def test_moments_alone_are_enough_for_what_needs_no_rows(case):
    _, dag, moments = case
    found = quick(moments, dag)
    assert found.families == ()
    assert found.held_out is None
    assert "linear" not in {test.name for test in found.tests}


def test_the_frame_lists_the_least_likely_first(case):
    data, dag, _ = case
    frame = quick(data, dag).to_frame()
    assert frame["p_value"].is_monotonic_increasing
    assert len(frame) == 28 - dag.sum()


def test_bad_arguments_are_refused(case):
    data, dag, _ = case
    with pytest.raises(ArgumentError, match="alpha"):
        qwo.check(data, dag, alpha=0.0)
    with pytest.raises(ArgumentError, match="n_draws"):
        qwo.check(data, dag, n_draws=-1)
    with pytest.raises(SampleSizeError, match="exact"):
        qwo.check(qwo.Moments.from_precision(np.eye(3)), np.zeros((3, 3), dtype=int))


def pair(noise, n_samples=800, seed=3):
    rng = np.random.default_rng(seed)
    cause = noise(rng, n_samples)
    return np.column_stack([cause, 0.8 * cause + noise(rng, n_samples)])


def exponential(rng, size):
    return rng.exponential(size=size)


BACKWARDS = np.array([[0, 0], [1, 0]])


def test_noise_that_is_not_normal_shows_a_wrong_arrow():
    data = pair(exponential)
    rings = {test.name for test in quick(data, BACKWARDS).tests if test.alarm}
    assert rings == {"independent noise", "linear equations"}
    assert not quick(data, BACKWARDS.T).alarm
    found = quick(pair(lambda rng, size: rng.normal(size=size)), BACKWARDS)
    assert not found.alarm
    assert "leaves no trace" in found.summary()


def test_a_hidden_cause_shows_in_noise_that_is_not_normal():
    rng = np.random.default_rng(4)
    hidden, own = rng.exponential(size=2000), rng.exponential(size=(2000, 2))
    cause = hidden + own[:, 0]
    found = quick(np.column_stack([cause, 0.5 * cause + hidden + own[:, 1]]), BACKWARDS.T)
    assert found.alarm
    assert "goes with its causes (a hidden cause" in found.summary()


def test_arrows_that_the_class_leaves_open_are_not_held_against_noise():
    found = quick(pair(exponential), np.array([[0, 2], [2, 0]]))
    assert "independent noise" not in {test.name for test in found.tests}
    assert not found.alarm
    assert all(np.isnan(fit.independence) for fit in found.families)


def test_independent_noise_rings_at_its_level():
    rang = 0
    for seed in range(30):
        data = pair(exponential, 300, seed)
        [p] = [t.p_value for t in quick(data, BACKWARDS.T).tests if t.name == "independent noise"]
        rang += p <= 0.1
    assert rang <= 8


def test_arrows_that_a_search_leaves_open_do_not_ring() -> None:
    """All arrows of a chain are open; noise that is not normal would tell those of one member."""
    noise = np.random.default_rng(1).exponential(size=(3, 1000)) - 1
    first = noise[0]
    second = first + noise[1]
    data = np.column_stack([first, second, second + noise[2]])
    found = qwo.discover(data, penalty_discount=2.0, random_state=0)
    assert (found.cpdag == [[0, 2, 0], [2, 0, 2], [0, 2, 0]]).all()
    for dag in ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]):
        member = replace(found, dag=np.array(dag, dtype=np.int8))
        assert not qwo.check(data, member, n_draws=99, random_state=0).alarm
    assert qwo.check(data, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), random_state=0).alarm


def _chain(bend: float, seed: int) -> np.ndarray:
    """Three variables in a row with skewed noise, whose class leaves both edges open."""
    rng = np.random.default_rng(seed)
    noise = rng.exponential(size=(1000, 3)) - 1
    data = noise.copy()
    for v in (1, 2):
        cause = data[:, v - 1] / data[:, v - 1].std()
        data[:, v] = cause + bend * (cause**2 - 1) + noise[:, v]
    return (data - data.mean(axis=0)) / data.std(axis=0)


OPEN_CHAIN = np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]], dtype=np.int8)


def test_a_bend_at_open_edges_rings_only_if_every_member_shows_it() -> None:
    (bent,), (straight,) = (
        open_linearity(StandardRows.of(_chain(b, 1)), OPEN_CHAIN) for b in (0.3, 0.0)
    )
    assert bent < 1e-4
    assert straight > 0.01
    backwards = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.int8)
    # One member looks bent although nothing is: the class is judged by the one that does not.
    assert (
        min(
            f.linearity
            for f in family_fits(StandardRows.of(_chain(0.0, 1)), backwards)
            if f.variable < 2
        )
        < 1e-4
    )


def test_the_largest_p_value_of_a_member_counts() -> None:
    rows = _chain(0.0, 2)
    members = []
    for dag in qwo.graph.enumerate_dags(OPEN_CHAIN):
        own = [
            f.linearity
            for f in family_fits(StandardRows.of(rows), dag)
            if not np.isnan(f.linearity)
        ]
        members.append(min(1.0, min(own) * len(own)))
    assert list(open_linearity(StandardRows.of(rows), OPEN_CHAIN)) == pytest.approx([max(members)])


def test_linear_pieces_that_the_class_leaves_open_ring_at_their_level() -> None:
    p_values = [
        next(open_linearity(StandardRows.of(_chain(0.0, seed)), OPEN_CHAIN)) for seed in range(100)
    ]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.08


def test_directed_parents_of_an_open_piece_count() -> None:
    rng = np.random.default_rng(4)
    z, x = rng.normal(size=(2, 1000))
    y = x + z**2 + rng.normal(size=1000)
    graph = np.array([[0, 1, 1], [0, 0, 2], [0, 2, 0]], dtype=np.int8)
    rows = np.column_stack([z, x, y])
    assert next(open_linearity(StandardRows.of((rows - rows.mean(0)) / rows.std(0)), graph)) < 1e-4


def test_pieces_with_too_many_members_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qwo.agreement.residuals.MEMBERS", 2)
    assert list(open_linearity(StandardRows.of(_chain(0.3, 1)), OPEN_CHAIN)) == []


def test_check_rings_for_bends_in_a_class_without_an_arrow() -> None:
    found = quick(_chain(0.3, 1), OPEN_CHAIN)
    assert "linear equations" in [test.name for test in found.tests if test.alarm]


def test_no_change_is_proposed_that_knowledge_forbids():
    """Tiers and required edges were unknown to the check, which wanted edges against them."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal(400)
    b, c = a + rng.standard_normal(400), a + rng.standard_normal(400)
    data = np.column_stack([a, b, c])
    empty = np.zeros((3, 3), dtype=np.int8)
    tiers = {"tiers": [["X2"], ["X1"], ["X0"]]}
    free, bound = quick(data, empty), quick(data, empty, knowledge=tiers)
    later = {"X2": 0, "X1": 1, "X0": 2}
    assert any(later[f"X{c.cause}"] > later[f"X{c.effect}"] for c in free.changes)
    assert bound.changes
    assert all(later[f"X{c.cause}"] < later[f"X{c.effect}"] for c in bound.changes)


def test_neither_required_edges_nor_those_against_tiers_are_touched(case):
    data, dag, _ = case
    i, j = (int(k) for k in np.argwhere(dag)[0])
    graph = np.zeros_like(dag)
    graph[i, j] = 1
    noise = np.random.default_rng(0).standard_normal(data.shape)
    assert [(c.kind, c.cause, c.effect) for c in quick(noise, graph).changes] == [("remove", i, j)]
    assert quick(noise, graph, knowledge={"required": [(i, j)]}).changes == ()
    with pytest.raises(KnowledgeError, match="in the graph, but forbidden"):
        quick(noise, graph, knowledge={"forbidden": [(i, j)]})


def test_a_change_through_a_variable_in_no_tier_is_not_proposed():
    """c comes after a: c → a is not proposed, nor is c → b where b is a cause of a."""
    correlation = np.array([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1.0]])
    known = qwo.Knowledge(tiers=[["a"], ["c"]]).resolve(["a", "b", "c"])
    dag = np.zeros((3, 3), dtype=np.int8)
    dag[1, 0] = 1  # b → a
    found = wanted_changes(Correlations(correlation, 500, np.ones(3, np.intp)), dag, 5.0, known)
    assert {(c.kind, c.cause, c.effect) for c in found if c.kind == "add"} == {
        ("add", 0, 2),
        ("add", 1, 2),
    }


def test_a_penalty_that_is_no_number_is_named(case):
    with pytest.raises(ArgumentError, match="penalty_discount is 'x'"):
        quick(case[2], case[1], penalty_discount="x")


def with_categories(seed, n_rows=600):
    """A cause of three levels, its two effects, and a category that one of them causes."""
    rng = np.random.default_rng(seed)
    site = rng.integers(3, size=n_rows)
    x = np.array([0.0, 1.0, -1.0])[site] + rng.standard_normal(n_rows)
    y = x + rng.standard_normal(n_rows)
    grade = np.digitize(y + rng.standard_normal(n_rows), [-1.0, 1.0])
    names = np.array(["a", "b", "c"])
    return pd.DataFrame({"site": names[site], "x": x, "y": y, "grade": names[grade]})


CATEGORIES = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=np.int8)


def test_categories_are_checked_as_blocks():
    """They were refused, with the advice to drop a possible confounder."""
    data = with_categories(1)
    right = quick(data, CATEGORIES)
    assert not right.alarm, right.summary()
    assert right.changes == ()
    assert {right.names[fit.variable] for fit in right.families} == {"x", "y"}
    wrong = CATEGORIES.copy()
    wrong[0, 1] = 0
    found = qwo.check(data, wrong, n_draws=150, n_subsets=0, random_state=0)
    assert found.alarm
    best = found.changes[0]
    assert (best.kind, {found.names[best.cause], found.names[best.effect]}) == (
        "add",
        {"site", "x"},
    )
    assert found.to_frame().iloc[0][["first", "second"]].tolist() in (["site", "x"], ["x", "site"])
    assert found.held_out.graph < right.held_out.graph


def test_a_right_graph_of_categories_rarely_rings():
    alarms = [quick(with_categories(seed, 300), CATEGORIES).alarm for seed in range(10, 22)]
    assert sum(alarms) <= 3


def test_a_graph_learnt_from_categories_is_checked():
    data = with_categories(2)
    found = qwo.discover(data, random_state=0)
    assert not quick(data, found).alarm


def test_blocks_of_one_column_are_the_columns(case):
    """The definitions on blocks agree with the formulas for single columns."""
    _, dag, moments = case
    single = Correlations.of(moments)
    for family in families(single, dag):
        strengths = block_strengths(single, family.variable, family.parents)
        expected = np.sqrt(-np.expm1(-strengths))
        np.testing.assert_allclose(np.abs(family.partial), expected, atol=1e-7)


def test_right_graphs_are_seldom_flagged_under_log_normal_noise() -> None:
    """Draws with normal noise flagged one in six."""
    flagged = 0
    for seed in range(5):
        rng = np.random.default_rng([seed, 5])
        noise = np.exp(rng.standard_normal((200, 4)))
        data = noise.copy()
        for v in range(1, 4):
            data[:, v] += 0.7 * data[:, v - 1]
        flagged += qwo.check(data, np.eye(4, k=1), n_draws=99, n_subsets=0, random_state=seed).alarm
    assert flagged <= 1
