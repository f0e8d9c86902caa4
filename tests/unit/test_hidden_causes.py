"""discover(hidden_causes=True): the score, the search, knowledge, effects, and what is refused."""

import itertools
import json
import signal
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import qwo
from qwo import _core
from qwo.cli.application import app
from qwo.discovery import hidden_causes
from qwo.graph import pag
from qwo.graph.dag import ancestor_matrix
from qwo.graph.marks import HEAD, TAIL
from qwo.graph.pag import (
    NO_MASK,
    ancestors_in,
    definite_causes,
    is_mag,
    is_pag,
    pag_of_mag,
    possible_causes,
)
from qwo.hidden import search
from qwo.hidden.result import CHANGES
from qwo.hidden.search import EXPECTED, MagProblem, MagStep, without_weak
from qwo.resample.options import DataRows, prepare
from tests.helpers import pag_reference as by_definition
from tests.helpers.hidden_models import exact, random_model, true_pag


def confounded_pair(n_samples=4000, seed=0):
    """a → x ← h → y ← b, h hidden: the smallest model whose class has ↔."""
    rng = np.random.default_rng(seed)
    a, b, h = rng.normal(size=(3, n_samples))
    x, y = a + h + rng.normal(size=n_samples), b + h + rng.normal(size=n_samples)
    return pd.DataFrame({"a": a, "x": x, "y": y, "b": b})


def test_a_hidden_cause_is_found_with_what_it_saves():
    found = qwo.discover(confounded_pair(), hidden_causes=True, random_state=0)
    assert set(found.edges) == {("a", "o->", "x"), ("x", "<->", "y"), ("b", "o->", "y")}
    assert found.confounded == [("x", "y")]
    assert found.pag == found.graph
    assert found.mag.kind == "mag"
    assert found.hidden_causes.saving > 10
    assert found.hidden_causes.steps[0].saving > 6
    assert found.score == pytest.approx(found.hidden_causes.score)
    assert found.score > qwo.discover(confounded_pair(), random_state=0).score
    assert "hidden common causes: x ↔ y" in str(found)
    assert "something unmeasured causes both" in str(found)
    assert found.pag.values_at(1, 2)["worth"] > 100
    between, size = found.hidden_causes.separation("a", "y")
    assert between == []
    assert abs(size) < 0.06


def test_without_hidden_causes_the_class_is_that_of_the_dag():
    data, _, _ = qwo.simulate("er", n_variables=10, n_samples=3000, degree=3, random_state=3)
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    assert "no sign of hidden causes" in str(found)
    assert found.hidden_causes.saving == 0
    assert found.confounded == []
    assert np.array_equal(found.pag.marks, pag_of_mag(2 * found.dag + 3 * found.dag.T))


@pytest.mark.parametrize("block", range(3))
def test_from_exact_moments_the_class_is_the_true_one(block):
    for seed in range(10 * block, 10 * block + 10):
        n = 4 + seed % 4
        dag, _, covariance = random_model(seed, n, 1 + seed % 4)
        found = qwo.discover(exact(covariance), hidden_causes=True, random_state=0)
        assert np.array_equal(found.pag.marks, true_pag(dag, n)), seed


def test_the_first_search_has_few_restarts_unless_told_otherwise():
    asked = {"hidden_causes": True, "random_state": 0}
    assert qwo.discover(confounded_pair(200), **asked).params["restarts"] == 4
    assert qwo.discover(confounded_pair(200), **asked, restarts=7).params["restarts"] == 7


def test_what_is_found_in_samples_is_a_class():
    for seed in range(6):
        _, _, covariance = random_model(seed, 12, 3, degree=3)
        rng = np.random.default_rng(seed)
        data = rng.multivariate_normal(np.zeros(12), covariance, size=300)
        found = qwo.discover(data, hidden_causes=True, random_state=0)
        assert is_mag(found.mag.marks)
        assert is_pag(found.pag.marks)
        again = qwo.discover(data, hidden_causes=True, random_state=0)
        assert again.pag == found.pag


