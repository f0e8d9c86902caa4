"""Dense algebra elsewhere: NumPy in the place of CuPy gives what the host gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qwo
from benchmarks.gpu import NumpyAsCupy
from qwo.compute import array_module, computing_with, present_module
from qwo.discovery import resolve
from qwo.errors import ArgumentError, EngineError, MissingPackageError
from qwo.order.candidates import are_crowded, candidate_parents
from qwo.order.linalg import inverse_cholesky, precision_matrix
from tests.helpers.bic_oracle import sample


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> NumpyAsCupy:
    module = NumpyAsCupy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.mark.parametrize("n_samples", [1000, 20])
def test_the_inverse_is_that_of_the_host(cupy: NumpyAsCupy, n_samples: int) -> None:
    rows = np.random.default_rng(0).standard_normal((n_samples, 70))
    correlation = np.corrcoef(rows.T)
    inverse = precision_matrix(correlation, n_samples, cupy)
    np.testing.assert_allclose(inverse, precision_matrix(correlation, n_samples), atol=1e-10)
    np.testing.assert_array_equal(inverse, inverse.T)


def test_the_factor_is_that_of_the_host(cupy: NumpyAsCupy) -> None:
    correlation = np.array(sample(3, 30, 200, 4.0).correlation)
    expected, _ = inverse_cholesky(correlation.copy())
    found, failed = inverse_cholesky(correlation.copy(), cupy)
    assert failed == 0
    np.testing.assert_allclose(found, expected, atol=1e-11)
    singular = np.ones((4, 4))
    assert inverse_cholesky(singular.copy(), cupy)[1] == inverse_cholesky(singular.copy())[1] == 2


def test_candidates_are_those_of_the_host_to_the_last(cupy: NumpyAsCupy) -> None:
    moments = sample(4, 300, 900, 4.0)
    correlation = moments.correlation
    precision = precision_matrix(correlation, moments.n_samples)
    lists = candidate_parents(correlation, precision, 900, partial=5, marginal=20)
    elsewhere = candidate_parents(correlation, precision, 900, partial=5, marginal=20, xp=cupy)
    assert [own.tolist() for own in lists] == [own.tolist() for own in elsewhere]
    assert len({len(own) for own in lists}) > 1
    assert are_crowded(correlation, 900) == are_crowded(correlation, 900, cupy)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"engine": "qwo", "search": "grasp"},
        {"engine": "qwo", "start": "random"},
        {"start": "conditional-variance"},
    ],
)
def test_the_graph_does_not_depend_on_the_device(
    cupy: NumpyAsCupy, monkeypatch: pytest.MonkeyPatch, options: dict[str, str]
) -> None:
    monkeypatch.setattr(resolve, "ALL_CANDIDATES_UP_TO", 20)
    data = qwo.simulate("er", n_variables=60, n_samples=600, degree=4, random_state=1).data
    host, elsewhere = (
        qwo.discover(data, device=device, random_state=0, **options) for device in ("cpu", "gpu")
    )
    np.testing.assert_array_equal(host.dag, elsewhere.dag)
    np.testing.assert_array_equal(host.order, elsewhere.order)
    assert elsewhere.score == pytest.approx(host.score, rel=1e-12)
    assert (host.params["device"], elsewhere.params["device"]) == ("cpu", "gpu")
    assert cupy is array_module("gpu")


def test_moments_of_rows_agree_up_to_rounding(cupy: NumpyAsCupy) -> None:
    rng = np.random.default_rng(2)
    data = 1e6 + rng.standard_normal((5000, 7)) @ rng.standard_normal((7, 7)) * 10.0 ** np.arange(7)
    host = qwo.Moments.from_data(data)
    with computing_with(cupy):
        elsewhere = qwo.Moments.from_data(data)
    assert present_module() is np
    np.testing.assert_allclose(elsewhere.correlation, host.correlation, atol=1e-13)
    np.testing.assert_allclose(elsewhere.means, host.means, rtol=1e-13)
    np.testing.assert_allclose(elsewhere.scales, host.scales, rtol=1e-12)
    np.testing.assert_array_equal(elsewhere.correlation, elsewhere.correlation.T)


def test_the_audit_is_that_of_the_host(cupy: NumpyAsCupy) -> None:
    data = np.random.default_rng(0).standard_normal((50, 3))
    data[:, 2] = 1.0
    with computing_with(cupy), pytest.raises(qwo.InputError, match="X2"):
        qwo.Moments.from_data(data)


def test_without_cupy_there_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingPackageError, match=r'device \'gpu\' needs cupy.*"cupy-cuda13x"'):
        qwo.discover(np.eye(4), device="gpu")


def test_without_a_cuda_device_there_is_an_error_that_says_so(cupy: NumpyAsCupy) -> None:
    cupy.cuda.runtime.getDeviceCount = lambda: 0
    with pytest.raises(EngineError, match="needs a CUDA device"):
        array_module("gpu")


def test_other_devices_are_refused() -> None:
    with pytest.raises(ArgumentError, match="'tpu'; wanted"):
        qwo.discover(np.eye(4), device="tpu")  # type: ignore[arg-type]


def test_the_benchmark_runs_with_the_stand_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--sizes", "30", "--stand-in"]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, capture_output=True)
    results = json.loads((tmp_path / "gpu.json").read_text())
    assert results["30"]["gpu"]["skeleton F1"] == results["30"]["cpu"]["skeleton F1"] > 0.9
