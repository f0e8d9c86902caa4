"""Rows from several regimes: the cost by its definition, equivalence, classes by brute force."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.stats import chi2

from qwo import _core
from qwo.regimes.classes import interventional_class, n_members, next_experiments, reasons_of
from qwo.regimes.sums import RegimeSums
from qwo.regimes.targets import changes_of

Family = tuple[tuple[int, ...], ...]


def all_dags(n: int) -> Iterator[np.ndarray]:
    pairs = list(itertools.combinations(range(n), 2))
    for states in itertools.product((0, 1, 2), repeat=len(pairs)):
        dag = np.zeros((n, n), np.int8)
        for (i, j), state in zip(pairs, states, strict=True):
            if state:
                dag[(i, j) if state == 1 else (j, i)] = 1
        power = np.eye(n, dtype=int)
        for _ in range(n):
            power = power @ dag
        if not power.any():
            yield dag


DAGS = list(all_dags(4))
FAMILIES: tuple[Family, ...] = (((), (0,)), ((), (0, 1), (2,)), ((0,), (1, 3)), ((0, 1), (1, 2)))


def mask(family: Family, n: int = 4) -> np.ndarray:
    return np.array([[v in own for v in range(n)] for own in family])


def key(dag: np.ndarray, family: Family) -> object:
    """What tells classes apart: skeleton, v-structures, skeletons of mutilated graphs."""
    linked = (dag + dag.T) > 0
    colliders = frozenset(
        (a, c, b)
        for c in range(len(dag))
        for a, b in itertools.combinations(np.flatnonzero(dag[:, c]).tolist(), 2)
        if not linked[a, b]
    )
    cut = []
    for own in family:
        left = dag.copy()
        left[:, list(own)] = 0
        cut.append(((left + left.T) > 0).tobytes())
    return linked.tobytes(), colliders, tuple(cut)


def classes(family: Family) -> dict[object, list[np.ndarray]]:
    found = defaultdict(list)
    for dag in DAGS:
        found[key(dag, family)].append(dag)
    return found


def parts(
    seed: int, n_regimes: int, n: int = 4, rows: int = 60, *, changed: bool = True
) -> list[np.ndarray]:
    """A variable of each regime is moved; if they are `changed`, variances are others, too."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.6), 1)
    found = []
    for r in range(n_regimes):
        noise = rng.normal(size=(rows + 10 * r, n)) * (rng.uniform(0.5, 2, n) if changed else 1)
        noise[:, r % n] += 2 * (r > 0)
        found.append(noise @ np.linalg.inv(np.eye(n) - weights))
    return found


def searched(
    sums: RegimeSums,
    *,
    known: np.ndarray | None = None,
    dropped: np.ndarray | None = None,
    target: float | None = None,
    slopes: float = 0.5,
    required: Sequence[Sequence[int]] | None = None,
    before: np.ndarray | None = None,
    order: Sequence[int] | None = None,
    seed: int = 0,
) -> _core.RegimeSearch:
    n, none = sums.n_variables, np.zeros((sums.n_regimes, sums.n_variables), np.uint8)
    unit = float(np.log(sums.rows.sum()))
    precedes = np.zeros((n, n), np.uint8) if before is None else before.astype(np.uint8)
    return _core.RegimeSearch(
        np.ascontiguousarray(sums.products()),
        list(sums.sizes),
        list(sums.explained),
        known=none if known is None else known.astype(np.uint8),
        dropped=none if dropped is None else dropped.astype(np.uint8),
        edge=2 * unit,
        target=unit if target is None else target,
        slopes=slopes,
        order=np.arange(n) if order is None else np.array(order),
        may_cause=np.ascontiguousarray(1 - precedes.T),
        precedes=precedes,
        required=[list(own) for own in required or [()] * n],
        restarts=5,
        seed=seed,
    )


def cost_of(search: _core.RegimeSearch, dag: np.ndarray) -> float:
    return sum(search.family_cost(v, np.flatnonzero(dag[:, v]).tolist()) for v in range(len(dag)))