def definition_of_cost(correlation, marks, n_samples, price):
    """N (min over B, Ω of log det Σ + tr Σ⁻¹S - n) + price · edges, by a general optimiser."""
    n = len(marks)
    arrows = np.argwhere((marks == HEAD) & (marks.T == TAIL))
    spouses = np.argwhere(np.triu((marks == HEAD) & (marks.T == HEAD)))

    def value(theta):
        slopes, omega = np.zeros((n, n)), np.diag(np.exp(theta[:n]))
        for (i, j), b in zip(arrows, theta[n:], strict=False):
            slopes[i, j] = b
        for (i, j), w in zip(spouses, theta[n + len(arrows) :], strict=True):
            omega[i, j] = omega[j, i] = w
        if np.linalg.eigvalsh(omega)[0] <= 1e-9:
            return 1e6
        left = np.eye(n) - slopes
        sigma = np.linalg.inv(left).T @ omega @ np.linalg.inv(left)
        trace = np.trace(np.linalg.solve(sigma, correlation))
        return np.linalg.slogdet(sigma)[1] + trace - n

    start = np.zeros(n + len(arrows) + len(spouses))
    best = minimize(value, start, method="BFGS", options={"gtol": 1e-7})
    edges = len(arrows) + len(spouses)
    return n_samples * best.fun + price * edges


@pytest.mark.parametrize("seed", range(4))
def test_the_cost_of_a_mag_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5))
    correlation = np.corrcoef(data.T)
    marks = np.zeros((5, 5), np.int8)
    while not ((marks == HEAD) & (marks.T == HEAD)).any() or not is_mag(marks):
        marks[:] = 0
        for i, j in itertools.combinations(range(5), 2):
            marks[i, j], marks[j, i] = ((0, 0), (2, 3), (2, 2), (2, 2))[rng.integers(4)]
    search = _core.HiddenCausesSearch(
        correlation,
        marks,
        samples=200.0,
        edge=10.0,
        least_saving=6.0,
        candidates=np.zeros((5, 5), np.uint8),
        no_tail=NO_MASK,
        required=NO_MASK,
        clear=NO_MASK,
        never=NO_MASK,
        most_sweeps=2000,
    )
    assert search.cost == pytest.approx(definition_of_cost(correlation, marks, 200, 10.0), abs=0.05)
    # The parameters reproduce the fit.
    left = np.eye(5) - search.coefficients()
    sigma = np.linalg.inv(left).T @ search.covariances() @ np.linalg.inv(left)
    trace = np.trace(np.linalg.solve(sigma, correlation))
    fit = np.linalg.slogdet(sigma)[1] + trace - 5
    edges = np.count_nonzero(marks) // 2
    assert 200 * fit + 10 * edges == pytest.approx(search.cost, abs=0.05)


@pytest.mark.parametrize("seed", range(8))
def test_an_edge_can_be_changed_where_a_mag_remains(seed):
    # Legality is judged around the change alone, before and after the graph has moved on.
    _, _, covariance = random_model(seed, 9, 4, degree=3)
    moments = qwo.Moments.from_covariance(covariance, 20_000)
    found = qwo.discover(moments, hidden_causes=True, random_state=0)
    problem = found.hidden_causes.problem
    descent = problem.search(pag.dag_marks(found.dag), found.dag)
    for _ in range(2):
        marks, ends = descent.marks(), ((0, 0), (HEAD, TAIL), (TAIL, HEAD), (HEAD, HEAD))
        for i, j in itertools.combinations(range(9), 2):
            for link, (at_j, at_i) in enumerate(ends):
                changed = marks.copy()
                changed[i, j], changed[j, i] = at_j, at_i
                rise = descent.change(i, j, link)
                assert np.isfinite(rise) == is_mag(changed)
                if np.isfinite(rise):
                    direct = problem.search(changed, found.dag).cost - descent.cost
                    assert rise == pytest.approx(direct, abs=0.1)
        assert descent.run(10.0)


def test_tiers_give_arrowheads_and_no_tails():
    # As in causal-learn's issue 266: that the later cannot cause the earlier does not say that the
    # earlier causes the later, since something hidden may cause both.
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=2000)
    data = pd.DataFrame({k: hidden + rng.normal(size=2000) for k in ("early", "late")})
    tiers = {"tiers": [["early"], ["late"]]}
    for known in (tiers, {"forbidden": [("late", "early")]}):
        found = qwo.discover(data, hidden_causes=True, knowledge=known, random_state=0)
        assert found.edges == (("early", "o->", "late"),)
    # With a cause that is early too, there is a collider; the tail at "first" is still not told.
    data["first"] = rng.normal(size=2000)
    data["late"] += data["first"]
    tiers = {"tiers": [["first", "early"], ["late"]]}
    found = qwo.discover(data, hidden_causes=True, knowledge=tiers, random_state=0)
    assert set(found.edges) == {("early", "o->", "late"), ("first", "o->", "late")}
    required = {**tiers, "required": [("first", "late")]}
    found = qwo.discover(data, hidden_causes=True, knowledge=required, random_state=0)
    assert set(found.edges) == {("early", "o->", "late"), ("first", "-->", "late")}


