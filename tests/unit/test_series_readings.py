"""What is read off series: whether they wander, responses to shocks, supports, pictures."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import qwo
from qwo import plot
from qwo.columns.recipes import Coding
from qwo.datasets import load_us_quarters
from qwo.errors import ArgumentError, DataWarning
from qwo.series.reading import SeriesData
from qwo.series.responses import long_run, responses_of
from qwo.series.stationarity import stationarity_findings
from qwo.series.times import time_numbers
from qwo.simulation import StructuralAutoregression, simulate_series


def autoregression(rng: np.random.Generator, rows: int, slope: float = 0.5) -> Any:
    values = np.zeros(rows + 100)
    for t in range(1, len(values)):
        values[t] = slope * values[t - 1] + rng.standard_normal()
    return values[100:]


def troubles(values: Any) -> list[tuple[str, int]]:
    series = SeriesData(
        ("x",),
        values[:, None],
        Coding.plain(1),
        np.array([[0, len(values)]]),
        np.zeros(1, np.intp),
        ("",),
        np.empty(0, np.intp),
        places=np.arange(len(values)),
    )
    return [(found.trouble, found.rows) for found in stationarity_findings(series)]


@pytest.mark.parametrize("seed", range(5))
def test_what_keeps_a_series_from_being_stationary_is_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    time = np.arange(500)
    plain = autoregression(rng, 500)
    assert troubles(plain) == []
    assert troubles(plain + 0.01 * time) == [("trend", 0)]
    assert troubles(plain + 1.2 * np.sin(2 * np.pi * time / 12)) == [("season", 12)]
    assert troubles(plain + np.array([0, 1.5, -0.5, 1.0])[time % 4]) == [("season", 4)]
    assert troubles(plain + 2.5 * (time > 250)) == [("break", 0)]
    assert troubles(plain * np.where(time > 250, 2.5, 1)) == [("break", 0)]


def test_random_walks_have_a_unit_root() -> None:
    found = [
        troubles(np.random.default_rng(seed).standard_normal(500).cumsum()) for seed in range(20)
    ]
    assert sum(own == [("unit root", 0)] for own in found) >= 16


def test_false_alarms_are_rare() -> None:
    rng = np.random.default_rng(0)
    found = [troubles(autoregression(rng, 400, slope)) for slope in (0.0, 0.8) for _ in range(25)]
    assert sum(map(bool, found)) <= 3


def test_waves_that_come_and_go_are_no_season() -> None:
    rng, found = np.random.default_rng(0), []
    for _ in range(20):
        values = np.zeros(400)
        for t in range(2, 400):
            values[t] = 1.8 * values[t - 1] - 0.9 * values[t - 2] + rng.standard_normal()
        found += [own for own, _ in troubles(values[100:])]
    assert found.count("season") <= 2


def test_means_that_differ_between_units_are_told() -> None:
    panel = simulate_series(n_variables=3, n_samples=40, units=20, lags=1, random_state=1).data
    with pytest.warns(qwo.DataWarning, match=r"units: means of 'X0', 'X2' differ.*within"):
        qwo.discover(panel, lags=1, random_state=0)
    alike = panel - panel.mean(axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", qwo.DataWarning)
        qwo.discover(panel, lags=1, within=True, random_state=0)
        qwo.discover(alike, lags=1, random_state=0)


def test_the_fix_that_is_named_is_an_option() -> None:
    rng = np.random.default_rng(1)
    data = np.column_stack([autoregression(rng, 300) + 0.02 * np.arange(300) for _ in range(2)])
    with pytest.warns(qwo.DataWarning, match=r"trend: 'X0', 'X1'.*detrend"):
        found = qwo.discover(data, lags=1, random_state=0)
    assert "trend" in found.series.notes[0]
    assert not qwo.discover(data, lags=1, detrend=True, random_state=0).series.notes


def test_responses_are_those_of_the_equations() -> None:
    truth = simulate_series(n_variables=4, n_samples=1, lags=2, random_state=5)
    followed = responses_of(truth.coefficients, 30)
    effects, _ = StructuralAutoregression(truth.coefficients, np.ones(4)).reduced()
    start = np.linalg.inv(np.eye(4) - truth.coefficients[0])
    for cause in range(4):
        rows = np.zeros((31, 4))
        rows[0] = start[cause]
        for t in range(1, 31):
            rows[t] = sum(rows[t - k] @ own for k, own in enumerate(effects, 1) if t >= k)
        np.testing.assert_allclose(followed[:, cause], rows, atol=1e-12)
    total = responses_of(truth.coefficients, 2000).sum(axis=0)
    np.testing.assert_allclose(long_run(truth.coefficients), total, atol=1e-6)
    walk = np.zeros((2, 1, 1))
    walk[1] = 1.0
    assert np.isnan(long_run(walk)).all()


@pytest.fixture(scope="module")
def found() -> Any:
    truth = simulate_series(n_variables=4, n_samples=700, lags=1, random_state=6)
    return truth, qwo.discover(truth.data, lags=1, random_state=0)


def test_bands_hold_the_truth(found: Any) -> None:
    truth, learnt = found
    responses = learnt.series.responses(horizon=6, n_resamples=100, level=0.98)
    wanted = responses_of(truth.coefficients, 6)
    held = (responses.low - 1e-9 <= wanted) & (wanted <= responses.high + 1e-9)
    assert held.mean() > 0.85
    assert responses.to_frame().shape == (4 * 4 * 8, 6)
    again = learnt.series.responses(horizon=6, n_resamples=100, level=0.98)
    assert np.array_equal(responses.low, again.low)
    assert "over all time (98% bands)" in responses.summary()
    assert np.isnan(learnt.series.responses(n_resamples=0).low).all()


def test_units_are_drawn_whole() -> None:
    truth = simulate_series(n_variables=3, n_samples=25, lags=1, units=12, random_state=1)
    effects = qwo.discover(truth.data, lags=1, within=True, random_state=0).series
    responses = effects.responses(horizon=3, n_resamples=30)
    assert (responses.low <= responses.high + 1e-12).all()


def test_supports_say_how_often_edges_are_found_again(found: Any) -> None:
    _, learnt = found
    rows = learnt.series.supports(20)
    assert len(rows) == len(learnt.series.records())
    own = rows[rows.cause == rows.effect]
    assert (own.support > 0.9).all()
    assert rows.support.between(0, 1).all()


def test_every_pair_has_the_strength_of_its_regressions(found: Any) -> None:
    _, learnt = found
    series, n = learnt.series, len(learnt.names)
    rows, _ = series.design.rows()
    rows = rows - rows.mean(axis=0)
    dag, size = series.design.dag, len(rows)

    def left(child: int, parents: list[int]) -> float:
        slopes = np.linalg.lstsq(rows[:, parents], rows[:, child], rcond=None)[0]
        return float(((rows[:, child] - rows[:, parents] @ slopes) ** 2).sum())

    place = {v: k for k, v in enumerate(learnt.order.tolist())}
    told = {(row.cause, row.effect): row for row in series.pairs.itertuples()}
    assert len(told) == n * (n - 1)
    for (cause, effect), row in told.items():
        i, j = learnt.names.index(cause), learnt.names.index(effect)
        found_at = []
        for k in range(series.lags + 1):
            a, b = (i, j) if k or place[i] < place[j] else (j, i)
            beside = [v for v in np.flatnonzero(dag[:, b]).tolist() if v != k * n + a]
            strength = size * np.log(left(b, beside) / left(b, [*beside, k * n + a]))
            found_at.append(0.0 if k == 0 and learnt.cpdag[j, i] > learnt.cpdag[i, j] else strength)
        assert row.strength == pytest.approx(max(found_at), rel=1e-6, abs=1e-6)
        assert row.lag == int(np.argmax(found_at))
        assert row.edge == series.summary_matrix[i, j]
    assert series.pairs.strength.is_monotonic_decreasing


def test_what_is_of_a_linear_table_is_refused(found: Any) -> None:
    _, learnt = found
    with pytest.raises(ArgumentError, match="rows follow each other"):
        learnt.check()


def test_causes_of_an_outcome_are_long_run_effects(found: Any) -> None:
    _, learnt = found
    run = learnt.fit().long_run
    outcome = int((run != 0).sum(axis=0).argmax())
    causes = learnt.causes_of(outcome, level=0.8)
    known = {c.cause: c.low for c in causes} | dict.fromkeys(causes.others, 0.0)
    assert known == {f"X{v}": pytest.approx(run[v, outcome]) for v in range(4) if v != outcome}
    one = learnt.effect(causes[0].cause, outcome, level=0.8)
    assert one == causes[0]
    assert f"{one}".split(", ")[1].startswith("80 % interval")


def test_pictures(found: Any) -> None:
    mpl.use("Agg")
    _, learnt = found
    axes = plot.plot_unrolled(learnt)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(learnt.names)
    assert len(axes.texts) == len(learnt.series.records())
    assert len(plot.plot_lags(learnt).texts) >= 4
    panels = plot.plot_responses(learnt.series.responses(n_resamples=5), causes=["X0", "X1"])
    assert panels.shape == (2, 4)
    with pytest.raises(ArgumentError, match="lags="):
        plot.plot_lags(None)


def test_arrows_around_the_circle_end_outside_of_wide_boxes() -> None:
    """Heads were hidden behind the names of variables."""
    mpl.use("Agg")
    data = simulate_series(n_variables=3, n_samples=300, random_state=1).data
    frame = pd.DataFrame(data, columns=["a", "a very long name of a variable", "c"])
    axes = plot.plot_lags(qwo.discover(frame, lags=1, random_state=0))
    axes.figure.canvas.draw()
    arrows = [t.arrow_patch for t in axes.texts if getattr(t, "arrow_patch", None)]
    boxes = [t.get_bbox_patch().get_window_extent() for t in axes.texts if t.get_text() in frame]
    assert arrows
    for arrow in arrows:
        path = arrow.get_transform().transform(arrow.get_path().vertices)
        ends = np.concatenate([path[:1], path[-1:]])
        assert not any(box.contains(*end) for box in boxes for end in ends)


def test_the_quarters_come_along() -> None:
    frame = load_us_quarters()
    assert frame.shape == (203, 7)
    assert frame.notna().all().all()


def climate(seed: int, *, slope: float = 0.0, season: float = 0.0) -> pd.DataFrame:
    """Months of five slow series, with a line and a season."""
    truth = simulate_series(
        n_variables=5, n_samples=300, lags=3, autocorrelation=(0.85, 0.95), random_state=seed
    )
    values, months = truth.data / truth.data.std(axis=0), np.arange(300)[:, None]
    values = values + slope * months / 300 * np.array([1, -1, 1, -1, 1])
    values += season * np.sin(2 * np.pi * months / 12 + np.arange(5))
    frame = pd.DataFrame(values, columns=list("abcde"))
    return frame.assign(month=pd.date_range("1990-01-01", periods=300, freq="MS"))


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_line_under_slow_series_is_taken_off(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how: Any = {"lags": "auto", "time": "month", "random_state": 0}
        flat = qwo.discover(climate(seed), **how)
        risen = qwo.discover(climate(seed, slope=3), **how)
    assert not flat.params["detrend"]
    assert risen.params["detrend"] is True
    assert risen.series is not None
    assert flat.series is not None
    assert "trend: " in risen.series.summary()
    assert risen.series.lags <= flat.series.lags + 1


def test_random_walks_are_not_taken_for_series_around_a_line() -> None:
    for seed in range(4):
        steps = np.random.default_rng(seed).standard_normal((300, 4))
        with pytest.warns(DataWarning, match="unit root"):
            found = qwo.discover(np.cumsum(steps, axis=0), lags="auto", random_state=0)
        assert not found.params["detrend"]


def test_seasons_go_by_the_clock_across_gaps() -> None:
    frame = climate(2, season=4)
    lost = np.random.default_rng(0).choice(300, 12, replace=False)
    missing = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.03)
    missing["month"] = frame.month
    how: Any = {"time": "month", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = qwo.discover(frame.drop(index=lost), lags="auto", **how)
        whole = qwo.discover(frame, lags=1, season=12, **how).series
        guessed = qwo.discover(missing, lags="auto", missing="em", **how)
    assert found.params["season"] == guessed.params["season"] == 12
    assert found.series is not None
    assert found.series.step == 1  # a season is no sign that rows are too close
    assert found.series.design is not None
    assert whole is not None
    assert whole.design is not None
    kept = np.delete(whole.design.series.values, lost, axis=0)
    assert np.abs(found.series.design.series.values - kept).max() < 0.5


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %b %Y", "%b %d, %Y"])
def test_dates_of_one_column_are_read_in_one_way(written: str) -> None:
    days = pd.date_range("2021-01-28", periods=60)
    texts = list(days.strftime(written))
    numbers = time_numbers(None, "day", (np.full(60, np.nan), texts))
    assert (np.diff(numbers) == 86400).all()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["01/02/2020", "01/03/2020"], "may begin with the day or with the month"),
        (["Jan-20", "Feb-20"], "no year of four digits"),
        (["13/02/2020", "02/13/2020"], "some begin with the day"),
    ],
)
def test_dates_that_can_be_read_in_two_ways_are_refused(texts: list[str], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        time_numbers(None, "day", (np.full(2, np.nan), texts))


def test_bands_of_short_panels_hold_the_truth() -> None:
    """Resamples lacked the correction for means of units: bands lay beside their own estimates."""
    coefficients = np.zeros((2, 2, 2))
    coefficients[1] = [[0.6, 0.4], [0.0, 0.4]]
    model = StructuralAutoregression(coefficients, np.ones(2))
    truth, held = np.linalg.inv(np.eye(2) - coefficients.sum(axis=0)), 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 77])
        data = [model.sample(8, rng, "gaussian") + 3 * rng.normal(size=2) for _ in range(60)]
        found = qwo.discover(np.array(data), lags=1, within=True, random_state=0)
        told = found.series.responses(horizon=1, n_resamples=60)
        assert told.long_run_low[0, 1] < told.long_run[0, 1] < told.long_run_high[0, 1]
        held += int(((told.long_run_low <= truth) & (truth <= told.long_run_high)).sum())
    assert held >= 40  # of 48; 28 without the correction


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_year_is_taken_off_days_although_it_comes_three_times(seed: int) -> None:
    """Its wave was called a unit root, and false effects were drawn many days late."""
    truth = simulate_series(n_variables=5, n_samples=1100, lags=2, random_state=[seed, 365])
    rng, day = np.random.default_rng(seed), np.arange(1100)[:, None]
    phase = rng.uniform(0, 6, 5)
    values = truth.data + rng.uniform(3, 9, 5) * np.cos(2 * np.pi * day / 365.25 + phase)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = qwo.discover(values, lags="auto", random_state=0)
    assert found.params["season"] == 365
    assert any("repeat" in str(one.message) and "365 rows" in str(one.message) for one in told)
    plain = qwo.discover(truth.data, lags=found.series.lags, random_state=0)
    assert np.abs(found.series.matrices - plain.series.matrices).astype(bool).sum() <= 2


def test_slow_series_have_no_year_by_chance() -> None:
    rng = np.random.default_rng(8)
    for rows in (300, 1000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            walks = rng.normal(size=(rows, 4)).cumsum(axis=0)
            found = qwo.discover(walks, lags="auto", random_state=0)
        assert not found.params["season"]


def test_effects_are_followed_beside_categories_that_are_causes() -> None:
    """One category of three levels made responses, effects and the text of `fit` impossible."""
    rng = np.random.default_rng(5)
    kind = rng.choice(["low", "mid", "high"], 500)
    push, rows = pd.Series(kind).map({"low": 0.0, "mid": 1.0, "high": 3.0}), np.zeros((500, 2))
    for t in range(1, 500):
        rows[t, 0] = 0.5 * rows[t - 1, 0] + 0.5 * push[t - 1] + rng.standard_normal()
        rows[t, 1] = 0.4 * rows[t - 1, 1] + 0.6 * rows[t - 1, 0] + rng.standard_normal()
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(kind=kind)
    found = qwo.discover(frame, lags=1, random_state=0)
    effect = found.effect("a", "b")
    assert effect.interval[0] < 1.0 < effect.interval[1]
    assert [cause.cause for cause in found.causes_of("b")] == ["a"]
    told = found.series.responses(horizon=3, n_resamples=20)
    assert told.long_run_low[0, 1] > 0
    assert np.isnan(told.of("kind", "b")).all()
    assert "Largest root" in str(found.fit())
    with pytest.raises(ArgumentError, match="'kind' has more than two levels"):
        found.effect("kind", "b")


def test_months_quarters_and_days_written_as_numbers_are_dates() -> None:
    """Januaries were gaps."""
    months = np.array([100 * (1990 + m // 12) + m % 12 + 1 for m in range(60)], float)
    assert (np.diff(time_numbers(None, "t", (months, None))) == 1).all()
    days = pd.date_range("2020-02-20", periods=40).strftime("%Y%m%d").astype(float).to_numpy()
    assert len(set(np.diff(time_numbers(None, "t", (days, None))))) == 1
    counter = np.arange(201_990.0, 202_030.0)
    assert np.array_equal(time_numbers(None, "t", (counter, None)), counter)
    quarters = [f"{1990 + q // 4}{' -'[q % 2]}Q{q % 4 + 1}" for q in range(20)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = time_numbers(None, "t", (np.full(20, np.nan), quarters))
    assert (np.diff(found) == 3).all()
