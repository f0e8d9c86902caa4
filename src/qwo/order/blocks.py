"""Variables that own several columns: the degenerate Gaussian score.

A nominal variable with k + 1 levels is k indicator columns, which enter a model together, leave it
together and are explained together (Andrews, Ramsey and Cooper 2019). With P the parents of v, K
their columns and k_v its own, the cost of a family is

    N log det cov(V | P) + Σ_{u in P} price(k_u k_v),

with the price of an edge for as many parameters as it has.

The columns of each variable come one after the other, whitened: their covariance is the identity.
Any other basis of the same columns would change all costs of a variable by one constant, so that
neither names of levels nor the one left out matter. Eigenvalues of a covariance below `DETERMINED`
count as that: what the parents determine is worth much, but not without bounds.

The basis of a curve is a block too: the variable itself, and functions of it. Such a child is
explained in its first column alone (a causal additive model: Bühlmann, Peters and Ernest 2014), so
that k_v is the number of its *leading* columns and V those: the functions of a variable are no more
to be explained once it is. Members of an equivalence class then differ in cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qwo.errors import ArgumentError
from qwo.graph.dag import parents_of
from qwo.moments import Moments
from qwo.order.score import BIC, Score, price_of
from qwo.types import Adjacency, FloatArray, Indices

DETERMINED = 1e-12
"""Below this variance given others, in units of its own, a direction counts as determined."""

SURELY_REGULAR = 1e-4
"""With pivots above this of unit columns nothing is lost by elimination."""


def check_block_sizes(sizes: Sequence[int] | Indices, n_columns: int) -> npt.NDArray[np.int64]:
    """How many columns each variable owns; refused unless they are all the columns there are."""
    given = np.asarray(sizes)
    if given.ndim != 1 or not len(given) or not np.issubdtype(given.dtype, np.integer):
        raise ArgumentError(
            f"block_sizes must be one integer for each variable; got shape {given.shape} of dtype "
            f"{given.dtype}"
        )
    if given.min() < 1 or given.sum() != n_columns:
        raise ArgumentError(
            f"block_sizes must be at least 1 and sum up to the {n_columns} columns; got "
            f"{given.tolist()[:8]} with the sum {given.sum()}"
        )
    return given.astype(np.int64)


def check_leading(leading: Sequence[int] | Indices, sizes: Indices) -> npt.NDArray[np.int64]:
    """In how many of its columns each variable is explained as a child, refused if it has less."""
    given = np.asarray(leading)
    if given.shape != sizes.shape or not np.issubdtype(given.dtype, np.integer):
        raise ArgumentError(f"leading must be one integer for each variable; got {leading!r:.80}")
    if given.min() < 1 or (given > sizes).any():
        raise ArgumentError(
            f"leading must be from 1 to the number of columns; got {given.tolist()[:8]} of "
            f"{sizes.tolist()[:8]}"
        )
    return given.astype(np.int64)


def columns_of(sizes: Indices) -> list[Indices]:
    """The columns of each variable."""
    ends = np.cumsum(sizes)
    return [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def log_det(covariance: FloatArray) -> FloatArray:
    """The log determinant of one covariance matrix or of many, with floored eigenvalues."""
    single = covariance.shape[-1] == 1
    values = covariance[..., 0] if single else np.linalg.eigvalsh(covariance)
    return np.asarray(np.log(np.maximum(values, DETERMINED)).sum(axis=-1), dtype=np.float64)


def residual_log_det(
    correlation: FloatArray,
    sizes: Indices,
    leading: Indices,
    child: int,
    parents: Sequence[int] | Indices,
) -> float:
    """The log determinant of cov(V | P); 0 without parents."""
    columns = columns_of(sizes)
    own = columns[child][: leading[child]]
    left = correlation[np.ix_(own, own)]
    if len(parents):
        given = np.concatenate([columns[p] for p in parents])
        cross = correlation[np.ix_(given, own)]
        left = left - cross.T @ slopes_of(correlation[np.ix_(given, given)], cross)
    return float(log_det((left + left.T) / 2))


def slopes_of(among: FloatArray, cross: FloatArray) -> FloatArray:
    """The coefficients of a regression, the shortest ones where columns determine others."""
    try:
        pivots = np.diagonal(np.linalg.cholesky(among))
        if pivots.min(initial=1.0) > SURELY_REGULAR:
            return np.asarray(np.linalg.solve(among, cross))
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.pinv(among, rcond=1e-11, hermitian=True) @ cross)


def pairwise_gains(
    correlation: FloatArray, sizes: Indices, leading: Indices | None = None
) -> FloatArray:
    """-log det(I - R) for each parent u and child v, R with their squared canonical correlations.

    That is what u adds to the log-likelihood of the leading columns of v, in units of N / 2, given
    nothing.
    """
    n, leading = len(sizes), sizes if leading is None else leading
    columns, first = columns_of(sizes), np.cumsum(sizes) - sizes
    squares = np.add.reduceat(np.square(correlation[:, first]), first, axis=0)
    gains = -np.log(np.maximum(1 - squares, DETERMINED))
    alike = [np.flatnonzero(leading == size) for size in np.unique(leading) if size > 1]
    places = [np.array([columns[v][: leading[v]] for v in others]) for others in alike]
    for u in range(n):
        rows = correlation[columns[u]]
        for others, own in zip(alike, places, strict=True):
            cross = np.moveaxis(rows[:, own], 1, 0)  # others × k_u × their size
            if cross.shape[1] > cross.shape[2]:
                cross = np.swapaxes(cross, 1, 2)
            explained = cross @ np.swapaxes(cross, 1, 2)
            gains[u, others] = -log_det(np.eye(cross.shape[1]) - explained)
    np.fill_diagonal(gains, 0.0)
    return np.asarray(np.maximum(gains, 0.0))


def net_gains(
    correlation: FloatArray, sizes: Indices, leading: Indices, n_samples: float, score: Score
) -> FloatArray:
    """The same less what an edge would cost, in units of N; the better of both directions."""
    n = len(sizes)
    products = np.outer(sizes, leading)
    prices = np.zeros(products.shape)
    for product in np.unique(products):
        prices[products == product] = price_of(score, n, n_samples, int(product))
    net = pairwise_gains(correlation, sizes, leading) - prices / n_samples
    return net if np.array_equal(sizes, leading) else np.maximum(net, net.T)


def association(
    correlation: FloatArray, sizes: Indices, leading: Indices, n_samples: float, score: Score
) -> FloatArray:
    """How much each pair depends on each other, from 0 to 1, less what an edge would cost.

    √(1 - exp(-gain + price / N)): with single columns and no price, the size of the correlation.
    """
    net = net_gains(correlation, sizes, leading, n_samples, score)
    strengths = np.sqrt(-np.expm1(-np.maximum(net, 0.0)))
    np.fill_diagonal(strengths, 1.0)
    return strengths


def without_given(correlation: FloatArray, sizes: Indices, given: Indices) -> FloatArray:
    """Partial correlations of what is searched, given all that is given, which gets zeros.

    That is the Schur complement on the scale of correlations: the order of the others must not be
    read off what they owe to given variables.
    """
    if not given.size:
        return correlation
    known = np.isin(np.repeat(np.arange(len(sizes)), sizes), given)
    cross = correlation[np.ix_(known, ~known)]
    among = correlation[np.ix_(known, known)]
    among = among + 1e-9 * np.eye(len(among))
    left = correlation[np.ix_(~known, ~known)] - cross.T @ np.linalg.solve(among, cross)
    scales = np.sqrt(np.maximum(np.diagonal(left), 1e-12))
    result = np.eye(len(correlation))
    result[np.ix_(~known, ~known)] = left / np.outer(scales, scales)
    np.fill_diagonal(result, 1.0)
    return result


class BlockScore:
    """Minus the cost of a family, for `qwo.order.local_score.LocalScoreEngine`: the slow reference.

    Moments are with or without blocks; `penalty_discount` and `gamma` are c and γ of the BIC.
    """

    def __init__(self, moments: Moments, penalty_discount: float = 2.0, gamma: float = 0.0) -> None:
        self._matrix, self.sizes = moments.whitened()
        self.leading = moments.leading()
        self._n_samples = moments.n_samples
        self._score = BIC(penalty_discount, gamma)

    def __call__(self, variable: int, parents: Sequence[int]) -> float:
        """Minus the cost of a variable."""
        fit = self._n_samples * self.log_det(variable, parents)
        return -(fit + math.fsum(self.price(u, variable) for u in parents))

    def price(self, cause: int, effect: int) -> float:
        """What an edge costs."""
        product = int(self.sizes[cause] * self.leading[effect])
        return price_of(self._score, len(self.sizes), self._n_samples, product)

    def log_det(self, variable: int, parents: Sequence[int]) -> float:
        """The log determinant of cov(V | P)."""
        return residual_log_det(self._matrix, self.sizes, self.leading, variable, parents)

    def fit_of(self, dag: Adjacency) -> float:
        """-N Σ_v log det cov(V | P): twice the log-likelihood, less that without edges."""
        families = enumerate(parents_of(dag))
        return -self._n_samples * math.fsum(self.log_det(v, own) for v, own in families)


def n_coefficients(
    dag: Adjacency, sizes: Sequence[int] | Indices, leading: Sequence[int] | Indices | None = None
) -> int:
    """Σ k_u k_v over the edges of a DAG; all columns lead if not given."""
    return int(np.asarray(sizes) @ (dag != 0) @ np.asarray(sizes if leading is None else leading))


def block_start(precision: FloatArray, sizes: Indices) -> Indices:
    """Variables by the variance of their columns given all others, the largest first.

    That is the determinant of a block, taken for each of its columns alike.
    """
    blocks = [precision[np.ix_(own, own)] for own in columns_of(sizes)]
    left = [np.linalg.slogdet(block)[1] / len(block) for block in blocks]
    return np.argsort(left, kind="stable")


def whitened_within(matrix: FloatArray, sizes: Indices) -> FloatArray:
    """A positive definite matrix in other coordinates of each block, in which that is the identity.

    Of the inverse of the correlation matrix this gives partial correlations: the gains of its pairs
    are those given all other variables.
    """
    roots = np.zeros_like(matrix)
    for own in columns_of(sizes):
        block = np.ix_(own, own)
        roots[block] = np.linalg.inv(np.linalg.cholesky(matrix[block]))
    return np.asarray(roots @ matrix @ roots.T, dtype=np.float64)
