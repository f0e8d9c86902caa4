"""What a scientist meets in her first hour: a verdict, honest doubt, effects without ceremony."""

from __future__ import annotations

import ast
import copy
import dataclasses
import math
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import qwo
from qwo.discovery.readings import DEFAULT, assumptions_of, gist
from qwo.errors import ArgumentError, DataWarning
from qwo.graph.cpdag import to_cpdag
from qwo.inspection.audit import looks_like_root
from qwo.options import OPTIONS, READING
from qwo.report.contents import Contents
from qwo.report.verdict import arrow_sources, verdict
from qwo.sem.outcome import Setting, causes_of, effect_between


@pytest.fixture(scope="module")
def chain() -> Any:
    """a → b → c ← d, d → e: two arrows and two lines."""
    rng = np.random.default_rng(4)
    a, d = rng.normal(size=(2, 900))
    b = 0.8 * a + rng.normal(size=900)
    c = 0.9 * b + 0.7 * d + rng.normal(size=900)
    e = 0.8 * d + rng.normal(size=900)
    return np.column_stack([a, b, c, d, e]), list("abcde")


@pytest.fixture(scope="module")
def found(chain: Any) -> qwo.Discovery:
    data, names = chain
    import pandas as pd

    return qwo.discover(pd.DataFrame(data, columns=names), random_state=0)


@pytest.fixture(scope="module")
def walks() -> Any:
    """Random walks that have nothing to do with each other."""
    return np.cumsum(np.random.default_rng(2).normal(size=(300, 4)), axis=0)


def test_a_result_knows_its_data(found: qwo.Discovery, chain: Any) -> None:
    data, names = chain
    model = found.fit()
    again = qwo.fit_sem(qwo.Moments.from_data(data, names), found)
    assert_allclose(model.coefficients, again.coefficients)
    effect = found.effect("b", "c")
    possible = qwo.ida(qwo.Moments.from_data(data, names), found, "b", "c")
    assert effect.low <= min(possible.estimates) + 0.02
    assert effect.low == pytest.approx(0.9, abs=0.1)
    assert not found.check(random_state=0, n_draws=20).alarm
    assert found.plot().get_figure() is not None


def test_transforms_are_remembered(tmp_path: Path, chain: Any) -> None:
    import pandas as pd

    data, names = chain
    frame = pd.DataFrame(np.exp(data), columns=names)
    frame.to_csv(tmp_path / "raw.csv", index=False)
    found = qwo.discover(tmp_path / "raw.csv", transform="log", random_state=0)
    assert found.effect("b", "c").low == pytest.approx(0.9, abs=0.1)
    assert found.fit().coefficients.max() < 2
    kept = pickle.loads(pickle.dumps(found))
    assert kept.effect("b", "c").low == pytest.approx(found.effect("b", "c").low)


def test_a_stored_result_without_its_data_says_so(found: qwo.Discovery) -> None:
    bare = pickle.loads(pickle.dumps(found))
    with pytest.raises(ArgumentError, match="does not know its data any more"):
        bare.fit()
    assert copy.deepcopy(found).fit().n_variables == 5
    assert len(pickle.dumps(found)) < 10_000


def test_assumptions_are_made_dropped_and_doubted(walks: Any, found: qwo.Discovery) -> None:
    made = {a.name: a.status for a in found.assumptions}
    assert made["linear"] == made["independent rows"] == "made"
    with pytest.warns(qwo.DataWarning):
        walk = qwo.discover(walks, random_state=0)
    told = {a.name: a for a in walk.assumptions}
    assert told["independent rows"].status == "doubted"
    assert "row before" in told["independent rows"].reason
    dropped = {a.name: a.status for a in assumptions_of(("regime",))}
    assert dropped["one population"] == "dropped"
    alarmed = {a.name: a.status for a in assumptions_of((), None, ["linear equations"])}
    assert alarmed["linear"] == "doubted"


def test_false_edges_are_not_counted_where_rows_depend(walks: Any) -> None:
    with pytest.warns(qwo.DataWarning):
        found = qwo.discover(walks, random_state=0, penalty_discount=1.0)
    assert found.n_edges
    assert math.isnan(found.expected_false_edges)
    said = verdict(Contents(found, found.origin.held.audit()))  # type: ignore[union-attr]
    assert "face value" in said.headline
    assert "cannot be told" in said.links
    assert all(doubt.link is None for doubt in Contents(found).doubts)


