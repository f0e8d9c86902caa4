"""Simulated models: graphs, coefficients, noise, exact covariances, and refused arguments."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from qwo.errors import ArgumentError, GraphError, InputError, ShapeError
from qwo.graph.dag import topological_order
from qwo.simulation import LinearModel, Simulation, implied_covariance, random_model, simulate

KINDS = ["er", "scale-free", "scale-free-in", "scale-free-out"]
NOISES = ["gaussian", "exponential", "gumbel", "uniform"]
COLLIDER = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])


def average_degree(kind, n, degree, repeats=40):
    edges = [
        random_model(kind, n_variables=n, degree=degree, random_state=seed).dag.sum()
        for seed in range(repeats)
    ]
    return 2 * np.mean(edges) / n


class TestSimulate:
    def test_unpacks_as_data_dag_coefficients(self):
        result = simulate(n_variables=6, n_samples=50, degree=2, random_state=0)
        data, dag, coefficients = result
        assert isinstance(result, Simulation)
        assert Simulation._fields == ("data", "dag", "coefficients")
        assert data.shape == (50, 6)
        assert data.dtype == np.float64
        assert data.flags.c_contiguous
        assert dag.shape == (6, 6)
        assert dag.dtype == np.int8
        assert np.array_equal(coefficients != 0, dag == 1)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("noise", NOISES)
    def test_one_seed_fixes_everything(self, kind, noise):
        options = {"n_variables": 8, "n_samples": 30, "noise": noise}
        first = simulate(kind, **options, random_state=5)
        second = simulate(kind, **options, random_state=np.random.default_rng(5))
        other = simulate(kind, **options, random_state=6)
        for one, two in zip(first, second, strict=True):
            assert np.array_equal(one, two)
        assert not np.array_equal(first.data, other.data)

    def test_more_samples_of_a_seed_begin_with_the_same_rows(self):
        short = simulate(n_variables=5, n_samples=100, random_state=2).data
        long = simulate(n_variables=5, n_samples=10_000, random_state=2).data
        np.testing.assert_allclose(long[:100], short, rtol=1e-12)

    def test_columns_satisfy_their_equations(self):
        data, dag, coefficients = simulate(
            n_variables=10, n_samples=20_000, degree=4, random_state=1
        )
        noise = data - data @ coefficients
        variances = noise.var(axis=0)
        assert (variances > 0.95).all()
        assert (variances < 2.1).all()
        assert np.abs(np.corrcoef(noise.T) - np.eye(10)).max() < 0.04
        assert dag.sum() == (coefficients != 0).sum()

    def test_standardized_columns_and_coefficients(self):
        raw = simulate(n_variables=8, n_samples=5000, degree=3, random_state=4)
        data, dag, coefficients = simulate(
            n_variables=8, n_samples=5000, degree=3, random_state=4, standardize=True
        )
        assert np.array_equal(dag, raw.dag)
        np.testing.assert_allclose(data.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(data.std(axis=0), 1, rtol=1e-12)
        scales = raw.data.std(axis=0)
        residual = (raw.data - raw.data @ raw.coefficients) / scales
        np.testing.assert_allclose(
            data - data @ coefficients, residual - residual.mean(axis=0), atol=1e-9
        )

    @pytest.mark.parametrize("noise", NOISES)
    def test_noise_is_centred_with_the_variance_drawn(self, noise):
        model = random_model(np.zeros((4, 4)), variances=(0.5, 3.0), random_state=0)
        data = model.sample(200_000, noise, random_state=1)
        np.testing.assert_allclose(data.mean(axis=0), 0, atol=0.02)
        np.testing.assert_allclose(data.var(axis=0), model.noise_variances, rtol=0.03)

    def test_shapes_of_noise_differ(self):
        model = random_model(np.zeros((1, 1)), variances=(1, 1), random_state=0)
        skewness = {
            noise: float(np.mean(model.sample(200_000, noise, random_state=1) ** 3))
            for noise in NOISES
        }
        expected = {"gaussian": 0.0, "exponential": 2.0, "gumbel": 1.14, "uniform": 0.0}
        assert skewness == pytest.approx(expected, abs=0.1)


class TestRandomGraphs:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(("n", "degree"), [(50, 2), (30, 4.5), (20, 0.7)])
    def test_degree_is_the_average_total_degree(self, kind, n, degree):
        assert average_degree(kind, n, degree) == pytest.approx(degree, abs=0.25)

    @pytest.mark.parametrize("kind", KINDS)
    def test_extreme_degrees(self, kind):
        assert random_model(kind, n_variables=6, degree=0, random_state=0).dag.sum() == 0
        assert random_model(kind, n_variables=6, degree=5, random_state=0).dag.sum() == 15
        assert random_model(kind, n_variables=1, degree=0, random_state=0).dag.shape == (1, 1)

    @pytest.mark.parametrize("kind", KINDS)
    def test_graphs_are_acyclic_and_columns_are_not_in_causal_order(self, kind):
        backward = 0
        for seed in range(10):
            dag = random_model(kind, n_variables=20, degree=3, random_state=seed).dag
            assert len(topological_order(dag)) == 20
            backward += int(np.tril(dag).sum() > 0)
        assert backward == 10

    @pytest.mark.parametrize("kind", KINDS)
    def test_without_shuffling_columns_are_in_causal_order(self, kind):
        model = random_model(kind, n_variables=20, degree=3, shuffle=False, random_state=0)
        assert np.array_equal(model.dag, np.triu(model.dag, 1))

    def test_every_pair_is_equally_likely_in_er_graphs(self):
        total = np.zeros((6, 6))
        for seed in range(2000):
            dag = random_model("er", n_variables=6, degree=2, random_state=seed).dag
            total += dag + dag.T
        shares = total[np.triu_indices(6, 1)] / 2000
        np.testing.assert_allclose(shares, 0.4, atol=0.05)

    def test_scale_free_hubs_have_many_parents_or_children(self):
        options = {"n_variables": 200, "degree": 2, "random_state": 0}
        hubs_in = random_model("scale-free-in", **options).dag
        hubs_out = random_model("scale-free-out", **options).dag
        er = random_model("er", **options).dag
        assert hubs_in.sum(axis=0).max() > 2 * er.sum(axis=0).max()
        assert hubs_in.sum(axis=1).max() <= 2
        assert hubs_out.sum(axis=1).max() > 2 * er.sum(axis=1).max()
        assert hubs_out.sum(axis=0).max() <= 2

    def test_scale_free_means_hubs_among_the_effects(self):
        options = {"n_variables": 30, "degree": 3, "random_state": 0}
        plain, named = (random_model(k, **options).dag for k in ("scale-free", "scale-free-in"))
        assert np.array_equal(plain, named)

    def test_large_sparse_graphs(self):
        model = random_model("er", n_variables=3000, degree=4, random_state=0)
        assert model.dag.sum() == pytest.approx(6000, rel=0.1)
        assert model.sample(50, random_state=0).shape == (50, 3000)


class TestModels:
    def test_every_edge_has_a_weight_of_its_own(self):
        model = random_model("er", n_variables=40, degree=10, random_state=0)
        weights = model.coefficients[model.dag == 1]
        size = np.abs(weights)
        assert len(np.unique(size)) == len(size)
        assert size.min() >= 0.5
        assert size.max() <= 2.0
        assert 0.35 < (weights > 0).mean() < 0.65
        assert (model.noise_variances >= 1).all()
        assert (model.noise_variances <= 2).all()

    def test_ranges_can_be_chosen(self):
        model = random_model(
            "er", n_variables=10, degree=4, weights=(0.1, 0.1), variances=(3, 3), random_state=0
        )
        assert set(np.abs(model.coefficients[model.dag == 1]).round(12)) == {0.1}
        assert (model.noise_variances == 3).all()

    def test_covariance_by_hand(self):
        # X0 → X2 ← X1 with weights 2 and -1.
        coefficients = np.array([[0, 0, 2.0], [0, 0, -1.0], [0, 0, 0]])
        expected = [[1, 0, 2], [0, 4, -4], [2, -4, 4 + 4 + 3]]
        np.testing.assert_allclose(implied_covariance(coefficients, [1, 4, 3]), expected)

    def test_precision_is_the_inverse_of_the_covariance(self):
        model = random_model("er", n_variables=12, degree=3, random_state=0)
        np.testing.assert_allclose(model.precision() @ model.covariance(), np.eye(12), atol=1e-9)

    @pytest.mark.parametrize("noise", NOISES)
    def test_samples_have_the_implied_covariance(self, noise):
        model = random_model("er", n_variables=6, degree=3, random_state=3)
        sample = np.cov(model.sample(300_000, noise, random_state=0).T)
        exact = model.covariance()
        scale = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
        np.testing.assert_allclose(sample / scale, exact / scale, atol=0.02)

    def test_models_can_be_made_by_hand(self):
        model = LinearModel(COLLIDER.astype(np.int8), COLLIDER * 1.5, np.ones(3))
        assert model.n_variables == 3
        assert model.sample(10, random_state=0).shape == (10, 3)


class TestGivenGraphs:
    @pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist, lambda a: a.astype(bool)])
    def test_matrices_keep_their_columns(self, convert):
        data, dag, coefficients = simulate(convert(COLLIDER), n_samples=10, random_state=0)
        assert np.array_equal(dag, COLLIDER)
        assert dag.dtype == np.int8
        assert np.array_equal(coefficients != 0, COLLIDER == 1)
        assert data.shape == (10, 3)

    def test_networkx_graphs_keep_their_node_order(self):
        graph = nx.DiGraph([("c", "b"), ("a", "b")])
        dag = simulate(graph, n_samples=5, random_state=0).dag
        assert list(graph.nodes) == ["c", "b", "a"]
        assert np.array_equal(dag, [[0, 1, 0], [0, 0, 0], [0, 1, 0]])

    def test_the_given_matrix_is_not_shared(self):
        given = COLLIDER.astype(np.int8)
        dag = simulate(given, n_samples=5).dag
        dag[0, 2] = 0
        assert given[0, 2] == 1

    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (np.ones((2, 2)), "cycle"),
            (np.ones((2, 3)), "square"),
            (COLLIDER * 0.5, "0 and 1"),
            (np.zeros((0, 0)), "no variables"),
            (nx.Graph([(0, 1)]), "undirected"),
            (nx.DiGraph([("u", "v"), ("v", "u")]), "u → v is 2; .* undirected"),
        ],
    )
    def test_what_is_no_dag_is_refused(self, graph, message):
        with pytest.raises(GraphError, match=message):
            simulate(graph, n_samples=5)

    def test_a_contradicting_number_of_variables_is_refused(self):
        assert simulate(COLLIDER, n_variables=3, n_samples=5).data.shape == (5, 3)
        with pytest.raises(ArgumentError, match="n_variables is 4, but the given graph has 3"):
            simulate(COLLIDER, n_variables=4, n_samples=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph": "tree"}, "graph is 'tree'; wanted one of 'er'"),
        ({"n_variables": None}, "n_variables is missing"),
        ({"n_variables": 0}, "n_variables is 0; wanted at least 1"),
        ({"n_variables": 5.5}, "n_variables is 5.5; wanted an integer"),
        ({"n_variables": 2**63}, "would take .* GB"),
        ({"n_samples": 10**30}, "would take .* GB"),
        ({"noise": ["gaussian"]}, "noise is"),
        ({"weights": (1, 10**400)}, "wanted a pair"),
        ({"n_samples": 0}, "n_samples is 0; wanted at least 1"),
        ({"degree": 5}, "degree is 5; wanted a number between 0 and 4"),
        ({"degree": -1}, "degree is -1"),
        ({"degree": "two"}, "degree is 'two'"),
        ({"degree": float("nan")}, "degree is nan"),
        ({"noise": "cauchy"}, "noise is 'cauchy'; wanted one of 'gaussian'"),
        ({"weights": (0, 1)}, "weights is"),
        ({"weights": (2, 1)}, "0 < low <= high"),
        ({"weights": 1}, r"wanted a pair \(low, high\)"),
        ({"variances": (1, float("inf"))}, "variances is"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "seed"}, "random_state is 'seed'"),
        ({"n_samples": 1, "standardize": True}, "wanted 2 at least"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    arguments = {"graph": "er", "n_variables": 5, "n_samples": 10, "random_state": 0} | options
    with pytest.raises(InputError, match=message):
        simulate(**arguments)


@pytest.mark.parametrize(
    ("coefficients", "variances", "error"),
    [
        (np.zeros((2, 3)), [1, 1], ShapeError),
        (np.zeros((2, 2)), [1, 1, 1], ShapeError),
        (np.zeros((2, 2)), [1, 0], ArgumentError),
        ([[0, np.nan], [0, 0]], [1, 1], ArgumentError),
        ([[0, 1], [1, 0]], [1, 1], GraphError),
    ],
)
def test_bad_models_have_no_covariance(coefficients, variances, error):
    with pytest.raises(error):
        implied_covariance(coefficients, variances)
