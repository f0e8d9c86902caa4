"""Covariance estimators beside the plain one: their names, and what they make of the rows.

Everything is done on the correlation scale, and a column is centred before products are formed, so
that a large offset costs no digits.

Latent correlations are those of the normal variables of which ordinal columns are the pieces. Such
a column y is taken for a standard normal variable z that is cut at thresholds.
These come from the shares of the levels; each correlation is then estimated by itself (the two
steps of U. Olsson, 1979, and of U. Olsson, F. Drasgow and N. Dorans, 1982):

- *polychoric* (of two binary columns: tetrachoric) between two such columns, by maximum likelihood;
- *polyserial* between one and a column of numbers x: cov(x, s) / var(s) with the score
  s(y) = E[z | y], which is the correlation if x depends on z by a line, and costs one product;
- of two columns of numbers: as ever. Indicators of categories count as numbers.

Cutting loses information. With e = var(s), 1 for numbers and 2/π for a cut in the middle, an
estimated correlation has a variance larger than that of numbers by about
(1 - r²)(1/(eₖ eₗ) - 1) / N. These errors do not follow each other as those of a sample covariance
do: where variables are strongly correlated, they make far larger ones of partial correlations. To
first order, with K the inverse of R, the one of i and j has the variance

    1/N + Σₖₗ Kᵢₖ² Kⱼₗ² (1 - rₖₗ²)(1/(eₖ eₗ) - 1) / (N Kᵢᵢ Kⱼⱼ),

and the effective sample size is the harmonic mean over pairs of its inverse, as for
`qwo.moments.em`. (Errors of different pairs are taken for independent.)

Rows that belong together count for less than independent ones: see `design_effect`.
"""

# Long because each estimator comes with what its correlations are worth.

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from qwo.errors import ArgumentError, CovarianceError, Cure, list_names
from qwo.inspection.audit import MIN_SAMPLES, Audit, Code, Finding
from qwo.moments.em import effective_size
from qwo.moments.moments import LATENT, Moments
from qwo.moments.sums import mirror_lower, split_covariance
from qwo.moments.tables import Table
from qwo.options import Kind, estimator_name
from qwo.types import FloatArray, Indices, Mask

if TYPE_CHECKING:
    from qwo.moments.reading import TableReading


def standardized(values: FloatArray, sample: Moments) -> FloatArray:
    """The sample's columns with mean 0 and standard deviation 1."""
    return np.asarray((values - sample.means) / sample.scales)


def regularized(values: FloatArray, sample: Moments, estimator: str | Any) -> Moments:
    """The sample's moments as another covariance estimator sees them, which is left unfitted.

    The estimator works on standardised columns, so that its result does not depend on units. For
    Ledoit-Wolf and OAS shrinkage this leaves the scales alone and multiplies every correlation by
    one number below 1.
    """
    fitted = copy.deepcopy(_named_estimator(estimator))
    fitted.fit(standardized(values, sample))
    if not hasattr(fitted, "covariance_"):
        raise ArgumentError(
            f"covariance_estimator {estimator!r} has no covariance_ after fit; wanted an estimator "
            "that leaves one",
            option="covariance_estimator",
        )
    covariance = _checked(fitted.covariance_, values.shape[1], estimator)
    location = np.asarray(getattr(fitted, "location_", 0.0), dtype=np.float64)
    if location.shape not in ((), (values.shape[1],)) or not np.isfinite(location).all():
        raise ArgumentError(
            f"covariance_estimator {estimator!r} gives location_ as {location!r}; wanted "
            f"{values.shape[1]} numbers",
            option="covariance_estimator",
        )
    spans, correlation = split_covariance(covariance)
    return replace(
        sample,
        means=sample.means + location * sample.scales,
        scales=sample.scales * spans,
        correlation=correlation,
        estimator=estimator_name(estimator),
    )


def _checked(given: Any, size: int, estimator: str | Any) -> FloatArray:
    """The covariance matrix that an estimator made, if it is one by its looks."""
    try:
        covariance = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        covariance = np.empty(0)
    wrong = ""
    if covariance.shape != (size, size):
        wrong = f"shape {np.shape(given)}; wanted ({size}, {size})"
    elif not np.isfinite(covariance).all():
        wrong = f"{(~np.isfinite(covariance)).sum()} missing or infinite entries; wanted numbers"
    elif (np.diagonal(covariance) <= 0).any():
        wrong = f"a diagonal entry of {np.diagonal(covariance).min():g}; wanted them above 0"
    if wrong:
        raise CovarianceError(
            f"covariance_estimator {estimator!r} made a matrix with {wrong}",
            option="covariance_estimator",
        )
    return covariance


