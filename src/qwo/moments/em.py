"""Gaussian maximum likelihood with missing values: EM over the missing-data patterns.

Little and Rubin, *Statistical Analysis with Missing Data*, chapter 11, in terms of the precision
matrix K. With missing values M and observed ones O of a centred row x,

    E[x_M | x_O] = -K_MM⁻¹ K_MO x_O,   Cov[x_M | x_O] = K_MM⁻¹,   |Σ_OO| = |Σ| |K_MM|,

so that a row costs the inverse of a matrix as large as the number of its *missing* values, and the
products K_MO x_O of all rows are one matrix product. Steps are lengthened by SQUAREM (Varadhan and
Roland 2008, scheme S3), on the Cholesky factor, and taken back where the likelihood falls, so that
it never does. Where that crawls, as on skewed columns, quasi-Newton steps (BFGS) go up the
likelihood, whose gradient an EM step knows by Fisher's identity, and EM settles what they find.
"""

# Long because EM, its longer steps and what is said of a fit are of no use to anyone else.

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from qwo.columns.recipes import Coding
from qwo.compute import one_blas_thread
from qwo.errors import list_names
from qwo.inspection.audit import Finding, MissingCounts, drop_cure, inspect_size, shown
from qwo.inspection.checks import inspect_matrix, inspect_spread
from qwo.inspection.findings import determined_columns
from qwo.moments.moments import Moments
from qwo.moments.sums import finite_extremes, inverse, mirror_lower, split_covariance
from qwo.names import default_names
from qwo.types import FloatArray, Indices, Mask

Status = Literal["converged", "iterations", "singular"]

MAX_ITERATIONS = 2000
"""Passes over the data."""

SLOW = 100
"""Passes in a row after which EM crawls; it takes twenty where nothing is skewed."""

MOST_PARAMETERS = 300
"""Up to so many parameters (22 columns) there are quasi-Newton steps, which take their square."""

BEYOND = 1e3
"""Log-likelihood that singular matrices are taken to fall short by, which no step goes back to."""

PARAMETER_TOLERANCE = 1e-7
"""Largest change of a mean or covariance, on the scale of standardised columns, in one EM step."""

LIKELIHOOD_TOLERANCE = 1e-10
"""Relative change of the log-likelihood in one EM step."""

SINGULAR = 1e-8
"""Conditional variance of a standardised column that the likelihood no longer tells from 0."""

FARTHEST = 40.0
"""Logarithms of standard deviations to which a longer step may lead; none comes near."""