def profile_by_definition(parts: list[np.ndarray], v: int, parents: list[int]) -> float:
    """Σ N_g log s_g² + penalties, regressions by least squares, the greediest regime leaving.

    Penalties are let off what a variance that a regime has in common with the base costs less.
    """
    n_rows = sum(map(len, parts))
    unit, k = np.log(n_rows), len(parents)

    def variance(chosen: list[int]) -> float:
        rows = np.concatenate([parts[r] for r in chosen])
        design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
        residual = rows[:, v] - design @ np.linalg.lstsq(design, rows[:, v], rcond=None)[0]
        return float(np.mean(residual**2))

    def fit(chosen: list[int]) -> float:
        return sum(len(parts[r]) for r in chosen) * np.log(variance(chosen))

    def own(r: int, base: list[int]) -> float:
        few, many = len(parts[r]), sum(len(parts[q]) for q in base)
        common = (few * variance([r]) + many * variance(base)) / (few + many)
        worse = (few + many) * np.log(common) - fit([r]) - fit(base)
        return fit([r]) + unit * (2 + 0.5 * k) - max(0.0, 0.5 * unit - worse)

    base = list(range(len(parts)))
    while len(base) > 1:
        rest = {r: [q for q in base if q != r] for r in base}
        gains = {r: fit(base) - fit(rest[r]) - own(r, rest[r]) for r in base}
        best = max(gains, key=gains.__getitem__)
        if gains[best] <= 0:
            break
        base = rest[best]

    def total(base: list[int]) -> float:
        changed = [r for r in range(len(parts)) if r not in base]
        return 2 * unit * k + fit(base) + sum(own(r, base) for r in changed)

    return min(map(total, [base] if len(base) > 1 else [[r] for r in range(len(parts))]))


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_is_that_of_the_definition(seed: int) -> None:
    rows = parts(seed, 4, changed=seed % 2 == 0)
    scales = np.concatenate(rows).std(axis=0)
    search = searched(RegimeSums.of(rows).standardised())
    for v, k in itertools.product(range(4), range(4)):
        parents = [u for u in range(4) if u != v][:k]
        expected = profile_by_definition([part / scales for part in rows], v, parents)
        assert search.family_cost(v, parents) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_members_of_a_class_cost_the_same(family: Family) -> None:
    sums = RegimeSums.of(parts(1, len(family))).standardised()
    # Nothing else may leave, and targets are free.
    search = searched(sums, known=mask(family), target=1e12, slopes=0.0)
    for members in classes(family).values():
        costs = [cost_of(search, dag) for dag in members]
        assert max(costs) - min(costs) < 1e-6


@pytest.mark.parametrize("family", FAMILIES)
def test_classes_are_those_of_brute_force(family: Family) -> None:
    for members in classes(family).values():
        union = (sum(dag.astype(int) for dag in members) > 0).astype(np.int8)
        expected = np.where(union & union.T, 2, union)
        assert np.array_equal(interventional_class(members[0], mask(family)), expected)
        assert n_members(expected) == len(members)


@pytest.mark.parametrize("seed", range(20))
def test_the_search_finds_the_best_graph_of_four_variables(seed: int) -> None:
    search = searched(RegimeSums.of(parts(seed, 3)).standardised(), seed=seed)
    while not search.run(0.01):
        pass
    assert cost_of(search, search.dag()) == pytest.approx(search.cost, abs=1e-6)
    assert search.cost == pytest.approx(min(cost_of(search, dag) for dag in DAGS), abs=1e-6)


@pytest.mark.parametrize("n_regimes", [7, 8, 27])
def test_families_that_share_an_elimination_cost_what_they_cost_alone(n_regimes: int) -> None:
    """Of the best graph and of one more parent, with known and dropped rows and with blocks."""
    rng = np.random.default_rng(n_regimes)
    sums = RegimeSums.of(parts(1, n_regimes, n=7, rows=30), (1, 2, 1, 1, 1, 1)).standardised()
    known = rng.random((n_regimes, 6)) < 0.1
    dropped = (rng.random((n_regimes, 6)) < 0.1) & ~known
    search = searched(sums, known=known, dropped=dropped)
    assert search.run(60.0)
    again = searched(sums, known=known, dropped=dropped)
    assert cost_of(again, search.dag()) == pytest.approx(search.cost, abs=1e-6)


def test_knowledge_is_kept() -> None:
    before = np.zeros((4, 4), bool)
    before[3, :3] = before[0, 2] = True
    for seed in range(5):
        sums = RegimeSums.of([part[:, [1, 2, 3, 0]] for part in parts(seed, 3)]).standardised()
        search = searched(
            sums, before=before, required=[[], [], [0], []], order=[3, 0, 1, 2], seed=seed
        )
        while not search.run(0.01):
            pass
        assert not search.dag()[:3, 3].any()
        assert search.dag()[0, 2]


