"""What restarts shuffle, how many there are, and with which price resamples are searched."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from qwo.moments import Moments
from qwo.order.bic import BicEngine
from qwo.resample import bootstrap
from tests.helpers.bic_oracle import sample

searching = import_module("qwo.search.bic_insertion")


def chain(n: int) -> Moments:
    """X0 → X1 → … with correlations of 0.7 from one to the next."""
    places = np.arange(n)
    return Moments.from_covariance(0.7 ** np.abs(places[:, None] - places), 1000)


def shaken(seed: int, centre: int, size: int) -> list[int]:
    """The order of seven variables after the piece around one of them was shuffled."""
    engine = BicEngine(chain(7))
    engine.compiled_search(seed, tucks=False).begin_restart(centre, size)
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
    assert searching._default_starts(n) == starts


@pytest.mark.parametrize(
    ("n", "thin", "tries"), [(200, False, 1), (201, False, 0), (1000, True, 1), (1001, True, 0)]
)
def test_thin_graphs_are_restarted_up_to_many_variables(n: int, *, thin: bool, tries: int) -> None:
    assert searching._default_tries(n, thin=thin) == tries


@pytest.mark.parametrize(("limit", "tries"), [(20, 2), (19, 0)])
def test_up_to_the_thorough_limit_restarts_go_on_around_every_variable(
    limit: int, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def insist(_run: object, each: int, *_centres: object) -> bool:
        asked.append(each)
        return False

    monkeypatch.setattr(searching, "THOROUGH_UP_TO", limit)
    monkeypatch.setattr(searching._Run, "start_again", lambda *_: False)
    monkeypatch.setattr(searching._Run, "insist", insist)
    searching.bic_insertion(BicEngine(sample(1, 20, 200, 3.0)), restarts=4, random_state=0)
    assert asked
    assert set(asked) == {tries}


def test_long_graphs_without_further_starts_are_known_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def insist(_run: object, each: int, *_centres: object) -> bool:
        asked.append(each)
        return False

    for name in ("THOROUGH_UP_TO", "FEW_STARTS_UP_TO"):
        monkeypatch.setattr(searching, name, 10)
    monkeypatch.setattr(searching._Run, "insist", insist)
    path = np.random.default_rng(0).standard_normal((500, 20)).cumsum(axis=1)
    searching.bic_insertion(BicEngine(Moments.from_data(path)), random_state=0)
    assert asked == [2]


def test_resamples_are_searched_with_the_gamma_asked_for() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((300, 5))
    data[:, 1] += 0.5 * data[:, 0]
    options = {"n_resamples": 10, "random_state": 0, "penalty_discount": 1.0}
    assert bootstrap(data, **options).link_support[0, 1] > 0.9
    assert bootstrap(data, **options, gamma=100.0).link_support.max() == 0
