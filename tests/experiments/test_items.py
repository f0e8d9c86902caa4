"""The files that say what is run."""

from __future__ import annotations

import pytest

from qwo.errors import ArgumentError
from qwo.reproduction.methods import check_method, needs
from qwo.reproduction.store import run_key
from qwo.reproduction.tasks import curve_of, item_names, load_item

PAPER_SIZES = {5, 10, 20, 30, 40, 50, 75, 100, 150}
CURVES = ["er2", "er3", "er4", "oracle", "exponential", "gumbel", "default-search"]


def keys(name, profile):
    return [run_key(run) for run in load_item(name).runs(profile)]


def test_all_items_are_there():
    assert set(item_names()) >= {"table1", "table2", *CURVES}
    assert item_names()[:3] == ("table1", "table2", "er2")


@pytest.mark.parametrize("name", item_names())
@pytest.mark.parametrize("profile", ["quick", "full"])
def test_every_run_is_there_once_and_small_sizes_come_first(name, profile):
    runs = load_item(name).runs(profile)
    assert len(set(keys(name, profile))) == len(runs) > 0
    sizes = [run["n_variables"] for run in runs]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("name", [n for n in item_names() if n != "table1"])
def test_every_method_exists_and_quick_is_quick(name):
    runs = load_item(name).runs("quick")
    assert {check_method(run["method"]) for run in runs}
    assert max(run["seed"] for run in runs) == 2
    assert max(run["n_variables"] for run in runs) <= 30


@pytest.mark.parametrize("name", CURVES)
def test_the_full_profile_has_the_sizes_of_the_paper(name):
    runs = [run for run in load_item(name).runs("full") if run["n_samples"] == 10_000]
    assert {run["n_variables"] for run in runs} == PAPER_SIZES
    assert {run["seed"] for run in runs} == set(range(30))


def test_table_2_is_the_paper_s():
    runs = load_item("table2").runs("full")
    sizes = {run["graph"]: run["n_variables"] for run in runs}
    assert sizes == {"cancer": 5, "survey": 6, "asia": 8, "sachs": 11, "er": 5}
    assert {run["n_samples"] for run in runs} == {500}
    modules = {run["method"].partition("/")[2] for run in runs}
    assert modules >= {"qwo", "bic", "cl-bic", "cl-bdeu", "cl-cv"}


def test_what_two_items_share_is_run_once():
    sampled = {k for k in keys("oracle", "full") if '"sample"' in k}
    shared = sampled & {k for d in (2, 3, 4) for k in keys(f"er{d}", "full")}
    assert shared == sampled


def test_table_1_varies_one_thing_at_a_time():
    runs = load_item("table1").runs("full")
    axes = {"n": "n_variables", "d": "block", "N": "n_samples"}
    lines = {}
    for run in runs:
        fixed = {k: v for k, v in run.items() if k not in (axes[run["vary"]], "seed", "degree")}
        lines.setdefault(run_key(fixed), set()).add(run[axes[run["vary"]]])
    assert all(len(values) >= 3 for values in lines.values())
    assert {run["degree"] for run in runs if run.get("density") == "dense"} >= {10.0, 20.0}


def test_a_curve_is_a_method_on_one_kind_of_data():
    first, second = load_item("er2").runs("quick")[:2]
    assert curve_of(first) == curve_of(first | {"seed": 9, "n_variables": 99})
    assert curve_of(first) != curve_of(first | {"degree": 3})
    assert curve_of(first) == curve_of(second) or first["method"] != second["method"]


def test_graphs_can_be_limited():
    assert {run["seed"] for run in load_item("er2").runs("full", graphs=2)} == {0, 1}


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ArgumentError, match="no item 'er5'; wanted one of table1, table2"):
        load_item("er5")
    with pytest.raises(ArgumentError, match="no method 'hc/bic2'"):
        check_method("hc/bic2")
    with pytest.raises(ArgumentError, match="no method 'cl-grasp/qwo'"):
        check_method("cl-grasp/qwo")


def test_who_is_foreign():
    assert needs("hc/cl-bic") == needs("cl-grasp/cl-bic") == "causal-learn"
    assert needs("flop") == "FLOP"
    assert needs("authors/hc") == "the authors' code"
    assert needs("grasp2/bic") is None