def _named_estimator(estimator: str | Any) -> Any:
    """The estimator object behind a keyword."""
    if estimator == "ledoit-wolf":
        from sklearn.covariance import LedoitWolf

        return LedoitWolf(assume_centered=True, store_precision=False)
    if estimator == "oas":
        from sklearn.covariance import OAS

        return OAS(assume_centered=True, store_precision=False)
    return estimator


SETTLED_BY_LATENT: tuple[Code, ...] = ("codes", "binary")
"""Findings that are no doubts any more where ordinal columns are taken for pieces."""

MOST_PIECES = 20
"""Columns of more levels are numbers: their scores s are as good as the normal variable."""

LARGEST = 0.99
"""The largest polychoric correlation; tables with empty corners would give 1."""

LEAST_EIGENVALUE, ITS_ERROR = 0.1, 0.7
"""Eigenvalues are raised to 0.7 √(n/N), about the error of the smallest one, or 0.1 if that is
less: correlations that are estimated pair by pair need not be those of any variables."""

FEW = 20
"""Effective sample size below which hardly an edge can be seen."""

FAR = 40.0
"""A threshold beyond all values."""

NODES = 32
PASSES = 50
SETTLED = 1e-8
PORTION = 1 << 22
"""Terms of a quadrature that are computed at a time."""


class Pieces(NamedTuple):
    """A column as the pieces of a normal variable.

    Each row has the code of its piece; the pieces lie between thresholds from -FAR to FAR; the
    score of one is the mean of the normal variable in it, and the information their variance.
    """

    codes: Indices
    thresholds: FloatArray
    scores: FloatArray
    information: float

    @classmethod
    def of(cls, column: FloatArray) -> Pieces:
        """The pieces that the different values of a column are."""
        _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        shares = counts / len(column)
        inner = ndtri(np.cumsum(shares)[:-1])
        thresholds = np.concatenate(([-FAR], inner, [FAR]))
        scores = -np.diff(_density(thresholds)) / shares
        return cls(codes, thresholds, scores, float(shares @ np.square(scores)))


def latent_correlations(
    moments: Moments, values: FloatArray, kinds: Mapping[str, Kind]
) -> tuple[Moments, Finding]:
    """Latent moments of variables, and what is worth knowing of them.

    Known are the plain moments of their columns, the values of these, and the kinds of variables.
    """
    names = moments.names
    ordered = [k for k, name in enumerate(names) if kinds[name] in ("ordinal", "binary")]
    cut = np.zeros(values.shape[1], dtype=bool)
    cut[moments.coding.starts[ordered]] = True
    latent = latent_moments(values, moments, cut)
    labels, size = tuple(names[k] for k in ordered), latent.n_samples
    few = size < FEW
    return latent, Finding(
        "few-rows" if size < MIN_SAMPLES else "latent",
        "error" if size < MIN_SAMPLES else "warning" if few else "note",
        labels,
        f"{len(ordered)} of {len(names)} variables are treated as grouped normal variables"
        f"{f' ({list_names(labels)})' if ordered else ''}: effective sample size "
        f"{size:.{0 if size >= 10 else 1}f} of {len(values)} rows"
        f"{', which is next to nothing' * few}",
        (Cure("covariance_estimator", "plain", "treats them as scores"),) if few else (),
    )


def latent_moments(values: FloatArray, sample: Moments, cut: Mask) -> Moments:
    """The moments in which columns that are `cut` stand for the normal variables behind them.

    These have mean 0 and standard deviation 1. The sample size is the effective one. The columns,
    whose plain moments are known, have no missing values.
    """
    scores = standardized(values, sample)
    information = np.ones(values.shape[1])
    pieces: dict[int, Pieces] = {}
    for k in np.flatnonzero(cut).tolist():
        own = Pieces.of(values[:, k])
        information[k] = own.information
        scores[:, k] = own.scores[own.codes] / own.information
        if len(own.scores) > MOST_PIECES:
            scores[:, k] *= np.sqrt(own.information)
        else:
            pieces[k] = own
    correlation = scores.T @ scores / len(values)
    correlation[np.diag_indices_from(correlation)] = 1.0
    if len(pieces) > 1:
        places = np.array(list(pieces))
        correlation[np.ix_(places, places)] = polychoric(list(pieces.values()))
    n_rows, n = values.shape
    least = min(ITS_ERROR * math.sqrt(n / n_rows), LEAST_EIGENVALUE)
    correlation = mirror_lower(_made_positive(np.clip(correlation, -1.0, 1.0), least))
    size = effective_size(n_rows * _worth(correlation, information))
    means, scales = np.where(cut, 0.0, sample.means), np.where(cut, 1.0, sample.scales)
    return replace(
        sample,
        n_samples=size,
        means=means,
        scales=scales,
        correlation=correlation,
        estimator=LATENT,
    )