def test_a_variable_said_to_be_last_gets_no_false_tails():
    # The model of causal-learn's issue 266: Z -> Y is true and confounded, so that tiers must leave
    # a circle at Z; there they plant a tail.
    names, edges = "XZQYU", ("XZ", "XY", "UZ", "UY", "ZQ", "QY")
    dag = np.zeros((5, 5), np.int8)
    for cause, effect in edges:
        dag[names.index(cause), names.index(effect)] = 1
    data = np.random.default_rng(42).normal(size=(4000, 5)) @ np.linalg.inv(np.eye(5) - 0.8 * dag)
    table = pd.DataFrame(data[:, :4], columns=list(names[:4]))
    true = {("X", "o-o", "Z"), ("Z", "o-o", "Q"), *((v, "o->", "Y") for v in "XZQ")}
    for known in ({}, {"tiers": [list("XZQ"), ["Y"]]}, {"leaves": ["Y"]}):
        found = qwo.discover(table, hidden_causes=True, knowledge=known, random_state=0)
        assert set(found.edges) == true
    # In four tiers Z separates X and Q, so that Z must cause Q; still no tail at Z towards Y.
    tiers = {"tiers": [["X"], ["Z"], ["Q"], ["Y"]]}
    found = qwo.discover(table, hidden_causes=True, knowledge=tiers, random_state=0)
    late = {("X", "o->", "Z"), ("Z", "-->", "Q"), *((v, "o->", "Y") for v in "XZQ")}
    assert set(found.edges) == late


@pytest.mark.parametrize("seed", range(12))
def test_with_tiers_every_mark_is_true(seed):
    n = 6
    dag, _, covariance = random_model(seed, n, 2, degree=2.5)
    causes = ancestor_matrix(dag)[:n, :n]
    rank = causes.sum(0)
    tiers = [np.flatnonzero(rank <= 1).tolist(), np.flatnonzero(rank > 1).tolist()]
    knowledge = qwo.Knowledge(tiers=[tier for tier in tiers if tier])
    found = qwo.discover(exact(covariance), hidden_causes=True, knowledge=knowledge, random_state=0)
    marks = found.pag.marks
    for i, j in np.argwhere(marks).tolist():
        if marks[i, j] == TAIL:
            assert causes[j, i]
        if marks[i, j] == HEAD:
            assert not causes[j, i]
    late = np.isin(np.arange(n), tiers[1])
    assert not ((marks == TAIL) & late[None, :] & ~late[:, None]).any()
    assert not ((found.mag.marks == TAIL) & late[None, :] & ~late[:, None]).any()


def test_required_and_forbidden_edges_are_kept():
    data = confounded_pair()
    forced = {"required": [("x", "y")]}
    found = qwo.discover(data, hidden_causes=True, knowledge=forced, random_state=0)
    assert ("x", "-->", "y") in found.edges
    barred = {"forbidden": [("a", "x"), ("x", "a")]}
    found = qwo.discover(data, hidden_causes=True, knowledge=barred, random_state=0)
    marks = found.pag.marks
    assert marks[0, 1] in (0, HEAD)
    assert marks[1, 0] in (0, HEAD)


@pytest.mark.parametrize("seed", range(20))
def test_an_effect_that_is_identified_is_the_true_one(seed):
    n = 4 + seed % 4
    dag, total, covariance = random_model(seed, n, 1 + seed % 2)
    found = qwo.discover(exact(covariance), hidden_causes=True, random_state=0)
    causes = ancestor_matrix(dag)
    possible, definite = possible_causes(found.pag.marks), definite_causes(found.pag.marks)
    for i, j in itertools.permutations(range(n), 2):
        effect = found.hidden_causes.effect(i, j)
        assert causes[i, j] <= possible[i, j]
        assert definite[i, j] <= causes[i, j]
        if np.isnan(effect.estimate):
            assert "not identifiable, because" in str(effect)
        else:
            assert effect.estimate == pytest.approx(total[i, j], abs=1e-6)


def test_some_effects_are_identified_in_spite_of_hidden_causes():
    rng = np.random.default_rng(1)
    a, b, e, u = rng.normal(size=(4, 5000))
    x = a + b + e
    frame = pd.DataFrame({"a": a, "b": b, "x": x, "y": 0.5 * x + u})
    found = qwo.discover(frame, hidden_causes=True, random_state=0)
    assert ("x", "y") in found.hidden_causes.visible
    effect = found.hidden_causes.effect("x", "y")
    assert effect.interval()[0] < 0.5 < effect.interval()[1]
    assert np.isnan(found.hidden_causes.effect("a", "x").estimate)
    assert found.hidden_causes.effect("y", "x").estimate == 0
    assert found.hidden_causes.causes_of("y") == ["x"]
    assert found.hidden_causes.causes_of("y", possible=True) == ["a", "b", "x"]