def test_dropped_rows_tell_nothing_of_the_variable() -> None:
    rows = parts(3, 3)
    dropped = mask(((), (1,), ()))
    noisy = [part.copy() for part in rows]
    noisy[1][:, 1] = np.random.default_rng(0).normal(size=len(noisy[1]))
    first, other = (RegimeSums.of(own) for own in (rows, noisy))
    search, again = (searched(own, dropped=dropped) for own in (first, other))
    assert search.family_cost(1, [0]) == pytest.approx(again.family_cost(1, [0]), rel=1e-9)
    assert search.family_cost(2, [1]) != pytest.approx(again.family_cost(2, [1]), rel=1e-9)


def test_a_variable_of_several_columns_is_one_system() -> None:
    """A block's family cost does not depend on which basis its columns are in."""
    rows = parts(5, 3)
    turned = [np.column_stack([part[:, 0] + part[:, 1], part[:, 1], part[:, 2:]]) for part in rows]
    costs = []
    for own in (rows, turned):
        sums = RegimeSums.of(own, sizes=(2, 1, 1))
        costs.append([searched(sums).family_cost(v, p) for v, p in ((0, [1]), (1, [0]))])
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)


def test_changes_show_where_they_are() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for r in range(8):
        a = rng.normal(size=300)
        b = a + rng.normal(size=300) * (3 if r == 5 else 1)
        c = b + rng.normal(size=300) + (2 if r == 2 else 0)
        rows.append(np.column_stack([a, b, c]))
    dag = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    found = changes_of(RegimeSums.of(rows).standardised(), dag)
    assert np.argwhere(found.targets).tolist() == [[2, 2], [5, 1]]
    assert found.ratios[5, 1] == pytest.approx(9, rel=0.3)
    assert found.shifts[2, 2] == pytest.approx(2, rel=0.2)
    graph = interventional_class(dag, found.targets)
    assert np.array_equal(graph, dag)
    reasons = reasons_of(graph, dag, found.targets)
    assert reasons == {(0, 1): ("regime", 5), (1, 2): ("regime", 2)}


def test_the_next_experiment_directs_most() -> None:
    """In a star the centre's setting directs every edge, a leaf's its own and what follows."""
    star = np.zeros((5, 5), np.int8)
    star[0, 1:] = star[1:, 0] = 2
    expected = next_experiments(star)
    assert next(iter(expected)) == 0
    assert expected[0] == 4.0
    assert all(1 <= expected[leaf] < 4 for leaf in range(1, 5))


def chain(rng: np.random.Generator, slope: float = 0.6, rows: int = 150) -> np.ndarray:
    a = rng.normal(size=rows)
    b = slope * a + rng.normal(size=rows)
    return np.column_stack([a, b, b + rng.normal(size=rows)])


CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)


def test_regimes_that_changed_alike_do_not_pass_for_the_usual() -> None:
    """Five of eleven regimes turn the same slope: six agree with each other as well."""
    rng = np.random.default_rng(0)
    rows = [chain(rng, -0.6 if r in (2, 3, 5, 8, 9) else 0.6) for r in range(11)]
    found = changes_of(RegimeSums.of(rows).standardised(), CHAIN)
    assert np.argwhere(found.targets).tolist() == [[r, 1] for r in (2, 3, 5, 8, 9)]


def test_conditions_that_cut_causes_off_do_not_pass_for_the_usual() -> None:
    """In six of ten regimes nothing moves the variable any more: the other four are the usual."""
    rng = np.random.default_rng(0)
    rows = [chain(rng, 0.0 if r >= 4 else 0.8) for r in range(10)]
    found = changes_of(RegimeSums.of(rows).standardised(), CHAIN)
    assert np.argwhere(found.targets).tolist() == [[r, 1] for r in range(4, 10)]


def test_a_base_has_none_that_is_known_to_touch_it() -> None:
    rng = np.random.default_rng(1)
    rows = [chain(rng, 0.6 if r in (0, 1) else -0.6) for r in range(7)]
    known = np.zeros((7, 3), dtype=bool)
    known[2:, 1] = True
    found = changes_of(RegimeSums.of(rows).standardised(), CHAIN, known=known)
    assert (found.statistics > found.significant)[:, 1].tolist() == [False] * 2 + [True] * 5