def _worth(correlation: FloatArray, information: FloatArray) -> FloatArray:
    """What a row tells of each partial correlation, of what a row of normal variables would."""
    precision = np.linalg.inv(correlation)
    squares, own = np.square(precision), np.diagonal(precision)
    excess = (1 - np.square(correlation)) * (1 / np.outer(information, information) - 1)
    return np.asarray(1 / (1 + squares @ excess @ squares / np.outer(own, own)))


def polychoric(columns: list[Pieces]) -> FloatArray:
    """The polychoric correlation of every two columns, by Fisher's scoring within a bracket.

    With Φ₂ the normal distribution of two variables and φ₂ its density, ∂Φ₂/∂ρ = φ₂ (Plackett,
    1954), so that probabilities of cells and their derivatives are differences at corners.
    """
    n, most = len(columns), max(len(own.scores) for own in columns)
    thresholds = np.full((n, most + 1), FAR)
    member = np.zeros((len(columns[0].codes), n, most))
    rows = np.arange(len(member))
    for k, own in enumerate(columns):
        thresholds[k, : len(own.thresholds)] = own.thresholds
        member[rows, k, own.codes] = 1.0
    flat = member.reshape(len(member), -1)
    tables = (flat.T @ flat).reshape(n, most, n, most).transpose(0, 2, 1, 3)
    first, second = np.triu_indices(n, 1)
    step = max(PORTION // ((most + 1) ** 2 * NODES), 1)
    found = np.eye(n)
    for start in range(0, len(first), step):
        i, j = first[start : start + step], second[start : start + step]
        found[i, j] = found[j, i] = _likeliest(tables[i, j], thresholds[i], thresholds[j])
    return found


def _likeliest(tables: FloatArray, upper: FloatArray, left: FloatArray) -> FloatArray:
    """The correlation of largest likelihood of each table, given its thresholds."""
    low, high = np.full((2, len(tables)), LARGEST) * [[-1.0], [1.0]]
    at, left_over = np.zeros(len(tables)), np.arange(len(tables))
    for _ in range(PASSES):
        k, now = left_over, at[left_over]
        slope, information = _slope(tables[k], upper[k], left[k], now)
        low[k], high[k] = np.where(slope > 0, now, low[k]), np.where(slope > 0, high[k], now)
        ahead = now + slope / information
        inside = (low[k] < ahead) & (ahead < high[k])
        at[k] = np.where(inside, ahead, (low[k] + high[k]) / 2)
        left_over = k[np.abs(at[k] - now) > SETTLED]
        if not len(left_over):
            break
    return at


def _slope(
    tables: FloatArray, upper: FloatArray, left: FloatArray, correlation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The derivative of the log-likelihood, and what is expected of minus the second."""
    cells = np.maximum(_differences(normal_cdf(upper, left, correlation)), 1e-300)
    slopes = _differences(_density_of_two(upper, left, correlation))
    slope = (tables * slopes / cells).sum(axis=(1, 2))
    expected = tables.sum(axis=(1, 2)) * (np.square(slopes) / cells).sum(axis=(1, 2))
    return slope, expected


def normal_cdf(h: FloatArray, k: FloatArray, correlation: FloatArray) -> FloatArray:
    """P(x < h, y < k) of standard normal x and y, for every threshold of one and of the other.

    Φ(h) Φ(k) + (1/2π) ∫₀^{asin ρ} exp(-(h² + k² - 2hk sin θ) / (2 cos² θ)) dθ, by the quadrature
    of Gauss (Z. Drezner and G. Wesolowsky, 1990). The thresholds of m pairs are m×a and m×b.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    end = np.arcsin(correlation)[:, None]
    angles, parts = end * (nodes + 1) / 2, end * weights / 2
    one, two = h[:, :, None, None], k[:, None, :, None]
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    exponents = (one**2 + two**2 - 2 * one * two * sine) / (2 * cosine**2)
    area = np.einsum("mabq,mq->mab", np.exp(-exponents), parts) / (2 * np.pi)
    return np.asarray(ndtr(h)[:, :, None] * ndtr(k)[:, None, :] + area)


def _density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def _density_of_two(h: FloatArray, k: FloatArray, correlation: FloatArray) -> FloatArray:
    """φ₂ at every two thresholds."""
    one, two, rho = h[:, :, None], k[:, None, :], correlation[:, None, None]
    rest = 1 - rho**2
    exponents = (one**2 + two**2 - 2 * rho * one * two) / (2 * rest)
    return np.asarray(np.exp(-exponents) / (2 * np.pi * np.sqrt(rest)))


def _differences(corners: FloatArray) -> FloatArray:
    """What lies between neighbouring corners."""
    return np.asarray(np.diff(np.diff(corners, axis=1), axis=2))


def _made_positive(correlation: FloatArray, least: float) -> FloatArray:
    """The matrix with smaller eigenvalues raised to the least, and ones on its diagonal."""
    values, vectors = np.linalg.eigh(correlation)
    if values[0] >= least:
        return correlation
    raised = (vectors * np.maximum(values, least)) @ vectors.T
    scales = np.sqrt(np.diagonal(raised))
    raised /= np.outer(scales, scales)
    raised[np.diag_indices_from(raised)] = 1.0
    return np.asarray(raised)


FEWEST_CLUSTERS = 3
"""Clusters without which nothing can be told of how they differ."""

FEW_CLUSTERS = 20
"""Clusters below which that is rough."""

EXPLAINED = ("serial", "repeated-rows", "clusters")
"""What the audit says of dependent rows where nobody has told it of clusters."""


def cluster_numbers(reading: TableReading) -> Indices:
    """The number of the cluster of each row; refused where a row has none, or clusters are few."""
    assert reading.group is not None
    name, labels = str(reading.reader.names[reading.group]), reading.labels()
    without = int((labels == "").sum())
    if without:
        raise ArgumentError(
            f"{without} rows have no value of {name!r}, the column of clusters; leave these rows "
            "out, or give them a cluster",
            [name],
            option="cluster",
        )
    different, numbers = np.unique(labels, return_inverse=True)
    if len(different) < FEWEST_CLUSTERS:
        raise ArgumentError(
            f"{name!r} has {len(different)} different values, but clusters are many, such as "
            "patients; to tell conditions apart, give regime, or keep it as a variable",
            [name],
            option="cluster",
        )
    return numbers.astype(np.intp)


def design_effect(columns: FloatArray, clusters: Indices) -> float:
    """By how much clusters raise the variance of a sum of products, on average over all pairs.

    Of two variables whose shares of variance between clusters are ρ₁ and ρ₂ (intraclass
    correlations), a sum of products over rows has 1 + (m - 1) ρ₁ρ₂ times the variance of one over
    independent rows, m being the mean size of the cluster of a row (Moulton 1986). The mean over
    all pairs of variables divides N. A pair of variables that are constant within clusters is worth
    less than that, a pair that varies freely more: what each edge is worth, a bootstrap that draws
    whole clusters tells.
    """
    shares = intraclass_correlations(columns, clusters)
    n, counts = len(shares), np.bincount(clusters)
    size = float((counts.astype(np.float64) ** 2).sum() / counts.sum())
    pairs = (shares.sum() ** 2 - (shares**2).sum()) / max(n * (n - 1), 1)
    return 1.0 + max(size - 1.0, 0.0) * float(pairs)


def intraclass_correlations(columns: FloatArray, clusters: Indices) -> FloatArray:
    """The share of the variance of each column between clusters, by analysis of variance."""
    counts = np.bincount(clusters).astype(np.float64)
    n_rows, n_clusters = counts.sum(), len(counts)
    order = np.argsort(clusters, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts[:-1])]).astype(np.intp)
    centred = columns[order] - columns.mean(axis=0)
    means = np.add.reduceat(centred, starts, axis=0) / counts[:, None]
    between = (counts[:, None] * means**2).sum(axis=0)
    within = np.maximum((centred**2).sum(axis=0) - between, 0.0) / max(n_rows - n_clusters, 1.0)
    typical = (n_rows - (counts**2).sum() / n_rows) / (n_clusters - 1)
    variance = np.maximum(between / (n_clusters - 1) - within, 0.0) / max(typical, 1e-300)
    total = variance + within
    shares: FloatArray = np.divide(variance, total, out=np.zeros_like(total), where=total > 0)
    return shares