@pytest.mark.parametrize("n", [3, 4, 5])
def test_causes_of_a_class_are_those_of_all_and_of_some_of_its_members(n):
    # All classes of three and four variables; of five, all those with some seven edges.
    pairs, rng = list(itertools.combinations(range(n), 2)), np.random.default_rng(5)
    shapes = [pairs] if n < 5 else [rng.permutation(pairs)[:7].tolist() for _ in range(8)]
    indirect = 0
    for shape in shapes:
        classes = {}
        for graph in by_definition.mags_on(n, shape, kinds=4 if n < 5 else 3):
            mag = np.array(graph, np.int8)
            pag = pag_of_mag(mag)
            classes.setdefault(pag.tobytes(), (pag, []))[1].append(ancestors_in(mag))
        for pag, causes in classes.values():
            found = definite_causes(pag)
            np.testing.assert_array_equal(found, np.all(causes, axis=0))
            np.testing.assert_array_equal(possible_causes(pag), np.any(causes, axis=0))
            indirect += (found & ~ancestors_in(pag)).sum()
    assert bool(indirect) == (n > 3)


def test_time_is_kept_and_the_best_so_far_is_a_class():
    _, _, covariance = random_model(0, 40, 8, degree=4)
    data = np.random.default_rng(0).multivariate_normal(np.zeros(40), covariance, size=2000)
    found = qwo.discover(data, hidden_causes=True, random_state=0, time_limit=0)
    assert found.status == "time limit"
    assert is_pag(found.pag.marks)
    stopped = qwo.discover(data, hidden_causes=True, callback=lambda _: True)
    assert stopped.status == "stopped"
    assert is_pag(stopped.pag.marks)


def test_what_does_not_go_with_hidden_causes_is_refused_with_a_reason():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"kind": rng.choice(list("abc"), 200), "x": rng.normal(size=200)})
    with pytest.raises(qwo.InputError, match=r"^kind has more than two levels"):
        qwo.discover(data, hidden_causes=True)
    with pytest.raises(qwo.InputError, match=r"hidden_causes does not go with posterior\(\)"):
        qwo.posterior(data, hidden_causes=True)
    with pytest.raises(qwo.InputError, match="do not go together"):
        qwo.discover(data, hidden_causes=True, lags=1)
    with pytest.raises(qwo.InputError, match="effect is 'perfect'"):
        qwo.discover(
            data, hidden_causes=True, regime="kind", targets={"a": ["x"]}, effect="perfect"
        )
    with pytest.raises(qwo.InputError, match="wanted True or False"):
        qwo.discover(data, hidden_causes="yes")
    found = qwo.discover(confounded_pair(200), hidden_causes=True)
    with pytest.raises(qwo.InputError, match=r"found\.dag"):
        qwo.fit_sem(confounded_pair(200), found)
    with pytest.raises(qwo.InputError, match=r"hidden_causes\.causes_of and found\.effect"):
        found.causes_of("x")
    with pytest.raises(qwo.InputError, match="learnt with hidden_causes"):
        found.next_experiment()
    with pytest.raises(qwo.InputError, match="no circles; take a member"):
        qwo.write_graph(found.pag, "class.lav")
    with pytest.raises(qwo.InputError, match="learnt without"):
        _ = qwo.discover(confounded_pair(200)).confounded


def test_categories_of_two_levels_or_in_order_go_with_hidden_causes():
    data = confounded_pair()
    data["a"] = np.where(data["a"] > 0, "high", "low")
    data["b"] = pd.Categorical(np.digitize(data["b"], [-0.5, 0.5]), ordered=True)
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    assert set(found.edges) == {("a", "o->", "x"), ("x", "<->", "y"), ("b", "o->", "y")}


def test_a_simulation_with_hidden_causes_has_a_true_class():
    made = qwo.simulate("er", n_variables=6, n_samples=20000, degree=2, hidden=2, random_state=7)
    assert made.data.shape == (20000, 6)
    assert made.dag.shape == (8, 8)
    truth = pag.true_pag(made.dag, 2)
    found = qwo.discover(made.data, hidden_causes=True, random_state=0)
    compared = qwo.compare(found, truth)
    assert compared.exact
    assert compared.marks_wrong == 0
    assert "wrong marks" in str(compared)
    against = qwo.compare(found, made.dag[:6, :6])
    assert against.to_dict()["marks_wrong"] == np.sum(found.pag.marks != pag_of_dag(made.dag))


def pag_of_dag(dag):
    return pag_of_mag((2 * dag + 3 * dag.T)[:6, :6])


