"""Columns far from a normal distribution: by their skewness and their tails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qwo.moments.findings import Finding
from qwo.types import FloatArray

SKEWNESS, EXCESS_KURTOSIS = 2.0, 7.0
"""What counts as far, as is usual (West, Finch and Curran, 1995): that of an exponential
distribution, nearly, and more than that of Student's t with five degrees of freedom."""

LEAST = 20
"""Values of a column below which its shape is chance; no twenty normal ones come near the above."""


def inspect_shape(names: Sequence[str], values: FloatArray) -> Iterator[Finding]:
    """A note on columns that are strongly skewed or have heavy tails; missing values do not count.

    Second moments say all that the search needs to know of a linear model with any noise. Where the
    scale of measurement bends the relations, as with concentrations, a transformation may help.
    """
    shapes = {k: shape(column) for k, column in enumerate(values.T)}
    far = [k for k in shapes if _is_far(*shapes[k]) and not _is_binary(values[:, k])]
    if not far:
        return
    shown = [f"{names[k]!r} ({_in_words(*shapes[k])})" for k in far[:5]]
    more = f" and {len(far) - 5} more" if len(far) > 5 else ""
    right = np.nanmin(values[:, far]) > 0 and all(shapes[k][0] > 0 for k in far)
    cure = "'log' or 'rank-normal'" if right else "'rank-normal'"
    yield Finding(
        "non-gaussian",
        "note",
        tuple(names[k] for k in far),
        f"{len(far)} of {len(names)} columns {'is' if len(far) == 1 else 'are'} far from normal: "
        f"{', '.join(shown)}{more}; this does no harm where relations are linear; where the scale "
        f"of measurement bends them, try transform={cure}",
    )


def _is_far(skewness: float, kurtosis: float) -> bool:
    return abs(skewness) > SKEWNESS or kurtosis > EXCESS_KURTOSIS


def _in_words(skewness: float, kurtosis: float) -> str:
    if abs(skewness) > SKEWNESS:
        return f"skewness {skewness:.1f}"
    return f"excess kurtosis {kurtosis:.1f}"


def _is_binary(column: FloatArray) -> bool:
    """Whether there are two values only, of which no transformation makes a normal distribution."""
    finite = column[np.isfinite(column)]
    return bool(((finite == finite.min()) | (finite == finite.max())).all())


def shape(column: FloatArray) -> tuple[float, float]:
    """Skewness and excess kurtosis of the finite values; 0 for both if there are few, or one."""
    finite = column[np.isfinite(column)]
    largest = np.abs(finite).max(initial=0.0)
    if finite.size < LEAST or largest == 0:
        return 0.0, 0.0
    scaled = finite / largest  # fourth powers of huge or tiny values leave the range of float64
    scaled -= scaled.mean()
    square = scaled * scaled
    variance = square.mean()
    if variance < np.finfo(float).eps ** 2:
        return 0.0, 0.0
    skewness = (square * scaled).mean() / variance**1.5
    return float(skewness), float((square * square).mean() / variance**2 - 3)
