"""`discover` beyond the number of variables from which on there are lists of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qwo.discovery import discover, resolve
from qwo.graph.cpdag import to_cpdag
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order import candidates
from qwo.order.bic import BicEngine
from qwo.simulation import simulate
from qwo.simulation.random_models import random_model
from qwo.types import FloatArray, Indices


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty variables are many here, and lists short."""
    monkeypatch.setattr(resolve, "ALL_CANDIDATES_UP_TO", 50)
    monkeypatch.setitem(candidates.candidate_parents.__kwdefaults__, "partial", 6)
    monkeypatch.setitem(candidates.candidate_parents.__kwdefaults__, "marginal", 8)


def sample(seed: int, degree: float = 3) -> Moments:
    drawn = simulate("er", n_variables=60, n_samples=1000, degree=degree, random_state=seed)
    return Moments.from_data(drawn.data)


def test_lists_of_candidates_lose_nothing(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [discover(sample(seed), penalty_discount=2.0, random_state=1).score for seed in range(4)]
    sizes: list[int] = []

    def find(
        correlation: FloatArray, precision: FloatArray, n_samples: float, **device: Any
    ) -> list[Indices]:
        lists = candidates.candidate_parents(correlation, precision, n_samples, **device)
        sizes.append(max(len(own) for own in lists))
        return lists

    monkeypatch.setattr(resolve, "candidate_parents", find)
    request.getfixturevalue("wide")
    listed = [
        discover(sample(seed), penalty_discount=2.0, random_state=1).score for seed in range(4)
    ]
    assert len(sizes) == 4
    assert max(sizes) < 40
    np.testing.assert_allclose(listed, full, atol=20.0)  # an edge costs 14


@pytest.mark.parametrize(("limit", "late"), [(60, True), (59, False)])
@pytest.mark.usefixtures("wide")
def test_lists_come_in_late_in_crowds_that_memory_suffices_for(
    monkeypatch: pytest.MonkeyPatch, limit: int, late: bool
) -> None:
    monkeypatch.setattr(candidates, "CROWDED", 20)
    monkeypatch.setattr(resolve, "ALL_AT_FIRST_UP_TO", limit)
    given: list[bool] = []

    class Recorder(BicEngine):
        def __init__(self, *args: Any, all_at_first: bool, **kwargs: Any) -> None:
            given.append(all_at_first)
            super().__init__(*args, all_at_first=all_at_first, **kwargs)

    monkeypatch.setattr(resolve, "BicEngine", Recorder)
    discover(sample(0), penalty_discount=2.0, random_state=0)
    discover(sample(0, degree=10), penalty_discount=2.0, random_state=0)
    assert given == [False, late]


@pytest.mark.usefixtures("wide")
def test_the_result_does_not_depend_on_threads() -> None:
    first, second = (
        discover(sample(0), random_state=3, restarts=45, n_jobs=jobs) for jobs in (1, 3)
    )
    assert first.order.tolist() == second.order.tolist()
    assert first.score == second.score


@pytest.mark.usefixtures("wide")
def test_knowledge_is_kept() -> None:
    moments = sample(1)
    knowledge = Knowledge(
        tiers=[list(range(30)), list(range(30, 60))],
        forbidden=[(0, 1), (31, 30)],
        required=[(2, 3)],
    )
    found = discover(moments, knowledge=knowledge, random_state=0)
    knowledge.resolve(moments.names).check_dag(found.dag)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("start", ["r2", "markov-boundary", "conditional-variance", "random"])
def test_every_start_serves(start: str) -> None:
    assert discover(sample(2), start=start, random_state=0).status == "converged"


@pytest.mark.usefixtures("wide")
def test_more_variables_than_samples() -> None:
    drawn = simulate("er", n_variables=60, n_samples=40, degree=2, random_state=0)
    with pytest.warns(UserWarning, match="samples"):
        found = discover(drawn.data, random_state=0)
    assert found.status == "converged"


@pytest.mark.usefixtures("wide")
def test_an_exact_covariance_gives_the_exact_graph() -> None:
    model = random_model("er", n_variables=60, degree=2, random_state=4)
    found = discover(Moments.from_covariance(model.covariance(), None), random_state=0)
    np.testing.assert_array_equal(found.cpdag, to_cpdag(model.dag))