def test_the_command_line_simulates_learns_and_tells_effects(tmp_path):
    def run(*words):
        done = CliRunner().invoke(app, [*map(str, words)])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("simulate", "-o", tmp_path / "sim", "-n", 6, "-N", 20000, "--hidden", 2, "--seed", 7)
    data = pd.read_csv(tmp_path / "sim" / "data.csv")
    dag = qwo.read_graph(tmp_path / "sim" / "dag.json")
    assert data.shape == (20000, 6)
    assert dag.n_variables == 8
    truth = qwo.read_graph(tmp_path / "sim" / "pag.json")
    assert truth.names == tuple(data.columns)
    assert np.array_equal(truth.marks, true_pag(dag.matrix, 6))
    confounded_pair().to_csv(tmp_path / "t.csv", index=False)
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "found", "--hidden-causes")
    asked = "effect", tmp_path / "t.csv", tmp_path / "found"
    assert "not identifiable, because a hidden cause of a and x" in run(*asked, "a", "x")
    told = json.loads(run(*asked, "y", "x", "--json"))
    assert told["estimate"] == 0
    assert "in no graph of the class" in told["note"]
    told = json.loads((tmp_path / "found" / "result.json").read_text(encoding="utf-8"))
    (first, second, given, left), *_ = told["hidden_causes"]["separations"]
    assert (first, second) == tuple(told["hidden_causes"]["removed"][0][:2])
    rest = qwo.discover(confounded_pair(), hidden_causes=True, random_state=0).hidden_causes
    assert rest.separation(first, second) == (given, pytest.approx(left))


def test_a_result_is_drawn_reported_and_asked_for_effects(tmp_path):
    found = qwo.discover(confounded_pair(), hidden_causes=True, random_state=0)
    assert np.isnan(found.effect("a", "x").estimate)
    axes = found.plot()
    circles = [c for c in axes.collections if c.get_gid() == "circles"]
    heads = [c for c in axes.collections if c.get_gid() == "arrowheads"]
    assert len(circles[0].get_paths()) == 2
    assert len(heads[0].get_paths()) == 4
    qwo.report.write_report(tmp_path / "report.html", found)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Hidden causes" in page
    assert "an end that the data leave open" in page
    assert "the data cannot tell the direction</li>" not in page
    data = confounded_pair().assign(
        z=lambda own: own["y"] + np.random.default_rng(3).normal(size=4000)
    )
    asked = qwo.report.contents.Contents(qwo.discover(data, hidden_causes=True, random_state=0))
    told = qwo.report.verdict.verdict(asked)
    assert told.directions == "1 from the data, 1 ↔, 2 open"
    assert told.links.endswith("cannot be told without a bootstrap")
    assert any(step.startswith("--bootstrap") for step in told.steps)
    own = {record["name"]: record for record in qwo.report.data._variables(asked)}
    counted = [(own[v]["parents"], own[v]["children"], own[v]["undirected"]) for v in "axyz"]
    assert counted == [(0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 0)]
    assert "something unmeasured causes both" in page
    told = page[page.index('id="hidden-causes"') : page.index('id="edges"')]
    (removed, *_), rest = found.hidden_causes.removed, found.hidden_causes
    given, left = rest.separation(*removed[:2])
    assert not given
    for text in ("nothing", f"{left:.3f}", f"{removed[2]:.1f}", f"{rest.outcome.worths[1, 2]:.1f}"):
        assert f">{text}</td>" in told
    assert "what each mark says stands under Hidden causes" in page
    assert "the data cannot tell the direction" not in page


def test_the_report_shows_how_often_resamples_have_each_mark(tmp_path):
    data = confounded_pair()
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    sure = qwo.bootstrap(data, hidden_causes=True, n_resamples=10, random_state=0)
    qwo.report.write_report(tmp_path / "report.html", found, bootstrap=sure)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    table = page[page.index('id="stability"') :]
    for record in sure.to_records():
        assert f"{100 * record.spouses:.0f} %" in table
    assert "each kind of edge" in table
    # Of ↔ and o→ nobody has said that they are arrows.
    assert "↔?" not in page
    assert "Arrows that most" not in page
    contents = qwo.report.contents.Contents(found, bootstrap=sure)
    doubts = {edge: doubt.arrow for edge, doubt in zip(found.edges, contents.doubts, strict=True)}
    assert doubts["x", "<->", "y"] is None
    assert doubts["a", "o->", "x"] is None


