"""Latent correlations: polychoric, polyserial and tetrachoric, and what they cost in rows."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm
from typer.testing import CliRunner

import qwo
from qwo.cli.application import app
from qwo.errors import SampleSizeError
from qwo.moments import Moments
from qwo.moments.estimators import Pieces, latent_moments, normal_cdf, polychoric

CUTS = ([0.3], [-0.8, 0.1, 1.2], [-0.4, 0.5])


def normal_rows(n_rows, correlation, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, len(correlation))) @ np.linalg.cholesky(correlation).T


@pytest.fixture(scope="module")
def correlation():
    return np.array(
        [[1, 0.6, -0.3, 0.4], [0.6, 1, 0.2, 0.5], [-0.3, 0.2, 1, 0.1], [0.4, 0.5, 0.1, 1.0]]
    )


@pytest.fixture(scope="module")
def mixed(correlation):
    """A binary column, two ordinal ones, and a column of numbers."""
    z = normal_rows(6000, correlation)
    pieces = [np.digitize(z[:, k], cuts) for k, cuts in enumerate(CUTS)]
    return np.column_stack([*pieces, z[:, 3]]).astype(float)


@pytest.mark.parametrize("rho", [-0.99, -0.7, 0.0, 0.4, 0.95, 0.99])
def test_the_normal_distribution_of_two_is_that_of_scipy(rho):
    h, k = np.array([[-40.0, -1.1, 0.2, 1.9]]), np.array([[-0.6, 0.9, 40.0]])
    found = normal_cdf(h, k, np.array([rho]))[0]
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    wanted = [[law.cdf([min(a, 9.0), min(b, 9.0)]) for b in k[0]] for a in np.maximum(h[0], -9)]
    assert found == pytest.approx(np.array(wanted), abs=1e-9)


def slow_polychoric(x, y):
    """The definition: the likelihood of the table by numerical integration, maximised."""
    a, b = Pieces.of(x), Pieces.of(y)
    table = np.histogram2d(a.codes, b.codes, (len(a.scores), len(b.scores)))[0]

    def minus_likelihood(rho):
        law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        corners = [[law.cdf(np.clip([s, t], -9, 9)) for t in b.thresholds] for s in a.thresholds]
        cells = np.diff(np.diff(corners, axis=0), axis=1)
        return -(table * np.log(np.maximum(cells, 1e-300))).sum()

    return minimize_scalar(minus_likelihood, bounds=(-0.99, 0.99), options={"xatol": 1e-7}).x


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
def test_polychoric_correlations_are_of_largest_likelihood(mixed, pair):
    x, y = mixed[:300, pair[0]], mixed[:300, pair[1]]
    found = polychoric([Pieces.of(x), Pieces.of(y)])
    assert found[0, 1] == pytest.approx(slow_polychoric(x, y), abs=1e-5)
    assert found[0, 1] == found[1, 0]


def test_pieces_have_the_means_of_a_normal_variable():
    own = Pieces.of(np.repeat([1.0, 2.0, 5.0], [20, 50, 30]))
    low, high = norm.ppf(0.2), norm.ppf(0.7)
    assert own.thresholds[1:-1] == pytest.approx([low, high])
    assert own.scores[1] == pytest.approx(
        norm.expect(lambda z: z, lb=low, ub=high, conditional=True)
    )
    assert own.scores @ [0.2, 0.5, 0.3] == pytest.approx(0, abs=1e-12)


def test_latent_correlations_are_those_before_the_cut(mixed, correlation):
    found = Moments.from_data(mixed, covariance_estimator="latent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", qwo.DataWarning)
        plain = Moments.from_data(mixed)
    assert np.abs(found.correlation - correlation).max() < 0.05
    assert np.abs(plain.correlation - correlation).max() > 0.1
    assert found.estimator == "latent"
    assert found.means[:3].tolist() == [0, 0, 0]
    assert found.scales[:3].tolist() == [1, 1, 1]
    assert found.scales[3] == plain.scales[3]


def test_names_and_distances_of_levels_do_not_matter(mixed):
    stretched = mixed.copy()
    stretched[:, 1] = np.array([-7.0, 0.0, 1.0, 30.0])[mixed[:, 1].astype(int)]
    found = [
        Moments.from_data(data, covariance_estimator="latent", types=types).correlation
        for data, types in ((mixed, None), (stretched, {"X1": "ordinal"}))
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_the_effective_size_of_independent_columns_is_what_cuts_leave():
    rng = np.random.default_rng(2)
    data = (rng.standard_normal((20_000, 3)) > 0).astype(float)
    found = Moments.from_data(data, covariance_estimator="latent")
    assert found.n_samples == pytest.approx(20_000 * (2 / np.pi) ** 2, rel=0.02)
    numbers = rng.standard_normal((500, 3))
    assert Moments.from_data(numbers, covariance_estimator="latent").n_samples == pytest.approx(500)


def test_the_effective_size_makes_squared_partial_correlations_right():
    """Where the true one is 0, N r² is about 1 on average, however strong the others are."""
    chain = 0.7 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    squares = []
    for seed in range(60):
        data = normal_rows(2000, chain, seed)
        data[:, 1:3] = data[:, 1:3] > 0
        found = Moments.from_data(data, covariance_estimator="latent")
        inverse = np.linalg.inv(found.correlation)
        parts = inverse / np.sqrt(np.outer(np.diagonal(inverse), np.diagonal(inverse)))
        squares.append(found.n_samples * parts[[0, 0, 1], [2, 3, 3]] ** 2)
    assert 0.4 < np.mean(squares) < 1.6


def test_a_matrix_that_no_variables_have_is_made_positive():
    rng = np.random.default_rng(5)
    z = normal_rows(80, 0.8 ** np.abs(np.subtract.outer(np.arange(8), np.arange(8))), 3)
    data = (z > rng.normal(0, 0.5, 8)).astype(float)
    pieces = [Pieces.of(column) for column in data.T]
    assert np.linalg.eigvalsh(polychoric(pieces))[0] < 0
    names = tuple("abcdefgh")
    plain = Moments(names, len(data), data.mean(axis=0), data.std(axis=0), np.corrcoef(data.T))
    found = latent_moments(data, plain, np.full(8, fill_value=True))
    assert np.linalg.eigvalsh(found.correlation)[0] > 0.01
    assert np.diagonal(found.correlation) == pytest.approx(np.ones(8), abs=0)


def test_the_audit_says_the_effective_size_and_asks_no_more_about_codes(mixed):
    audit = qwo.audit(mixed, covariance_estimator="latent")
    [note] = [finding for finding in audit.findings if finding.code == "latent"]
    assert "3 of 4 variables" in note.message
    assert "of 6000 rows" in note.message
    assert "codes" not in {finding.code for finding in audit.findings}
    assert "codes" in {finding.code for finding in qwo.audit(mixed).findings}


def test_next_to_no_information_is_warned_of_or_refused():
    rng = np.random.default_rng(0)
    noise = (rng.standard_normal((40, 30)) > 0).astype(float)
    with pytest.raises(SampleSizeError, match=r"next to nothing\n.*'plain' treats them as scores"):
        qwo.discover(noise, covariance_estimator="latent")
    strong = normal_rows(200, 0.7 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))) > 0
    [finding] = qwo.audit(strong, covariance_estimator="latent").warnings
    assert finding.code == "latent"
    assert "of 200 rows, which is next to nothing" in finding.message


def test_categories_without_an_order_stay_blocks(mixed):
    frame = pd.DataFrame(mixed, columns=list("abcd"))
    frame["ward"] = np.where(frame["d"] > 0.5, "east", np.where(frame["a"] == 1, "west", "north"))
    found = qwo.Moments.from_data(frame, covariance_estimator="latent")
    assert found.has_blocks
    assert found.column_names[-2:] == ("ward=east", "ward=west")
    assert np.linalg.eigvalsh(found.correlation)[0] > 0


def test_a_search_finds_what_cutting_hides():
    """z1 → z2 → z3 with z2 cut in two: scores leave z1 and z3 dependent given z2."""
    chain = 0.7 ** np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    data = normal_rows(3000, chain)
    data[:, 1] = data[:, 1] > 0
    plain = qwo.discover(data, random_state=0)
    latent = qwo.discover(data, covariance_estimator="latent", random_state=0)
    assert plain.n_edges == 3
    assert latent.cpdag.tolist() == [[0, 2, 0], [2, 0, 2], [0, 2, 0]]


def test_resamples_take_the_same_estimator(mixed):
    found = qwo.bootstrap(
        mixed, covariance_estimator="latent", n_resamples=5, random_state=0, n_jobs=1
    )
    assert found.n_done == 5


def test_missing_values_are_for_one_estimator_only(mixed):
    with pytest.raises(qwo.InputError, match="covariance estimator by itself"):
        qwo.discover(mixed, covariance_estimator="latent", missing="em")


def test_whatever_looks_at_rows_refuses_variables_that_no_row_shows(mixed):
    model = qwo.QWO(covariance_estimator="latent", random_state=0).fit(mixed)
    with pytest.raises(qwo.InputError, match=r"looks at rows.*\n.*covariance_estimator='plain'"):
        model.score(mixed)
    with pytest.raises(qwo.InputError, match="the check looks at rows"):
        qwo.check(mixed, model.discovery_, covariance_estimator="latent")


def test_the_command_line_takes_it(mixed, tmp_path):
    file = tmp_path / "mixed.csv"
    pd.DataFrame(mixed, columns=list("abcd")).to_csv(file, index=False)
    out = tmp_path / "out"
    command = ["learn", str(file), "--covariance-estimator", "latent", "-o", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "effective sample size" in done.output
    params = json.loads((out / "result.json").read_text())["params"]
    assert params["covariance_estimator"] == "latent"