CHUNK_ENTRIES = 1 << 20
"""Entries of the stack of small matrices that is alive at a time: eight megabytes."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternGroup:
    """Patterns with the same number m of missing values, and the rows that have them.

    Each of P patterns has its missing `columns` and a count of rows; the rows stand pattern after
    pattern, each with its owner.
    """

    columns: Indices
    counts: FloatArray
    rows: Indices
    owners: Indices

    def blocks(self, matrix: FloatArray) -> FloatArray:
        """The stack of submatrices at the missing columns: shape (P, m, m)."""
        block: FloatArray = matrix[self.columns[:, :, None], self.columns[:, None, :]]
        return block


def group_patterns(missing: Mask) -> list[PatternGroup]:
    """The groups of all rows with missing values, cut so that the stack of each fits the memory."""
    affected = np.flatnonzero(missing.any(axis=1))
    packed = np.packbits(missing[affected], axis=1)
    _, first, owner = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    owner = owner.reshape(-1)
    patterns = missing[affected[first]]
    sizes = patterns.sum(axis=1)
    groups: list[PatternGroup] = []
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size)
        number = np.full(len(patterns), -1)
        number[places] = np.arange(len(places))
        columns = np.nonzero(patterns[places])[1].reshape(len(places), size)
        mine = np.flatnonzero(number[owner] >= 0)
        mine = mine[np.argsort(number[owner[mine]], kind="stable")]
        groups.extend(_cut(columns, affected[mine], number[owner[mine]]))
    return groups


def _cut(columns: Indices, rows: Indices, owners: Indices) -> Iterator[PatternGroup]:
    """Runs of rows whose small matrices, one for each row at worst, make up a chunk."""
    most = max(CHUNK_ENTRIES // max(columns.shape[1] ** 2, 1), 1)
    for start in range(0, len(rows), most):
        part = owners[start : start + most]
        seen, local, counts = np.unique(part, return_inverse=True, return_counts=True)
        yield PatternGroup(
            columns[seen], counts.astype(np.float64), rows[start : start + most], local.reshape(-1)
        )


@dataclass(frozen=True, slots=True, eq=False)
class EmFit:
    """A maximum of the likelihood of incomplete data.

    The moments have the effective sample size. `n_rows` counts the rows with at least one value;
    `loglik` has the log-likelihood after each pass over the data that has not been taken back, on
    the scale of standardised columns. Where the status is "singular", a covariance matrix came to
    be so, and the moments are the last regular ones.
    """

    moments: Moments
    n_rows: int
    loglik: FloatArray
    status: Status


@dataclass(frozen=True, slots=True, eq=False)
class _Parameters:
    means: FloatArray
    covariance: FloatArray

    def distance(self, other: _Parameters) -> float:
        return max(
            float(np.abs(self.means - other.means).max()),
            float(np.abs(self.covariance - other.covariance).max()),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """The log-likelihood at parameters, and where an EM step leads from there."""

    loglik: float
    following: _Parameters


class _IncompleteData:
    """Standardised columns with missing values, and the EM map on them."""

    def __init__(self, scores: FloatArray) -> None:
        missing = np.isnan(scores)
        self.scores = scores
        self.missing = missing
        self.groups = group_patterns(missing)
        self.n_rows, self.n_columns = scores.shape
        self._constant = (~missing).sum() * math.log(2 * math.pi)

    def start(self) -> _Parameters:
        """Means and correlations of the available cases, drawn towards 0 until they are regular."""
        filled = np.where(self.missing, 0.0, self.scores)
        present = (~self.missing).astype(np.float64)
        together = present.T @ present
        covariance = (filled.T @ filled) / np.maximum(together, 1.0)
        covariance = mirror_lower(covariance)
        np.fill_diagonal(covariance, 1.0)
        floor = 1e-3
        lowest = float(np.linalg.eigvalsh(covariance)[0])
        if lowest < floor:
            keep = (1 - floor) / (1 - lowest)
            covariance *= keep
            np.fill_diagonal(covariance, 1.0)
        return _Parameters(np.zeros(self.n_columns), covariance)

    def step(self, at: _Parameters) -> _Step | None:
        """One EM step, or None where the covariance matrix is not positive definite."""
        precision = inverse(at.covariance)
        if precision is None or 1 / np.diagonal(precision).max() < SINGULAR:
            return None
        deviations = np.where(self.missing, 0.0, self.scores - at.means)
        products = deviations @ precision
        spread = np.zeros(self.n_columns**2, dtype=np.float64)
        log_det = -self.n_rows * np.linalg.slogdet(precision)[1]
        for group in self.groups:
            blocks = group.blocks(precision)
            inverses: FloatArray = np.linalg.inv(blocks).astype(np.float64, copy=False)
            columns = group.columns[group.owners]
            shifts = products[group.rows[:, None], columns]
            filled = np.matmul(inverses[group.owners], shifts[:, :, None])[:, :, 0]
            deviations[group.rows[:, None], columns] = -filled
            log_det += group.counts @ np.linalg.slogdet(blocks)[1]
            spread += self._scattered(group, inverses)
        scatter = deviations.T @ deviations
        quadratic = float(np.vdot(precision, scatter))
        offset = deviations.mean(axis=0)
        covariance = (scatter + spread.reshape(scatter.shape)) / self.n_rows
        covariance -= np.outer(offset, offset)
        return _Step(
            -0.5 * (self._constant + log_det + quadratic),
            _Parameters(at.means + offset, mirror_lower(covariance)),
        )

    def _scattered(self, group: PatternGroup, inverses: FloatArray) -> FloatArray:
        """Σ over rows of Cov[x_M | x_O], at the places of M in the flattened n × n matrix."""
        places = group.columns[:, :, None] * self.n_columns + group.columns[:, None, :]
        weights = group.counts[:, None, None] * inverses
        sums = np.bincount(places.ravel(), weights.ravel(), minlength=self.n_columns**2)
        return sums.astype(np.float64, copy=False)

    def information(self, at: _Parameters) -> FloatArray:
        """Rows' worth of information on each pair's dependence given all other columns.

        The statistic for columns i and j is the product of the residuals (Kx)_i (Kx)_j. What a row
        with observed values O knows of it has the share v_ii v_jj / (K_ii K_jj) of the variance,
        where V = Σ_OO⁻¹ = K_OO - K_OM K_MM⁻¹ K_MO: nothing if i or j is missing itself, and little
        if values are missing that explain much of i or j.
        """
        precision = inverse(at.covariance)
        assert precision is not None, "information is asked for at a regular estimate"
        complete = self.n_rows - sum(group.counts.sum() for group in self.groups)
        total = np.full((self.n_columns, self.n_columns), complete)
        for group in self.groups:
            shares = _shares(group, precision)
            total += shares.T @ (shares * group.counts[:, None])
        return total


def _shares(group: PatternGroup, precision: FloatArray) -> FloatArray:
    """The ratios v_ii / K_ii for each pattern of a group: shape (P, n)."""
    shares = np.empty((len(group.columns), len(precision)))
    step = max(CHUNK_ENTRIES // (group.columns.shape[1] * len(precision)), 1)
    for start in range(0, len(shares), step):
        columns = group.columns[start : start + step]
        rows = precision[columns]
        inner = np.linalg.solve(precision[columns[:, :, None], columns[:, None, :]], rows)
        shares[start : start + step] = 1 - (rows * inner).sum(axis=1) / np.diagonal(precision)
    np.put_along_axis(shares, group.columns, 0.0, axis=1)
    return shares


def fit_em(values: FloatArray, names: tuple[str, ...] = (), coding: Coding | None = None) -> EmFit:
    """Maximum-likelihood moments of columns with missing (or infinite) values.

    No column may be constant or empty, and no row empty.
    """
    (means, scales), scores = _scores(values)
    data = _IncompleteData(scores)
    with one_blas_thread():
        parameters, loglik, status = _maximise(data)
        information = data.information(parameters)
    moments = Moments(
        names or default_names(data.n_columns),
        effective_size(information),
        means + scales * parameters.means,
        scales * np.sqrt(np.diagonal(parameters.covariance)),
        split_covariance(parameters.covariance.copy())[1],
        "em",
        coding=coding or Coding(),
    )
    return EmFit(moments, data.n_rows, np.array(loglik), status)


def effective_size(information: FloatArray) -> float:
    """The harmonic mean over pairs of columns of the rows' worth of information on each.

    The square of an estimated partial correlation that is truly zero has mean 1 / information. The
    harmonic mean is the one number N with the right mean over all pairs, so that the score draws
    about as many false edges as it would in a complete sample of N rows. Pairs that are never
    observed together tell nothing, and are left out.
    """
    pairs = information[np.triu_indices_from(information, 1)]
    known = pairs[pairs > 0]
    return float(len(known) / np.sum(1 / known)) if len(known) else 0.0


def _scores(values: FloatArray) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
    """Columns standardised by their available values, and the moments that do it."""
    values = np.ascontiguousarray(values)  # whose layout must not matter
    finite = np.isfinite(values)
    unit = np.where(finite, np.abs(values), 0.0).max(axis=0)  # squares stay within float64
    scores = np.where(finite, values, np.nan) / unit
    means, scales = np.nanmean(scores, axis=0), np.nanstd(scores, axis=0)
    scores -= means
    scores /= scales
    return (means * unit, scales * unit), scores


def _maximise(data: _IncompleteData) -> tuple[_Parameters, list[float], Status]:
    """EM with SQUAREM's longer steps, until neither parameters nor likelihood change."""
    at = data.start()
    step = data.step(at)
    assert step is not None, "the start is regular"
    loglik = [step.loglik]
    few = data.n_columns * (data.n_columns + 3) <= 2 * MOST_PARAMETERS
    patience = SLOW if few else MAX_ITERATIONS
    while len(loglik) < MAX_ITERATIONS:
        if len(loglik) > patience:
            at, step = _climbed(data, at, step, loglik)
            patience = len(loglik) + SLOW
        second = data.step(step.following)
        if second is None:
            return at, loglik, "singular"
        loglik.append(second.loglik)
        if _settled(at, step, second):
            return step.following, loglik, "converged"
        longer = _extrapolated(at, step.following, second.following)
        third = data.step(longer)
        if third is None or third.loglik < second.loglik:
            longer = second.following
            third = data.step(longer)
        if third is None:
            return step.following, loglik, "singular"
        loglik.append(third.loglik)
        at, step = longer, third
    return at, loglik, "iterations"


