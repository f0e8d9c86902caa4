"""Dask arrays and data frames: the moments of the same rows, without gathering them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from qwo.errors import (
    ArgumentError,
    DataWarning,
    MissingValuesError,
    NonNumericError,
    ShapeError,
)
from qwo.moments import Moments, as_moments
from qwo.moments.reading import is_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture
def data() -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.standard_normal((2000, 4)) @ (np.eye(4) + 0.4) + [0, 5, -1e6, 1e-3]


@pytest.fixture
def frame(data) -> pd.DataFrame:
    return pd.DataFrame(data, columns=list("abcd"))


@pytest.fixture(autouse=True)
def here():
    """All tests but one run in this thread."""
    with dask.config.set(scheduler="synchronous"):
        yield


def agree(first: Moments, second: Moments, tolerance: float = 1e-10) -> None:
    assert first.names == second.names
    assert first.n_samples == pytest.approx(second.n_samples)
    np.testing.assert_allclose(first.correlation, second.correlation, atol=tolerance)
    np.testing.assert_allclose(first.scales, second.scales, rtol=tolerance)
    np.testing.assert_allclose(first.means, second.means, rtol=tolerance)


@pytest.mark.parametrize("chunks", [(2000, 4), (300, 4), (60, 2), (1, 4)])
def test_arrays(data, chunks):
    part = data[:100] if chunks[0] == 1 else data
    agree(Moments.from_data(da.from_array(part, chunks=chunks)), Moments.from_data(part))


@pytest.mark.parametrize("npartitions", [1, 7, 40])
def test_frames(frame, npartitions):
    lazy = dd.from_pandas(frame, npartitions=npartitions)
    expected = Moments.from_frame(frame)
    agree(Moments.from_frame(lazy), expected)
    agree(as_moments(lazy), expected)
    agree(Moments.from_frame(lazy, columns=["d", "a"]), Moments.from_frame(frame[["d", "a"]]))


def test_the_partitions_stay_where_they_are(frame, monkeypatch):
    lazy = dd.from_pandas(frame, npartitions=5)

    def gather(*_: object, **__: object) -> None:
        raise AssertionError("the frame was gathered")

    monkeypatch.setattr(type(lazy), "compute", gather)
    agree(Moments.from_frame(lazy), Moments.from_frame(frame))


def test_the_result_is_the_same_every_time(data):
    lazy = da.from_array(data, chunks=(37, 4))
    one, two = Moments.from_data(lazy), Moments.from_data(lazy)
    with dask.config.set(scheduler="threads"):
        three = Moments.from_data(lazy)
    assert np.array_equal(one.correlation, two.correlation)
    assert np.array_equal(one.correlation, three.correlation)


def test_missing_values_have_the_words_of_memory(frame):
    frame.loc[[5, 1500], "b"] = np.nan
    lazy = dd.from_pandas(frame, npartitions=6)
    with pytest.raises(MissingValuesError) as expected:
        Moments.from_frame(frame)
    with pytest.raises(MissingValuesError) as caught:
        Moments.from_frame(lazy)
    assert str(caught.value) == str(expected.value)
    with pytest.warns(DataWarning, match="2 of 2,000 rows are left out"):
        moments = Moments.from_frame(lazy, missing="drop")
    with pytest.warns(DataWarning):
        agree(moments, Moments.from_frame(frame, missing="drop"))


def test_text_is_refused_unless_dropped(frame):
    lazy = dd.from_pandas(frame.assign(sex=[f"s{k}" for k in range(len(frame))]), npartitions=3)
    with pytest.raises(NonNumericError, match=r"'sex' .*'s0'"):
        Moments.from_frame(lazy)
    agree(Moments.from_frame(lazy, drop=["sex"]), Moments.from_frame(frame))


@pytest.mark.filterwarnings("ignore::qwo.DataWarning")
def test_columns_that_are_constant_in_a_partition(frame):
    frame["e"] = np.repeat([0.0, 1.0, 0.0, 5.0], 500)
    agree(Moments.from_frame(dd.from_pandas(frame, npartitions=4)), Moments.from_frame(frame))


def test_what_takes_all_rows_is_refused(data):
    lazy = da.from_array(data, chunks=(500, 4))
    with pytest.raises(ArgumentError, match=r"'oas'.*Dask"):
        Moments.from_data(lazy, covariance_estimator="oas")
    with pytest.raises(ArgumentError, match=r"data\.compute\(\)"):
        Moments.from_data(lazy, missing="em")
    with pytest.raises(ShapeError, match="1 dimensions"):
        Moments.from_data(lazy[:, 0])


def test_names_for_arrays(data):
    lazy = da.from_array(data, chunks=(500, 4))
    assert Moments.from_data(lazy, names=list("wxyz")).names == tuple("wxyz")
    with pytest.raises(ShapeError, match="got 2 names for 4 columns"):
        Moments.from_data(lazy, names=["a", "b"])


def test_telling_does_not_import_dask():
    code = (
        "import sys, numpy as np\n"
        "from qwo.moments import Moments\n"
        "Moments.from_data(np.random.default_rng(0).standard_normal((20, 3)))\n"
        "assert 'dask' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not is_dask(np.zeros(3))


@pytest.mark.filterwarnings("ignore")  # those of other packages are not ours to mend
def test_a_cluster_of_processes(data):
    distributed = pytest.importorskip("distributed")
    local = Moments.from_data(da.from_array(data, chunks=(130, 4)))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
        distributed.Client(made) as client,
        dask.config.set(scheduler=client),
    ):
        there = Moments.from_data(da.from_array(data, chunks=(130, 4)))
    assert np.array_equal(there.correlation, local.correlation)
    assert there.n_samples == 2000
