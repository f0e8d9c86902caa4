"""Feedback: the likelihood of cyclic models, rotations, classes, and `discover(feedback=True)`."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment, minimize
from typer.testing import CliRunner

import qwo
from qwo import _core
from qwo.cli.application import app
from qwo.drawing.layers import EdgeSet, causal_order
from qwo.feedback.search import around_triangles, order_rows
from qwo.graph import CausalGraph
from qwo.graph.cyclic_class import equivalence_class
from qwo.graph.dag import is_acyclic
from qwo.graph.formats import FORMATS, can_hold, parse_graph
from qwo.order.linalg import as_mask, cyclic_coefficients

TWO = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0]])
"""a → X ⇄ Y ← b."""


def covariance_of(coefficients, variances):
    total = np.linalg.inv(np.eye(len(variances)) - coefficients)
    return total * variances @ total.T


def two_cycle(b=0.6):
    """Row i is the equation of variable i of a → X ⇄ Y ← b."""
    coefficients = np.zeros((4, 4))
    coefficients[2, 0] = coefficients[3, 1] = 0.8
    coefficients[2, 3], coefficients[3, 2] = b, 0.5
    return coefficients


def sample(coefficients, n_samples, seed=0):
    noise = np.random.default_rng(seed).standard_normal((n_samples, len(coefficients)))
    return noise @ np.linalg.inv(np.eye(len(coefficients)) - coefficients).T


def graphs_of(correlation, samples=1.0, price=0.0):
    n = len(correlation)
    return _core.CyclicGraphs(
        correlation,
        samples=samples,
        price=price,
        may=np.ones((n, n), np.uint8),
        must=np.zeros((n, n), np.uint8),
    )


class TestLikelihood:
    def test_of_a_dag_is_its_score(self):
        data, dag, _ = qwo.simulate("er", n_variables=6, n_samples=300, random_state=1)
        graphs = graphs_of(qwo.Moments.from_data(data).correlation, 300, 2 * np.log(300))
        expected = float(qwo.score_graph(data, dag))
        assert -graphs.cost(as_mask(dag)) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("seed", range(3))
    def test_no_numerical_optimum_is_better(self, seed):
        rng = np.random.default_rng(seed)
        correlation = np.corrcoef(sample(two_cycle(), 500, seed).T)
        effects, causes = np.nonzero(TWO.T)

        def loss(free):
            rows = np.eye(4)
            rows[effects, causes] = -free
            variances = np.einsum("ij,jk,ik->i", rows, correlation, rows)
            return np.log(variances).sum() - 2 * np.linalg.slogdet(rows)[1]

        best = min(minimize(loss, rng.normal(size=4) / 2).fun for _ in range(5))
        assert graphs_of(correlation).cost(as_mask(TWO)) == pytest.approx(best, abs=1e-3)
        found = cyclic_coefficients(correlation, TWO)[effects, causes]
        assert loss(found) == pytest.approx(best, abs=1e-8)

    def test_of_exact_moments_returns_the_coefficients(self):
        exact = two_cycle()
        covariance = covariance_of(exact, np.ones(4))
        assert cyclic_coefficients(covariance, TWO) == pytest.approx(exact, abs=1e-5)

    def test_the_core_refuses_what_is_not_square(self):
        with pytest.raises(qwo.InputError, match="must be 4 x 4"):
            graphs_of(np.eye(4)).cost(np.zeros((3, 3), np.uint8))


def graph_of_rows(rows, n_samples, price):
    """The graph of the entries that count, by the definition; None if a variable has no row."""
    shares = rows**2 / (rows**2).sum(axis=0)
    counts = n_samples * (shares + shares**2 / 2) > 0.999 * price
    loss = np.where(counts, -np.log(np.maximum(shares, 1e-300)), 1e6)
    _, variables = linear_sum_assignment(loss)
    if not counts[np.arange(len(rows)), variables].all():
        return None
    graph = np.zeros_like(counts)
    graph[:, variables] = counts.T
    np.fill_diagonal(graph, False)
    return graph


@pytest.mark.parametrize("seed", range(4))
def test_a_descent_takes_the_best_change_of_all(seed):
    rng = np.random.default_rng(seed)
    data = sample(np.roll(np.eye(5), 1, axis=0) * 0.7 + np.roll(np.eye(5), 2, axis=0) * 0.4, 300)
    correlation, price = np.corrcoef(data.T), 2 * np.log(300)
    graph = (rng.random((5, 5)) < 0.3) & ~np.eye(5, dtype=bool)
    graphs = graphs_of(correlation, 300, price)
    graphs.start(as_mask(graph))
    assert graphs.descend(60.0)

    def cost(graph):
        return graphs_of(correlation, 300, price).cost(as_mask(graph))

    now = cost(graph)
    while True:
        tried = {}
        for i, j in permutations(range(5), 2):
            other = graph.copy()
            other[i, j] ^= True
            tried[other.tobytes()] = other
            if graph[i, j] and not graph[j, i]:
                turned = other.copy()
                turned[j, i] = True
                tried[turned.tobytes()] = turned
        best = min(tried.values(), key=cost)
        if cost(best) > now - 0.01:
            break
        graph, now = best, cost(best)
    assert graphs.found_cost == pytest.approx(now, abs=0.02)


class TestRotations:
    def test_some_rows_turn_among_themselves(self):
        covariance = covariance_of(two_cycle(), np.ones(4))
        whole = order_rows(covariance, np.arange(4))
        weights = 1 / (whole**2).sum(axis=0)
        rotations = _core.RowRotations(whole[2:], weights, samples=1e16, price=1.0, seed=1)
        assert rotations.anneal(20_000, 0.5, 10.0)
        rows = rotations.rows()
        assert rows @ covariance @ rows.T == pytest.approx(np.eye(2), abs=1e-9)
        assert (np.abs(rows) > 1e-9).sum() == 6
        with pytest.raises(qwo.InputError, match="a weight for each column"):
            _core.RowRotations(whole, weights[:2], samples=1e3, price=1.0, seed=1)

    def test_rows_around_triangles_are_turned(self):
        dag = np.zeros((6, 6), np.int8)
        dag[0, 1] = dag[1, 2] = dag[2, 3] = 1
        assert around_triangles(dag).all()
        dag[0, 2] = 1
        assert around_triangles(dag).tolist() == [True, True, True, True, False, False]

    def test_rows_stay_orthonormal_and_become_sparse(self):
        covariance = covariance_of(two_cycle(), np.ones(4))
        rows = order_rows(covariance, np.arange(4))
        weights = 1 / (rows**2).sum(axis=0)
        rotations = _core.RowRotations(rows, weights, samples=1e16, price=1.0, seed=1)
        assert rotations.anneal(20_000, 0.5, 10.0)
        rows = rotations.rows()
        assert rows @ covariance @ rows.T == pytest.approx(np.eye(4), abs=1e-9)
        assert (np.abs(rows) > 1e-9).sum() == 8 == round(rotations.cost)

    @pytest.mark.parametrize("n", [1, 2, 7, 30])
    def test_rows_are_given_to_variables_by_the_best_assignment(self, n):
        rows = np.random.default_rng(n).normal(size=(n, n))
        rows[rows**2 < 0.2] = 0.0
        rows[np.arange(n), np.arange(n) - 1] = 1.0
        draws = _core.RowDraws(rows, [True] * n, samples=1e4, price=20.0)
        now = {"samples": 1e4, "price": 20.0, "steps": 0, "temperature": 0.0, "seconds": 1.0}
        expected = graph_of_rows(rows, 1e4, 20.0)
        assert draws.draw(0, **now) is (expected is not None)
        assert draws.draw(0, **now) is False  # nothing new
        if expected is not None:
            assert (draws.graph() == expected).all()
        assert draws.draw(0, **(now | {"steps": 10, "seconds": -1.0})) is None

    def test_rows_of_which_no_variable_is_its_own_draw_nothing(self):
        rows = np.array([[1.0, 0, 0], [1.0, 0, 0], [1.0, 1, 1]])
        draws = _core.RowDraws(rows, [True] * 3, samples=1e4, price=20.0)
        never = {"steps": 0, "temperature": 0.0, "seconds": 1.0}
        assert graph_of_rows(rows, 1e4, 20.0) is None
        assert draws.draw(0, samples=1e4, price=20.0, **never) is False

    def test_the_same_seed_gives_the_same_rows(self):
        rows = order_rows(covariance_of(two_cycle(), np.ones(4)), np.arange(4))
        first, second = (
            _core.RowRotations(rows, np.ones(4), samples=1e3, price=10.0, seed=7) for _ in range(2)
        )
        first.anneal(5000, 0.5, 10.0)
        second.anneal(5000, 0.5, 10.0)
        assert (first.rows() == second.rows()).all()


def members_of(coefficients, variances):
    """Every combination of the members of blocks, as whole graphs."""
    blocks = equivalence_class(coefficients, variances)
    assert all(block.complete for block in blocks)
    whole = [np.zeros_like(coefficients)]
    for block in blocks:
        whole = [made + member.coefficients for made in whole for member in block.members]
    return whole


class TestClass:
    def test_every_member_has_the_same_covariance(self):
        coefficients = two_cycle()
        coefficients = np.pad(coefficients, (0, 1))
        coefficients[4, 3] = 0.7  # Y → c
        covariance = covariance_of(coefficients, np.ones(5))
        members = members_of(coefficients, np.ones(5))
        for member in members:
            rows = np.eye(5) - member
            noise = rows @ covariance @ rows.T
            assert noise == pytest.approx(np.diag(np.diag(noise)), abs=1e-9)
        # X ⇄ Y, or the cycle the other way round: a causes Y, and b causes X.
        assert len(members) == 2
        assert len({m.astype(bool).tobytes() for m in members}) == 2

    def test_of_a_dag_is_its_markov_class(self):
        _, dag, coefficients = qwo.simulate("er", n_variables=5, n_samples=9, random_state=4)
        found = {as_mask(m.T).tobytes() for m in members_of(coefficients.T, np.ones(5))}
        cpdag = qwo.to_cpdag(dag)
        expected = set()
        for order in permutations(range(5)):
            place = np.argsort(order)
            for bits in range(2 ** int((cpdag == 2).sum() // 2)):
                other = cpdag == 1
                for k, (i, j) in enumerate(np.argwhere(np.triu(cpdag == 2))):
                    other[(i, j) if bits >> k & 1 else (j, i)] = True
                forward = (place[:, None] < place[None, :]) | ~other
                if forward.all() and (qwo.to_cpdag(other.astype(int)) == cpdag).all():
                    expected.add(as_mask(other).tobytes())
        assert found >= expected
        assert {
            g for g in found if is_acyclic(np.frombuffer(g, np.uint8).reshape(5, 5))
        } == expected

    def test_a_cycle_with_one_cause_outside_equals_a_dag(self):
        coefficients = two_cycle()[1:, 1:]
        blocks = equivalence_class(coefficients, np.ones(3))
        assert not any(block.is_knot for block in blocks)


class TestDiscover:
    def test_finds_two_variables_that_cause_each_other(self):
        data = sample(two_cycle(), 2000, seed=1)
        found = qwo.discover(data, feedback=True, random_state=0)
        assert (found.feedback.member == TWO).all()
        assert found.graph.kind == "cyclic"
        assert found.n_edges == 4 == len(found.edges)
        (knot,) = found.feedback.knots
        assert (knot.variables, knot.members) == (("X2", "X3"), 2)
        assert knot.identified
        estimates = found.feedback.coefficients.T
        assert estimates == pytest.approx(two_cycle(), abs=0.1)
        assert "Feedback in 1 knot" in str(found)
        assert found.to_frame().shape[0] == 4
        text = found.feedback.to_dict()
        assert text["knots"][0]["cycles"] == [["X2", "X3"]]

    def test_the_score_is_that_of_the_likelihood(self):
        data = sample(two_cycle(), 2000, seed=1)
        found = qwo.discover(data, feedback=True, penalty_discount=2, random_state=0)
        graphs = graphs_of(np.corrcoef(data.T), 2000, 2 * np.log(2000))
        assert found.score == pytest.approx(-graphs.cost(as_mask(TWO)), abs=0.01)

    def test_exact_moments_give_the_sparsest_rows(self):
        covariance = covariance_of(two_cycle(), np.ones(4))
        moments = qwo.Moments.from_precision(np.linalg.inv(covariance))
        found = qwo.discover(moments, feedback=True, random_state=0)
        assert found.n_edges == 4
        assert found.feedback.edges_saved == 1
        assert np.isnan(found.score)

    @pytest.mark.parametrize("seed", range(3))
    def test_sees_no_sign_in_data_without(self, seed):
        data, _, _ = qwo.simulate("er", n_variables=8, n_samples=500, random_state=seed)
        plain = qwo.discover(data, random_state=0)
        found = qwo.discover(data, feedback=True, random_state=0)
        assert found.feedback.graph is None
        assert "No sign of feedback" in str(found)
        assert (found.cpdag == plain.cpdag).all()
        assert found.score == plain.score
        assert found.effect("X0", "X1") == plain.effect("X0", "X1")

    def test_effects_are_those_of_its_model(self):
        found = qwo.discover(sample(two_cycle(), 2000, seed=1), feedback=True, random_state=0)
        assert found.fit().effect("X2", "X3") == pytest.approx(0.5, abs=0.1)
        with pytest.raises(qwo.InputError, match="the graph has cycles"):
            found.effect("X2", "X3")

    def test_sees_no_sign_in_a_cycle_of_three_alone(self):
        cycle = np.zeros((3, 3))
        cycle[1, 0] = cycle[2, 1] = cycle[0, 2] = 0.5
        assert qwo.discover(sample(cycle, 1000), feedback=True).feedback.graph is None

    def test_asks_for_cycles_at_a_higher_penalty_too(self, monkeypatch):
        options = {"n_variables": 8, "n_samples": 1000, "degree": 4, "weights": (0.1, 0.3)}
        data = qwo.simulate("er", random_state=62010, **options).data
        found = qwo.discover(data, feedback=True, random_state=0)
        assert found.feedback.graph is None
        assert found.feedback.gain > found.feedback.needed
        assert found.feedback.weakest >= 2.5
        assert "half as much again" in str(found)
        monkeypatch.setattr("qwo.discovery.feedback.DEARER", 1.0)
        assert qwo.discover(data, feedback=True, random_state=0).feedback.graph is not None

    def test_asks_every_edge_into_a_cycle_to_be_strong(self, monkeypatch):
        options = {"n_variables": 8, "n_samples": 1000, "degree": 4, "weights": (0.1, 0.3)}
        data = qwo.simulate("er", random_state=1005, **options).data
        found = qwo.discover(data, feedback=True, random_state=0)
        assert found.feedback.graph is None
        assert found.feedback.weakest < 2.5
        assert found.feedback.gain > found.feedback.needed
        assert "such cycles come by chance" in str(found)
        monkeypatch.setattr("qwo.discovery.feedback.LEAST_EDGE", 0.0)
        monkeypatch.setattr("qwo.discovery.feedback.DEARER", 1.0)
        claimed = qwo.discover(data, feedback=True, random_state=0)
        assert "can look like such a cycle" in str(claimed)
        (knot,) = claimed.feedback.knots
        model = qwo.fit_sem(data, claimed)
        worth = min(e.t**2 for e in model.edges if e.effect in knot.variables)
        penalty = claimed.params["penalty_discount"] * np.log(1000)
        assert claimed.feedback.weakest == pytest.approx(worth / penalty, rel=1e-3)

    def test_keeps_knowledge(self):
        data = sample(two_cycle(), 2000, seed=1)
        knowledge = {"forbidden": [("X3", "X2")]}
        found = qwo.discover(data, feedback=True, knowledge=knowledge, random_state=0)
        shown = found.dag if found.feedback.graph is None else found.feedback.member
        assert shown[3, 2] == 0

    def test_does_not_depend_on_threads(self):
        data = sample(two_cycle(), 1000, seed=3)
        one, two = (
            qwo.discover(data, feedback=True, random_state=5, n_jobs=jobs) for jobs in (1, 2)
        )
        assert (one.feedback.member == two.feedback.member).all()

    def test_keeps_the_time_limit(self):
        data, _, _ = qwo.simulate("er", n_variables=60, n_samples=500, random_state=1)
        found = qwo.discover(data, feedback=True, time_limit=0.0, random_state=0)
        assert found.status == "time limit"

    def test_refuses_categories(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(sample(two_cycle(), 60)).rename(columns=str)
        frame["kind"] = ["x", "y", "z"] * 20
        with pytest.raises(qwo.InputError, match="feedback"):
            qwo.discover(frame, feedback=True)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"regime": 0}, "do not go together"),
            ({"search": "grasp"}, "default search"),
            ({"feedback": 1}, "True or False"),
        ],
    )
    def test_refuses_what_does_not_go_together(self, options, words):
        with pytest.raises(qwo.InputError, match=words):
            qwo.discover(sample(two_cycle(), 50), **({"feedback": True} | options))

    @pytest.mark.filterwarnings("ignore::qwo.errors.DataWarning")
    def test_refuses_fewer_samples_than_variables(self):
        with pytest.raises(qwo.InputError, match="more samples than variables"):
            qwo.discover(np.random.default_rng(0).normal(size=(12, 14)), feedback=True)


def cyclic_graph(matrix=TWO):
    return CausalGraph(("a", "b", "X", "Y"), np.array(matrix, np.int8), "cyclic")


class TestGraphs:
    @pytest.mark.parametrize("form", ["json", "graphml", "gml"])
    def test_formats_that_know_the_kind_give_it_back(self, form):
        graph = cyclic_graph()
        assert parse_graph(FORMATS[form].write(graph), form) == graph

    def test_json_holds_lines_beside_cycles(self):
        matrix = TWO.copy()
        matrix[0, 1] = matrix[1, 0] = 2
        graph = cyclic_graph(matrix)
        assert parse_graph(FORMATS["json"].write(graph), "json") == graph
        assert "have both" in can_hold("graphml", graph)

    @pytest.mark.parametrize("form", ["dot", "tetrad", "edges", "adjacency", "zero-one", "parquet"])
    def test_others_write_it(self, form):
        assert can_hold(form, cyclic_graph()) is None

    @pytest.mark.parametrize("form", ["dagitty", "bnlearn", "lavaan", "pcalg", "causal-learn"])
    def test_others_refuse_it(self, form):
        assert "cycles" in can_hold(form, cyclic_graph())

    def test_a_dag_may_not_have_two_arrows(self):
        with pytest.raises(qwo.InputError, match="give 1 and 0"):
            CausalGraph(("a", "b", "X", "Y"), TWO.astype(np.int8), "dag")

    def test_what_needs_an_order_refuses_it(self):
        graph = cyclic_graph()
        for call in (graph.to_dag, graph.to_cpdag):
            with pytest.raises(qwo.InputError, match="has cycles"):
                call()

    def test_is_drawn_with_both_arrows(self):
        pytest.importorskip("matplotlib")
        edges = EdgeSet.of(TWO, causal_order(None, cyclic_graph()))
        assert len(edges.tails) == 4
        assert sorted(edges.head_ends().tolist()) == [-1, 1, 1, 1]


class TestFit:
    def test_errors_are_those_of_repeated_samples(self):
        graph = CausalGraph.from_matrix(TWO, kind="cyclic")
        fits = [qwo.fit_sem(sample(two_cycle(), 400, seed), graph) for seed in range(60)]
        estimates = np.array([fit.coefficients[TWO != 0] for fit in fits])
        errors = np.array([fit.standard_errors[TWO != 0] for fit in fits])
        assert estimates.mean(axis=0) == pytest.approx(two_cycle().T[TWO != 0], abs=0.03)
        assert estimates.std(axis=0) == pytest.approx(errors.mean(axis=0), rel=0.35)
        assert np.mean([fit.chi_square[2] < 0.05 for fit in fits]) < 0.2

    def test_total_effects_sum_all_rounds(self):
        covariance = covariance_of(two_cycle(), np.ones(4))
        moments = qwo.Moments.from_precision(np.linalg.inv(covariance))
        fit = qwo.fit_sem(moments, CausalGraph.from_matrix(TWO, kind="cyclic"))
        b = fit.coefficients
        rounds = sum(np.linalg.matrix_power(b, k) for k in range(200))
        assert fit.total_effects == pytest.approx(rounds, abs=1e-6)
        assert fit.effect("X2", "X3") == pytest.approx(0.5, abs=1e-4)
        assert fit.spectral_radius == pytest.approx(np.sqrt(0.3), abs=1e-4)

    def test_takes_a_result(self):
        data = sample(two_cycle(), 2000, seed=1)
        found = qwo.discover(data, feedback=True, random_state=0)
        fit = qwo.fit_sem(data, found)
        assert fit.coefficients == pytest.approx(found.feedback.coefficients, abs=1e-3)
        assert "spectral radius" in str(fit)
        assert len(fit.edges_table()) == 4


class TestSimulate:
    def test_cycles_are_closed_and_stable(self):
        data, graph, b = qwo.simulate(
            "er", n_variables=8, n_samples=20_000, degree=3, cycles=2, random_state=5
        )
        assert not is_acyclic(graph)
        assert np.abs(np.linalg.eigvals(b)).max() < 1
        system = np.eye(8) - b
        noise = np.cov((data @ system).T)
        scale = np.sqrt(np.diag(noise))
        assert np.abs(noise / np.outer(scale, scale) - np.eye(8)).max() < 0.05

    def test_too_many_are_refused(self):
        with pytest.raises(qwo.InputError, match="cycles is 9"):
            qwo.simulate("er", n_variables=3, n_samples=10, degree=1, cycles=9, random_state=1)


@pytest.fixture(scope="module")
def case():
    data = sample(two_cycle(), 2000, seed=1)
    found = qwo.discover(data, feedback=True, random_state=0)
    return found, qwo.fit_sem(data, found)


def test_cycles_of_a_knot_are_those_of_networkx():
    import networkx as nx

    from qwo.feedback.result import _cycles

    graph = np.random.default_rng(1).random((6, 6)) < 0.45
    np.fill_diagonal(graph, False)
    own = (0, 2, 3, 4, 5)
    whole = nx.DiGraph([(i, j) for i, j in np.argwhere(graph).tolist() if {i, j} <= set(own)])

    def turned(cycle):
        start = cycle.index(min(cycle))
        return tuple(cycle[start:] + cycle[:start])

    found = [tuple(cycle) for cycle in _cycles(graph, own)]
    assert sorted(found) == sorted(map(turned, nx.simple_cycles(whole)))
    assert list(map(len, found)) == sorted(map(len, found))


class TestReport:
    def test_the_page_draws_both_arrows_and_tells_the_knot(self, case, tmp_path):
        from qwo.report import write_report

        found, model = case
        write_report(tmp_path / "report.html", found, model=model)
        page = (tmp_path / "report.html").read_text()
        assert "Where every graph that fits alike has a cycle" in page
        assert "X2 → X3 → X2" in page
        assert "<title>X2 → X3</title>" in page
        assert "<title>X3 → X2</title>" in page

    def test_its_data_have_coefficients_and_bends_on_both_sides(self, case):
        from qwo.report.data import report_data

        found, model = case
        told = report_data(found, model=model)
        assert told["fit"] is None
        sizes = {(e["source"], e["target"]): e["coefficient"] for e in told["edges"]}
        assert sizes["X2", "X3"] == pytest.approx(0.5, abs=0.1)
        ends = [(e["source"], e["target"]) for e in told["edges"]]
        forth, back = (told["layout"]["bends"][ends.index(e)] for e in (("X2", "X3"), ("X3", "X2")))
        middle = np.mean([told["layout"]["nodes"][v][:2] for v in (2, 3)], axis=0)
        assert np.mean([forth[0], back[0]], axis=0) == pytest.approx(middle, abs=0.2)
        assert np.hypot(*np.subtract(forth[0], back[0])) == pytest.approx(18, abs=0.3)

    def test_a_model_of_another_graph_is_refused(self, case):
        from qwo.report.data import report_data

        found, _ = case
        other = qwo.fit_sem(sample(two_cycle(), 200), found.dag)
        with pytest.raises(qwo.InputError, match="another graph"):
            report_data(found, model=other)


def test_rows_of_a_series_count_for_what_they_are_worth():
    noise = np.random.default_rng(1).standard_normal((6000, 4))
    for row in range(1, 6000):
        noise[row] += 0.8 * noise[row - 1]
    data = noise @ np.linalg.inv(np.eye(4) - two_cycle()).T
    found = qwo.discover(data, feedback=True, lags=0, random_state=0)
    assert found.series.n_effective < 2000
    assert (found.feedback.member == TWO).all()
    for model in (found.fit(), qwo.fit_sem(data, found)):
        assert model.n_samples == pytest.approx(found.series.n_effective)
    with pytest.raises(qwo.InputError, match="lags=0"):
        qwo.discover(data, feedback=True, lags=1)


class TestCommandLine:
    def test_a_cycle_is_learnt_and_told(self, tmp_path):
        frame = pd.DataFrame(sample(two_cycle(), 2000, 1), columns=["a", "b", "X", "Y"])
        frame.to_csv(tmp_path / "data.csv", index=False)
        asked = ["learn", str(tmp_path / "data.csv"), "--feedback", "--seed", "0"]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 0
        assert " → ".join("XYX") in done.output

    def test_a_folder_stands_for_its_graph_with_cycles(self, tmp_path):
        frame = pd.DataFrame(sample(two_cycle(), 2000, 1), columns=["a", "b", "X", "Y"])
        frame.to_csv(tmp_path / "data.csv", index=False)
        data, folder = str(tmp_path / "data.csv"), str(tmp_path / "found")
        run = CliRunner().invoke
        asked = ["learn", data, "--feedback", "--seed", "0", "-o", folder, "--no-report"]
        assert run(app, asked).exit_code == 0
        fit = run(app, ["fit", data, folder])
        assert fit.exit_code == 0
        assert "spectral radius" in fit.output
        assert run(app, ["check", data, folder]).exit_code == 0
        effect = run(app, ["effect", data, folder, "X", "Y"]).output.split()[-1]
        own = qwo.fit_sem(frame, f"{folder}/graph.json").effect("X", "Y")
        assert float(effect) == pytest.approx(own, rel=1e-3)
        assert run(app, ["compare", folder, folder + "/graph.json"]).exit_code == 0

    def test_what_the_exact_search_takes_is_said_before(self, tmp_path):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(99, 5)))
        frame.to_csv(tmp_path / "data.csv", index=False)
        done = CliRunner().invoke(app, ["learn", str(tmp_path / "data.csv"), "--search", "exact"])
        assert 0 < done.output.find("exact search: about") < done.output.find("found 0 edges")