def _settled(at: _Parameters, step: _Step, second: _Step) -> bool:
    change = abs(second.loglik - step.loglik)
    return at.distance(
        step.following
    ) < PARAMETER_TOLERANCE and change <= LIKELIHOOD_TOLERANCE * abs(second.loglik)


def _extrapolated(zeroth: _Parameters, first: _Parameters, second: _Parameters) -> _Parameters:
    """SQUAREM's point from two EM steps in a row: θ₀ - 2αr + α²v with α = -‖r‖ / ‖v‖ ≤ -1.

    θ is the means and the Cholesky factor of the covariances with the logarithms of its diagonal:
    however long the step, it leads to a covariance matrix. Entries of the matrix itself do not, and
    where the likelihood is flat nearly every step would have to be taken back.
    """
    try:
        stacked = [_coordinates(parameters) for parameters in (zeroth, first, second)]
    except np.linalg.LinAlgError:
        return second
    change = stacked[1] - stacked[0]
    curvature = stacked[2] - stacked[1] - change
    bend = float(np.linalg.norm(curvature))
    length = -max(float(np.linalg.norm(change)) / bend, 1.0) if bend > 0 else -1.0
    return _parameters(stacked[0] - 2 * length * change + length**2 * curvature)[0]


def _coordinates(at: _Parameters) -> FloatArray:
    factor = np.linalg.cholesky(at.covariance)
    np.fill_diagonal(factor, np.log(np.diagonal(factor)))
    return np.vstack([at.means, factor])


