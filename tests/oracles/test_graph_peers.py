"""What other packages answered for the same graphs; ``benchmarks/peers/check_graphs.py`` asked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from qwo.graph import ancestors, descendants, meek_closure, parents, to_cpdag
from qwo.graph.adjustment import adjustment_set, is_adjustment_set
from qwo.graph.compare import compare
from qwo.graph.sampling import class_size

DOCUMENT = json.loads((Path(__file__).parent / "data" / "graph_peers.json").read_text("utf-8"))


def matrix(text):
    return np.array([list(map(int, row)) for row in text.split()], dtype=np.int8)


CASES = [
    {key: matrix(value) if isinstance(value, str) else value for key, value in case.items()}
    for case in DOCUMENT["cases"]
]


def test_the_answers_are_those_that_were_written():
    canonical = json.dumps(DOCUMENT["cases"], sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode("ascii")).hexdigest() == DOCUMENT["sha256"]
    assert len(CASES) == 200
    assert set(DOCUMENT["peers"]) >= {"causal-learn", "pgmpy", "gadjid", "cliquepicking", "Tetrad"}


def test_cpdags_of_causal_learn_pgmpy_and_tetrad():
    for case in CASES:
        np.testing.assert_array_equal(to_cpdag(case["truth"]), case["cpdag"])


def test_closures_under_meeks_rules():
    for case in CASES:
        np.testing.assert_array_equal(meek_closure(case["informed"]), case["closure"])


def test_distances_of_causal_learn_gadjid_and_tetrad():
    for case in CASES:
        found = compare(case["estimate"], case["truth"], aid=False)
        assert found.shd_cpdag == case["shd"]
        assert found.shd_tetrad == case["tetrad_shd"]


def test_class_sizes_of_cliquepicking():
    for case in CASES:
        assert class_size(case["cpdag"]) == case["class_size"]


def by_parents(dag, cause, effect):
    chosen = parents(dag, cause).tolist()
    return None if effect in chosen else chosen


def by_ancestors(dag, cause, effect):
    return ancestors(dag, cause).tolist() if effect in descendants(dag, cause) else None


def by_optimal_set(dag, cause, effect):
    affected = effect in descendants(dag, cause)
    return adjustment_set(dag, cause, effect, "optimal").tolist() if affected else None


@pytest.mark.parametrize(
    ("distance", "strategy"),
    [("parent_aid", by_parents), ("ancestor_aid", by_ancestors), ("oset_aid", by_optimal_set)],
)
def test_adjustment_distances_of_gadjid(distance, strategy):
    """The effects for which the truth calls the estimate's adjustment wrong, counted one by one."""
    for case in CASES[::4]:
        estimate, truth = case["estimate"], case["truth"]
        wrong = 0
        for cause, effect in np.argwhere(~np.eye(len(truth), dtype=bool)).tolist():
            covariates = strategy(estimate, cause, effect)
            if covariates is None:
                wrong += effect in descendants(truth, cause)
            else:
                wrong += not is_adjustment_set(truth, cause, effect, covariates)
        assert wrong == case[distance]
