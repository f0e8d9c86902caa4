"""The engine for GPUs against that for CPUs; on a GPU where there is one, else on its stand-in."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from qwo.discovery import choices, discover
from qwo.errors import ArgumentError, EngineError, InputError, MissingPackageError
from qwo.graph.cpdag import to_cpdag
from qwo.graph.knowledge import Knowledge
from qwo.moments import Moments
from qwo.order.device import GpuEngine, HostKernels, covariance, gpu_moments
from qwo.order.device import engine as engine_module
from qwo.order.device.cuda import CudaKernels, load_cupy
from qwo.order.objective import ObjectiveName
from qwo.order.qwo import QwoEngine
from qwo.search import Control
from qwo.search.batch_insertion import batch_insertion
from qwo.simulation import simulate
from qwo.types import Indices

discover_module = import_module("qwo.discovery.discover")

N = 16
OBJECTIVES: tuple[ObjectiveName, ...] = ("likelihood", "edges")


def has_gpu() -> bool:
    try:
        load_cupy()
    except (EngineError, MissingPackageError):
        return False
    return True


KERNELS = [
    pytest.param(HostKernels, id="stand-in"),
    pytest.param(
        CudaKernels,
        id="gpu",
        marks=pytest.mark.skipif(not has_gpu(), reason="there is no CUDA device, or no CuPy"),
    ),
]


def moments(seed: int = 3, n: int = N, n_samples: int = 300) -> Moments:
    data, *_ = simulate("er", n_variables=n, n_samples=n_samples, degree=5, random_state=seed)
    return Moments.from_data(data)


def both(
    kernels: Any, objective: ObjectiveName, order: Indices | None = None
) -> tuple[GpuEngine, QwoEngine]:
    given = moments()
    return (
        GpuEngine(given, objective=objective, order=order, kernels=kernels),
        QwoEngine(given, objective=objective, order=order),
    )


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_same_sequence_of_moves_gives_what_the_cpu_gives(
    kernels: Any, objective: ObjectiveName
) -> None:
    rng = np.random.default_rng(0)
    gpu, cpu = both(kernels, objective, rng.permutation(N))
    for _ in range(15):
        movers = rng.choice(N, 5, replace=False)
        np.testing.assert_allclose(gpu.scan_many(movers), cpu.scan_many(movers), atol=1e-6)
        v, place = rng.integers(N, size=2).tolist()
        assert gpu.move(v, place) == pytest.approx(cpu.move(v, place), abs=1e-6)
        np.testing.assert_array_equal(gpu.order, cpu.order)
        np.testing.assert_array_equal(gpu.dag(), cpu.dag())
    np.testing.assert_array_equal(gpu.parents(7), cpu.parents(7))


@pytest.mark.parametrize("kernels", KERNELS)
def test_packed_columns_change_nothing(kernels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, cpu = both(kernels, "likelihood", np.arange(N))
    monkeypatch.setattr(engine_module, "WASTE", 0.0)
    for v, place in ((0, 12), (5, 1), (15, 0), (9, 9), (11, 14)):
        assert gpu.move(v, place) == pytest.approx(cpu.move(v, place), abs=1e-6)
    np.testing.assert_allclose(gpu.scan(4), cpu.scan(4), atol=1e-6)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_moves_made_together_improve_by_the_sum_of_their_changes(
    kernels: Any, objective: ObjectiveName
) -> None:
    rng = np.random.default_rng(1)
    gpu, cpu = both(kernels, objective, rng.permutation(N))
    together = 0
    for _ in range(6):
        before, movers = gpu.cost, rng.permutation(N)
        single = gpu.scan_many(movers).min(axis=1)
        result = gpu.improve(movers, tolerance=1e-6)
        assert result.change == pytest.approx(gpu.cost - before, abs=1e-6)
        assert gpu.cost == pytest.approx(cpu.reset(gpu.order), abs=1e-6)
        improving = set(movers[single < -1e-6].tolist())
        assert set(result.moved.tolist()) | set(result.waiting.tolist()) == improving
        together += len(result.moved) > 1
    assert together > 0


@pytest.mark.parametrize("kernels", KERNELS)
def test_places_out_of_range_are_not_taken(kernels: Any) -> None:
    gpu, _ = both(kernels, "likelihood", np.random.default_rng(1).permutation(N))
    movers = gpu.order
    low, high = np.arange(N) - np.minimum(np.arange(N), 1), np.minimum(np.arange(N) + 1, N - 1)
    result = gpu.improve(movers, tolerance=1e-6, lowest=low, highest=high)
    places = np.argsort(gpu.order)
    assert len(result.moved) > 1
    assert all(abs(places[v] - k) <= 1 for k, v in enumerate(movers))


@pytest.mark.parametrize("kernels", KERNELS)
def test_marks_nest_and_undo_exactly(kernels: Any) -> None:
    gpu, _ = both(kernels, "likelihood")
    order, cost = gpu.order, gpu.cost
    outer, inner = gpu.mark(), gpu.mark()
    gpu.move(3, 13)
    gpu.release(inner)
    moved, moved_cost = gpu.order, gpu.cost
    again = gpu.mark()
    gpu.move(10, 0)
    gpu.undo(again)
    np.testing.assert_array_equal(gpu.order, moved)
    assert gpu.cost == moved_cost
    gpu.undo(outer)
    np.testing.assert_array_equal(gpu.order, order)
    assert gpu.cost == cost
    with pytest.raises(EngineError, match="mark 0 has ended"):
        gpu.undo(outer)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_search_ends_where_no_insertion_improves(
    kernels: Any, objective: ObjectiveName
) -> None:
    gpu, cpu = both(kernels, objective)
    before = gpu.cost
    outcome = batch_insertion(gpu, random_state=0)
    assert outcome.status == "converged"
    assert outcome.cost < before
    cpu.reset(outcome.order)
    assert cpu.scan_many(np.arange(N)).min() > -1e-5
    repeated = GpuEngine(moments(), objective=objective, kernels=kernels)
    np.testing.assert_array_equal(batch_insertion(repeated, random_state=0).order, outcome.order)


@pytest.mark.parametrize("kernels", KERNELS)
def test_precisions_are_the_diagonal_of_the_inverse(kernels: Any) -> None:
    gpu, _ = both(kernels, "edges", np.random.default_rng(5).permutation(N))
    gpu.move(4, 11)
    wanted = np.diag(np.linalg.inv(gpu.moments.correlation))
    np.testing.assert_allclose(gpu.precisions(), wanted, rtol=1e-8)
    first = GpuEngine(gpu.moments, kernels=kernels)
    np.testing.assert_array_equal(first.order, np.argsort(wanted))


def test_the_time_limit_ends_the_search_with_the_best_so_far() -> None:
    gpu, _ = both(HostKernels, "likelihood")
    before = gpu.order
    outcome = batch_insertion(gpu, control=Control(time_limit=0.0))
    assert outcome.status == "time limit"
    np.testing.assert_array_equal(outcome.order, before)


def test_without_cupy_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(InputError, match=r'needs cupy, .* pip install "qwo\[gpu\]"'):
        GpuEngine(moments())


def test_discover_takes_the_engine_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = simulate("er", n_variables=12, n_samples=2000, degree=2, random_state=0)
    monkeypatch.setattr(choices, "GpuEngine", on_the_host)
    monkeypatch.setattr(discover_module, "gpu_moments", partial(gpu_moments, xp=np))
    found = discover(simulation.data, engine="gpu", random_state=1)
    assert found.params["engine"] == "gpu"
    np.testing.assert_array_equal(found.cpdag, to_cpdag(simulation.dag))
    tiers = Knowledge(tiers=[list(range(6)), list(range(6, 12))])
    informed = discover(simulation.data, engine="gpu", knowledge=tiers, random_state=1)
    assert not informed.dag[6:, :6].any()
    with pytest.raises(ArgumentError, match=r"engine='gpu' searches once; got restarts=3"):
        discover(simulation.data, engine="gpu", restarts=3)


class on_the_host(GpuEngine):  # noqa: N801
    def __init__(self, given: Moments, **options: Any) -> None:
        super().__init__(given, kernels=HostKernels, **options)


@pytest.mark.parametrize(
    "xp",
    [
        pytest.param(np, id="stand-in"),
        pytest.param(
            None, id="gpu", marks=pytest.mark.skipif(not has_gpu(), reason="no CUDA device")
        ),
    ],
)
def test_moments_are_those_of_the_host(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covariance, "BLOCK_BYTES", 8 * 5 * 30)  # several blocks, the last one short
    data = np.random.default_rng(0).normal(1e3, 2.0, (104, 5)) * [1, 10, 0.1, 1, 1]
    found, wanted = gpu_moments(data, list("abcde"), xp=xp), Moments.from_data(data, list("abcde"))
    assert (found.names, found.n_samples) == (wanted.names, wanted.n_samples)
    np.testing.assert_allclose(found.correlation, wanted.correlation, atol=1e-12)
    np.testing.assert_allclose(found.means, wanted.means)
    np.testing.assert_allclose(found.scales, wanted.scales)
    data[3, 2] = np.nan
    with pytest.raises(InputError, match="1 missing"):
        gpu_moments(data, list("abcde"), xp=xp)


def test_a_singular_matrix_is_refused_with_names() -> None:
    correlation = np.ones((3, 3))
    given = Moments(("a", "b", "c"), 100.0, np.zeros(3), np.ones(3), correlation)
    with pytest.raises(InputError, match="'a'"):
        GpuEngine(given, kernels=HostKernels)