def _parameters(point: FloatArray) -> tuple[_Parameters, FloatArray]:
    """The parameters at coordinates, and the Cholesky factor; the diagonal of `point` is used."""
    factor = point[1:]
    np.fill_diagonal(factor, np.exp(np.clip(np.diagonal(factor), -FARTHEST, FARTHEST)))
    return _Parameters(point[0], mirror_lower(factor @ factor.T)), factor


def _climbed(
    data: _IncompleteData, at: _Parameters, step: _Step, loglik: list[float]
) -> tuple[_Parameters, _Step]:
    """Where quasi-Newton steps lead, and the EM step from there; what they reach is noted.

    They are taken in the coordinates of the longer steps.
    """
    shape = (data.n_columns + 1, data.n_columns)
    used = np.vstack([np.ones(shape[1]), np.tri(shape[1])]) > 0
    best = [(at, step)]

    def descent(flat: FloatArray) -> tuple[float, FloatArray]:
        point = np.zeros(shape)
        point[used] = flat
        there, factor = _parameters(point)
        found = data.step(there)
        if found is None:
            return abs(step.loglik) + BEYOND, np.zeros(len(flat))
        if found.loglik > best[-1][1].loglik:
            best.append((there, found))
            loglik.append(found.loglik)
        return -found.loglik, -_gradient(data.n_rows, there, found, factor)[used]

    from scipy.optimize import minimize

    try:
        first = _coordinates(at)[used]
        minimize(descent, first, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 500})
    except np.linalg.LinAlgError:
        pass
    return best[-1]


def _gradient(n_rows: int, at: _Parameters, step: _Step, factor: FloatArray) -> FloatArray:
    """The slope of the likelihood: N K (E[S] - Σ) K / 2 for Σ, E[S] being what EM expects."""
    precision = np.linalg.inv(at.covariance)
    offset = step.following.means - at.means
    expected = step.following.covariance + np.outer(offset, offset)
    slopes = n_rows * (precision @ (expected - at.covariance) @ precision) @ factor
    slopes[np.diag_indices_from(slopes)] *= np.diagonal(factor)
    return np.vstack([n_rows * precision @ offset, slopes])


def estimate_incomplete(
    names: tuple[str, ...], coding: Coding, values: FloatArray
) -> tuple[list[Finding], Moments | None]:
    """Findings and maximum-likelihood moments of columns with missing values.

    Infinite values count as missing, and rows without any value are left out. The moments are None
    if errors stood in the way.
    """
    absent, finite = np.isnan(values), np.isfinite(values)
    infinite = (~finite).sum(axis=0) - absent.sum(axis=0)
    first, rows = coding.starts, int((~finite.all(axis=1)).sum())
    counts = MissingCounts(names, absent.sum(axis=0)[first], infinite[first], rows, len(values))
    values = np.where(finite, values, np.nan)[finite.any(axis=1)]
    findings = []
    if counts.empty:
        text = f"columns without any value: {list_names(counts.empty)}"
        cures = drop_cure(names, counts.empty)
        findings.append(Finding("missing-values", "error", counts.empty, text, cures))
    findings += inspect_size(len(values), counts.n_rows - len(values))
    findings += inspect_spread(names, *coding.bounds(*finite_extremes(values)))
    if len(values) <= coding.n_columns:
        text = (
            f"there are {coding.n_columns} variables but only {len(values)} rows with values, and "
            "EM needs more rows than variables; leave variables out, or fill in values"
        )
        findings.append(Finding("wide", "error", (), text))
    if len(names) < 2 or any(finding.severity == "error" for finding in findings):
        return findings, None
    fit = fit_em(values, names, coding)
    findings = [_estimated(counts, fit), *findings, *_inspect_pairs(names, values[:, first])]
    return [*findings, *_inspect_fit(fit, values)], fit.moments


