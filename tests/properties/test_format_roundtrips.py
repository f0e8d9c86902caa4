"""Every format gives back exactly what it was given, or refuses a name that it cannot hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwo.errors import GraphError, InputError
from qwo.graph import to_cpdag
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.formats import CODES, FORMATS, decode_matrix, encode_matrix, to_networkx
from tests.oracles.hostile_names import HOSTILE

MATRICES = ("adjacency", "pcalg", "causal-learn", "zero-one", "parquet")
HOLD_ANY_NAME = ("json", "edges", *MATRICES)
DAGS_ONLY = ("bnlearn", "lavaan")
KEEP_THE_KIND = ("json", "graphml", "gml", "dagitty")

names = st.one_of(
    st.sampled_from([name for name in HOSTILE if len(name) < 100]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.text('ab"\\\n\r ,;:|[](){}<>-~+*#!&\t', min_size=1, max_size=6),
).filter(str.strip)
plain_names = st.text("abcXYZ_0189", min_size=1, max_size=4).map(lambda text: f"v{text}")


@st.composite
def graphs(draw, labels=names):
    """DAGs and CPDAGs on up to six variables."""
    chosen = tuple(draw(st.lists(labels, min_size=1, max_size=6, unique=True)))
    order = draw(st.permutations(range(len(chosen))))
    dag = np.zeros((len(chosen), len(chosen)), dtype=np.int8)
    for pair in combinations(order, 2):
        dag[pair] = draw(st.booleans())
    if draw(st.booleans()):
        return CausalGraph(chosen, to_cpdag(dag), "cpdag")
    return CausalGraph(chosen, dag, "dag")


def attempt(action, *arguments):
    """What the action returns, or how it refuses its input."""
    try:
        return action(*arguments)
    except InputError as error:
        return error


def assert_same(found: CausalGraph, given_graph: CausalGraph, form: str) -> None:
    if form == "edges":  # keeps the names and the edges, not the order
        found = found.reordered(given_graph.names)
    assert found.names == given_graph.names
    np.testing.assert_array_equal(found.matrix, given_graph.matrix)
    if form in KEEP_THE_KIND:
        assert found.kind == given_graph.kind


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_a_graph_comes_back_or_is_refused(form, graph):
    written = attempt(FORMATS[form].write, graph)
    if isinstance(written, GraphError):
        assert form in DAGS_ONLY
        assert (graph.matrix == 2).any()
        assert "Try: to_dag() takes a DAG of the class" in str(written)
    elif isinstance(written, InputError):
        assert form not in HOLD_ANY_NAME
        assert written.columns
        assert set(written.columns) <= set(graph.names)
    else:
        assert_same(FORMATS[form].read(written, "the data"), graph, form)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=25, deadline=None)
@given(graph=graphs(plain_names))
def test_plain_names_are_never_refused(form, graph):
    if form in DAGS_ONLY:
        graph = graph.to_dag()
    assert_same(FORMATS[form].read(FORMATS[form].write(graph), "the data"), graph, form)


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_come_back_or_are_refused(form):
    for name in HOSTILE:
        graph = CausalGraph((name, "other"), np.array([[0, 1], [0, 0]], dtype=np.int8), "dag")
        written = attempt(FORMATS[form].write, graph)
        if isinstance(written, InputError):
            assert form not in HOLD_ANY_NAME
            assert written.columns == (name,)
            assert "rename" in str(written)
            assert len(str(written)) < 500
        else:
            assert_same(FORMATS[form].read(written, "the data"), graph, form)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_networkx_gives_the_graph_back(graph):
    assert as_graph(to_networkx(graph)) == graph


@pytest.mark.parametrize("code", CODES)
@settings(max_examples=40, deadline=None)
@given(graph=graphs(plain_names))
def test_matrix_codes_give_the_matrix_back(code, graph):
    encoded = encode_matrix(graph.matrix, code)
    np.testing.assert_array_equal(decode_matrix(encoded, code), graph.matrix)


@settings(max_examples=40, deadline=None)
@given(graph=graphs(plain_names), shuffler=st.randoms(use_true_random=False))
def test_reordering_keeps_the_edges(graph, shuffler):
    shuffled = list(graph.names)
    shuffler.shuffle(shuffled)
    moved = graph.reordered(shuffled)
    assert moved.names == tuple(shuffled)
    for first, second in combinations(graph.names, 2):
        here, there = (
            (graph.index(first), graph.index(second)),
            (moved.index(first), moved.index(second)),
        )
        assert graph.matrix[here] == moved.matrix[there]
        assert graph.matrix[here[::-1]] == moved.matrix[there[::-1]]
    assert moved.reordered(graph.names) == graph


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_or_refused(form, data):
    assert isinstance(attempt(FORMATS[form].read, data, "the data"), CausalGraph | InputError)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(
    graph=graphs(plain_names),
    at=st.integers(0, 400),
    mess=st.binary(max_size=6) | st.text('[]{}|<>-;,"&\n 12', max_size=6).map(str.encode),
    cut=st.integers(0, 5),
)
def test_damaged_files_are_read_or_refused(form, graph, at, mess, cut):
    data = FORMATS[form].write(graph.to_dag())
    at %= len(data)
    damaged = data[:at] + mess + data[at + cut :]
    assert isinstance(attempt(FORMATS[form].read, damaged, "the data"), CausalGraph | InputError)
