"""What is run, what is skipped, and what is run again."""

from __future__ import annotations

import pytest

from qwo.reproduction.runner import make_runs
from qwo.reproduction.store import ResultStore, Row
from qwo.reproduction.tasks import COLUMNS, CUT_OFF, DONE, FAILED, Executor, load_item


class Pretender(Executor):
    """Takes n seconds for n variables with the slow method, and no time with others."""

    made: list

    def __call__(self, runs):
        rows = []
        for run in runs:
            self.made.append((run["method"], run["n_variables"], run["seed"]))
            slow = run["method"] == "slow"
            status = CUT_OFF if slow and run["n_variables"] > self.budget else DONE
            rows.append(Row(run, {"status": status, "wall": 1.0, "budget": self.budget}, {}))
        return rows


def pretender(budget, **options):
    made = Pretender(budget, **options)
    object.__setattr__(made, "made", [])
    return made


def some_runs(*methods):
    return [
        {"method": method, "n_variables": n, "seed": seed}
        for n in (10, 20, 30)
        for seed in (0, 1)
        for method in methods
    ]


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "runs.csv", COLUMNS)


def test_a_method_is_cut_off_where_it_exceeds_its_budget(store):
    executor = pretender(15)
    tally = make_runs(some_runs("slow", "fast"), store, executor)
    assert [made for made in executor.made if made[0] == "slow"] == [
        ("slow", 10, 0),
        ("slow", 10, 1),
        ("slow", 20, 0),
    ]
    assert len([made for made in executor.made if made[0] == "fast"]) == 6
    assert (tally.done, tally.cut_off, tally.skipped) == (8, 1, 3)


def test_what_is_known_is_not_run_again(store):
    make_runs(some_runs("slow", "fast"), store, pretender(15))
    again = pretender(15)
    tally = make_runs(some_runs("slow", "fast"), store, again)
    assert again.made == []
    assert (tally.done, tally.cut_off, tally.skipped) == (8, 1, 3)


def test_a_larger_budget_takes_a_cut_off_method_further(store):
    make_runs(some_runs("slow"), store, pretender(15))
    again = pretender(25)
    tally = make_runs(some_runs("slow"), store, again)
    assert again.made == [("slow", 20, 0), ("slow", 20, 1), ("slow", 30, 0)]
    assert (tally.done, tally.cut_off, tally.skipped) == (4, 1, 1)


@pytest.mark.parametrize(("budget", "together"), [(31, 6), (100, 1)])
def test_long_runs_of_causal_learn_are_stored_one_by_one(store, budget, together):
    class Counting(Pretender):
        def __call__(self, runs):
            rows = super().__call__(runs)
            self.made.append(len(rows))
            return rows

    executor = Counting(budget, python="python")
    object.__setattr__(executor, "made", [])
    make_runs(some_runs("hc/cl-cv"), store, executor)
    assert max(made for made in executor.made if isinstance(made, int)) == together


def test_a_failed_run_is_told_and_made_again(store):
    runs = some_runs("fast")
    with store:
        store.append(Row(runs[0], {"status": FAILED, "reason": "no memory", "budget": 1}, {}))
    assert make_runs(runs[:0], store, pretender(1)).failed == 0
    executor = pretender(1)
    assert make_runs(runs[:1], store, executor).done == 1
    assert len(executor.made) == 1


def test_without_causal_learn_its_runs_are_left_out(store):
    tally = make_runs(some_runs("hc/cl-bic", "fast"), store, pretender(99))
    assert (tally.done, tally.left_out, tally.lacking) == (6, 6, ("causal-learn",))
    tally = make_runs(some_runs("hc/cl-bic"), store, pretender(99, python="python"))
    assert (tally.done, tally.left_out) == (6, 0)


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    wanted = ("hc/qwo", "grasp2/bic", "code-grasp/as-published", "default")
    runs = [
        run
        for item in ("er4", "deviations", "default-search")
        for run in load_item(item).runs("quick", graphs=2)
        if run["method"] in wanted and run["n_variables"] == 20 and run["noise"] == "gaussian"
    ]
    found = []
    for n_jobs in (1, 2):
        store = ResultStore(tmp_path / f"{n_jobs}.csv", COLUMNS)
        assert make_runs(runs, store, Executor(60.0), n_jobs=n_jobs).done == len(runs)
        rows = store.rows()
        found.append({k: (rows[k].outcome["skf1"], rows[k].outcome["pshd"]) for k in sorted(rows)})
    assert found[0] == found[1]
    assert len(set(found[0].values())) > 5