def test_one_number_of_doubt_by_its_source(found: qwo.Discovery, chain: Any) -> None:
    data, names = chain
    plain = Contents(found)
    assert plain.doubt_source == "false rate"
    assert_allclose([d.link for d in plain.doubts], found.edge_false_rates)
    moments = qwo.Moments.from_data(data, names)
    drawn = qwo.posterior(moments, n_draws=200, random_state=1)
    sure = Contents(found, posterior=drawn)
    assert sure.doubt_source == "posterior"
    place = {name: k for k, name in enumerate(names)}
    links = [drawn.link_probabilities[place[a], place[b]] for a, _, b in found.edges]
    assert_allclose([d.link for d in sure.doubts], 1 - np.array(links))


@pytest.mark.parametrize(
    ("asked", "step"),
    [
        ({}, "--relations curved (drops the assumption: relations are linear)"),
        ({"hidden_causes": True}, "--relations curved, without --hidden-causes"),
        ({"feedback": True}, "--relations curved, without --feedback"),
    ],
)
def test_relations_that_bend_speak_against_a_graph(asked: dict[str, Any], step: str) -> None:
    rng = np.random.default_rng(0)
    dose = rng.normal(size=500)
    rows = np.column_stack([dose, dose + dose**2 + rng.normal(size=500), rng.normal(size=500)])
    found = qwo.discover(rows, random_state=0, **asked)
    said = verdict(Contents(found, qwo.audit(rows)))
    assert "relations bend in 1 pair of columns" in said.against
    assert "relations are linear" not in said.assumes
    assert step in said.steps


