"""Moments of resamples: of rows, drawn in one of three ways, or under a normal model.

Complementary halves (Shah and Samworth, 2013) are the default: a random permutation cuts the rows
in two, and both halves are searched. A row is never there twice, unlike in a resample with
replacement, where correlations by chance have twice the variance that the score expects.

Each resample has a stream of random numbers of its own, so that who asks and when does not matter;
the two halves of a cut share theirs. What no graph can be learnt from raises an `InputError`.
"""

# Long because every way of drawing a resample stands in one place.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from qwo.columns.recipes import PLAIN, Coding
from qwo.errors import ConstantColumnError, list_names
from qwo.inspection.audit import Audit
from qwo.inspection.checks import inspect_matrix, is_well_conditioned
from qwo.moments import Moments
from qwo.moments.reading import audited, estimate_table
from qwo.moments.sums import BLOCK_ENTRIES, MIN_BLOCK_ROWS, mirror_lower, split_covariance
from qwo.moments.tables import Table
from qwo.names import default_names
from qwo.options import Missing
from qwo.types import FloatArray, Indices, Mask

Resampling = Literal["halves", "subsamples", "replacement"]
Weights = npt.NDArray[np.int64]
_Cut = tuple[FloatArray, FloatArray, FloatArray]
"""Sums and products over the first half of a cut, and the rows that are in neither."""

CONSTANT = 1e-13
"""A spread below this fraction of the mean is what rounding leaves of a constant column."""

CLEAR = 1e-3
"""A variance in a half, that in all rows being 1, from which on a difference has enough digits."""

_DRAWS, _SEARCHES = 0, 1


def search_seed(seed: int, number: int) -> int:
    """The seed of the search on resample ``number``."""
    return int(_stream(seed, _SEARCHES, number).integers(2**63))


def _stream(seed: int, purpose: int, number: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, number)))


