"""Moments of the present with copies of earlier rows as given columns; knowledge; equations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from qwo.columns.recipes import Coding, column_names
from qwo.errors import ArgumentError, Cure, KnowledgeError
from qwo.graph.knowledge import Knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.moments.curves import orthonormal
from qwo.moments.em import estimate_incomplete
from qwo.moments.moments import Moments
from qwo.moments.sums import PartialSums, split_covariance
from qwo.series.reading import SeriesData, check_length
from qwo.series.sums import (
    CHUNK,
    LagSums,
    corrected_covariance,
    lag_sums,
    stacked_rows,
    usable_rows,
)
from qwo.types import Adjacency, FloatArray, Indices

PRESENT = "[t]"


def lag_names(series: SeriesData, n_lags: int, step: int = 1) -> tuple[str, ...]:
    """The variables, and behind them those that change, so many rows earlier."""
    moving = [series.names[v] for v in series.moving.tolist()]
    earlier = [f"{name}[t-{k * step}]" for k in range(1, n_lags + 1) for name in moving]
    return column_names([*series.names, *earlier])


def lag_coding(series: SeriesData, n_lags: int, step: int = 1) -> Coding:
    """The recipes of these variables: what never changes is given, and so are earlier rows."""
    all_variables = enumerate(series.coding.variables)
    own = [v if v.source == k else replace(v, source=k) for k, v in all_variables]
    static = set(series.static.tolist())
    present = [replace(v, role="given") if k in static else v for k, v in enumerate(own)]
    earlier = [
        replace(own[v], lag=k * step, role="given")
        for k in range(1, n_lags + 1)
        for v in series.moving.tolist()
    ]
    return Coding((*present, *earlier))


def moving_columns(series: SeriesData) -> Indices:
    """The columns of the variables that change."""
    return series.coding.columns_of(series.moving)


def centred_columns(series: SeriesData, *, within: bool) -> FloatArray:
    """The columns, less the mean of their unit if asked for; what never changes stays."""
    columns = series.columns()
    if not within:
        return columns
    codes, moving = series.unit_of_rows, moving_columns(series)
    result = np.array(columns)
    for unit in np.unique(codes):
        own = codes == unit
        result[np.ix_(own, moving)] -= np.nanmean(columns[np.ix_(own, moving)], axis=0)
    return result


def rows_with_lags(
    series: SeriesData, n_lags: int, step: int = 1, *, within: bool = False
) -> tuple[FloatArray, Indices]:
    """Rows with their lagged copies, and how many each series has."""
    columns, above = centred_columns(series, within=within), n_lags * step
    lagged = moving_columns(series)
    rows = stacked_rows(columns, series.bounds, n_lags, step=step, lagged=lagged)
    return rows, np.maximum(series.lengths - above, 0)


def lag_moments(series: SeriesData, n_lags: int, step: int = 1, *, within: bool = False) -> Moments:
    """The moments of all rows that have so many lags.

    Missing values, if there are any, go to EM on the rows with their lagged copies.
    """
    check_length(series, n_lags, step, usable_rows(series.all_lengths, n_lags, step))
    lagged = moving_columns(series)
    if series.streamed is not None:
        if step > 1:
            raise ArgumentError(
                f"rows are too close in time, each nearly what the one before was, and the file is "
                f"read piece by piece; keep every {step}th row, or say how many single rows back",
                option="lags",
                cures=[Cure("lags", 3, "looks back row by row")],
            )
        width = len(series.names) + n_lags * len(lagged)
        return moments_of_sums(series.streamed.sums.first(width), series, n_lags, within=within)
    columns = series.columns()
    if not np.isfinite(columns).all():
        names, coding = lag_names(series, n_lags, step), lag_coding(series, n_lags, step)
        rows, _ = rows_with_lags(series, n_lags, step, within=within)
        findings, moments = estimate_incomplete(names, coding, rows)
        if moments is None:
            raise KnowledgeError("; ".join(f.message for f in findings if f.severity == "error"))
        return moments
    units = series.units if within else None
    sums = lag_sums(columns, series.bounds, n_lags, step=step, lagged=lagged, units=units)
    return moments_of_sums(sums, series, n_lags, step, within=within)


def moments_of_sums(
    sums: LagSums, series: SeriesData, n_lags: int, step: int = 1, *, within: bool = False
) -> Moments:
    """Sums as moments; a mean for each unit costs as many rows as there are units."""
    covariance, size = sums.covariance.copy(), float(sums.rows)
    if within:
        present = moving_columns(series)
        behind = series.coding.n_columns + np.arange(n_lags * len(present))
        blocks = np.vstack([present, behind.reshape(n_lags, -1)])
        covariance, size = sums.within(blocks.ravel()), size - len(sums.unit_rows)
        better = corrected_covariance(covariance, blocks, sums.unit_rows) if step == 1 else None
        covariance = covariance if better is None else better
    still = np.diagonal(covariance) <= 1e-24 * np.maximum(sums.means**2, 1e-280)
    covariance[still, still] = 1.0
    scales, correlation = split_covariance(covariance)
    names, coding = lag_names(series, n_lags, step), lag_coding(series, n_lags, step)
    return Moments(names, max(size, 3.0), sums.means, scales, correlation, coding=coding)


def lag_blocks(series: SeriesData, n_lags: int) -> Indices:
    """The columns that change, of the present and of each lag: (L + 1)×n."""
    present = moving_columns(series)
    behind = series.coding.n_columns + np.arange(n_lags * len(present))
    return np.vstack([present, behind.reshape(n_lags, -1)])


def unbiased(
    covariance: FloatArray, series: SeriesData, n_lags: int, lengths: FloatArray
) -> FloatArray:
    """The covariance without the bias of the means of units of these lengths, where it is told."""
    better = corrected_covariance(covariance, lag_blocks(series, n_lags), lengths)
    return covariance if better is None else better


def curved_lag_moments(moments: Moments, rows: FloatArray, curved: Coding) -> Moments:
    """The moments of rows with their lagged copies, and of functions of their columns."""
    sums = PartialSums(curved.n_columns)
    pairs = list(zip(curved.variables, moments.coding.starts.tolist(), strict=True))
    for first in range(0, len(rows), CHUNK):
        own = rows[first : first + CHUNK]
        parts = [
            own[:, start : start + v.size] if v.curve is None else v.curve.columns(own[:, start])
            for v, start in pairs
        ]
        sums.add(np.hstack(parts))
    found = orthonormal(sums.moments(moments.names, curved, overwrite=True))
    return replace(found, n_samples=moments.n_samples)


def lagged_knowledge(
    knowledge: Knowledge | None, series: SeriesData, n_lags: int, step: int
) -> ResolvedKnowledge:
    """What is known of the present and of lagged effects: nothing causes what is given.

    A variable without a lag stands for all of its lags in what is forbidden, also by tiers, roots
    and leaves, and for the present in what is required. Its own past is never forbidden by that.
    What is forbidden further back than lags look is not there anyway.
    """
    names = lag_names(series, n_lags, step)
    n, width, moving = len(series.names), len(names), series.moving
    forbidden, required = np.zeros((width, width), bool), np.zeros((width, width), bool)
    before = np.zeros((width, width), bool)
    if knowledge is not None:
        at_all_lags, present, lagged = _split(knowledge, names, n)
        always, now = at_all_lags.resolve(series.names), present.resolve(series.names)
        forbidden[:n, :n], required[:n, :n] = now.forbidden, now.required
        before[:n, :n] = now.before
        copied = always.forbidden.copy()
        np.fill_diagonal(copied, val=False)
        for k in range(1, n_lags + 1):
            first = n + (k - 1) * len(moving)
            forbidden[first : first + len(moving), :n] |= copied[moving]
        for cause, effect, must in lagged:
            (required if must else forbidden)[cause, effect] = True
        both = np.argwhere(required & forbidden)
        if len(both):
            cause, effect = (names[k] for k in both[0])
            raise KnowledgeError(
                f"{cause} → {effect} is required, but it is forbidden too; drop one of the two",
                [cause, effect],
            )
    forbidden[:, [*series.static.tolist(), *range(n, width)]] = True
    np.fill_diagonal(forbidden, val=False)
    wrong = np.argwhere(required & forbidden)
    if len(wrong):
        cause, effect = (names[k] for k in wrong[0])
        raise KnowledgeError(f"{cause} → {effect} is required, but nothing causes {effect!r}")
    return ResolvedKnowledge(names, forbidden, required, before)


def _split(
    knowledge: Knowledge, names: tuple[str, ...], n: int
) -> tuple[Knowledge, Knowledge, list[tuple[int, int, bool]]]:
    """Knowledge in parts: at all lags, at the present, and at one lag."""
    places = {name: k for k, name in enumerate(names)}
    lagged: list[tuple[int, int, bool]] = []
    plain: dict[str, list[tuple[Any, Any]]] = {"forbidden": [], "required": []}
    present: dict[str, list[tuple[Any, Any]]] = {"forbidden": [], "required": []}
    for field in ("forbidden", "required"):
        for cause, effect in getattr(knowledge, field):
            bare = _bare(cause), _bare(effect)
            if bare != (cause, effect):
                present[field].append(bare)
            elif cause in places and places[cause] >= n:
                if effect not in places or places[effect] >= n:
                    raise KnowledgeError(
                        f"{field}: {cause} → {effect}: the effect of a lagged cause is a variable "
                        "without a lag"
                    )
                lagged.append((places[cause], places[effect], field == "required"))
            elif (back := _beyond(cause, names[:n])) and effect in places:
                if field == "required":
                    raise KnowledgeError(
                        f"{cause} → {effect} is required, but lags do not look {back} rows back; "
                        f"ask for more (lags={back})"
                    )
            else:
                plain[field].append((cause, effect))
    kept = ("tiers", "forbidden_within_tiers", "roots", "leaves")
    rest: dict[str, Any] = {name: getattr(knowledge, name) for name in kept}
    always = Knowledge(forbidden=plain["forbidden"], **rest)
    now = Knowledge(
        forbidden=plain["forbidden"] + present["forbidden"],
        required=plain["required"] + present["required"],
        **rest,
    )
    return always, now, lagged


def _beyond(cause: object, names: Sequence[str]) -> int:
    """How many rows back a cause is of which there is no copy; 0 if it is no lagged variable."""
    found = re.fullmatch(r"(.+)\[t-(\d+)\]", str(cause))
    return int(found[2]) if found and found[1] in names else 0


def _bare(variable: object) -> object:
    if isinstance(variable, str) and variable.endswith(PRESENT):
        return variable.removesuffix(PRESENT)
    return variable


class Equations(NamedTuple):
    """Coefficients, standard errors and residual variances, in the units of the data.

    Entry (i, j) of the first two belongs to i → j, over variables; NaN where one of them has
    several columns, and 0 where there is no edge.
    """

    coefficients: FloatArray
    errors: FloatArray
    variances: FloatArray


def equations_of(moments: Moments, dag: Adjacency, children: Indices) -> Equations:
    """The equation of each child, by least squares; rows less coefficients are left for its noise.

    For a category of several levels there is no one coefficient.
    """
    coding, n = moments.coding, len(dag)
    covariance = moments.covariance
    coefficients, errors = np.zeros((n, n)), np.zeros((n, n))
    variances = np.full(len(children), np.nan)
    for k, child in enumerate(children.tolist()):
        parents = np.flatnonzero(dag[:, child])
        if coding.sizes[child] != 1:
            coefficients[parents, child] = errors[parents, child] = np.nan
            continue
        own, columns = int(coding.starts[child]), coding.columns_of(parents)
        among = covariance[np.ix_(columns, columns)]
        inverse = inverse_of(among)
        slopes = inverse @ covariance[columns, own]
        left = max(float(covariance[own, own] - covariance[columns, own] @ slopes), 0.0)
        free = max(moments.n_samples - len(columns) - 1, 1.0)
        scatter = left * moments.n_samples / free if np.isfinite(free) else left
        variances[k] = scatter
        spread = np.sqrt(np.maximum(scatter * np.diagonal(inverse), 0) / moments.n_samples)
        single = coding.sizes[parents] == 1
        starts = np.cumsum(coding.sizes[parents]) - coding.sizes[parents]
        coefficients[parents, child] = np.where(single, slopes[starts], np.nan)
        errors[parents, child] = np.where(single, spread[starts], np.nan)
    return Equations(coefficients, errors, variances)


def strengths_of(moments: Moments, dag: Adjacency, children: Indices) -> FloatArray:
    """By how much each variable raises twice the log-likelihood of each child, or would raise it.

    That of a parent beside the other parents, and of any other variable beside all of them, as a
    straight line; NaN where one of the two has several columns, and for a variable and itself.
    """
    correlation, coding = moments.correlation, moments.coding
    single = coding.sizes == 1
    found = np.full((len(dag), len(children)), np.nan)
    for k, child in enumerate(children.tolist()):
        if not single[child]:
            continue
        parents = np.flatnonzero(dag[:, child])
        own, columns = int(coding.starts[child]), coding.columns_of(parents)
        inverse, across = inverse_of(correlation[np.ix_(columns, columns)]), correlation[columns]
        slopes = inverse @ across[:, own]
        left = max(1 - float(across[:, own] @ slopes), 1e-12)
        spread = 1 - np.einsum("pc,pq,qc->c", across, inverse, across, optimize=True)
        told = (correlation[own] - slopes @ across) ** 2 / np.maximum(spread, 1e-9)
        raised = -np.log1p(-np.minimum(told / left, 1 - 1e-12))
        raised[columns] = np.log1p(slopes**2 / np.maximum(np.diagonal(inverse), 1e-300) / left)
        found[single, k] = moments.n_samples * raised[coding.starts[single]]
        found[child, k] = np.nan
    return found


def inverse_of(among: FloatArray) -> FloatArray:
    """The inverse, or that of Moore and Penrose where columns follow from each other."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(among))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(among, hermitian=True))
    return np.asarray(root.T @ root)
