"""How many functions of each variable a search has: as many as pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.columns.curves import MOST_COLUMNS
from qwo.columns.recipes import Coding, with_curves
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.curves import RowSample, RowSource, moments_of, orthonormal
from qwo.moments.moments import Moments
from qwo.order.bic import BicEngine
from qwo.order.blocks import columns_of
from qwo.order.score import BIC
from qwo.search.control import Control, bic_insertion
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from qwo.curved.noise import NoiseModel


def curved_moments(source: RowSource, sample: RowSample, size: int = MOST_COLUMNS) -> Moments:
    """The moments of each variable and of functions of it, uncorrelated with it and each other.

    Knots and functions are those of the sample of rows; the moments are those of all.
    """
    moments = source.moments
    coding = moments.coding
    curved = with_curves(coding, sample.columns, size, sample.weights)
    if sample.is_whole:
        columns = curved_columns(sample, coding, curved)
        found = moments_of(moments.names, curved, columns, sample.weights)
    else:
        found = source.sums(curved)
    return orthonormal(found)


def curved_columns(sample: RowSample, coding: Coding, curved: Coding) -> FloatArray:
    """The columns of the rows of a sample under a coding with curves."""
    found = np.empty((len(sample.columns), curved.n_columns), order="F")
    places = zip(coding.starts.tolist(), curved.starts.tolist(), curved.sizes.tolist(), strict=True)
    for variable, (start, first, size) in zip(curved.variables, places, strict=True):
        own = sample.columns[:, start : start + size]
        if variable.curve is not None:
            own = variable.curve.columns(own[:, 0])
        found[:, first : first + size] = own
    return found


def wanted_columns(moments: Moments, penalty: float) -> Indices:
    """How many columns of each variable some other one would have, in a regression on it alone.

    By BIC over the first k of them, each of which costs 2 log n more than usual: so many variables
    are looked at. 1 everywhere on linear data; curves that pairs hide are not seen.
    """
    matrix, sizes = moments.whitened()
    n, size = len(sizes), moments.n_samples
    price = penalty * np.log(size) + 2 * np.log(n)
    columns = columns_of(sizes)
    firsts = np.array([own[0] for own in columns])
    single = moments.leading() == 1
    wanted = np.ones(n, dtype=np.intp)
    for u, own in enumerate(columns):
        if moments.coding.variables[u].curve is None:
            continue
        squares = np.square(matrix[np.ix_(own, firsts)]) * single
        squares[:, u] = 0.0
        left = np.maximum(1 - np.cumsum(squares, axis=0), 1e-12)
        worth = -size * np.log(left) - price * np.arange(1, len(own) + 1)[:, None]
        better = worth[1:].max(axis=0, initial=-np.inf) > worth[0]
        if better.any():
            wanted[u] = 1 + worth[:, better].argmax(axis=0).max()
    return wanted


def follows_functions(
    left: FloatArray, functions: FloatArray, moments: Moments, model: NoiseModel, never: Mask
) -> bool:
    """Whether a residual follows functions of a variable, by the rule of `wanted_columns`.

    left, functions: the residuals and the columns of the moments, one in a row; never: which
    residuals, of the rows, need not be independent of which variables.
    """
    share, size = model.weights / model.weights.sum(), moments.n_samples
    left, functions = (own - (own @ share)[:, None] for own in (left, functions))
    spread = np.outer(left**2 @ share, functions**2 @ share)
    squares = np.square((left * share) @ functions.T) / np.maximum(spread, 1e-300)
    price = model.price + 2 * np.log(len(left))
    for u, own in enumerate(columns_of(moments.coding.sizes)):
        gains = -size * np.log(np.maximum(1 - np.cumsum(squares[:, own[1:]], axis=1), 1e-12))
        if (gains > price * np.arange(1, len(own)))[~never[:, u]].any():
            return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class SizeChoice:
    """The number of columns of least cost, and the cost at each number that was tried."""

    size: int
    costs: dict[int, float]
    order: Indices


def best_size(
    moments: Moments,
    order: Indices,
    penalty: float,
    knowledge: ResolvedKnowledge | None,
    *,
    first: int = MOST_COLUMNS,
    most: int = MOST_COLUMNS,
    seed: int = 0,
    threads: int = 1,
    control: Control | None = None,
) -> SizeChoice:
    """The number of columns of least cost, in the order that a short search with `first` comes to.

    Costs are those of explaining the variables themselves, so that they can be compared. A single
    column is tried in the order of lines, too.
    """
    matrix, sizes = moments.whitened()
    leading, curved = moments.leading(), [v.curve is not None for v in moments.coding.variables]
    told: Any = {"knowledge": knowledge, "threads": threads, "given": moments.coding.given}

    def engine(size: int, within: Indices) -> BicEngine:
        own = np.where(curved, np.minimum(sizes, size), sizes)
        kept = np.concatenate([c[:k] for c, k in zip(columns_of(sizes), own, strict=True)])
        width, there = len(kept), matrix[np.ix_(kept, kept)]
        data = Moments(("",) * width, moments.n_samples, np.zeros(width), np.ones(width), there)
        blocks: Any = {"block_sizes": own, "leading": leading}
        return BicEngine(data, score=BIC(penalty), order=within, **blocks, **told)

    searched = engine(min(first, most), order)
    bic_insertion(searched, restarts=0, control=control, random_state=seed)
    best = searched.order
    costs = {size: engine(size, best).cost for size in range(1, most + 1)}
    costs[1] = min(costs[1], engine(1, order).cost)
    return SizeChoice(min(costs, key=lambda k: costs[k]), costs, best)
