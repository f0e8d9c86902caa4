"""One run: a function of its parameters, which ends in time."""

from __future__ import annotations

import signal
import sys

import numpy as np
import pytest

from qwo.graph import pshd
from qwo.reproduction import tasks
from qwo.reproduction.growth import measure_growth
from qwo.reproduction.methods import make_problem
from qwo.reproduction.store import Row
from qwo.reproduction.tasks import CUT_OFF, FAILED, Executor, load_item, run_here, run_in_process

QUALITY = ("status", "skf1", "pshd", "edges", "true_edges")


def run_of(item, method, n=10, **wanted):
    return next(
        run
        for run in load_item(item).runs("quick")
        if run["method"] == method
        and run["n_variables"] == n
        and all(run.get(name) == value for name, value in wanted.items())
    )


def quality(row):
    return {name: row.outcome.get(name) for name in QUALITY}


def test_the_same_run_gives_the_same_result_here_and_in_a_process():
    runs = [run_of("er2", "grasp2/qwo"), run_of("oracle", "hc/qwo", covariance="oracle")]
    here = [quality(row) for row in run_here(runs, 60.0)]
    there = [quality(row) for row in run_in_process(runs, 60.0, sys.executable)]
    assert here == there
    assert here[0]["status"] == "done"


def test_runs_that_differ_in_the_method_see_the_same_data():
    first, second = run_of("er2", "hc/qwo"), run_of("er2", "grasp2/bic")
    assert make_problem(first).data is make_problem(second).data
    other = make_problem(run_of("gumbel", "hc/qwo", degree=2))
    np.testing.assert_array_equal(make_problem(first).truth, other.truth)


def test_networks_are_shuffled_linear_models():
    problem = make_problem(run_of("table2", "hc/qwo", n=8))
    assert problem.truth.sum() == 8
    assert problem.data.shape == (500, 8)
    assert np.tril(problem.truth).any()


def test_a_search_that_exceeds_its_budget_is_cut_off():
    run = run_of("er2", "grasp2/qwo", n=30)
    (row,) = run_here([run, run], 0.0)
    assert row.outcome["status"] == CUT_OFF


def test_data_that_are_refused_fail_with_the_reason():
    run = run_of("er2", "hc/qwo") | {"n_samples": 11}
    first, second = run_here([run, run_of("er2", "hc/qwo")], 60.0)
    assert first.outcome["status"] == FAILED
    assert "samples" in first.outcome["reason"]
    assert second.outcome["status"] == "done"


@pytest.mark.skipif(not tasks.ALARM, reason="needs timers of processor time")
def test_a_process_is_ended_when_its_processor_time_is_up():
    run = run_of("er2", "hc/qwo", n=30) | {"n_variables": 150}
    almost_no_time = 0.01 - tasks.GRACE
    (row,) = run_in_process([run], almost_no_time, sys.executable)
    assert row.outcome["status"] == CUT_OFF
    assert tasks.ALARM == signal.SIGPROF


def test_a_process_that_never_ends_is_killed(monkeypatch):
    monkeypatch.setattr(tasks, "START_UP", 0.0)
    monkeypatch.setattr(tasks, "LARGEST_DELAY", 0.0)
    (row,) = run_in_process([run_of("er2", "hc/qwo")], 60.0, sys.executable)
    assert row.outcome["status"] == CUT_OFF


def test_after_a_failure_the_others_get_a_new_process(monkeypatch):
    asked = []

    def fail_first(runs, budget, _python, _authors):
        asked.append(len(runs))
        return [Row(runs[0], {"status": FAILED, "reason": "no", "budget": budget}, {})]

    monkeypatch.setattr(tasks, "run_in_process", fail_first)
    runs = [run_of("er2", "hc/cl-bic") | {"seed": seed} for seed in range(3)]
    assert len(Executor(1.0, "python")(runs)) == 3
    assert asked == [3, 2, 1]


def test_after_a_cut_off_only_other_curves_go_on(monkeypatch):
    def cut_first(runs, budget, _python, _authors):
        return [Row(runs[0], {"status": CUT_OFF, "budget": budget}, {})]

    monkeypatch.setattr(tasks, "run_in_process", cut_first)
    first = run_of("er2", "hc/cl-bic")
    runs = [first, first | {"seed": 1}, first | {"degree": 3}]
    made = Executor(1.0, "python")(runs)
    assert [row.run for row in made] == [first, first | {"degree": 3}]


def test_a_python_without_the_package_is_a_failure_with_its_reason(tmp_path):
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho 'No module named qwo' >&2\nexit 1\n")
    script.chmod(0o755)
    (row,) = run_in_process([run_of("er2", "hc/cl-bic")], 1.0, str(script))
    assert (row.outcome["status"], row.outcome["reason"]) == (FAILED, "No module named qwo")


@pytest.mark.parametrize("module", ["order-factor", "algorithm-1", "bic"])
@pytest.mark.parametrize("phase", ["initial", "update"])
def test_growth_is_measured(module, phase):
    run = {
        "method": module,
        "phase": phase,
        "block": 5,
        "graph": "er",
        "degree": 3,
        "n_variables": 12,
        "n_samples": 500,
        "noise": "gaussian",
        "seed": 0,
    }
    outcome = measure_growth(run, make_problem(run))
    assert outcome["cpu"] > 0
    assert outcome["repeats"] >= 1


def test_reversed_pshd_is_that_of_the_transposed_graphs():
    truth = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=np.int8)  # a collider
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.int8)
    assert tasks._as_if_reversed(chain, truth) == {"pshd_reversed": 0.0}
    assert pshd(chain, truth) > 0
    assert tasks._as_if_reversed(np.array([[0, 2], [2, 0]]), chain[:2, :2]) == {}