def _estimated(counts: MissingCounts, fit: EmFit) -> Finding:
    """What EM made of the missing values."""
    infinite = "; infinite values count as missing" if counts.infinite.any() else ""
    empty = counts.n_rows - fit.n_rows
    left_out = f"; rows without any value, left out: {empty}" if empty else ""
    return Finding(
        "missing-values",
        "warning",
        counts.affected,
        f"{counts}incomplete{infinite}{left_out}. EM uses what they have: effective sample size "
        f"{fit.moments.n_samples:,.0f} of {counts.n_rows:,} rows, right if values are missing at "
        "random",
    )


def _inspect_pairs(names: Sequence[str], values: FloatArray) -> Iterator[Finding]:
    """Pairs of columns that no row has both of."""
    present = (~np.isnan(values)).astype(np.float64)
    first, second = np.nonzero(np.triu(present.T @ present == 0, 1))
    if len(first):
        ends = zip(first.tolist(), second.tolist(), strict=True)
        pairs = [f"{names[i]!r} and {names[j]!r}" for i, j in ends]
        yield Finding(
            "unpaired",
            "warning",
            tuple(names[k] for k in sorted({*first.tolist(), *second.tolist()})),
            f"no row has values of both {shown(pairs, 'pairs', ', of both ')}: nothing shows "
            "whether they depend on each other given the rest, and an edge between them, or its "
            "absence, means nothing; leave one of each pair out",
        )


def _inspect_fit(fit: EmFit, values: FloatArray) -> Iterator[Finding]:
    """How EM ended, and the correlation matrix that it found."""
    moments = fit.moments
    if fit.status == "iterations":
        absent = np.isnan(values[:, moments.coding.starts]).mean(axis=0)
        mostly = [moments.names[k] for k in np.flatnonzero(absent > 0.5)]
        yield Finding(
            "no-convergence",
            "warning",
            (),
            f"EM did not settle within {len(fit.loglik)} passes over the data: some moments are "
            "hardly determined; leave out columns with many missing values",
            drop_cure(moments.names, mostly, "leaves out what most rows lack") if mostly else (),
        )
    if fit.status == "singular":
        yield from _dependences(moments, values)
    else:
        yield from inspect_matrix(dataclasses.replace(moments, n_samples=float(fit.n_rows)))


def _dependences(moments: Moments, values: FloatArray) -> Iterator[Finding]:
    """Why a likelihood has no maximum: what depends on what in rows that have all of most columns.

    EM shows one relation at a time, these rows all that hold among their columns.
    """
    coding, finite = moments.coding, np.isfinite(values[:, moments.coding.starts])
    order = np.argsort(-finite.sum(axis=0), kind="stable")
    complete = np.logical_and.accumulate(finite[:, order], axis=1).sum(axis=0)
    enough = complete >= 2 * np.cumsum(coding.sizes[order])
    fullest = np.sort(order[: enough.sum()])
    rows = values[finite[:, fullest].all(axis=1)]
    chosen = [k for k in fullest.tolist() if (np.ptp(rows[:, coding.columns_of([k])], 0) > 0).all()]
    if len(chosen) > 1:
        part = moments.select([moments.names[k] for k in chosen])
        scales, correlation = split_covariance(np.cov(rows[:, coding.columns_of(chosen)].T))
        part = dataclasses.replace(
            part, n_samples=float(len(rows)), scales=scales, correlation=correlation
        )
        found = list(inspect_matrix(part, rows=False))
        errors = [finding for finding in found if finding.severity == "error"]
        if errors:
            yield from errors
            return
    owners = [moments.names[k] for k in coding.owners]
    columns = tuple(dict.fromkeys(determined_columns(owners, moments.correlation)))
    text = f"the likelihood grows without bound as {columns[0]!r} becomes determined by "
    text += f"{list_names(columns[1:])}: they are linearly dependent, or too few rows have values "
    cures = drop_cure(moments.names, columns[:1])
    yield Finding("linear-dependence", "error", columns, f"{text}of them all", cures)