def test_the_verdict_tells_where_directions_come_from(chain: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame(chain[0], columns=chain[1])
    known = qwo.discover(frame, knowledge={"roots": ["a"]}, random_state=0)
    contents = Contents(known)
    sources = arrow_sources(contents)
    assert sources["a", "b"] == "you"
    assert sources["b", "c"] == "data"
    said = verdict(contents)
    assert "from what you said" in said.directions
    assert any("--check" in step for step in said.steps)
    assert not said.against


def test_arrows_whose_reverse_is_ruled_out_are_not_from_the_data(chain: Any) -> None:
    """Arrows that tiers force were called the data's where the class of the graph has them too."""
    import pandas as pd

    frame = pd.DataFrame(chain[0], columns=chain[1])
    known = qwo.discover(frame, knowledge={"tiers": [["a", "b"], ["c", "d", "e"]]}, random_state=0)
    contents = Contents(known)
    assert to_cpdag(known.dag)[1, 2] == 1
    assert arrow_sources(contents) == {("b", "c"): "you", ("d", "c"): "data"}
    said = verdict(contents)
    assert said.directions.startswith("1 from what you said, 1 from the data")
    assert not any(step.startswith("--tiers") for step in said.steps)


def test_advice_names_only_options_that_exist() -> None:
    assert {option for _, _, option, *_ in DEFAULT if option} <= {*OPTIONS, *READING}


def test_effects_on_an_outcome_are_ranked(found: qwo.Discovery) -> None:
    causes = found.causes_of("c")
    names = [effect.cause for effect in causes]
    assert set(names) >= {"b", "d"}
    assert "c" not in names
    ranks = [(not e.excludes_zero, -abs(e.standardized)) for e in causes]
    assert ranks == sorted(ranks)
    text = str(causes)
    assert "95 % interval" in text
    assert causes.to_frame()["cause"].tolist() == names
    assert "<table>" in causes._repr_html_()
    assert found.causes_of("a").effects[0].low == 0


def test_effects_of_a_class_are_those_of_ida(chain: Any) -> None:
    data, names = chain
    moments = qwo.Moments.from_data(data, names)
    dag = np.zeros((5, 5), dtype=np.int8)
    dag[0, 1] = dag[1, 2] = dag[3, 2] = dag[3, 4] = 1
    cpdag = to_cpdag(dag)
    setting = Setting(moments, cpdag, dag, cpdag, 0.95)
    for x, y in ((0, 1), (1, 0), (0, 2), (3, 4), (4, 2)):
        own = effect_between(setting, x, y)
        ida = qwo.ida(moments, cpdag, x, y)
        sizes = np.where(ida.directed, ida.estimates, 0.0)
        if len(ida) > 1:
            assert_allclose((own.low, own.high), (sizes.min(), sizes.max()))
    # Every member of the class lies within.
    for member in qwo.enumerate_dags(cpdag):
        sem = qwo.fit_sem(moments, member)
        for x, y in ((0, 2), (3, 2), (4, 2)):
            size = qwo.total_effect(sem, x, y).estimate
            own = effect_between(setting, x, y)
            assert own.low - 0.05 <= size <= own.high + 0.05


def test_unsupported_arrows_may_point_either_way(chain: Any) -> None:
    data, names = chain
    moments = qwo.Moments.from_data(data, names)
    dag = np.zeros((5, 5), dtype=np.int8)
    dag[0, 1] = dag[1, 2] = dag[3, 2] = dag[3, 4] = 1
    cpdag = to_cpdag(dag)
    shown = cpdag.copy()
    shown[1, 2] = shown[2, 1] = 2
    setting = Setting(moments, cpdag, dag, shown, 0.95)
    effect = effect_between(setting, "b", "c")
    assert effect.low == 0
    assert effect.high > 0.7
    assert 0 < effect.share < 1
    assert causes_of(setting, "c")[0].cause == "d"


def test_posterior_intervals_of_an_outcome(found: qwo.Discovery, chain: Any) -> None:
    moments = qwo.Moments.from_data(*chain)
    drawn = qwo.posterior(moments, n_draws=200, random_state=1)
    causes = found.causes_of("c", posterior=drawn)
    assert causes.from_posterior
    own = {effect.cause: effect for effect in causes}
    assert own["b"].low == drawn.effect("b", "c").median


@pytest.mark.parametrize("name", ["age", "Sex", "modelyear", "patient_age", "birthYear", "site"])
def test_names_of_roots(name: str) -> None:
    assert looks_like_root(name)


@pytest.mark.parametrize(
    "name", ["age_at_onset", "stage", "marriage", "bwt", "dosage", "percentage"]
)
def test_names_that_are_none(name: str) -> None:
    assert not looks_like_root(name)


def test_the_audit_proposes_roots_and_sees_all_it_can(walks: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame(walks, columns=["age", "x", "y", "z"])
    audit = qwo.audit(frame)
    [roots] = [f for f in audit.findings if f.code == "roots"]
    assert roots.severity == "note"
    assert "knowledge={'roots': ['age']}" in roots.worded()
    # A column that is no number hides nothing of the others.
    frame["note"] = [f"text {k}" for k in range(300)]
    codes = [f.code for f in qwo.audit(frame).findings]
    assert "serial" in codes


def test_the_gist_of_a_finding_leaves_out_examples() -> None:
    assert gist("6 of 14 columns hold codes: 'a' (1, 2). They are numbers") == (
        "6 of 14 columns hold codes"
    )


def test_one_member_of_the_class_is_handed_out(found: qwo.Discovery) -> None:
    assert (qwo.to_dag(found) == found.dag).all()
    assert (qwo.to_cpdag(qwo.to_dag(found.cpdag)) == found.cpdag).all()


def test_results_show_themselves(found: qwo.Discovery, chain: Any) -> None:
    path = qwo.penalty_path(chain[0], penalties=[1.0, 4.0], random_state=0)
    assert "penalty  edges  directed" in str(path)
    known = qwo.Knowledge(tiers=[["a"], ["b", "c"]], required=[("a", "b")])
    assert "tiers: a > b, c" in str(known)
    shown = (
        path,
        known,
        found.check(n_draws=5, random_state=0),
        found.effect("b", "c"),
        found.fit(),
        qwo.ida(chain[0], found.cpdag, 1, 2),
        qwo.total_effect(found.fit(), "b", "c"),
        found.causes_of("c"),
    )
    for result in shown:
        text = result._repr_html_()  # type: ignore[attr-defined]
        assert text.startswith("<"), result
    assert len(found.causes_of("c").plot().lines) > 2
    axes = qwo.plot(found)  # type: ignore[operator]
    assert axes.get_figure() is not None


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("tiers", 'knowledge={"tiers"'),
        ("seed", "random_state="),
        ("n_threads", "n_jobs="),
        ("nominal", 'types={"a": "nominal"'),
    ],
)
def test_options_under_other_names_get_a_hint(chain: Any, wrong: str, hint: str) -> None:
    with pytest.raises(TypeError, match=wrong) as error:
        qwo.discover(chain[0], **{wrong: 1})
    assert hint in str(error.value)


