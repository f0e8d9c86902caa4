"""discover(lags=): effects of earlier rows, and the class of the present."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.columns.recipes import Coding, Variable
from qwo.discovery.discover import discover_as
from qwo.errors import ArgumentError, InputError, KnowledgeError
from qwo.graph.cpdag import to_mpdag
from qwo.moments import Moments
from qwo.options import SearchOptions
from qwo.order.bic import BicEngine
from qwo.search.control import bic_insertion
from qwo.series.design import lag_moments, lagged_knowledge
from qwo.series.reading import SeriesData, read_series
from qwo.simulation import StructuralAutoregression, simulate_series


def series_of(data: Any, **options: Any) -> SeriesData:
    return read_series(data, SearchOptions(lags=1, **options), {})


def exact_cost(engine: BicEngine, n: int, width: int) -> float:
    """Lowest cost of all DAGs: all parent sets of each child, all orders."""
    past, best = range(n, width), {}
    sets = [g for k in range(width - n + 1) for g in itertools.combinations(past, k)]
    for v in range(n):
        others = [u for u in range(n) if u != v]
        for k in range(n):
            for chosen in itertools.combinations(others, k):
                cost = min(engine.family_cost(v, [*chosen, *g]) for g in sets)
                inner = [best[v, frozenset(chosen) - {u}] for u in chosen]
                best[v, frozenset(chosen)] = min([cost, *inner])
    costs = {frozenset[int](): 0.0}
    for k in range(1, n + 1):
        for s in map(frozenset, itertools.combinations(range(n), k)):
            costs[s] = min(costs[s - {v}] + best[v, s - {v}] for v in s)
    return costs[frozenset(range(n))]


@pytest.mark.filterwarnings("ignore:unit root")
@pytest.mark.parametrize(("n", "lags"), [(3, 1), (3, 2), (4, 1), (4, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_the_search_is_at_the_exact_optimum(n: int, lags: int, seed: int) -> None:
    data = simulate_series(n_variables=n, n_samples=300, lags=lags, random_state=seed).data
    found = qwo.discover(data, lags=lags, penalty_discount=2.0, random_state=0)
    moments = lag_moments(series_of(data), lags)
    engine = BicEngine(moments)
    best = exact_cost(engine, n, moments.n_variables)
    assert engine.family_cost(0, []) < np.inf
    bic_insertion(engine, random_state=0)
    assert engine.cost == pytest.approx(best, abs=1e-6)
    graph = found.series
    assert graph is not None
    own = sum(
        engine.family_cost(v, [*np.flatnonzero(found.dag[:, v]), *past])
        for v in range(n)
        for past in [
            [n * k + i for k in range(1, lags + 1) for i in np.flatnonzero(graph.matrices[k][:, v])]
        ]
    )
    assert own == pytest.approx(best, abs=1e-6)


def exact_moments(model: StructuralAutoregression, lags: int) -> Moments:
    n = model.n_variables
    covariance = model.covariance(lags)
    scales = np.sqrt(np.diagonal(covariance))
    names = tuple(f"x{v}" if k == 0 else f"x{v}[t-{k}]" for k in range(lags + 1) for v in range(n))
    variables = (*[Variable()] * n, *[Variable(role="given")] * n * lags)
    correlation = covariance / np.outer(scales, scales)
    np.fill_diagonal(correlation, 1.0)
    zeros = np.zeros(len(names))
    return Moments(names, np.inf, zeros, scales, correlation, coding=Coding(variables))


@pytest.mark.parametrize("seed", range(6))
def test_exact_moments_give_the_exact_graph(seed: int) -> None:
    n, lags = 4, 2
    truth = simulate_series(n_variables=n, n_samples=1, lags=lags, random_state=seed)
    model = StructuralAutoregression(truth.coefficients, np.ones(n))
    series = series_of(np.random.default_rng(0).standard_normal((30, n)))
    moments = exact_moments(model, lags)
    known = lagged_knowledge(None, series, lags, 1)
    known = type(known)(moments.names, known.forbidden, known.required, known.before)
    found = discover_as(moments, SearchOptions(random_state=0), limits=known)
    dag = np.zeros((n * (lags + 1),) * 2, np.int8)
    for k in range(lags + 1):
        dag[k * n : (k + 1) * n, :n] = truth.graph[k]
    assert np.array_equal(found.cpdag, to_mpdag(dag, known))


def test_the_engine_knows_that_arrows_leave_given_variables() -> None:
    for seed in range(8):
        data = simulate_series(n_variables=6, n_samples=200, lags=1, random_state=seed).data
        series = series_of(data)
        engine = BicEngine(lag_moments(series, 1))
        bic_insertion(engine, random_state=0)
        known = lagged_knowledge(None, series, 1, 1)
        assert np.array_equal(engine.cpdag(), to_mpdag(engine.dag(), known))


@pytest.fixture(scope="module")
def simulated() -> Any:
    return simulate_series(n_variables=5, n_samples=800, lags=2, random_state=3)


def frame_of(data: Any) -> pd.DataFrame:
    return pd.DataFrame(data, columns=[f"v{k}" for k in range(data.shape[1])])


def test_lagged_effects_are_found_with_coefficients(simulated: Any) -> None:
    found = qwo.discover(frame_of(simulated.data), lags="auto", random_state=0)
    effects = found.series
    assert effects is not None
    assert effects.lags == found.params["lags"] == 2
    assert found.params["lags_chosen"]
    assert np.array_equal(effects.matrices[1:], simulated.graph[1:])
    rows = found.lagged
    assert set(rows["lag"]) <= {1, 2}
    assert len(rows) == simulated.graph[1:].sum()
    for row in rows.itertuples():
        i, j = (int(name[1:]) for name in (row.cause, row.effect))
        truth = simulated.coefficients[row.lag, i, j]
        assert abs(row.coefficient - truth) < 5 * row.standard_error
        assert 0 <= row.false_rate < 0.1
    assert found.cpdag.shape == found.dag.shape == (5, 5)
    assert "Effects of earlier rows" in str(found)


def test_the_same_seed_gives_the_same_graph(simulated: Any) -> None:
    first, second = (
        qwo.discover(simulated.data, lags=2, random_state=7, n_jobs=jobs) for jobs in (1, 2)
    )
    assert np.array_equal(first.series.matrices, second.series.matrices)
    assert np.array_equal(first.order, second.order)


def test_time_sorts_rows_and_units_are_never_mixed(simulated: Any) -> None:
    frame = frame_of(simulated.data)
    frame["day"] = pd.date_range("2020-01-01", periods=len(frame))
    frame["who"] = np.where(np.arange(len(frame)) < 400, "a", "b")
    shuffled = frame.sample(frac=1, random_state=0)
    found = qwo.discover(shuffled, lags=2, time="day", unit="who", random_state=0)
    whole = qwo.discover(frame_of(simulated.data), lags=2, random_state=0)
    assert found.series.n_rows == 800 - 4
    assert whole.series.n_rows == 800 - 2
    assert (found.series.n_units, found.series.n_series) == (2, 2)
    assert np.array_equal(found.series.matrices, whole.series.matrices)
    assert "sorted" in found.series.notes[0]
    assert found.names == whole.names


def test_a_gap_is_not_bridged(simulated: Any) -> None:
    frame = frame_of(simulated.data)
    frame["t"] = np.arange(len(frame)).astype(float)
    frame = frame.drop(index=[100, 101, 500])
    found = qwo.discover(frame, lags=2, time="t", random_state=0)
    assert found.series.n_series == 3
    assert found.series.n_rows == 797 - 6
    assert "unusual steps of time: 2 of 796" in found.series.notes[0]


@pytest.mark.parametrize("rule", ["MS", "ME", "QS", "B", "h"])
def test_dates_are_counted_in_their_own_steps(rule: str) -> None:
    frame = frame_of(np.random.default_rng(0).standard_normal((60, 2)))
    frame["when"] = pd.date_range("2001-03-31", periods=60, freq=rule).astype(str)
    series = series_of(frame, time="when")
    assert len(series.bounds) == 1
    assert not series.notes


def test_irregular_and_repeated_times_are_refused() -> None:
    rng = np.random.default_rng(0)
    frame = frame_of(rng.standard_normal((40, 2)))
    frame["t"] = rng.exponential(size=40).cumsum()
    with pytest.raises(ArgumentError, match="steps of time are equal"):
        qwo.discover(frame, lags=1, time="t")
    frame["t"] = np.arange(40) // 2
    with pytest.raises(ArgumentError, match="unit="):
        qwo.discover(frame, lags=1, time="t")
    frame["t"] = ["soon"] * 40
    with pytest.raises(InputError, match="dates"):
        qwo.discover(frame, lags=1, time="t")


def test_panels_with_means_of_their_own() -> None:
    truth = simulate_series(n_variables=4, n_samples=40, lags=1, units=30, random_state=2)
    found = qwo.discover(truth.data, lags=1, within=True, random_state=0)
    assert found.series.n_rows == 30 * 39 - 30
    assert np.array_equal(found.series.matrices[1], truth.graph[1])
    with pytest.warns(qwo.DataWarning, match="units: means"):
        plain = qwo.discover(truth.data, lags=1, random_state=0)
    assert plain.series.n_rows == 30 * 39
    with pytest.raises(ArgumentError, match="one series only"):
        qwo.discover(truth.data[0], lags=1, within=True)


def test_what_never_changes_in_a_unit_is_a_cause_only() -> None:
    rng = np.random.default_rng(1)
    parts = []
    for unit in range(60):
        age = rng.standard_normal()
        x = np.zeros((30, 2))
        for t in range(1, 30):
            x[t, 0] = 0.5 * x[t - 1, 0] + 0.8 * age + rng.standard_normal()
            x[t, 1] = 0.4 * x[t - 1, 0] + rng.standard_normal()
        parts.append(pd.DataFrame({"x": x[5:, 0], "y": x[5:, 1], "age": age, "who": f"u{unit}"}))
    found = qwo.discover(pd.concat(parts), lags=1, unit="who", random_state=0)
    assert found.series.static == ("age",)
    assert found.names == ("x", "y", "age")
    assert found.cpdag[2, 0] == 1
    assert not found.cpdag[:, 2].any()
    assert found.lagged[["cause", "effect"]].to_numpy().tolist() == [["x", "x"], ["x", "y"]]
    within = qwo.discover(pd.concat(parts), lags=1, unit="who", within=True, random_state=0)
    assert any("effects of 'age'" in note for note in within.series.notes)


def test_knowledge_speaks_of_lags(simulated: Any) -> None:
    frame = frame_of(simulated.data)
    plain = qwo.discover(frame, lags=2, random_state=0).lagged
    strongest = plain[plain.cause != plain.effect].sort_values("strength").iloc[-1]
    edge = ((strongest.cause, -int(strongest.lag)), strongest.effect)
    found = qwo.discover(frame, lags=2, knowledge={"forbidden": [edge]}, random_state=0).lagged
    own = found[(found.cause == strongest.cause) & (found.effect == strongest.effect)]
    assert strongest.lag not in set(own.lag)
    never = {"forbidden": [(strongest.cause, strongest.effect)]}
    found = qwo.discover(frame, lags=2, knowledge=never, random_state=0).lagged
    assert not ((found.cause == strongest.cause) & (found.effect == strongest.effect)).any()
    must = qwo.discover(
        frame, lags=2, knowledge={"required": [(("v0", -2), "v4"), ("v1", "v3")]}, random_state=0
    )
    assert must.dag[1, 3] == 1
    assert must.series.matrices[2, 0, 4] == 1
    rows = must.lagged
    assert ((rows.cause == "v0") & (rows.effect == "v4") & (rows.lag == 2)).any()
    both = {"required": [edge], "forbidden": [edge]}
    with pytest.raises(KnowledgeError, match="forbidden too"):
        qwo.discover(frame, lags=2, knowledge=both)
    with pytest.raises(KnowledgeError, match=r"v7\[t-5\]"):
        qwo.discover(frame, lags=2, knowledge={"forbidden": [(("v7", -5), "v1")]})


def test_what_is_known_of_rows_further_back_than_lags_is_kept(simulated: Any) -> None:
    """With lags="auto" nobody knows beforehand how far back lags look."""
    frame = frame_of(simulated.data)
    far = [(("v0", -20), "v1")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = qwo.discover(frame, lags="auto", random_state=0)
        known = {"forbidden": far}
        found = qwo.discover(frame, lags="auto", knowledge=known, random_state=0)
    assert np.array_equal(found.series.matrices, plain.series.matrices)
    with pytest.raises(KnowledgeError, match="lags do not look 20 rows back"):
        qwo.discover(frame, lags=2, knowledge={"required": far})


def test_tiers_hold_at_every_lag(simulated: Any) -> None:
    tiers = {"tiers": [["v0", "v1", "v2"], ["v3", "v4"]]}
    found = qwo.discover(frame_of(simulated.data), lags=2, knowledge=tiers, random_state=0)
    matrices = found.series.matrices
    assert not matrices[:, 3:, :3].any()
    assert matrices[1, np.arange(5), np.arange(5)].all()


def test_categories_are_lagged_causes() -> None:
    rng = np.random.default_rng(5)
    n, levels = 1500, np.array(["low", "mid", "high"])
    state = rng.integers(0, 3, n)
    x = rng.standard_normal(n)
    x[1:] += np.array([0.0, 1.5, -1.0])[state[:-1]]
    frame = pd.DataFrame({"x": x, "state": levels[state]})
    found = qwo.discover(frame, lags=1, random_state=0)
    rows = found.lagged
    assert rows[["cause", "effect", "lag"]].to_numpy().tolist() == [["state", "x", 1]]
    assert np.isnan(rows.coefficient[0])
    assert found.cpdag.sum() == 0


def test_missing_values_end_a_series_or_go_to_em(simulated: Any) -> None:
    data = simulated.data.copy()
    data[50, 1] = data[51, 1] = data[300, 2] = np.nan
    with pytest.raises(InputError, match="missing"):
        qwo.discover(data, lags=2)
    with pytest.warns(qwo.DataWarning):
        dropped = qwo.discover(data, lags=2, missing="drop", random_state=0)
    assert dropped.series.n_series == 3
    assert dropped.series.n_rows == 797 - 6
    with pytest.warns(qwo.DataWarning):
        filled = qwo.discover(data, lags=2, missing="em", random_state=0)
    assert 770 < filled.series.n_rows < 798
    assert np.array_equal(filled.series.matrices[1:], simulated.graph[1:])


def test_what_does_not_go_with_lags_is_refused(simulated: Any) -> None:
    data = simulated.data
    for options, words in (
        ({"time": 0}, "no lags"),
        ({"within": True}, "no lags"),
        ({"lags": "many"}, "'auto'"),
        ({"lags": -1}, "from 0"),
        ({"lags": 400}, "rows before them"),
        ({"lags": 1, "weights": np.ones(800)}, "weights"),
        ({"lags": 1, "covariance_estimator": "oas"}, "covariance_estimator"),
        ({"lags": 1, "method": "qwo-hc"}, "method"),
        ({"lags": 1, "unit": "nobody"}, "nobody"),
        ({"lags": 1, "difference": ["nothing"]}, "no variable"),
        ({"lags": 1, "season": 500}, "two seasons"),
        ({"lags": 1, "regime": 0}, "fewer than 5 rows"),
        ({"lags": 1, "feedback": True}, "do not go together"),
    ):
        with pytest.raises(InputError, match=words):
            qwo.discover(data, **options)  # type: ignore[arg-type]
    moments = Moments.from_covariance(np.eye(3), 100)
    with pytest.raises(ArgumentError, match="Moments"):
        qwo.discover(moments, lags=1)
    with pytest.raises(ArgumentError, match="lags="):
        _ = qwo.discover(moments).lagged


def test_a_time_limit_returns_what_there_is() -> None:
    data = simulate_series(n_variables=30, n_samples=500, random_state=0).data
    found = qwo.discover(data, lags=2, time_limit=0.0, random_state=0)
    assert found.status == "time limit"
    assert found.series.matrices.shape == (3, 30, 30)


def test_differences_lines_and_seasons_are_taken_off_when_asked() -> None:
    truth = simulate_series(n_variables=3, n_samples=600, lags=1, random_state=1)
    time = np.arange(600)
    bent = truth.data + 0.02 * time[:, None] + 4 * np.sin(2 * np.pi * time / 12)[:, None]
    found = qwo.discover(bent, lags=1, detrend=True, season=12, random_state=0)
    assert np.array_equal(found.series.matrices[1], truth.graph[1])
    walk = qwo.discover(
        frame_of(truth.data.cumsum(axis=0)), lags=1, difference=["v0", "v1", "v2"], random_state=0
    )
    assert walk.series.n_rows == 598
    assert np.array_equal(walk.series.matrices[1], truth.graph[1])


def test_a_series_sampled_too_finely_gets_a_step() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((3000, 3))
    for t in range(1, 3000):
        x[t] = 0.6 * x[t - 1] + rng.standard_normal(3)
        x[t, 1] += 0.5 * x[t - 1, 0]
    kernel = np.exp(-0.5 * (np.arange(-45, 46) / 15) ** 2)
    smooth = np.column_stack([np.convolve(x[:, k], kernel, "valid") for k in range(3)])
    smooth += 0.02 * smooth.std(axis=0) * rng.standard_normal(smooth.shape)
    with pytest.warns(qwo.DataWarning, match="too close in time"):
        found = qwo.discover(smooth, lags="auto", random_state=0)
    effects = found.series
    assert effects.step > 5
    assert effects.n_effective < 0.3 * effects.n_rows
    assert "independent ones" in effects.summary()
    assert effects.row_by_row is not None
    assert effects.row_by_row.step == 1
    with pytest.warns(qwo.DataWarning, match="fewer than 40 steps"):
        short = qwo.discover(smooth[:400], lags="auto", random_state=0)
    assert short.series.step == 1


def test_oscillations_of_two_rows_get_no_step() -> None:
    rng = np.random.default_rng(1)
    x = np.zeros((700, 3))
    for t in range(2, 700):
        x[t] = [1.8, 1.75, 1.7] * x[t - 1] - [0.9, 0.88, 0.86] * x[t - 2] + rng.standard_normal(3)
        x[t, 1] += 0.3 * x[t - 1, 0]
        x[t, 2] -= 0.3 * x[t - 2, 1]
    effects = qwo.discover(x[100:], lags="auto", random_state=0).series
    assert (effects.step, effects.lags) == (1, 2)
    assert effects.in_short() == "X0 --> X1, X1 --> X2"


def test_late_effects_are_found_and_seasons_and_lines_taken_off_by_auto() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 3))
    for t in range(1, 600):
        x[t] += 0.4 * x[t - 1]
        x[t, 1] += 0.7 * x[t - 11, 0] if t > 10 else 0
    time = np.arange(600.0)
    plain = qwo.discover(x, lags="auto", random_state=0)
    assert plain.series.lags == 11
    x += 2 * np.cos(2 * np.pi * (time[:, None] + [0, 1, 2]) / 12) + time[:, None] / 200
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = qwo.discover(x, lags="auto", random_state=0)
    assert (found.params["season"], found.params["detrend"]) == (12, True)
    assert found.series.in_short() == plain.series.in_short() == "X0 --> X1"
    assert len(found.series.notes) == len(told) == 2
    said = " ".join(str(w.message) for w in told)
    assert "12 rows; taken off all columns" in said
    assert "season=0 keeps it" in said
    assert "detrend='none' keeps it" in said
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kept = qwo.discover(x, lags="auto", season=0, detrend=False, random_state=0)
    assert "Try: season=12" in " ".join(str(w.message) for w in told)
    assert kept.series.in_short() != "X0 --> X1"


def test_formats(simulated: Any) -> None:
    effects = qwo.discover(simulated.data, lags=2, random_state=0).series
    graph = effects.to_tigramite()
    assert graph.shape == (5, 5, 3)
    assert ((graph == "-->")[:, :, 1:] == (effects.matrices[1:] == 1).transpose(1, 2, 0)).all()
    network = effects.to_networkx()
    lagged = [data for *_, data in network.edges(data=True) if data["lag"]]
    assert len(lagged) == effects.matrices[1:].sum()
    unrolled = effects.unrolled()
    assert unrolled.n_variables == 15
    assert unrolled.n_edges == len(effects.records())
    told = effects.to_dict()
    assert len(told["effects"]) == len(effects.records())
    assert effects.summary_matrix.diagonal().sum() == 0
