"""Linear models with cycles by the shape of their noise.

If at most one disturbance is normal, data tell one linear model from all others, cycles included,
up to the assignment of equations to variables (Lacerda et al. 2008). Starting from all links drawn
both ways, the likelihood of x = B x + e with each e of a density of its own is maximised row by
row; the arrows that do not pay are left out one by one.

Errors of measurement look like weak arrows back: of a cause measured with error, its effect tells
something that the measurement does not. Cumulants of order three and four are blind to errors that
are normal, so that an arrow of a cycle must be seen in them, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from qwo.feedback.disturbances import Disturbances, Look
from qwo.graph.cyclic_class import Block, assigned_rows
from qwo.order.linalg import cyclic_coefficients
from qwo.types import Adjacency, FloatArray, Mask

TOO_NORMAL = "Disturbances look normal: arrows and cycles are those of the covariances."
NO_FIT = (
    "No model of independent disturbances that the noise points to fits the covariances, as where "
    "variables are measured with error: arrows and cycles are those of the covariances."
)


@dataclass(frozen=True, slots=True, eq=False)
class NoiseOutcome:
    """The model found. Row i of the coefficients is the equation of i, of standardised variables.

    strengths: z² of each. knots: variables on cycles, with all ways to assign their equations.
    gain: by how much twice the log-likelihood exceeds that without the weakest arrows of cycles,
    less penalties. normal: whose disturbances look normal.
    """

    coefficients: FloatArray
    strengths: FloatArray
    knots: tuple[Block, ...]
    gain: float
    normal: Mask

    @property
    def graph(self) -> Adjacency:
        """1 for i → j."""
        return np.asarray(self.coefficients.T != 0, dtype=np.int8)


def cycles_by_noise(
    columns: FloatArray,
    weights: FloatArray,
    dag: Adjacency,
    *,
    price: float,
    least: float,
    allowed: Mask,
    required: Mask,
    smooth: Mask,
    look: Look,
) -> NoiseOutcome | str:
    """The model of the links of a graph, or why the noise tells nothing.

    columns: a standardised variable in each row. dag: what its covariances tell, for the links of
    disturbances that look normal. least: penalties that an arrow of a cycle must be worth. smooth:
    which variables have a density. `look` is called again and again and may raise.
    """
    links, must = (dag | dag.T) != 0, required.T != 0
    may = links & allowed.T | must
    model = _best_of(
        [
            Disturbances(columns, weights, may, begun)
            for begun in _beginnings(columns, weights, dag)
        ],
        look,
    )
    _assign_all(model, allowed.T, must, look)
    normal = model.normal() | ~smooth
    told = ~np.logical_and.outer(normal, normal)
    if not (links & told).any():
        return TOO_NORMAL
    model.restrict(model.may & (told | (dag.T != 0) | must))
    model.fit(look)
    _prune(model, price, must, look)
    while _grow(model, price, allowed.T & (told | links), look):
        _prune(model, price, must, look)
    _assign(model, allowed.T, must, look)
    # All links both ways could be turned until residuals look least normal.
    normal = model.normal() | ~smooth
    if normal.sum() > 1 and not (model.may & ~np.logical_and.outer(normal, normal)).any():
        return TOO_NORMAL
    for arrow in iter(partial(_doubtful, model, price, least, must), None):
        model.leave_out(arrow)
        model.fit(look)
    if not model.fits():
        return NO_FIT
    knots = tuple(_ways(model, own) for own in model.components() if len(own) > 1)
    found, strengths = model.coefficients.copy(), model.z() ** 2
    own, removed = model.log_likelihood(), 0
    while cyclic := [part for part in model.components() if len(part) > 1]:
        model.leave_out(_weakest(model, cyclic[0], strengths))
        model.fit(look)
        removed += 1
    gain = 2 * (own - model.log_likelihood()) - price * removed
    return NoiseOutcome(found, strengths, knots, gain, normal)


def _beginnings(columns: FloatArray, weights: FloatArray, dag: Adjacency) -> list[FloatArray]:
    """Coefficients to begin with: half of those on all others, and those of a graph."""
    moments = (columns * weights) @ columns.T / weights.sum()
    precision = np.linalg.inv(moments)
    halves = -0.5 * precision / np.diag(precision)[:, None]
    np.fill_diagonal(halves, 0.0)
    return [halves, cyclic_coefficients(moments, dag)]


def _best_of(models: list[Disturbances], look: Look) -> Disturbances:
    for model in models:
        model.fit(look)
    return max(models, key=Disturbances.log_likelihood)


def _prune(model: Disturbances, price: float, must: Mask, look: Look) -> None:
    """Leave arrows out, the weakest first, while the likelihood loses less than the penalty."""
    while (free := model.may & ~must).any():
        strengths = np.where(free, model.z() ** 2, math.inf)
        i, j = divmod(int(strengths.argmin()), len(free))
        if strengths[i, j] > 2 * price:
            return
        before, state = model.log_likelihood(), model.state()
        model.leave_out((i, j))
        model.fit(look)
        if 2 * (before - model.log_likelihood()) > price:
            model.restore(state)
            return


def _grow(model: Disturbances, price: float, others: Mask, look: Look) -> bool:
    """Draw the arrow that promises the most, if it pays; whether it does.

    A link that covariances do not show, where coefficients cancel, could look like a cycle.
    """
    promises = model.promises(others & ~np.eye(len(others), dtype=bool))
    i, j = divmod(int(promises.argmax()), len(promises))
    if promises[i, j] < price:
        return False
    before, state = model.log_likelihood(), model.state()
    model.draw((i, j))
    model.fit(look)
    if 2 * (model.log_likelihood() - before) > price:
        return True
    model.restore(state)
    return False


def _assign(model: Disturbances, allowed: Mask, must: Mask, look: Look) -> None:
    """Give the equations of each cycle to the variables for which disturbances die out fastest."""
    for own in model.components():
        if len(own) > 1:
            rows = model.coefficients.copy()
            rows[own] = _ways(model, own).chosen.coefficients[own]
            _rewrite(model, rows, rows != 0, (allowed, must), look)


def _assign_all(model: Disturbances, allowed: Mask, must: Mask, look: Look) -> None:
    """Give equations to variables such that the product of the coefficients of these is largest."""
    rows = np.eye(len(allowed)) - model.coefficients
    with np.errstate(divide="ignore"):
        far = np.minimum(-np.log(np.abs(rows)), 1e6)
    equations, variables = linear_sum_assignment(far)
    turned = np.zeros(rows.shape)
    turned[variables] = -rows[equations] / rows[equations, variables][:, None]
    np.fill_diagonal(turned, 0.0)
    _rewrite(model, turned, model.may | (turned != 0), (allowed, must), look)


def _rewrite(
    model: Disturbances, coefficients: FloatArray, may: Mask, known: tuple[Mask, Mask], look: Look
) -> None:
    """Go on from other coefficients, if knowledge allows their arrows and they are others."""
    if np.allclose(coefficients, model.coefficients) or (may & ~known[0]).any():
        return
    if (known[1] & ~may).any():
        return
    changed = np.flatnonzero((coefficients != model.coefficients).any(axis=1))
    model.coefficients = coefficients
    model.restrict(may)
    model.begin(changed)
    model.fit(look)


def _ways(model: Disturbances, variables: list[int]) -> Block:
    rows = np.eye(len(model.may)) - model.coefficients
    return assigned_rows(variables, rows[variables])


def _weakest(
    model: Disturbances, variables: list[int], strengths: FloatArray, fixed: Mask | None = None
) -> tuple[int, int]:
    """The weakest arrow among some variables."""
    own = np.zeros(model.may.shape, bool)
    own[np.ix_(variables, variables)] = True
    own &= model.may & (True if fixed is None else ~fixed)
    i, j = divmod(int(np.where(own, strengths, math.inf).argmin()), len(own))
    return i, j


def _doubtful(
    model: Disturbances, price: float, least: float, must: Mask
) -> tuple[int, int] | None:
    """An arrow of a cycle to be left out: one not seen in cumulants, weak, or of no equilibrium."""
    for own in model.components():
        if len(own) == 1 or must[np.ix_(own, own)].sum() == model.may[np.ix_(own, own)].sum():
            continue
        strengths = model.z() ** 2
        seen = np.minimum(model.z_of_cumulants(own) ** 2, strengths / least)
        arrow = _weakest(model, own, seen, must)
        if seen[arrow] < price or _ways(model, own).chosen.radius >= 1:
            return arrow
    return None
