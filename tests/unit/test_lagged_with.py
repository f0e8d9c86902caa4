"""discover(lags=) with conditions, with arrows from noise, and with means of units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import qwo
from qwo.errors import ArgumentError, InputError
from qwo.series.sums import corrected_covariance
from qwo.simulation import StructuralAutoregression, simulate_series


@pytest.fixture(scope="module")
def simulated() -> Any:
    return simulate_series(n_variables=4, n_samples=800, lags=2, random_state=2)


def with_conditions(seed: int) -> tuple[pd.DataFrame, Any]:
    truth = simulate_series(
        n_variables=4, n_samples=1, lags=2, contemporaneous=0.6, edges=1.2, random_state=seed
    )
    rng, parts = np.random.default_rng(seed), []
    for r, louder in enumerate((None, 1, 3)):
        variances = np.ones(4)
        if louder is not None:
            variances[louder] = 6.0
        rows = StructuralAutoregression(truth.coefficients, variances).sample(400, rng)
        parts.append(pd.DataFrame(rows, columns=list("abcd")).assign(condition=f"c{r}"))
    return pd.concat(parts, ignore_index=True), truth


@pytest.mark.parametrize("seed", range(3))
def test_conditions_change_equations_of_a_series(seed: int) -> None:
    frame, truth = with_conditions(seed)
    found = qwo.discover(frame, lags=2, regime="condition", random_state=0)
    assert found.regimes.listed() == {"c0": [], "c1": ["b"], "c2": ["d"]}
    assert found.names == found.regimes.names == tuple("abcd")
    assert np.array_equal(found.series.matrices[1:], truth.graph[1:])
    assert (found.cpdag[truth.graph[0] == 1] == 1).all()
    assert (found.cpdag != truth.graph[0]).sum() <= 1
    assert set(found.readings) == {"regimes", "series"}
    assert found.series.n_rows == 1198
    assert found.params["regime"] == "condition"


def test_known_targets_knowledge_and_responses_with_conditions() -> None:
    frame, _ = with_conditions(1)
    found = qwo.discover(
        frame,
        lags=1,
        regime="condition",
        targets={"c1": ["b"]},
        reference="c0",
        knowledge={"forbidden": [(("a", -1), "a"), ("a", "b")]},
        random_state=0,
    )
    assert found.regimes.status[1][1] == "known"
    assert found.series.matrices[1, 0, 0] == 0
    assert not found.series.matrices[:, 0, 1].any()
    assert np.isfinite(found.series.responses(horizon=2, n_resamples=10).low).all()
    with pytest.raises(InputError, match="leave one of them out"):
        qwo.discover(frame, lags=1, regime="condition", arrows="noise")
    with pytest.raises(ArgumentError, match="one table"):
        qwo.discover({"c0": frame[:400], "c1": frame[400:800]}, lags=1, regime="condition")
    frame.loc[5, "a"] = np.nan
    with pytest.raises(ArgumentError, match="em"):
        qwo.discover(frame, lags=1, regime="condition", missing="em")


@pytest.mark.parametrize("seed", range(3))
def test_noise_directs_what_the_class_of_the_present_leaves_open(seed: int) -> None:
    """x_t → y_t with an effect of the past in neither, or of both, has an open class."""
    rng = np.random.default_rng(seed)
    shocks = rng.exponential(size=(2000, 2))
    rows = np.zeros((2000, 2))
    for t in range(2000):
        rows[t, 0] = shocks[t, 0]
        rows[t, 1] = 0.5 * rows[t, 0] + shocks[t, 1]
    plain = qwo.discover(rows, lags=1, random_state=0)
    assert plain.cpdag.tolist() == [[0, 2], [2, 0]]
    found = qwo.discover(rows, lags=1, arrows="noise", random_state=0)
    assert found.cpdag.tolist() == [[0, 1], [0, 0]]
    assert found.noise.names == found.names
    assert found.noise.z[0, 1] > 3
    assert found.series.matrices[0].tolist() == [[0, 1], [0, 0]]
    turned = {"forbidden": [(("X0", 0), "X1")]}
    known = qwo.discover(rows, lags=1, arrows="noise", knowledge=turned, random_state=0)
    assert known.cpdag.tolist() == [[0, 0], [1, 0]]


def test_noise_joins_what_is_too_weak_for_the_gaussian_cost() -> None:
    rng = np.random.default_rng(3)
    shocks = rng.exponential(size=(500, 2))
    rows = np.zeros((500, 2))
    for t in range(1, 500):
        rows[t, 0] = 0.5 * rows[t - 1, 0] + shocks[t, 0]
        rows[t, 1] = 0.6 * rows[t - 1, 1] + 0.12 * rows[t, 0] + shocks[t, 1]
    assert not qwo.discover(rows, lags=1, random_state=0).cpdag.any()
    found = qwo.discover(rows, lags=1, arrows="noise", random_state=0)
    assert found.cpdag.tolist() == [[0, 1], [0, 0]]
    holes = rows.copy()
    holes[3, 0] = np.nan
    with pytest.raises(ArgumentError, match="complete rows"):
        qwo.discover(holes, lags=1, arrows="noise", missing="em")


@pytest.mark.parametrize("lags", [1, 2])
def test_the_bias_of_means_of_units_is_taken_off(lags: int) -> None:
    """The exact moments within units of 24 and 40 rows come near those of the series."""
    truth = simulate_series(
        n_variables=3, n_samples=1, lags=lags, autocorrelation=(0.3, 0.7), random_state=5
    )
    model = StructuralAutoregression(truth.coefficients, np.ones(3))
    whole = model.covariance(lags + 40)
    wanted = whole[: 3 * (lags + 1), : 3 * (lags + 1)]

    def gamma(h: int) -> Any:
        return whole[:3, 3 * h : 3 * h + 3] if h >= 0 else whole[:3, -3 * h : -3 * h + 3].T

    lengths = np.array([24, 40])
    biased = wanted.copy()
    for a in range(lags + 1):
        for b in range(lags + 1):
            lost = sum(
                gamma(t - s + b - a) / m for m in lengths for s in range(m) for t in range(m)
            )
            biased[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] -= lost / lengths.sum()
    blocks = np.arange(3 * (lags + 1)).reshape(lags + 1, 3)
    found = corrected_covariance(biased, blocks, lengths.astype(float))
    assert found is not None
    assert np.abs(found - wanted).max() < 0.15 * np.abs(biased - wanted).max()
    lasting = StructuralAutoregression(np.stack([np.zeros((3, 3)), 0.97 * np.eye(3)]), np.ones(3))
    first = np.arange(6).reshape(2, 3)
    assert corrected_covariance(lasting.covariance(1), first, lengths.astype(float)) is None


def test_short_panels_have_no_edges_from_effects_to_causes() -> None:
    counts = 0
    for seed in (3, 11, 12):
        truth = simulate_series(
            n_variables=5, n_samples=30, lags=3, units=50, random_state=[seed, 5, 30]
        )
        found = qwo.discover(truth.data, lags=3, within=True, random_state=0)
        counts += int(((found.cpdag != 0) & (truth.graph[0] == 0) & (truth.graph[0].T == 0)).sum())
    assert counts == 0


def test_the_structural_autoregression_and_what_lasts(simulated: Any) -> None:
    found = qwo.discover(simulated.data, lags=2, random_state=0)
    model = found.fit()
    assert np.array_equal(model.coefficients != 0, found.series.coefficients != 0)
    truth = simulated.coefficients
    own = truth != 0
    assert (np.abs(model.coefficients - truth)[own] < 5 * model.errors[own]).all()
    assert model.largest_root() < 1
    assert model.to_frame().shape == ((model.coefficients != 0).sum(), 5)
    sums = np.linalg.inv(np.eye(4) - model.coefficients.sum(axis=0))
    assert model.responses(300).sum(axis=0) == pytest.approx(sums)
    for i in range(4):  # held one unit higher, row after row
        rows = np.zeros((300, 4))
        held = model.coefficients.copy()
        held[:, :, i] = 0
        start = np.linalg.inv(np.eye(4) - held[0])
        for t in range(2, 300):
            past = rows[t - 1] @ held[1] + rows[t - 2] @ held[2]
            past[i] = 1.0
            rows[t] = past @ start
        assert model.long_run[i] == pytest.approx(rows[-1], abs=1e-9)
    i, j = (int(k) for k in np.argwhere(truth[1:].any(axis=0) & ~np.eye(4, dtype=bool))[0])
    effect = found.effect(i, j)
    assert effect.low <= model.long_run[i, j] <= effect.high
    assert effect.interval[0] < effect.low
    assert effect.interval[1] > effect.high
    half = qwo.fit_sem(simulated.data[:400], found)
    assert half.n_samples == 398
    with pytest.raises(ArgumentError, match="other variables"):
        qwo.fit_sem(simulated.data[:, :3], found)


def test_supports_are_a_column_of_lagged_effects(simulated: Any) -> None:
    found = qwo.discover(simulated.data, lags=1, random_state=0)
    assert found.lagged["support"].between(0.3, 1).all()
    assert found.series.to_frame()["support"].isna().all()
    again = found.series.supported(20, random_state=1)
    assert again.to_frame()["support"].notna().all()
    assert "support" in again.to_dict()["effects"][0]


def test_what_takes_rows_for_independent_ones_refuses_series(simulated: Any) -> None:
    found = qwo.discover(simulated.data, lags=1, random_state=0)
    with pytest.raises(ArgumentError, match="independent"):
        qwo.check(simulated.data, found)
    with pytest.raises(InputError, match="long-run effect"):
        qwo.ida(simulated.data, found, 0, 1)
    with pytest.raises(ArgumentError, match="order of time"):
        qwo.posterior(simulated.data, lags=1)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="supports"):
        qwo.bootstrap(simulated.data, lags=1)  # type: ignore[call-arg]


def test_the_audit_says_what_dependent_rows_are_worth(simulated: Any) -> None:
    finding = next(f for f in qwo.audit(simulated.data).findings if f.code == "serial")
    assert [cure.value for cure in finding.cures] == ["auto", 0]
    share = float(finding.message.split("each about ")[1].split()[0])
    counted = qwo.discover(simulated.data, lags=0, random_state=0).series
    assert share == pytest.approx(counted.n_effective / counted.n_rows, abs=0.2)
    assert counted.n_effective < 0.9 * counted.n_rows


def test_a_break_is_told_with_its_place() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 2))
    rows[400:, 1] *= 3
    with pytest.warns(qwo.DataWarning, match=r"break: .*'X1' .*about row (39|40|41|42)\d.*regime="):
        qwo.discover(rows, lags=1, random_state=0)


def storms(seed: int) -> Any:
    """Noise that is large in the same rows everywhere; the first acts on the second a row later."""
    rng = np.random.default_rng(seed)
    size, rows = 0.0, np.zeros((600, 4))
    for t in range(1, 600):
        size = 0.9 * size + 0.5 * rng.standard_normal()
        rows[t] = 0.5 * rows[t - 1] + np.exp(size) * rng.standard_normal(4)
        rows[t, 1] += 0.5 * rows[t - 1, 0]
    return rows


def test_edges_that_few_rows_carry_are_left_out() -> None:
    """Costs that take noise for even drew a dozen false edges in each of such tables."""
    found = [qwo.discover(storms(seed), lags=3, random_state=0).series for seed in range(6)]
    true = [effects.matrices[1, 0, 1] for effects in found]
    edges = [int((own.matrices != 0).sum() - own.matrices.trace(0, 1, 2).sum()) for own in found]
    assert sum(true) >= 3
    assert sum(edges) - sum(true) <= 6  # 74 with a cost alone
    assert any("few rows carry" in note for own in found for note in own.notes)


def test_what_must_be_is_never_left_out_for_uneven_noise() -> None:
    must = {"required": [(("X2", -3), "X3")]}
    found = qwo.discover(storms(0), lags=3, knowledge=must, random_state=0).series
    assert found.matrices[3, 2, 3] == 1


def test_three_lags_are_tried_in_panels_of_eight_rows() -> None:
    coefficients = np.zeros((4, 2, 2))
    coefficients[1], coefficients[3, 0, 1] = np.diag([0.5, 0.4]), 0.5
    model, rng = StructuralAutoregression(coefficients, np.ones(2)), np.random.default_rng(5)
    data = np.array([model.sample(8, rng, "gaussian") + rng.normal(size=2) for _ in range(100)])
    found = qwo.discover(data, lags="auto", within=True, random_state=0).series
    assert found.lags == 3
    assert found.matrices[3, 0, 1] == 1