def test_the_command_line_counts_marks_in_resamples(tmp_path):
    confounded_pair().to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "out"
    asked = ["learn", str(tmp_path / "data.csv"), "-o", str(out), "--hidden-causes"]
    done = CliRunner().invoke(app, [*asked, "-b", "8", "--seed", "0"])
    assert done.exit_code == 0, done.output
    written = pd.read_csv(out / "support.csv", keep_default_na=False)
    spouses = written[written["reference"] == "<->"].iloc[0]
    assert {spouses["first"], spouses["second"]} == {"x", "y"}
    assert f"link {100 * spouses['link']:.0f} %, ↔ {100 * spouses['spouses']:.0f} %" in done.output
    refused = CliRunner().invoke(app, [*asked, "--posterior", "--force"])
    assert refused.exit_code == 1
    assert "does not go with --posterior" in " ".join(refused.output.split())


def test_changes_that_save_little_together_are_taken_back():
    # Nothing is hidden in these models; chance alone must not make ↔ of them.
    for seed in range(8):
        dag, _, _ = random_model(seed, 10, 0, degree=3)
        data = qwo.simulate(dag, n_samples=1000, random_state=seed).data
        found = qwo.discover(data, hidden_causes=True, random_state=0)
        told = found.hidden_causes
        savings = [step.saving for step in told.steps]
        excess = told.problem.price - np.log(1000)
        evidence = sum(step.evidence(excess) for step in told.steps)
        assert found.hidden_causes.saving == pytest.approx(sum(savings), abs=0.1)
        assert not told.steps or evidence >= 2 * np.log(10 / (EXPECTED + len(told.steps)))


def test_groups_of_changes_are_told_apart_by_the_vertices_they_touch():
    far = [MagStep(0, 1, 1, 0, [2], 6, 1), MagStep(4, 5, 1, 3, [], 2.5), MagStep(2, 3, 1, 3, [], 1)]
    start, end = np.zeros((25, 25), np.int8), np.zeros((25, 25), np.int8)
    for a, b in ((0, 1), (4, 5), (2, 3), (2, 0), (2, 1)):
        start[a, b], start[b, a] = HEAD, TAIL
        end[a, b] = end[b, a] = HEAD
    end[0, 1] = end[1, 0] = 0
    marks, kept = without_weak(end, start, tuple(far), 2.0)
    # 6 - 2 - 2 log 2 + 1 is more than 2 log(25 / 4.5), and 2.5 less than 2 log(25 / 6.5).
    assert kept == (far[0], far[2])
    assert marks[4, 5] == HEAD
    assert marks[5, 4] == TAIL
    assert marks[2, 3] == marks[3, 2] == HEAD
    # Of two choices of colliders more, or a penalty that is larger, it is no evidence any more.
    assert without_weak(end, start, (far[0]._replace(common=2), *far[1:]), 2.0)[1] == ()
    assert without_weak(end, start, tuple(far), 3.0)[1] == ()
    # What changes are worth by themselves depends on the others that are kept.
    better = far[0], far[1]._replace(saving=3.0), far[2]
    assert without_weak(end, start, better, 2.0)[1] == better
    assert without_weak(end, start, better[1:2], 2.0)[1] == ()


def test_a_collider_is_made_where_no_edge_has_to_go():
    # a <- x -> y <- b lacks no edge of a -> x <-> y <- b, and no change of one edge betters it.
    total = np.eye(5)[:, :4] + np.outer(np.eye(5)[4], [0, 0, 0.6, 0.6])
    total[0, 2] = total[1, 3] = 0.9
    covariance = total.T @ total
    scales = np.sqrt(np.diag(covariance))
    problem = MagProblem(covariance / np.outer(scales, scales), 200, 8.0)
    start, truth = np.zeros((4, 4), np.int8), np.zeros((4, 4), np.int8)
    for marks, arrows in ((start, [(2, 0), (2, 3), (1, 3)]), (truth, [(0, 2), (1, 3)])):
        for cause, effect in arrows:
            marks[cause, effect], marks[effect, cause] = HEAD, TAIL
    truth[2, 3] = truth[3, 2] = HEAD
    found = problem.search(start, np.zeros((4, 4)))
    assert found.run(10.0)
    assert np.array_equal(pag_of_mag(found.marks()), pag_of_mag(truth))
    assert found.cost == pytest.approx(problem.search(truth, start).cost, abs=1e-3)


def doubtful_colliders(marks, trusted):
    """Vertices without an edge whose edges with a third have heads there, not both trusted."""
    heads, n = marks == HEAD, len(marks)
    return [
        (a, c, b)
        for a, b in itertools.combinations(range(n), 2)
        for c in range(n)
        if heads[a, c] and heads[b, c] and not marks[a, b] and not trusted[[a, b], [c, c]].all()
    ]


