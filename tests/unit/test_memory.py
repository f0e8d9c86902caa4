"""Memory of a whole call grows like n², with a constant: so many dense n×n matrices of floats.

The resident memory of a process of its own is measured, from after the data are there and a small
call has been made to the peak during the call: NumPy's copies and the core's arrays alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CLEAR = Path("/proc/self/clear_refs")

pytestmark = [
    pytest.mark.skipif(not CLEAR.exists(), reason="the peak of a process can be reset on Linux"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers take memory of their own"),
]

MEASURE = f"""
import sys
from pathlib import Path
import qwo

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

n, options = {{n}}, {{options}}
data, dag, _ = qwo.simulate("er", n_variables=n, n_samples=3 * n, degree=4, random_state=0)
small, _, _ = qwo.simulate("er", n_variables=10, n_samples=100, random_state=0)
qwo.discover(small, random_state=0, **options)
Path("{CLEAR}").write_text("5")
before = peak()
qwo.discover(data, random_state=0, **options)
print((peak() - before) / (8 * n * n))
"""


def matrices_at_peak(n: int, **options: object) -> float:
    """By how many dense n×n matrices a call of `discover` raises the peak of the memory."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(n=n, options=options)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"engine": "qwo", "search": "hill-climbing"}, 12),
        ({"engine": "qwo", "search": "grasp", "time_limit": 2.0}, 12),
        ({"engine": "bic", "search": "insertion"}, 45),
    ],
    ids=lambda value: value.get("search") if isinstance(value, dict) else None,
)
def test_peak_is_a_few_matrices(options: dict[str, object], most: float) -> None:
    # The data themselves are three matrices; less than their centred copy cannot be right.
    assert 2.0 < matrices_at_peak(1000, **options) < most
