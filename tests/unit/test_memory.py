"""Memory of a whole call grows like n², with a constant: so many dense n×n matrices of floats.

The resident memory of a process of its own is measured, from after the data are there and a small
call has been made to the peak during the call: NumPy's copies and the core's arrays alike.
"""

from __future__ import annotations

import pytest

from tests.helpers.peak_memory import CAN_BE_MEASURED, printed

pytestmark = CAN_BE_MEASURED

MEASURE = """
import qwo

n, options = {n}, {options}
data, dag, _ = qwo.simulate("er", n_variables=n, n_samples=3 * n, degree=4, random_state=0)
small, _, _ = qwo.simulate("er", n_variables=10, n_samples=100, random_state=0)
qwo.discover(small, random_state=0, **options)
before = lowest()
qwo.discover(data, random_state=0, **options)
print((peak() - before) / (8 * n * n))
"""


def matrices_at_peak(n: int, **options: object) -> float:
    """By how many dense n×n matrices a call of `discover` raises the peak of the memory."""
    [matrices] = printed(MEASURE.format(n=n, options=options))
    return float(matrices)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"engine": "qwo", "search": "hill-climbing"}, 12),
        ({"engine": "qwo", "search": "grasp", "time_limit": 2.0}, 12),
        ({"engine": "bic", "search": "insertion"}, 33),  # what arrows are worth takes three
    ],
    ids=lambda value: value.get("search") if isinstance(value, dict) else None,
)
def test_peak_is_a_few_matrices(options: dict[str, object], most: float) -> None:
    # The data themselves are three matrices; less than their centred copy cannot be right.
    assert 2.0 < matrices_at_peak(1000, **options) < most
