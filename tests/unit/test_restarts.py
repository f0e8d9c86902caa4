"""What restarts shuffle, how many there are, and with which price resamples are searched."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from qwo import _core
from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.resample import bootstrap
from qwo.simulation import simulate
from tests.helpers.core_searches import compiled_search, steps_of
from tests.helpers.thin_data import band_data


def chain(n: int) -> Moments:
    """X0 → X1 → … with correlations of 0.7 from one to the next."""
    places = np.arange(n)
    return Moments.from_covariance(0.7 ** np.abs(places[:, None] - places), 1000)


def shaken(seed: int, centre: int, size: int) -> list[int]:
    """The order of seven variables after the piece around one of them was shuffled."""
    engine = BicEngine(chain(7))
    compiled_search(engine, seed, tucks=False).begin_restart(centre, size)
    return engine.order.tolist()


def test_restarts_shuffle_neighbours_on_both_sides() -> None:
    moved = [{v for v, u in enumerate(shaken(seed, 3, 3)) if u != v} for seed in range(40)]
    assert all(those <= {2, 3, 4} for those in moved)
    assert {2, 4} <= set.union(*moved)
    # Two at a time, it is the one or the other.
    pairs = [{v for v, u in enumerate(shaken(seed, 3, 2)) if u != v} for seed in range(40)]
    assert {2, 3} in pairs
    assert {3, 4} in pairs


def test_restarts_shuffle_a_piece_or_lay_it_out_from_its_centre() -> None:
    """Half of them put the centre first, and then its neighbours."""
    first = [next(v for v in shaken(seed, 3, 3) if v in (2, 3, 4)) for seed in range(200)]
    # One half, and a third of the other.
    assert first.count(3) / len(first) == pytest.approx(2 / 3, abs=0.1)


@pytest.mark.parametrize(("n", "starts"), [(200, 12), (201, 3), (500, 3), (501, 0)])
def test_small_problems_are_started_more_often(n: int, starts: int) -> None:
    assert _core.starts_for(n) == starts


@pytest.mark.parametrize(
    ("n", "thin", "tries"), [(200, False, 1), (201, False, 0), (1000, True, 1), (1001, True, 0)]
)
def test_thin_graphs_are_restarted_up_to_many_variables(n: int, *, thin: bool, tries: int) -> None:
    assert _core.tries_for(n, thin) == tries


def test_every_number_of_the_policy_has_a_reason_and_a_benchmark() -> None:
    root = Path(__file__).parents[2]
    folder, page = root / "benchmarks", root / "docs" / "benchmarks" / "index.md"
    listed = page.read_text(encoding="utf-8")
    policy = _core.search_policy()
    assert policy["proved_up_to"][0] == 16
    for name, (value, reason, benchmark) in policy.items():
        assert value > 0, name
        assert len(reason) > 10, name
        module = folder.joinpath(*benchmark.split("."))
        assert module.is_dir() or module.with_suffix(".py").exists(), name
        assert f"| `{benchmark}` |" in listed, name


def test_restarts_go_on_where_starts_disagree_and_not_again_where_all_have_failed() -> None:
    """Twice as many where starts disagree; which data sets these are, rounding may decide."""
    seen: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for seed in range(60):
        steps = steps_of(BicEngine(Moments.from_data(_drawn(seed, 150, 3))), restarts=4, tries=7)
        rounds = [name for name, _ in steps].count("restarts")
        seen[rounds, tuple(number for name, number in steps if name == "insisting")] += 1
    assert seen.keys() <= {(1, ()), (1, (7,)), (1, (14,)), (2, (14,)), (2, (14, 14))}
    assert min(seen[1, (7,)], seen[1, (14,)]) > 0
    assert seen[2, (14,)] > seen[2, (14, 14)]


def test_dense_graphs_get_no_more_than_asked_for() -> None:
    data = simulate("er", n_variables=21, n_samples=2000, degree=12, random_state=0).data
    steps = steps_of(BicEngine(Moments.from_data(data)), restarts=4)
    assert [name for name, _ in steps] == ["best of all", "descent", "restarts"]
    few = steps_of(BicEngine(Moments.from_data(data[:, :18])), restarts=4)
    assert few[-1] == ("best of all", 1)


def test_there_are_further_starts_until_enough_agree() -> None:
    moments, _ = band_data(40, 2, 0, low=0.5, high=1.5)
    steps = steps_of(BicEngine(moments), restarts=1, starts=4, tries=0)
    assert 2 <= [name for name, _ in steps].count("tree order") <= 8
    steps = steps_of(BicEngine(moments), restarts=1, starts=0, tries=0)
    assert "tree order" not in dict(steps)
    clear, _ = band_data(20, 1, 0, n_samples=10000, low=0.5)
    assert [name for name, _ in steps_of(BicEngine(clear))].count("tree order") <= 3


@pytest.mark.parametrize("cheaper", ["tree", "given"])
def test_many_variables_begin_at_the_cheaper_order(cheaper: str) -> None:
    path = chain(501)
    given = np.arange(501) if cheaper == "given" else np.random.default_rng(0).permutation(501)
    engine = BicEngine(path, order=given)
    edges = engine.n_edges
    run = engine.compiled_run(np.random.default_rng(0), restarts=1)
    run.run(0.0)
    run.stop()
    assert dict(run.steps)["descent"] == 500
    assert (edges == 500) == (cheaper == "given")


def test_long_graphs_without_further_starts_are_known_as_such() -> None:
    run = BicEngine(chain(501)).compiled_run(np.random.default_rng(0), restarts=1)
    while not run.run(0.1) and "insisting" not in dict(run.steps):
        pass
    run.stop()
    assert dict(run.steps)["insisting"] == 2


def test_a_run_ends_where_an_engine_of_its_own_would_be() -> None:
    """Stopped at any time, it leaves the engine unmarked and no worse than before."""
    for slices in range(12):
        engine = BicEngine(Moments.from_data(_drawn(1)))
        run = engine.compiled_run(np.random.default_rng(0), restarts=45, jobs=2)
        before = engine.cost
        for _ in range(4 * slices):
            run.run(1e-4)
        run.stop()
        assert engine.cost <= before
        assert engine.reset(engine.order) <= before
        assert run.run(1.0)


def _drawn(seed: int, n_samples: int = 2000, degree: int = 4) -> np.ndarray:
    return simulate(
        "er",
        n_variables=20,
        n_samples=n_samples,
        degree=degree,
        standardize=True,
        random_state=seed,
    ).data


def test_resamples_are_searched_with_the_gamma_asked_for() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((300, 5))
    data[:, 1] += 0.5 * data[:, 0]
    options = {"n_resamples": 10, "random_state": 0, "penalty_discount": 1.0}
    assert bootstrap(data, **options).link_support[0, 1] > 0.9
    assert bootstrap(data, **options, gamma=100.0).link_support.max() == 0
