"""A Dask cluster of worker processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# The warnings of other packages, in tests that need them, are not ours to mend.
foreign_warnings = pytest.mark.filterwarnings("ignore")


@contextmanager
def local_cluster(n_workers: int = 2) -> Iterator[Any]:
    """A cluster of workers with one thread each; the test is skipped without Dask."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
        silence_logs=50,
    ) as made:
        yield made
