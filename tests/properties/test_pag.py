"""MAGs and PAGs: the core against the definitions."""

from itertools import combinations

import numpy as np
import pytest

from qwo.graph.pag import is_mag, is_pag, mag_of_dag, mag_of_pag, pag_of_mag
from qwo.graph.resolved_knowledge import ResolvedKnowledge
from tests.helpers import fci_reference
from tests.helpers import pag_reference as by_definition


@pytest.fixture(scope="module")
def all_classes():
    return {n: list(by_definition.classes(by_definition.all_mags(n))) for n in (3, 4)}


@pytest.mark.parametrize(("n", "count"), [(3, 56), (4, 2492)])
def test_the_rules_give_the_marks_that_all_members_share(all_classes, n, count):
    seen = 0
    for members in all_classes[n]:
        want = np.array(by_definition.shared_marks(members), np.int8)
        assert is_pag(want)
        assert np.array_equal(pag_of_mag(mag_of_pag(want)), want)
        for member in members:
            mag = np.array(member, np.int8)
            seen += 1
            assert is_mag(mag)
            assert np.array_equal(pag_of_mag(mag), want)
    assert seen == count


def test_with_tiers_the_rules_give_the_marks_that_all_allowed_members_share(all_classes):
    # Andrews, Spirtes & Cooper (2020): with tiers, the rules are complete.
    tiers = np.array([0, 1, 1, 2])
    before = tiers[:, None] < tiers[None, :]
    knowledge = ResolvedKnowledge(tuple("abcd"), before.T.copy(), np.zeros((4, 4), bool), before)
    seen = 0
    for members in all_classes[4]:
        kept = [m for m in members if not _breaks(np.array(m), before)]
        if kept:
            seen += 1
            want = np.array(by_definition.shared_marks(kept), np.int8)
            for member in kept:
                assert np.array_equal(pag_of_mag(np.array(member, np.int8), knowledge), want)
    assert seen > 50


def _breaks(mag, before):
    """Whether a later variable causes an earlier one."""
    later = before.T
    return any(
        later[i, j] and i in by_definition.ancestors(mag.tolist(), [j])
        for i in range(4)
        for j in range(4)
    )


def test_graphs_of_all_kinds_of_edges_are_mags_where_the_definition_says_so():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(300):
        kinds = rng.choice(4, size=(5, 5), p=[0.4, 0.2, 0.2, 0.2])
        marks = np.zeros((5, 5), np.int8)
        for i in range(5):
            for j in range(i):
                marks[i, j], marks[j, i] = ((0, 0), (2, 3), (3, 2), (2, 2))[kinds[i, j]]
        want = by_definition.is_mag(marks.tolist())
        found += want
        assert is_mag(marks) == want
    assert 30 < found < 270


def test_the_mag_of_a_dag_is_what_the_definition_says():
    rng = np.random.default_rng(1)
    for _ in range(60):
        measured, hidden = int(rng.integers(3, 6)), int(rng.integers(1, 4))
        n = measured + hidden
        dag = np.triu(rng.random((n, n)) < 0.4, 1)
        order = rng.permutation(n)
        dag = dag[np.ix_(order, order)].astype(np.int8)
        out = rng.choice(n, size=hidden, replace=False)
        found, columns = mag_of_dag(dag, out)
        marks = 2 * dag + 3 * dag.T
        assert found.tolist() == by_definition.mag_of_dag(marks.tolist(), columns.tolist())
        assert is_mag(found)
        assert is_pag(pag_of_mag(found))


def test_rules_give_shared_marks_of_all_members_for_five_variables():
    # Members of a class have the same edges: all MAGs on a skeleton hold whole classes.
    rng = np.random.default_rng(5)
    pairs = list(combinations(range(5), 2))
    seen = kinds = 0
    for n_edges in (5, 5, 6):
        skeleton = [pairs[k] for k in sorted(rng.choice(10, n_edges, replace=False))]
        for members in by_definition.classes(by_definition.mags_on(5, skeleton)):
            want = np.array(by_definition.shared_marks(members), np.int8)
            kinds += 1
            for member in members:
                seen += 1
                assert np.array_equal(pag_of_mag(np.array(member, np.int8)), want)
    assert kinds > 20
    assert seen > 500


def test_the_class_of_a_dag_with_hidden_variables_is_that_of_fci_with_an_oracle():
    rng = np.random.default_rng(8)
    marked = 0
    for _ in range(120):
        measured, hidden = int(rng.integers(4, 7)), int(rng.integers(0, 4))
        n = measured + hidden
        dag = np.triu(rng.random((n, n)) < 0.35, 1)
        order = rng.permutation(n)
        dag = dag[np.ix_(order, order)].astype(np.int8)
        out = rng.choice(n, size=hidden, replace=False)
        found, columns = mag_of_dag(dag, out)
        want = fci_reference.fci((2 * dag + 3 * dag.T).tolist(), columns.tolist())
        assert pag_of_mag(found).tolist() == want
        marked += np.isin(want, (2, 3)).any()
    assert marked > 40