def test_every_call_with_a_seed_hears_its_name(chain: Any) -> None:
    for call in (qwo.simulate, qwo.bootstrap, qwo.posterior, qwo.penalty_path, qwo.QWO):
        with pytest.raises(TypeError, match="the seed is random_state="):
            call(*([] if call in (qwo.simulate, qwo.QWO) else [chain[0]]), seed=1)


def test_copies_of_rows_are_no_time_series() -> None:
    rows = np.random.default_rng(8).normal(size=(60, 3))
    twice = np.concatenate([rows, rows[:30]])
    with pytest.warns(qwo.DataWarning, match="repeat others"):
        found = qwo.discover(twice, random_state=0)
    [doubted] = [a for a in found.assumptions if a.status == "doubted"]
    assert doubted.name == "independent rows"
    assert not doubted.cures


def test_arrows_into_likely_roots_speak_against_the_graph() -> None:
    import pandas as pd

    rng = np.random.default_rng(3)
    dose, stress = rng.normal(size=(2, 800))
    frame = pd.DataFrame({"dose": dose, "stress": stress})
    frame["age"] = 0.8 * dose + 0.7 * stress + rng.normal(size=800)
    found = qwo.discover(frame, random_state=0)
    said = verdict(Contents(found, found.origin.held.audit()))  # type: ignore[union-attr]
    assert any("2 arrows into 'age'" in doubt for doubt in said.against)
    assert said.steps[0].startswith("--roots age")


@pytest.mark.filterwarnings("ignore::qwo.DataWarning")
def test_required_causes_need_samples() -> None:
    """A graph was returned whose score was refused."""
    data = np.random.default_rng(0).normal(size=(30, 4))
    moments = qwo.Moments.from_covariance(np.corrcoef(data.T), n_samples=3)
    with pytest.raises(qwo.InputError, match="2 required causes of 'X1'"):
        qwo.discover(moments, knowledge={"required": [(0, 1), (2, 1)]})


def test_names_of_families_are_no_missing_values() -> None:
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["father", "child"])
    frame["family"] = [f"{k // 4}" if k < 56 else "14A" for k in range(60)]
    cures = [cure for finding in qwo.audit(frame).findings for cure in finding.cures]
    assert "cluster" in {cure.option for cure in cures}
    assert "null_values" not in {cure.option for cure in cures}