@pytest.mark.parametrize("seed", range(6))
def test_doubtful_colliders_become_fewer_for_the_price_of_an_edge_each(seed):
    _, _, covariance = random_model(seed, 9, 3, degree=3)
    moments = qwo.Moments.from_covariance(covariance, 1000)
    found = qwo.discover(moments, hidden_causes=True, random_state=0)
    problem = found.hidden_causes.problem
    start = found.mag.marks
    trusted = (np.random.default_rng(seed).random(start.shape) < 0.7) & (start == HEAD)
    descent = problem.search(start, found.dag)
    descent.doubt(np.ascontiguousarray(trusted, np.uint8), problem.price + 1)
    assert descent.run(10.0)
    before = doubtful_colliders(start, trusted)
    marks, cost = start.copy(), problem.search(start, found.dag).cost
    for first, second, old, new, colliders, saving, _ in descent.steps():
        ends = ((0, 0), (HEAD, TAIL), (TAIL, HEAD), (HEAD, HEAD))
        assert (marks[first, second], marks[second, first]) == ends[old]
        assert new in (1, 2)
        assert not colliders
        marks[first, second], marks[second, first] = ends[new]
        assert is_mag(marks)
        after = doubtful_colliders(marks, trusted)
        now = problem.search(marks, found.dag).cost
        assert cost - now == pytest.approx(saving, abs=0.1)
        # Changes that save nothing but doubt are worth no more than that.
        assert now - cost < (len(before) - len(after)) * (problem.price + 1)
        before, cost = after, now
    assert np.array_equal(descent.marks(), marks)
    assert len(before) < len(doubtful_colliders(start, trusted))
    # At nothing for each, nothing is done.
    free = problem.search(start, found.dag)
    free.doubt(np.ascontiguousarray(trusted, np.uint8), 0.0)
    assert free.run(10.0)
    assert not free.steps()


def chain(n):
    """Each variable is caused by the two before it: no arrow of it can be told."""
    return sum(np.eye(n, k=k, dtype=np.int8) for k in (1, 2))


def test_where_colliders_are_rare_those_that_the_data_do_not_support_are_undone():
    wrong, plain, undone = 0, 0, 0
    for seed in range(8):
        data = qwo.simulate(chain(12), n_samples=1000, weights=(0.3, 1.0), random_state=seed).data
        found = qwo.discover(data, hidden_causes=True, random_state=0)
        told = found.hidden_causes
        assert is_pag(found.pag.marks)
        assert found.mag.n_edges == found.pag.n_edges
        wrong += (found.pag.marks != true_pag(chain(12), 12)).sum()
        plain += (pag_of_mag(pag.dag_marks(found.dag)) != true_pag(chain(12), 12)).sum()
        undone += len(told.undoing)
        lost = -sum(step.saving for step in told.undoing)
        assert told.outcome.cost - told.outcome.least == pytest.approx(lost, abs=0.1)
        assert told.to_dict()["changes"][len(told.steps) :] == [
            dict(zip(CHANGES, row, strict=True)) for row in told.records()[len(told.steps) :]
        ]
        assert ("at a loss of" in told.summary()) == bool(told.undoing)
    assert undone > 4
    assert wrong < plain / 2


def test_what_few_colliders_are_and_who_trusts_them():
    one = np.zeros((4, 4), np.int8)
    one[0, 1] = one[2, 1] = one[1, 3] = 1
    # One of three triples, and a third of six more.
    assert hidden_causes._collider_share(one) == pytest.approx((1 + 2) / (3 + 6))
    marks = np.zeros((4, 4), np.int8)
    for a, b in ((0, 1), (2, 1), (2, 3)):
        marks[a, b], marks[b, a] = HEAD, TAIL
    doubtful = marks == HEAD
    assert not search._trusted(marks, doubtful, ()).any()
    kept = search._trusted(marks, doubtful, (MagStep(0, 3, 1, 0, [1], 9.0),))
    assert np.array_equal(kept, np.isin(range(4), [0, 1, 3]) & (marks == HEAD))


@cache
def classes_of_four():
    """All MAGs of four variables with at least three edges, and their classes."""
    mags = (np.array(graph, np.int8) for graph in by_definition.all_mags(4))
    return [(mag, pag_of_mag(mag)) for mag in mags if np.count_nonzero(mag) >= 6]