def test_a_reference_says_which_equation_is_the_usual_one() -> None:
    rng = np.random.default_rng(1)
    rows = [chain(rng, 0.6 if r in (0, 1) else -0.6) for r in range(7)]
    sums = RegimeSums.of(rows).standardised()
    assert np.argwhere(changes_of(sums, CHAIN).targets).tolist() == [[0, 1], [1, 1]]
    told = changes_of(sums, CHAIN, reference=1).targets
    assert np.argwhere(told).tolist() == [[r, 1] for r in range(2, 7)]


def test_what_all_regimes_do_is_drift() -> None:
    """Means of all variables wander in all regimes; one moves much further."""
    rng = np.random.default_rng(3)
    rows = [chain(rng) + 0.4 * rng.normal(size=3) for _ in range(12)]
    rows[4][:, 1] += 4
    rows[4][:, 2] += 4
    found = changes_of(RegimeSums.of(rows).standardised(), CHAIN)
    assert np.argwhere(found.targets).tolist() == [[4, 1]]
    status = found.status(*np.zeros((3, 12, 3), bool))
    assert sum(own.count("drift") for own in status) > 12


@pytest.mark.parametrize("reference", [None, 0])
def test_what_was_touched_is_no_usual_equation_where_all_regimes_drift(
    reference: int | None,
) -> None:
    """No two regimes agree then; one with many rows that was touched passed for the usual one."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        parts = []
        for r in range(9):
            off = 0.15 * rng.standard_normal(4)
            scale = np.exp(0.05 * rng.standard_normal(4)) * np.where(np.arange(4) == 1, 2.5, 1.0)
            rows = rng.standard_normal((3000 if r == 8 else 1500, 4))
            rows = off + rows * (scale if r == 8 else np.ones(4))
            for v in (1, 2, 3):
                rows[:, v] += 0.8 * rows[:, v - 1]
            parts.append(rows)
        sums = RegimeSums.of(parts).standardised()
        found.append(changes_of(sums, np.eye(4, k=1, dtype=np.int8), reference=reference).targets)
    assert np.sum(found, axis=0)[8, 1] >= 19
    # Of 700 others: 75 and 37 where what drifts may not share an equation.
    assert np.sum(found) - 20 <= 32


def test_statistics_are_those_of_chance_where_nothing_changed() -> None:
    """About χ² in the middle and in the tail, and hardly ever a target."""
    rng = np.random.default_rng(4)
    values, alarms = [], 0
    for _ in range(60):
        found = changes_of(RegimeSums.of([chain(rng, rows=80) for _ in range(8)]), CHAIN)
        values.append(found.statistics)
        alarms += found.targets.any()
    first, others = np.array(values)[:, :, 0].ravel(), np.array(values)[:, :, 1:].ravel()
    for own, degrees in ((first, 2), (others, 3)):
        for level in (0.5, 0.05):
            share = float((own > chi2.isf(level, degrees)).mean())
            assert share == pytest.approx(level, abs=0.06 if level > 0.1 else 0.025)
    assert alarms <= 5


def test_divergence_is_that_of_its_definition() -> None:
    rng = np.random.default_rng(5)
    rows = [chain(rng, slope, 300) for slope in (0.6, 0.6, 0.6, 1.4)]
    found = changes_of(RegimeSums.of(rows), CHAIN)

    def fit(own: np.ndarray) -> tuple[np.ndarray, float]:
        design = np.column_stack([np.ones(len(own)), own[:, 0]])
        line = np.linalg.lstsq(design, own[:, 1], rcond=None)[0]
        left = own[:, 1] - design @ line
        return line, float(left @ left) / (len(own) - 2)

    line, usual = fit(np.concatenate(rows[:3]))
    away = rows[3][:, 1] - line[0] - line[1] * rows[3][:, 0]
    own = fit(rows[3])[1]
    expected = np.mean(away**2) / usual - 1 - np.log(own / usual)
    assert found.divergences[3, 1] == pytest.approx(expected, abs=0.01)
    assert found.ratios[3, 1] == pytest.approx(own / usual, rel=1e-6)
    assert found.shifts[3, 1] == pytest.approx(away.mean() / np.sqrt(usual), abs=1e-6)