def test_an_inverse_can_be_given_up() -> None:
    from qwo.order.linalg import precision_matrix, swept_inverse

    data = np.random.default_rng(2).normal(size=(400, 200))
    matrix = np.corrcoef((data @ np.random.default_rng(3).normal(size=(200, 200))).T)
    for size in (400.0, 150.0):
        expected = precision_matrix(matrix, size)
        swept = swept_inverse(matrix, size, lambda: True)
        assert swept is not None
        assert_allclose(swept, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    left = iter([True, False])
    assert swept_inverse(matrix, 400.0, lambda: next(left)) is None


def test_the_command_line_imports_what_it_needs(tmp_path: Path, chain: Any) -> None:
    """What takes tenths of a second and is not used is not loaded."""
    rows, names = chain
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",", header=",".join(names), comments="")
    script = (
        "import sys; sys.argv = ['qwo', 'learn', 'x.csv', '-q']\n"
        "from qwo.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(ast.literal_eval(done.stdout.splitlines()[-1]))
    heavy = {"joblib", "pydantic", "asyncio", "numpy.f2py.f2py2e", "unittest", "scipy.stats"}
    heavy |= {"scipy.optimize", "scipy.sparse", "matplotlib", "jinja2", "pandas", "multiprocessing"}
    assert "qwo.discovery.discover" in loaded
    assert not heavy & loaded


def test_deferred_parts_of_numpy_work_when_they_are_used() -> None:
    script = (
        "from qwo.cli.failures import _defer_rarely_used as defer\n"
        "defer(); defer()\n"
        "import numpy.fft, numpy.polynomial.polynomial, numpy as np\n"
        "import scipy.linalg, scipy.special\n"
        "assert np.fft.fft([1.0, 2.0])[0] == 3 and np.polynomial.Polynomial([1, 2])(1) == 3\n"
        "np.testing.assert_allclose(1.0, 1.0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("n_jobs", [1, 2, 7, -1, -2, -400])
def test_workers_are_counted_as_joblib_counts_them(n_jobs: int) -> None:
    import joblib

    alone = f"import sys; from qwo.compute import count_workers; print(count_workers({n_jobs}))"
    alone += "; assert 'joblib' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True)
    assert int(done.stdout) == joblib.effective_n_jobs(n_jobs)


def test_links_of_near_copies_are_not_called_solid(chain: Any) -> None:
    import pandas as pd

    rows, names = chain
    rng = np.random.default_rng(5)
    area = rows[:, :1] + 0.1 * rng.normal(size=(len(rows), 1))
    found = qwo.discover(pd.DataFrame(np.hstack([rows, area]), columns=[*names, "area"]))
    known = Contents(found)
    assert known.near_copies == ["a", "area"]
    pairs = zip(found.edges, known.doubts, strict=True)
    copies = {"a", "area"}
    assert all((doubt.link is None) == (len({a, b} & copies) == 1) for (a, _, b), doubt in pairs)
    said = verdict(known)
    judged = sum(doubt.link is not None for doubt in known.doubts)
    assert 0 < judged < found.n_edges
    assert f"{found.n_edges - judged} not judged without --bootstrap" in said.links
    assert any("'a', 'area'" in reason for reason in said.against)
    assert not Contents(qwo.discover(rows)).near_copies


def test_findings_speak_of_variables_and_not_of_their_levels() -> None:
    """Of a category with holes it was said that 'thal=6' has missing values."""
    import pandas as pd

    rng = np.random.default_rng(0)
    thal = rng.choice([3, 6, 7], size=300)
    frame = pd.DataFrame({"thal": np.where(rng.random(300) < 0.05, np.nan, thal)})
    frame["rate"] = 0.5 * thal + rng.normal(size=300)
    frame["code"] = np.where(rng.random(300) < 0.1, -999.0, rng.normal(size=300))
    for missing in ("em", "drop"):
        audit = qwo.audit(frame, types={"thal": "nominal"}, missing=missing)
        said = {finding.code for finding in audit.findings}
        assert {"missing-values", "sentinel"} <= said
        assert {name for f in audit.findings for name in f.columns} <= set(frame.columns)
        assert "thal=" not in " ".join(finding.worded() for finding in audit.findings)


def test_only_resamples_make_links_solid() -> None:
    """17 of 22 links were called solid of which half the rows give 8 again."""
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(as_frame=True).frame
    found = qwo.discover(frame, random_state=0)
    by_rates, by_resamples, by_posterior = (
        verdict(Contents(found, **known))
        for known in (
            {},
            {"bootstrap": qwo.bootstrap(frame, n_resamples=100, random_state=1)},
            {"posterior": qwo.posterior(frame, n_draws=200, random_state=1)},
        )
    )
    assert by_rates.headline.startswith("17 of 22 links are unlikely to be due to chance")
    assert by_rates.links.endswith("fewer may be found again in other rows")
    assert by_resamples.headline.startswith("8 of 22 links are solid")
    assert "links are probable" in by_posterior.headline
    assert "solid" not in f"{by_rates}{by_posterior}"
    page = Path(__file__).parents[2] / "docs" / "howto" / "how-sure.md"
    told = " ".join(page.read_text(encoding="utf-8").split())
    assert "17 of 22 links are unlikely to be due to chance, and 8 of 22 are found again" in told


def test_links_of_an_outcome_without_a_direction_ask_whether_it_causes_anything() -> None:
    from sklearn.datasets import load_diabetes

    found = qwo.discover(load_diabetes(as_frame=True).frame, random_state=0)
    said = verdict(Contents(found, outcome=found.causes_of("target")))
    assert any(step.startswith("--leaves target, if it causes nothing") for step in said.steps)
    assert not any("--leaves" in step for step in verdict(Contents(found)).steps)


def test_an_arrow_is_doubted_with_its_link_and_few_rows_are_named() -> None:
    """A table of 47 rows had 19 of 20 arrows "from the data", without a word."""
    rows, *_ = qwo.simulate(n_variables=14, n_samples=47, degree=4, random_state=9001)
    found = qwo.discover(rows, random_state=0)
    known = Contents(found)
    numbers = zip(found.edges, found.edge_false_rates, found.arrow_chances, strict=True)
    doubts = [1 - (1 - rate) * sure for (_, mark, _), rate, sure in numbers if mark == "-->"]
    assert [doubt.arrow for doubt in known.doubts if doubt.arrow is not None] == doubts
    said = verdict(known)
    assert said.directions.startswith(f"{len(doubts)} from the data (")
    assert f"about {sum(doubts):.1f} expected to be wrong)" in said.directions
    assert f"none of {len(doubts)} directions is sure" in said.headline
    assert any("47 rows are few for 14 columns" in reason for reason in said.against)
    assert said.steps[0].startswith("--bootstrap 100")
    enough, *_ = qwo.simulate(n_variables=14, n_samples=200, degree=4, random_state=9001)
    said = verdict(Contents(qwo.discover(enough, random_state=0)))
    assert not any("rows are few" in reason for reason in said.against)


@pytest.mark.parametrize("option", ["feedback", "hidden_causes"])
def test_dependent_rows_overturn_every_reading(walks: Any, option: str) -> None:
    """With feedback=True such a graph was "12 links, 12 with a direction"."""
    with pytest.warns(qwo.DataWarning, match="row before"):
        found = qwo.discover(walks, random_state=0, **{option: True})
    with pytest.warns(qwo.DataWarning, match="row before"):
        audit = qwo.Moments.from_data(walks).audit()
    said = verdict(Contents(found, audit=audit))
    assert said.headline.startswith("do not take this graph at face value: rows depend")
    assert sum("rows depend" in reason for reason in said.against) == 1


def test_factorisations_keep_to_one_thread_where_others_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Threads that wait for each other on a busy machine made a limit of .5 s take 18."""
    from qwo import compute
    from qwo.inspection import checks

    module, asked = sys.modules["qwo.discovery.discover"], list[bool]()

    def limited(multiplications: float = 0.0, limit: float | None = None) -> Any:
        asked.append(limit is not None)
        return compute.one_blas_thread(multiplications, limit)

    for place in (checks, module):
        monkeypatch.setattr(place, "one_blas_thread", limited)
    rows = np.random.default_rng(0).normal(size=(60, 5))
    qwo.discover(rows, time_limit=60)
    qwo.discover(rows)
    assert asked == [True, True, True, False], "without a limit, the same sums whoever else works"
    for load, kept in ((99.0, True), (0.0, False)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, load, load), raising=False)
        needed = compute._Limits.needed_by
        with compute.one_blas_thread(1e12, 5.0):
            assert (compute._Limits.needed_by > needed) == kept
        with compute.one_blas_thread(1e12):
            assert compute._Limits.needed_by == needed


def test_rows_sorted_by_a_column_are_no_time_series() -> None:
    """As in the tables of irises, wines and penguins, sorted by species."""
    import pandas as pd

    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b", "c"], 60)
    frame = pd.DataFrame(rng.normal(size=(180, 4)) + 2 * rng.normal(size=(3, 4)).repeat(60, 0))
    frame.columns = ["one", "two", "three", "four"]
    told = {f.code: f for f in qwo.audit(frame.assign(kind=kind)).findings}
    assert "serial" not in told
    assert told["sorted"].severity == "note"
    assert told["sorted"].columns == ("kind",)
    # Without the column that explains it, or where neighbours are alike within groups, too.
    assert "serial" in {f.code for f in qwo.audit(frame).findings}
    walks = frame.apply(lambda column: column + 0.3 * rng.normal(size=180).cumsum())
    assert "serial" in {f.code for f in qwo.audit(walks.assign(kind=kind)).findings}
    # Months follow each other, however little their days do.
    assert "serial" in {f.code for f in qwo.audit(frame.assign(month=kind)).findings}


def test_columns_that_number_rows_are_left_out_of_other_findings() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(300), "a": rng.normal(size=300).cumsum()})
    frame["b"] = (np.arange(300) - 150) ** 2 / 5000 + rng.normal(size=300).cumsum()
    findings = {f.code: f.columns for f in qwo.audit(frame).findings}
    assert findings["identifier"] == ("id",)
    assert all("id" not in columns for code, columns in findings.items() if code != "identifier")


@pytest.mark.parametrize("missing", ["raise", "em"])
def test_a_column_computed_from_others_is_told(missing: Any) -> None:
    """Such as experience = age - schooling - 6 but for one row."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 65, 400), "school": rng.integers(8, 18, 400)})
    frame["experience"] = frame["age"] - frame["school"] - 6.0
    frame.loc[7, "experience"] = 0
    frame["wage"] = 0.1 * frame["school"] + rng.normal(size=400)
    if missing == "em":
        frame.loc[:9, "wage"] = np.nan
    audit = qwo.audit(frame, missing=missing)
    [told] = [f for f in audit.findings if f.code == "determined"]
    assert told.columns == ("age", "school", "experience")
    assert "'experience' = constant +1·'age' -1·'school' in 399 of 400 rows" in told.message
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        said = dict(verdict(Contents(qwo.discover(frame, missing=missing), audit)).lines())
    assert "columns seem to be computed from others" in said["against it"]
    # Strong effects with noise of their own are no such thing.
    frame["experience"] += 0.7 * rng.normal(size=400)
    assert "determined" not in {f.code for f in qwo.audit(frame, missing=missing).findings}


def test_a_check_that_is_close_to_an_alarm_says_so(found: qwo.Discovery) -> None:
    found = found.check(random_state=1)
    assert str(found).startswith("No alarm: the data do not contradict")
    near = dataclasses.replace(found.tests[0], p_value=0.0198)
    told = str(dataclasses.replace(found, tests=(near, *found.tests[1:])))
    assert told.startswith(f"No alarm, but nearly ({near.name})")


def test_rows_left_out_that_count_without_bound_are_told_in_words(found: qwo.Discovery) -> None:
    found = found.check(random_state=1)
    beyond = dataclasses.replace(found.held_out, graph=-1e29)
    assert "cannot be told" in str(dataclasses.replace(found, held_out=beyond))


def test_no_number_is_rounded_up_to_what_is_called_sure(
    found: qwo.Discovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(found), "arrow_chances", np.full(len(found.edges), 0.899))
    assert set(found.unsure()) == {"", "(89 % sure)"}


def test_roots_are_asked_for_where_edges_are_shown_as_lines() -> None:
    """Only 'age' was, since the best graph has no arrow into 'sex'; but lines are shown."""
    from sklearn.datasets import load_diabetes

    table = load_diabetes(as_frame=True).frame
    found = qwo.discover(table)
    assert not (found.cpdag != 0)[:, found.names.index("sex")].any()
    steps = verdict(Contents(found, audit=qwo.audit(table))).steps
    assert any(step.startswith("--roots age,sex,") for step in steps)


def test_codes_are_something_to_try() -> None:
    """What is read as quantities was said to speak against the graph, but not what to do."""
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ward": rng.integers(1, 4, size=300), "dose": rng.normal(size=300)})
    with pytest.warns(DataWarning):
        found = qwo.discover(table)
    told = verdict(Contents(found, audit=qwo.audit(table)))
    assert any("read as quantities" in reason for reason in told.against)
    assert told.steps[0].startswith("--nominal ")


def test_a_folder_in_the_place_of_the_table_is_told(tmp_path: Path) -> None:
    """It was read as a table, or the table as a graph: 'an adjacency matrix is square'."""
    (tmp_path / "result.json").write_text("{}")
    for command in ("fit", "check"):
        done = subprocess.run(
            [sys.executable, "-m", "qwo.cli", command, str(tmp_path), "cells.csv"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "the table comes first" in " ".join(done.stderr.split())
