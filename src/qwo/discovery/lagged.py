"""The graph of rows in the order of time: earlier rows are given columns, which nothing causes.

The present variables are searched as always; their parents may be each other and copies of earlier
rows. What the copies explain are lagged effects, and their arrows are known, which directs edges of
the present that a table of independent rows leaves open.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from qwo.arguments import ReadArguments
from qwo.compute import one_blas_thread
from qwo.curved.arrows import NoiseArrows
from qwo.curved.result import CurvedRelations
from qwo.discovery.curved import DensityRows, Searched, asked_columns, by_noise
from qwo.discovery.lagged_with import (
    CurvedLags,
    check_curved_lags,
    lagged_regime_options,
    regime_data,
    searched_regimes,
    with_curved_lags,
    without_uneven_edges,
)
from qwo.discovery.result import Discovery
from qwo.errors import Cure, DataWarning
from qwo.graph.knowledge import Knowledge
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from qwo.inspection.findings import MOST_PAIRED, independent_share
from qwo.moments import Moments
from qwo.moments.curves import MOST_ROWS, RowSample, refuse_rowless
from qwo.options import DEFAULTS, ReadOptions, SearchOptions
from qwo.search.control import Control
from qwo.series.design import equations_of, lag_moments, lagged_knowledge, rows_with_lags
from qwo.series.lags import (
    FEWEST_STEPS,
    LagChoice,
    choose_lags,
    goes_on,
    looks_far_back,
    mean_autocorrelation,
    pays,
    residual_rows,
    smooth_step,
)
from qwo.series.prepared import made_stationary, prepared_series
from qwo.series.reading import MOST_LAGS, SeriesData, read_series
from qwo.series.responses import LagDesign, by_lag
from qwo.series.result import LaggedEffects
from qwo.series.stationarity import unlike_units
from qwo.series.sums import row_numbers
from qwo.text import count
from qwo.types import Adjacency, FloatArray, Indices

SERIES_OPTIONS = ("lags", "time", "unit", "within", "difference", "detrend", "season")

OTHER_OPTIONS = ("relations", "arrows", "level", "regime", "targets", "reference", "effect")
"""Options that are answered here as well."""

DEPENDENT = 0.8
"""Share of rows that residuals are worth below which lags have not explained their dependence."""

SEEN = 2.0
"""Standard errors of a correlation of residuals from which on the density may join a pair."""


class _Task(NamedTuple):
    """Series with their lags chosen: moments of the present and its copies, and all columns."""

    series: SeriesData
    choice: LagChoice
    moments: Moments
    rows: float
    within: bool
    known: ResolvedKnowledge
    asked: SearchOptions

    def rows_with_lags(self) -> tuple[FloatArray, Indices]:
        """Rows with their lagged copies, and how many each series has."""
        choice = self.choice
        return rows_with_lags(self.series, choice.lags, choice.step, within=self.within)


def discover_lagged(
    data: Any, options: SearchOptions, reading: ReadArguments, control: Control
) -> Discovery:
    """`discover` with ``lags=``: read series, choose lags, search, read off lagged effects."""
    curved = options.relations == "curved"
    asked, reading = asked_columns(reading) if curved else (1, reading)
    if curved or options.arrows == "noise":
        what = 'relations="curved"' if curved else 'arrows="noise"'
        refuse_rowless(data, ReadOptions(**reading), what)
    options = lagged_regime_options(data, options, reading)
    series = prepared_series(read_series(data, options, reading), options)
    if options.random_state is None:
        drawn = int(np.random.SeedSequence().generate_state(1)[0])
        options = replace(options, random_state=drawn)
    if curved:
        check_curved_lags(series)
        options = replace(options, arrows=options.arrows or "noise")
    lags = options.lags if isinstance(options.lags, int) else MOST_LAGS
    with one_blas_thread(float(series.values.size) * len(series.names) * (lags + 1)):
        return _by_lags(series, options, control, asked)


def _by_lags(
    series: SeriesData, options: SearchOptions, control: Control, asked: int | None
) -> Discovery:
    """The result of series as they are, beside that of single rows if these are too close."""
    learnt = partial(_learnt, control=control, columns=asked)
    unlike = [] if options.within else unlike_units(series)
    steady = partial(made_stationary, series, options, unlike, partial(pays, options=options))
    if options.lags == "auto" and goes_on(series):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            smooth = goes_on(steady()[0])  # and not for its seasons alone
        finely = learnt(series, options, quiet=True) if smooth else None
        if finely and looks_far_back(cast("LaggedEffects", finely.series).matrices):
            return _as_told_of_fine_rows(finely, series, options, learnt)
    series, options = steady()
    return learnt(series, options)


def _as_told_of_fine_rows(
    finely: Discovery, series: SeriesData, options: SearchOptions, learnt: Callable[..., Discovery]
) -> Discovery:
    """The result where rows are too close in time, with that of single rows; and a warning."""
    single, step = cast("LaggedEffects", finely.series), smooth_step(series)
    told = (
        "rows are too close in time: each goes on where those before were going, and the mean "
        f"autocorrelation from one to the next is {mean_autocorrelation(series, 1):.2f}"
    )
    if step == 1 or series.lengths.sum() < FEWEST_STEPS * step:
        found = finely
        told += (
            f". Lags {step} rows apart would leave fewer than {FEWEST_STEPS} steps, so that they "
            "are of single rows; effects that take longer may be missed"
        )
        cure = Cure("lags", 0, "compares with a graph of what goes together, whatever came before")
    else:
        found = learnt(series, options, step=step)
        effects = replace(cast("LaggedEffects", found.series), row_by_row=single)
        found = replace(found, series=effects)
        told += (
            f". Lags are {effects.step} rows apart, and {effects.n_rows:.0f} rows count as "
            f"{effects.n_effective:.0f}: {effects.in_short()}. Lags of single rows find "
            f"{single.in_short()} (series.row_by_row)"
        )
        cure = Cure("lags", 3, "looks back row by row")
    warnings.warn(DataWarning(told, cures=[cure]), stacklevel=7)
    return found


def _learnt(
    series: SeriesData,
    options: SearchOptions,
    *,
    control: Control,
    columns: int | None,
    step: int = 1,
    quiet: bool = False,
) -> Discovery:
    """The result with lags as they are asked for, or found."""
    within = options.within
    choice = choose_lags(series, options, step=step, control=control)
    moments = lag_moments(series, choice.lags, choice.step, within=within)
    given = cast("Knowledge | None", options.knowledge)
    known = lagged_knowledge(given, series, choice.lags, choice.step)
    task = _Task(series, choice, moments, moments.n_samples, within, known, options)
    if choice.step > 1 or choice.lags == 0:
        moments = replace(moments, n_samples=max(task.rows * _share(task, options, control), 3.0))
        task = task._replace(moments=moments)
    if series.regimes is not None:
        return _by_regimes(task, options, control)
    found = _searched(task, options, control)
    if options.relations != "curved" and not options.feedback and found.status == "converged":
        found, task = _without_uneven(found, task, options, control)
    first = last = CurvedLags(found, moments, {})
    noise, curves = None, None
    if options.relations == "curved" or options.arrows == "noise":
        last, noise, curves = _by_rows(last, task, options, control, columns)
    if choice.step == 1 and choice.lags > 0 and not quiet and control.remaining > 0:
        _check_whiteness(task, last)
    found = _as_result(last, task, options)
    if curves is not None:
        found = replace(found, params={**found.params, "basis": curves.size})
    found = replace(found, noise=noise, curves=curves)
    if not options.feedback:
        return found
    from qwo.discovery.feedback import MOST_ROWS_OF_CYCLES, with_cycles, with_noise

    if options.arrows != "noise":
        return with_cycles(found, task.moments, options, control)
    cyclic = with_cycles(_as_result(first, task, options), task.moments, options, control)
    sample = _row_sample(task.rows_with_lags()[0], options, MOST_ROWS_OF_CYCLES)
    return with_noise(cyclic, lambda: found, (task.moments, sample), options, control)


def _without_uneven(
    found: Discovery, task: _Task, options: SearchOptions, control: Control
) -> tuple[Discovery, _Task]:
    """The result without edges that few rows carry, and its task, which knows of none of them."""
    if not np.isfinite(task.series.values).all():
        return found, task
    rows = task.rows_with_lags()[0]
    found, known, notes = without_uneven_edges(
        (found, task.moments, rows, task.known),
        lambda known: _searched(task._replace(known=known), options, control),
    )
    series = replace(task.series, notes=(*task.series.notes, *notes))
    return found, task._replace(series=series, known=known)


def _by_regimes(task: _Task, options: SearchOptions, control: Control) -> Discovery:
    """The result with equations that may change from condition to condition."""
    rows, _ = task.rows_with_lags()
    series = task.series
    assert series.regimes is not None
    regimes = series.regimes[row_numbers(series.bounds, task.choice.lags * task.choice.step)]
    given = regime_data(series, task.moments, rows, regimes)
    task = task._replace(moments=given.within)
    first = _searched(task, replace(options, restarts=0, time_limit=None), control)
    found = searched_regimes(first, given, options, control, task.known)
    return _as_result(CurvedLags(found, task.moments, {}), task, options)


def _by_rows(
    linear: CurvedLags, task: _Task, options: SearchOptions, control: Control, columns: int | None
) -> tuple[CurvedLags, NoiseArrows | None, CurvedRelations | None]:
    """The result by curves, if asked for, with arrows of the present turned by the noise."""
    rows, _ = task.rows_with_lags()
    last = linear
    if options.relations == "curved":
        search = partial(_searched, task, options, control)
        last = with_curved_lags(
            linear, rows, options, columns, known=task.known, control=control, search=search
        )
    sample = _row_sample(rows, options, MOST_ROWS)
    noise = None
    if options.arrows == "noise" and sample.is_enough and last.found.status == "converged":
        last, noise = _by_noise((linear, last), task, sample, options, control)
    curves = None
    if options.relations == "curved":
        own = last.moments, last.found.dag, last.costs
        curves = CurvedRelations.of(*own, sample, task.moments.coding)
    return last, noise, curves


def _row_sample(rows: FloatArray, options: SearchOptions, most: int) -> RowSample:
    """At most so many of the rows, in their order."""
    if len(rows) <= most:
        return RowSample(rows, None, len(rows))
    rng = np.random.default_rng(options.random_state)
    chosen = np.sort(rng.choice(len(rows), most, replace=False))
    return RowSample(rows[chosen], None, len(rows))


def _by_noise(
    by: tuple[CurvedLags, CurvedLags],
    task: _Task,
    sample: RowSample,
    options: SearchOptions,
    control: Control,
) -> tuple[CurvedLags, NoiseArrows]:
    """The result with arrows of the present turned by the density of residuals given the past."""
    (linear, last), n = by, len(task.series.names)
    before = task.known.before.copy()
    before[n:, :n] = True
    known = replace(task.known, before=before)
    children = np.flatnonzero(task.moments.coding.sizes[:n] == 1)
    left = residual_rows(task.moments, linear.found.dag, sample.columns, children)
    also = np.zeros(linear.found.dag.shape, bool)
    # What noise of any shape explains may be too weak for the Gaussian cost.
    near = np.abs(np.atleast_2d(np.corrcoef(left.T))) > SEEN / np.sqrt(len(left))
    also[np.ix_(children, children)] = near & ~np.eye(len(children), dtype=bool)
    rows = DensityRows(sample, task.moments.coding)
    first = Searched(linear.found, linear.moments, rows)
    bent = first if last is linear else Searched(last.found, last.moments, rows)
    turned, noise = by_noise(first, bent, options, control, known=known, also=also)
    return CurvedLags(turned.found, turned.moments, last.costs), noise.among(n)


def _searched(
    task: _Task, options: SearchOptions, control: Control, moments: Moments | None = None
) -> Discovery:
    """The search over the present and its copies, with nothing but the present moved."""
    from qwo.discovery.discover import discover_as

    plain = {name: DEFAULTS[name] for name in (*SERIES_OPTIONS, *OTHER_OPTIONS)}
    own = replace(options, **plain, knowledge=None)
    return discover_as(moments or task.moments, own, control=control, limits=task.known)


def _share(task: _Task, options: SearchOptions, control: Control) -> float:
    """The share of rows that count where lags do not explain how rows depend on each other."""
    # A graph of too many edges would explain the dependence by chance.
    few = replace(task.moments, n_samples=max(task.rows / task.choice.step, 3.0))
    first = _searched(task, replace(options, restarts=0, penalty_discount=2.0), control, few)
    return _residual_share(task, first.dag)


def _residual_share(task: _Task, dag: Adjacency) -> float:
    series, choice = task.series, task.choice
    single = [v for v in series.moving if series.coding.sizes[v] == 1]
    children = np.array(single[:MOST_PAIRED], np.intp)
    if not len(children) or not np.isfinite(series.values).all():
        return 1 / choice.step
    stacked, lengths = task.rows_with_lags()
    left = residual_rows(task.moments, dag, stacked, children)
    return independent_share(left.T, lengths)


def _check_whiteness(task: _Task, last: CurvedLags) -> None:
    if last.moments.coding.has_curves:
        return
    share, lags = _residual_share(task, last.found.dag), task.choice.lags
    if share < DEPENDENT:
        warning = DataWarning(
            f"with {count(lags, 'lag')} the residuals still depend on earlier ones: {share:.0%} of "
            "the rows is what they are worth, so that too many edges are drawn",
            cures=[Cure("lags", lags + 2, "looks further back")],
        )
        warnings.warn(warning, stacklevel=8)


def _as_result(last: CurvedLags, task: _Task, options: SearchOptions) -> Discovery:
    """The result over the present variables, with lagged effects beside the graph."""
    found = last.found
    series, choice = task.series, task.choice
    n = len(series.names)
    present = found.order[found.order < n]
    arrows = found.arrow_evidence
    if arrows is not None:
        own = np.flatnonzero((arrows.causes < n) & (arrows.effects < n))
        by_edge = ("causes", "effects", "worths", "discounted")
        kept: dict[str, Any] = {name: getattr(arrows, name)[own] for name in by_edge}
        arrows = replace(arrows, **kept, hanging=arrows.hanging[np.ix_(own, own)])
    evidence = found.evidence
    if evidence is not None:
        evidence = evidence.among((evidence.causes < n) & (evidence.effects < n))
    params = {name: value for name, value in found.params.items() if name != "variables"}
    params |= {name: getattr(options, name) for name in (*SERIES_OPTIONS, *OTHER_OPTIONS)}
    params |= {"lags": choice.lags, "lags_chosen": options.lags == "auto", "step": choice.step}
    if not series.coding.is_plain:
        params["variables"] = series.coding.described(series.names)
    dag = found.dag[:n, :n].copy()
    return replace(
        found,
        cpdag=found.cpdag[:n, :n].copy(),
        dag=dag,
        order=present.copy(),
        names=series.names,
        n_edges=int(dag.sum()),
        params=params,
        arrow_evidence=arrows,
        evidence=evidence,
        series=_effects(last, task),
    )


def _effects(last: CurvedLags, task: _Task) -> LaggedEffects:
    """The edges of the graph found by their lags, with what is known of each."""
    found, series, choice, moments = last.found, task.series, task.choice, task.moments
    penalty, within = found.params["penalty_discount"], task.within
    graph = (found.dag, found.order, penalty, moments.n_samples, task.known, task.asked)
    curves = last.moments.coding if last.moments.coding.has_curves else None
    design = LagDesign(series, choice.lags, choice.step, within, *graph, curves)
    n = len(series.names)
    fitted = equations_of(moments, found.dag, np.arange(n))
    strengths, rates = np.full((2, *found.dag.shape), np.nan)
    if found.evidence is not None:
        ends = found.evidence.causes, found.evidence.effects
        strengths[ends], rates[ends] = found.evidence.strengths, found.evidence.false_rates
    return LaggedEffects(
        names=series.names,
        lags=choice.lags,
        step=choice.step,
        matrices=by_lag(design, found.cpdag).astype(np.int8),
        coefficients=by_lag(design, fitted.coefficients),
        errors=by_lag(design, fitted.errors),
        strengths=by_lag(design, strengths, np.nan),
        false_rates=by_lag(design, rates, np.nan),
        variances=np.where(np.isin(np.arange(n), series.static), np.nan, fitted.variances),
        n_rows=task.rows,
        n_effective=moments.n_samples,
        n_series=len(series.bounds),
        n_units=len(series.labels),
        static=tuple(series.names[v] for v in series.static.tolist()),
        costs=choice.costs,
        notes=series.notes,
        design=design,
    )