def effective_share(table: Table) -> float:
    """What a row counts as, of an independent one; 1 where rows stand for themselves.

    Rows in which something is missing take no part in comparing clusters.
    """
    if table.clusters is None:
        return 1.0
    complete = np.isfinite(table.values).all(axis=1)
    rows = table.rows(complete) if complete.sum() > 2 * FEWEST_CLUSTERS else table
    assert rows.clusters is not None
    _, clusters = np.unique(rows.clusters, return_inverse=True)
    return 1.0 / design_effect(np.nan_to_num(rows.columns()), clusters)


def with_effective_size(found: Moments | Audit, table: Table) -> Moments | Audit:
    """Moments with the effective N of clustered rows; as they are where rows are on their own."""
    if table.clusters is None:
        return found
    audit = (found if isinstance(found, Audit) else found.audit()).without(EXPLAINED)
    if isinstance(found, Audit):
        return audit
    size, many = effective_share(table) * found.n_samples, len(np.unique(table.clusters))
    rough = f"; from {many} clusters that is rough" if many < FEW_CLUSTERS else ""
    note = Finding(
        "effective-size",
        "warning" if rough else "note",
        (),
        f"{found.n_samples:.10g} rows in {many} clusters count as {size:.0f} independent ones, "
        f"because rows of a cluster resemble each other{rough}",
    )
    return replace(found, n_samples=size, found=audit.beside(after=[note]))