@pytest.mark.parametrize("seed", [0, 13, 2])
def test_a_mark_is_worth_what_the_best_class_without_it_costs_more(seed):
    found = qwo.discover(confounded_pair(2000, seed), hidden_causes=True, random_state=0)
    told, problem, none = found.hidden_causes, found.hidden_causes.problem, np.zeros((4, 4))
    shown = np.isin(told.pag.marks, (HEAD, TAIL))
    worths = told.mark_worths
    assert np.isnan(worths[~shown]).all()
    best = np.full((4, 4), np.inf)
    for marks, other in classes_of_four():
        differs = shown & (other != 0) & (other != told.pag.marks)
        best[differs] = np.minimum(best[differs], problem.search(marks, none).cost)
    exact = (best - problem.search(told.mag.marks, none).cost)[shown]
    assert np.allclose(worths[shown], exact, atol=0.01)
    rows = {(a, b): (left, right) for a, _, b, left, right in told.mark_evidence()}
    assert np.isnan(rows["a", "x"][0])
    assert rows["a", "x"][1] == pytest.approx(worths[0, 1], nan_ok=True)


def test_removed_edges_tell_what_they_saved():
    found = qwo.discover(confounded_pair(), hidden_causes=True, random_state=0)
    gone = {frozenset((a, b)) for a, b, _ in found.hidden_causes.removed}
    linked = {frozenset((a, b)) for a, _, b in found.graph.edges}
    dag = {frozenset((found.names[i], found.names[j])) for i, j in np.argwhere(found.dag)}
    assert gone == dag - linked
    assert gone
    assert all(saved > 0 for *_, saved in found.hidden_causes.removed)


def test_a_dag_with_its_hidden_causes_is_handed_over():
    found = qwo.discover(confounded_pair(), hidden_causes=True, random_state=0)
    told = found.hidden_causes
    graph = told.to_networkx()
    unseen = [v for v, seen in graph.nodes(data="observed") if seen == "no"]
    # One behind x ↔ y, and one beside a o→ x and b o→ y each.
    assert sorted(tuple(sorted(graph.successors(v))) for v in unseen) == [
        ("a", "x"),
        ("b", "y"),
        ("x", "y"),
    ]
    rng = np.random.default_rng(1)
    a, b, e, u = rng.normal(size=(4, 5000))
    x = a + b + e
    frame = pd.DataFrame({"a": a, "b": b, "x": x, "U1": 0.5 * x + u})
    told = qwo.discover(frame, hidden_causes=True, random_state=0).hidden_causes
    graph = told.to_networkx()
    assert ("x", "U1") in told.visible
    assert {tuple(graph.successors(v)) for v in ("U2", "U3")} == {("a", "x"), ("b", "x")}
    assert told.adjustment_set("x", "U1") == []
    assert told.adjustment_set("a", "x") is None


def test_ctrl_c_in_the_descent_gives_the_best_so_far(monkeypatch):
    # The signal comes while the core descends; discover answers with what it has.
    _, _, covariance = random_model(0, 40, 8, degree=4)
    data = np.random.default_rng(0).multivariate_normal(np.zeros(40), covariance, size=2000)
    descend = search._descend

    def interrupted(found, control):
        found.run(0.0)
        signal.raise_signal(signal.SIGINT)
        return descend(found, control)

    monkeypatch.setattr(search, "_descend", interrupted)
    found = qwo.discover(data, hidden_causes=True, random_state=0)
    assert found.status == "interrupted"
    assert is_pag(found.pag.marks)


def test_a_bootstrap_counts_the_marks_of_classes():
    data = confounded_pair()
    asked = {"hidden_causes": True, "n_resamples": 10, "random_state": 3}
    found = qwo.bootstrap(data, **asked)
    assert found.reference.confounded == [("x", "y")]
    # The same by hand: each half is searched, and its marks are counted.
    again = qwo.bootstrap(data, **asked, n_jobs=2)
    for name in ("spouse_counts", "open_counts", "directed_counts", "undirected_counts"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
    source = prepare(DataRows.of(data, {}), "halves", None).source
    heads, tails, circles = np.zeros((3, 4, 4))
    for number in range(10):
        moments = source.draw(3, number)
        penalty = found.reference.params["penalty_discount"]
        marks = qwo.discover(moments, hidden_causes=True, penalty_discount=penalty).pag.marks
        heads += marks == HEAD
        tails += marks == TAIL
        circles += marks == 1
    assert found.head_support == pytest.approx(heads / 10)
    assert found.tail_support == pytest.approx(tails / 10)
    assert found.circle_support == pytest.approx(circles / 10)
    for row in found.to_records():
        assert sum(row.shares.values()) == pytest.approx(row.link)
    assert found.to_records()[0].reference in ("o->", "<->")
    assert "↔" in found.summary()
    with pytest.raises(qwo.InputError, match="shard does not go"):
        qwo.bootstrap(data, **asked, shard=(1, 2))
    with pytest.raises(qwo.InputError, match="no DAG for all resamples"):
        found.consensus_cpdag()
    with pytest.raises(qwo.InputError, match="regime and hidden_causes"):
        qwo.bootstrap(data, **asked, regime="a")
