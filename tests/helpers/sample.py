"""The moments of rows, as small as they can be had."""

from __future__ import annotations

from qwo.moments.moments import Moments
from qwo.moments.sums import sums_over
from qwo.types import FloatArray


def sample_moments(values: FloatArray) -> Moments:
    """Maximum-likelihood moments (divisor N) of finite columns, none of them constant."""
    return sums_over(values).moments(overwrite=True)
