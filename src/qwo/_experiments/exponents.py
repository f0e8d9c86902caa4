"""Growth exponents: slopes of log time over log size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import linregress, t

from qwo._experiments.aggregate import Cells

AXES = {"n": "n_variables", "d": "block", "N": "n_samples"}
"""What a measurement may vary: variables, length of the block, samples."""

LARGEST = 3
"""Only so many of the largest sizes count: the growth at small ones is that of fixed costs."""


class Exponent(NamedTuple):
    """A slope with the half-width of its 95 % interval, and the sizes that it is over."""

    slope: float
    half_width: float
    sizes: tuple[int, ...]


def growth_exponent(
    cells: Cells,
    module: str,
    phase: str,
    vary: str,
    density: str | None = None,
    *,
    scale: str | None = None,
) -> Exponent | None:
    """The exponent of a module's processor time; None without two sizes.

    ``scale`` is ``"common"`` for the sizes that all modules share.
    """
    found = cells.select(
        kind="growth", method=module, phase=phase, vary=vary, density=density, scale=scale
    )
    ended = sorted((c for c in found if c.count), key=lambda c: int(c.run[AXES[vary]]))[-LARGEST:]
    if len(ended) < 2:
        return None
    points = np.log(
        [(c.run[AXES[vary]], seconds) for c in ended for seconds in c.values["cpu"].values()]
    )
    fit = linregress(*points.T)
    freedom = len(points) - 2
    width = float(t.ppf(0.975, freedom) * fit.stderr) if freedom > 0 else float("nan")
    return Exponent(float(fit.slope), width, tuple(int(c.run[AXES[vary]]) for c in ended))


def common_seconds(cells: Cells, module: str, phase: str, density: str | None, n: int) -> float:
    """The mean processor time of a module at one of the sizes that all share; NaN if not run."""
    found = cells.find(
        kind="growth",
        method=module,
        phase=phase,
        vary="n",
        density=density,
        scale="common",
        n_variables=n,
    )
    return found.mean("cpu") if found else float("nan")
