"""Cycles by the shape of the noise, against definitions, and what `discover` makes of them."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import qwo
from qwo.errors import ArgumentError
from qwo.feedback import noise
from qwo.feedback.disturbances import Disturbances
from qwo.search.control import Stopped

PAIR = np.array([[0, -0.5, 0, 0], [0.6, 0, 0, 0], [0, 0.7, 0, 0], [0, 0, 0.5, 0]])
"""Row i is the equation of i; two variables cause each other, and have no other cause."""


def rows_of(b, n_rows, seed, draw=lambda rng, size: rng.exponential(size=size) - 1):
    rng = np.random.default_rng(seed)
    return draw(rng, (n_rows, len(b))) @ np.linalg.inv(np.eye(len(b)) - b).T


def model_of(data, may):
    columns = np.ascontiguousarray(((data - data.mean(axis=0)) / data.std(axis=0)).T)
    weights = np.ones(len(data))
    begun = noise._beginnings(columns, weights, np.zeros(may.shape, np.int8))[0]
    return Disturbances(columns, weights, may, begun), columns


BOTH = (PAIR != 0) | (PAIR.T != 0)


def by_definition(model, columns):
    """log |det(I - B)| + the log of each density at each residual, one by one."""
    rows = np.eye(len(columns)) - model.coefficients
    total = len(columns[0]) * math.log(abs(np.linalg.det(rows)))
    for i, row in enumerate(rows):
        for e in row @ columns:
            parts = zip(model._share[i], model._middle[i], model._width[i], strict=True)
            total += math.log(
                sum(
                    p * math.exp(-0.5 * ((e - q) / s) ** 2) / (s * math.sqrt(2 * math.pi))
                    for p, q, s in parts
                )
            )
    return total


def test_likelihood_is_that_of_the_definition_and_each_step_raises_it():
    model, columns = model_of(rows_of(PAIR, 150, 1), BOTH)
    last = -math.inf
    for _ in range(5):
        now = model.log_likelihood()
        assert now == pytest.approx(by_definition(model, columns), abs=1e-6)
        assert now > last
        last = now
        for i in range(4):
            model._improve(i)


def test_slopes_are_those_of_the_likelihood():
    model, _ = model_of(rows_of(PAIR, 300, 2), BOTH)
    model.fit(lambda: None)
    scores, beside, _ = model._all_scores()
    places, h = np.argwhere(model.may), 1e-5
    for place, slope in zip(places.tolist(), scores[~beside].sum(axis=1), strict=True):
        values = []
        for step in (-h, h):
            model.coefficients[tuple(place)] += step
            values.append(model.log_likelihood())
            model.coefficients[tuple(place)] -= step
        assert slope == pytest.approx((values[1] - values[0]) / (2 * h), abs=0.01)


def test_standard_errors_are_the_spread_over_data_sets():
    estimates, errors = [], []
    for seed in range(60):
        model, _ = model_of(rows_of(PAIR, 800, seed), PAIR != 0)
        model.fit(lambda: None)
        estimates.append(model.coefficients[1, 0])
        errors.append(model.coefficients[1, 0] / model.z()[1, 0])
    assert np.median(errors) == pytest.approx(np.std(estimates), rel=0.35)


def test_an_arrow_promises_what_it_adds():
    missing = (2, 1)
    may = PAIR != 0
    may[missing] = False
    b = PAIR.copy()
    b[missing] = 0.06
    model, _ = model_of(rows_of(b, 3000, 3), may)
    model.fit(lambda: None)
    before = model.log_likelihood()
    promise = model.promises(np.ones(may.shape, bool))[missing]
    model.draw(missing)
    model.fit(lambda: None)
    assert promise == pytest.approx(2 * (model.log_likelihood() - before), rel=0.35)


def test_cumulants_are_those_of_the_definition():
    model, columns = model_of(rows_of(PAIR, 400, 4), BOTH)
    e = columns[:3]
    own = model._cumulants(e).mean(axis=1)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    c = e @ e.T / e.shape[1]
    expected = [np.mean(e[i] ** 2 * e[j]) for i, j in pairs]
    expected += [np.mean(e[i] ** 3 * e[j]) - 3 * c[i, j] for i, j in pairs]
    expected += [np.mean(e[i] ** 2 * e[j] ** 2) - 1 - 2 * c[i, j] ** 2 for i, j in pairs if i < j]
    np.testing.assert_allclose(own, expected, atol=1e-9)


def test_normal_errors_of_measurement_make_an_arrow_back_that_cumulants_do_not_see():
    chain = np.array([[0, 0], [0.8, 0.0]])
    rng = np.random.default_rng(5)
    data = rows_of(chain, 5000, 5)
    data += 0.5 * rng.normal(size=data.shape)
    model, _ = model_of(data, ~np.eye(2, dtype=bool))
    model.fit(lambda: None)
    assert model.z()[0, 1] < -5
    seen = model.z_of_cumulants([0, 1])
    assert abs(seen[0, 1]) < 3.5
    assert seen[1, 0] > 8


def test_errors_of_measurement_are_no_cycle():
    chain = np.array([[0, 0, 0], [0.8, 0, 0], [0, 0.8, 0.0]])
    data = rows_of(chain, 5000, 11)
    data += 0.4 * np.random.default_rng(11).normal(size=data.shape)
    found = qwo.discover(data, feedback=True, arrows="noise", random_state=0)
    assert found.feedback.graph is None


@pytest.mark.parametrize("name", ["exponential", "laplace", "uniform"])
def test_two_variables_that_cause_each_other_need_no_other_cause(name):
    def draw(rng, size):
        return rng.uniform(-1.7, 1.7, size) if name == "uniform" else getattr(rng, name)(size=size)

    data = rows_of(PAIR, 2000, 6, draw)
    found = qwo.discover(data, feedback=True, arrows="noise", random_state=0)
    told = found.feedback
    np.testing.assert_array_equal(told.member, PAIR.T != 0)
    np.testing.assert_allclose(told.coefficients, PAIR.T, atol=0.06)
    assert [set(knot.variables) for knot in told.knots] == [{"X0", "X1"}]
    assert told.knots[0].radius < 1
    assert found.graph.kind == "cyclic"
    assert "by the shape of the noise, cycles gain" in told.summary()
    assert json.loads(json.dumps(told.to_dict()))["by_noise"]
    assert qwo.discover(data, feedback=True, random_state=0).feedback.graph is None
    reversed_ = data[:, ::-1]
    again = qwo.discover(reversed_, feedback=True, arrows="noise", random_state=0)
    np.testing.assert_array_equal(again.feedback.member[::-1, ::-1], told.member)


def test_normal_noise_leaves_the_result_of_covariances():
    data = rows_of(PAIR, 2000, 7, lambda rng, size: rng.normal(size=size))
    plain = qwo.discover(data, feedback=True, random_state=0)
    found = qwo.discover(data, feedback=True, arrows="noise", random_state=0)
    assert found.graph == plain.graph
    assert found.score == plain.score
    assert noise.TOO_NORMAL in found.feedback.summary()


def test_without_cycles_the_result_is_that_of_arrows_from_the_noise():
    chain = np.tril(PAIR)
    data = rows_of(chain, 2000, 8)
    found = qwo.discover(data, feedback=True, arrows="noise", random_state=0)
    directed = qwo.discover(data, arrows="noise", random_state=0)
    assert found.feedback.graph is None
    assert found.graph == directed.graph
    assert "the shape of the noise shows no cycle" in str(found)


def test_knowledge_is_kept():
    data = rows_of(PAIR, 2000, 6)
    forbidden = qwo.Knowledge(forbidden=[("X1", "X0")])
    options = {"feedback": True, "arrows": "noise", "random_state": 0}
    found = qwo.discover(data, knowledge=forbidden, **options)
    graph = found.feedback.member if found.feedback.graph is not None else found.dag
    assert graph[1, 0] == 0


def test_rows_that_follow_each_other_and_missing_values():
    data = rows_of(PAIR, 2000, 9)
    options = {"feedback": True, "arrows": "noise", "random_state": 0}
    found = qwo.discover(data, lags=0, **options)
    np.testing.assert_array_equal(found.feedback.member, PAIR.T != 0)
    holes = data.copy()
    holes[::50, 2] = np.nan
    with pytest.warns(qwo.DataWarning, match="left out"):
        found = qwo.discover(holes, missing="drop", **options)
    np.testing.assert_array_equal(found.feedback.member, PAIR.T != 0)


def test_what_is_refused():
    wide = np.random.default_rng(0).exponential(size=(200, 51))
    with pytest.raises(ArgumentError, match="up to 50 variables"):
        qwo.discover(wide, feedback=True, arrows="noise")
    moments = qwo.Moments.from_data(rows_of(PAIR, 500, 1))
    with pytest.raises(ArgumentError, match="looks at rows"):
        qwo.discover(moments, feedback=True, arrows="noise")


def test_a_limit_of_time_ends_it():
    with pytest.warns(qwo.DataWarning, match="time limit"):
        found = qwo.discover(
            rows_of(PAIR, 3000, 1), feedback=True, arrows="noise", time_limit=1e-6, random_state=0
        )
    assert found.status == "time limit"


def test_a_search_that_is_stopped_later_has_what_covariances_tell():
    def stop():
        raise Stopped("time limit")

    model, _ = model_of(rows_of(PAIR, 300, 1), BOTH)
    with pytest.raises(Stopped):
        model.fit(stop)


def test_equations_are_given_to_other_variables():
    model, _ = model_of(rows_of(PAIR, 3000, 10), BOTH)
    turned = np.zeros((4, 4))
    turned[[0, 1], [1, 0]] = 1 / PAIR[1, 0], 1 / PAIR[0, 1]
    model.coefficients = np.where(turned != 0, turned, PAIR * (BOTH))
    model.begin(np.arange(4))
    model.fit(lambda: None)
    known = SimpleNamespace(allowed=np.ones((4, 4), bool), must=np.zeros((4, 4), bool))
    noise._assign_all(model, known.allowed, known.must, lambda: None)
    block = model.coefficients[:2, :2]
    assert abs(np.linalg.eigvals(block)).max() < 1