@dataclass(frozen=True)
class Scheme:
    """Which rows a resample holds, and how often.

    ``"halves"``: resamples 2k and 2k + 1 are the halves of one permutation; of an odd number of
    rows, one is in neither. ``"subsamples"``: rows without replacement, each time anew.
    ``"replacement"``: rows with replacement.

    Of rows in clusters, whole clusters are drawn in the same way: ``n_rows`` and ``size`` count
    clusters then.
    """

    resampling: Resampling
    n_rows: int
    size: int
    clusters: Indices | None = None

    def weights(self, seed: int, number: int) -> Weights:
        """How often each row is in resample ``number``."""
        drawn = self._drawn(seed, number)
        return drawn if self.clusters is None else drawn[self.clusters]

    def _drawn(self, seed: int, number: int) -> Weights:
        """The same of what is drawn: rows, or clusters."""
        rng = self.stream(seed, number)
        if self.resampling == "replacement":
            rows = rng.integers(self.n_rows, size=self.size)
            return np.bincount(rows, minlength=self.n_rows)
        weights = np.zeros(self.n_rows, dtype=np.int64)
        if self.resampling == "halves":
            weights[self.cut(seed, number // 2)[number % 2]] = 1
        else:
            weights[rng.choice(self.n_rows, self.size, replace=False, shuffle=False)] = 1
        return weights

    def cut(self, seed: int, number: int) -> tuple[Indices, Indices, Indices]:
        """The rows of the halves of a cut, and the one that is in neither, if there is one."""
        order = self.stream(seed, 2 * number).permutation(self.n_rows)
        return order[: self.size], order[self.size : 2 * self.size], order[2 * self.size :]

    def stream(self, seed: int, number: int) -> np.random.Generator:
        """Where the randomness of a resample comes from: the same for the halves of a cut."""
        return _stream(seed, _DRAWS, number // 2 if self.resampling == "halves" else number)


class Source(Protocol):
    """What draws the moments of a resample."""

    def draw(self, seed: int, number: int) -> Moments | Table:
        """The moments of resample ``number``, or its rows."""
        ...


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Resamples of the rows of a table, as weights, or as halves of which one is the rest.

    All resamples read one table of ``scores``, the columns with mean 0 and standard deviation 1
    (N×n, C-contiguous); the ``moments`` of all rows take them back to the units of the data.
    """

    moments: Moments
    scores: FloatArray
    scheme: Scheme
    share: float = 1.0
    """What a row counts in N: less than one where rows belong together."""
    _last: dict[tuple[int, int], _Cut] = field(default_factory=dict, init=False, repr=False)

    def draw(self, seed: int, number: int) -> Moments:
        """The plain moments of one resample."""
        # Halves of clusters differ in their rows.
        halves = self.scheme.resampling == "halves" and self.scheme.clusters is None
        sample = self._half(seed, number) if halves else None
        if sample is not None:
            size = self.scheme.size
            return self._checked(sample, size, slice(None), float(size))
        weights = self.scheme.weights(seed, number)
        columns, coding = self._present(weights)
        names, width = self.moments.names, self.scores.shape[1]
        scores = self.scores[:, columns] if len(columns) < width else self.scores
        sample = weighted_moments(scores, weights, names, coding)
        if sample is None:
            raise _constant(names, np.ptp(self.scores[weights > 0], axis=0) == 0)
        size = self.scheme.size if self.scheme.clusters is None else self.share * weights.sum()
        return self._checked(sample, int(np.count_nonzero(weights)), columns, float(size))

    def _half(self, seed: int, number: int) -> Moments | None:
        """The moments of a half, the second being all rows less the first: a mere subtraction.

        It is so whoever asks; who asks for both in turn has the sums over the first still. None
        where a column hardly varies in the half, of which rounding would leave too few digits, and
        where it takes the rows to see which levels there are.
        """
        if self.moments.has_blocks:
            return None
        last = self._last.get((seed, number // 2))
        if last is None:
            first, _, rest = self.scheme.cut(seed, number // 2)
            last = *sums_over(self.scores, np.sort(first)), self.scores[rest]
            self._last.clear()
            self._last[seed, number // 2] = last
        sums, products, left = last
        if number % 2:
            sums = -sums - left.sum(axis=0)
            products = len(self.scores) * self.moments.correlation - products - left.T @ left
        size = float(self.scheme.size)
        means = sums / size
        covariance = products / size - np.outer(means, means)
        if np.diagonal(covariance).min() < CLEAR:
            return None
        scales, correlation = split_covariance(covariance)
        names, coding = self.moments.names, self.moments.coding
        return Moments(names, size, means, scales, correlation, coding=coding)

    def _checked(
        self, sample: Moments, distinct: int, columns: Indices | slice, size: float
    ) -> Moments:
        """The moments in units of the data, unless the audit finds an error."""
        _check(sample, distinct)
        units = self.moments.scales[columns]
        means = self.moments.means[columns] + units * sample.means
        return replace(sample, n_samples=size, means=means, scales=units * sample.scales)

    def _present(self, weights: Weights) -> tuple[Indices, Coding]:
        """The columns of the levels that a resample has, and their coding."""
        moments, coding = self.moments, self.moments.coding
        columns = np.arange(coding.n_columns)
        if not coding.has_blocks:
            return columns, coding
        present = self.scores[weights > 0]
        low, high = present.min(axis=0), present.max(axis=0)
        shares = moments.means + moments.scales * (weights @ self.scores) / weights.sum()
        gone = np.add.reduceat(high > low, coding.starts, dtype=int) == 0
        if gone.any():
            raise _constant(moments.names, gone)
        return coding.observed(low, high, shares)


def _constant(names: Sequence[str], which: Mask) -> ConstantColumnError:
    constant = list(compress(names, which))
    return ConstantColumnError(
        f"columns are constant in the resample: {list_names(constant)}", constant
    )


@dataclass(frozen=True, eq=False)
class RefittedRows:
    """Resamples of the rows of a table, for estimators that need the rows themselves."""

    table: Table
    scheme: Scheme
    estimator: str | Any
    missing: Missing
    share: float = 1.0

    def draw(self, seed: int, number: int) -> Moments:
        """The moments of one resample under the estimator."""
        weights = self.scheme.weights(seed, number)
        rows = np.repeat(np.arange(len(weights)), weights)
        # Which rows belong together was asked of all rows; a cluster may be there twice.
        table = replace(self.table, clusters=None)
        found = resampled_moments(table, rows, self.estimator, self.missing)
        return replace(found, n_samples=self.share * found.n_samples)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Resamples of the rows of a table, for scores that count them."""

    table: Table
    scheme: Scheme

    def draw(self, seed: int, number: int) -> Table:
        """The rows of one resample."""
        weights = self.scheme.weights(seed, number)
        return self.table.rows(np.repeat(np.arange(len(weights)), weights))


@dataclass(frozen=True, eq=False)
class NormalModel:
    """Resamples of which only the moments of all rows are known, under normality.

    With replacement, and as subsamples, they are samples of the normal distribution with these
    moments, of whose correlation matrix ``root`` is a square root. Halves are what halves of N
    normal rows with exactly these moments are: their scatter matrices F B Fᵀ have F Fᵀ that of all
    rows and a matrix B of the matrix-variate beta distribution. Where there are fewer rows than
    variables and an estimator has made up for it, no rows have these moments; halves are
    independent samples of half the size then.
    """

    moments: Moments
    root: FloatArray
    size: float
    scheme: Scheme

    def draw(self, seed: int, number: int) -> Moments:
        """The moments of one sample."""
        scatter = self._scatter(self.scheme.stream(seed, number), number % 2)
        spans, correlation = split_covariance(scatter)
        scales = spans / math.sqrt(self.size) * self.moments.scales
        names, coding = self.moments.names, self.moments.coding
        means = self.moments.means
        sample = Moments(names, self.size, means, scales, correlation, coding=coding)
        _check(sample, self.size)
        return sample

    def _scatter(self, rng: np.random.Generator, half: int) -> FloatArray:
        freedom, total = self.size - 1, self.moments.n_samples
        if self.scheme.resampling != "halves":
            return draw_scatter(rng, self.root, freedom)
        if self.root.shape[1] > total - 1:
            samples = [draw_scatter(rng, self.root, freedom) for _ in range(2)]
            return samples[half]
        # What is in neither half: how their means differ, and the row that an odd N leaves over.
        rest = total - 1 - 2 * freedom
        eye = np.eye(self.root.shape[1])
        parts = [draw_scatter(rng, eye, part) for part in (freedom, freedom, rest)]
        whole = np.linalg.cholesky(parts[0] + parts[1] + parts[2])
        left = solve_triangular(whole, parts[half], lower=True)
        beta = solve_triangular(whole, left.T, lower=True)
        scatter: FloatArray = total * (self.root @ beta @ self.root.T)
        return scatter


def _check(sample: Moments, distinct: float) -> None:
    """Raise if columns are copies or combinations of others, unless for want of distinct rows.

    A resample with replacement of N rows has the rank of its distinct rows, about 0.63 N: beyond so
    many columns it is as singular as any sample with more columns than rows.
    """
    if distinct > len(sample.means) and is_well_conditioned(sample.correlation):
        return
    seen = inspect_matrix(replace(sample, n_samples=float(distinct)))
    errors = tuple(finding for finding in seen if finding.severity == "error")
    Audit(errors).raise_errors()


def table_moments(table: Table, estimator: str | Any, missing: Missing = "raise") -> Moments:
    """The moments of all rows, once an audit has found no error; what is doubtful is warned of."""
    moments, audit = audited(estimate_table(table, estimator, missing))
    audit.enforce()
    return moments


def resampled_moments(
    table: Table, rows: Indices, estimator: str | Any, missing: Missing = "raise"
) -> Moments:
    """The moments of some of the rows.

    Errors are raised, as where a column is constant in these rows. Warnings are not given: a part
    is smaller than the whole by intention, and all else was said of the whole.
    """
    return audited(estimate_table(table.rows(rows), estimator, missing, look=False))[0]


def kept_rows(table: Table, missing: Missing) -> Table:
    """The table without the rows that are left out for their missing or infinite values."""
    if missing != "drop":
        return table
    complete = np.isfinite(table.values).all(axis=1)
    return table if complete.all() else table.rows(complete)


def weighted_moments(
    values: FloatArray, weights: Weights, names: tuple[str, ...] = (), coding: Coding = PLAIN
) -> Moments | None:
    """Maximum-likelihood moments of rows that count several times, once or not at all.

    None if a column is constant. The scatter matrix Σ wᵣ (xᵣ - m)(xᵣ - m)ᵀ is a sum of products of
    blocks whose rows are scaled by √wᵣ. Only rows that are there are touched, in blocks that stay
    in the cache. The mean is known beforehand, so that no digits are lost by taking it off
    afterwards.
    """
    rows = np.flatnonzero(weights)
    counts = weights[rows].astype(np.float64)
    total = float(counts.sum())
    means = weights.astype(np.float64) @ values / total
    roots = np.sqrt(counts)[:, None]
    n_columns = values.shape[1]
    step = max(BLOCK_ENTRIES // n_columns, MIN_BLOCK_ROWS)
    buffer = np.empty((min(step, len(rows)), n_columns))
    scatter = np.zeros((n_columns, n_columns), order="F")
    for start in range(0, len(rows), step):
        chosen = rows[start : start + step]
        block = buffer[: len(chosen)]
        # Without a mode, NumPy gathers into a second buffer in case an index should be wrong.
        np.take(values, chosen, axis=0, out=block, mode="clip")
        block -= means
        block *= roots[start : start + step]
        scatter = dsyrk(1.0, block.T, beta=1.0, c=scatter, lower=1, overwrite_c=1)
    if (np.sqrt(np.diagonal(scatter) / total) <= CONSTANT * np.abs(means)).any():
        return None
    spans, correlation = split_covariance(mirror_lower(scatter))
    labels, scales = names or default_names(n_columns), spans / np.sqrt(total)
    return Moments(labels, total, means, scales, correlation, coding=coding)


def sums_over(values: FloatArray, rows: Indices) -> tuple[FloatArray, FloatArray]:
    """The sums over some rows of a table, and over their products, as a lower triangle."""
    n_columns = values.shape[1]
    step = max(BLOCK_ENTRIES // n_columns, MIN_BLOCK_ROWS)
    sums, products = np.zeros(n_columns), np.zeros((n_columns, n_columns), order="F")
    for start in range(0, len(rows), step):
        block = values[rows[start : start + step]]
        sums += np.ones(len(block)) @ block
        products = dsyrk(1.0, block.T, beta=1.0, c=products, lower=1, overwrite_c=1)
    return sums, products


def square_root(correlation: FloatArray) -> FloatArray:
    """A matrix F of as many columns as R has rank, with F Fᵀ = R, for a semidefinite R."""
    values, vectors = np.linalg.eigh(correlation)
    kept = values > len(values) * np.finfo(np.float64).eps * values[-1]
    root: FloatArray = vectors[:, kept] * np.sqrt(values[kept])
    return root


def draw_scatter(rng: np.random.Generator, root: FloatArray, freedom: float) -> FloatArray:
    """A Wishart matrix with scale F Fᵀ and so many degrees of freedom: of a normal sample.

    Bartlett's decomposition: F A Aᵀ Fᵀ with A lower triangular, normal below the diagonal and χ on
    it. With fewer degrees of freedom than variables, where it does not exist, the sum of as many
    squares as there are whole degrees of freedom.
    """
    n = root.shape[1]
    if freedom > n - 1:
        triangle = np.tril(rng.standard_normal((n, n)), -1)
        np.fill_diagonal(triangle, np.sqrt(rng.chisquare(freedom - np.arange(n))))
        factor = root @ triangle
    else:
        factor = root @ rng.standard_normal((n, int(freedom)))
    scatter: FloatArray = factor @ factor.T
    return scatter
