"""Graphs, their files, knowledge and its files: mutants and arguments of every wrong kind."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import qwo
from qwo import graph as graphs
from qwo.errors import InputError
from qwo.graph import CausalGraph, Knowledge
from qwo.graph.formats import FORMATS, can_hold, parse_graph
from qwo.graph.knowledge import as_knowledge
from qwo.graph.tetrad_knowledge import parse as parse_knowledge
from tests.fuzz.harness import Case, area
from tests.oracles.equivalence import equivalence_class, is_acyclic, union_graph
from tests.oracles.random_models import random_dag
from tests.oracles.separation import separated_by_paths

NAMES = ["a", "b c", "%d", "1", "e\\", "[]", "=1+1", "ü", "node", 'q"', "-->", "x;y", "/knowledge"]
TOKENS = [
    *("{", "}", "[", "]", "(", ")", ";", ",", '"', "\\", "\n", "\r", "\0", "\ufeff", "-->", "---"),
    *("node", "edge", "graph", "id", "label", "node 3", "<", ">", "&", "1e999", "-1", "2", "nan"),
    *("//", "/*", "#", "~", "~~", "*", "=", "|", ":", "%", "subgraph", "strict", "𝒳", "0" * 40),
]
STRANGE = [
    *(None, True, False, -1, 0, 1, 2**63, 10**30, 0.5, math.nan, math.inf, "", "x", "\0", b"x"),
    *([], [[]], (), {}, set(), object(), int, [1, "a"], [["a"]], [[0, 1], [0]], np.array(3)),
    *(np.zeros((2, 3)), np.full((2, 2), np.nan), np.ones((3, 3)), np.array([["a"]]), 1j),
    *(np.array([[0, 2], [0, 0]]), nx.Graph(), nx.DiGraph([(1, 1)]), Path(), "digraph {"),
]


def small_graph(rng: np.random.Generator) -> CausalGraph:
    n = int(rng.integers(1, 6))
    dag = random_dag(rng, n, float(rng.random()))
    names = [NAMES[k] for k in rng.permutation(len(NAMES))[:n]]
    cpdag = bool(rng.random() < 0.5)
    return CausalGraph.from_matrix(qwo.to_cpdag(dag) if cpdag else dag, names)


def mutant(rng: np.random.Generator, data: bytes) -> bytes:
    """The bytes with a few of them lost, doubled, changed, or with a token in between."""
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(0, len(data) + 1))
        end = min(len(data), at + int(rng.integers(1, 12)))
        kind = int(rng.integers(0, 6))
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:end] + data[at:]
        elif kind == 2:
            data = data[:at] + bytes(rng.integers(0, 256, end - at, dtype=np.uint8)) + data[end:]
        elif kind == 3:
            data = data[:at]
        else:
            token = TOKENS[int(rng.integers(0, len(TOKENS)))]
            data = data[:at] + token.encode("utf-8", "replace") + data[at:]
    return data


@area("graph files")
def graph_files(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    graph = small_graph(rng)
    fitting = [name for name in FORMATS if can_hold(name, graph) is None]
    form = fitting[seed % len(fitting)]
    data = mutant(rng, FORMATS[form].write(graph))

    def case() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"graph{FORMATS[form].suffixes[0]}"
            path.write_bytes(data)
            try:
                read = graphs.read_graph(path)
            except InputError:
                read = parse_graph(data, form)
        assert is_acyclic((read.matrix == 1).astype(np.int8))
        assert graphs.parse_graph(FORMATS["json"].write(read), "json") == read

    return case


@area("knowledge files")
def knowledge_files(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "knowledge.txt"
        some_knowledge(rng, [*NAMES[:4], "x*"]).to_file(path)
        data = mutant(rng, path.read_bytes())

    def case() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "knowledge.txt"
            path.write_bytes(data)
            known = Knowledge.from_file(path)
            known.to_file(path)
            again = Knowledge.from_file(path)  # an edge that is there twice is written once
            assert again.tiers == known.tiers
            assert again.required == known.required
            assert set(again.forbidden) == set(known.forbidden)
            parse_knowledge(data.decode("utf-8-sig"))
            known.resolve(NAMES)

    return case


def some_knowledge(rng: np.random.Generator, names: list[Any]) -> Knowledge:
    def pairs() -> list[tuple[Any, Any]]:
        chosen = rng.integers(0, len(names), (int(rng.integers(0, 3)), 2)).tolist()
        return [(names[i], names[j]) for i, j in chosen if i != j]

    tier = rng.integers(-1, 3, len(names))
    return Knowledge(
        tiers=[[name for name, t in zip(names, tier, strict=True) if t == k] for k in range(3)],
        forbidden=pairs(),
        required=pairs(),
    )


@area("knowledge")
def knowledge_arguments(seed: int) -> Case:
    """Wrong arguments are refused; the class of right ones is that of brute force."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    dag = random_dag(rng, n, float(rng.random()))
    if seed % 2:
        fields = ("tiers", "forbidden", "required", "roots", "leaves", "forbidden_within_tiers")
        field = fields[int(rng.integers(0, len(fields)))]
        value = STRANGE[int(rng.integers(0, len(STRANGE)))]
        wrong = value if rng.random() < 0.5 else [value]
        return lambda: as_knowledge({field: wrong}).resolve([f"v{k}" for k in range(n)])

    def case() -> None:
        known = some_knowledge(rng, list(range(n)))
        resolved = known.resolve([f"v{k}" for k in range(n)])
        allowed = [member for member in equivalence_class(dag) if _keeps(known, member)]
        found = graphs.to_mpdag(dag, resolved)
        assert np.array_equal(found, union_graph(allowed))

    return case


def _keeps(known: Knowledge, dag: Any) -> bool:
    reach = np.linalg.matrix_power(dag.astype(np.int64) + np.eye(len(dag), dtype=np.int64), 5) > 0
    tier_of = {v: t for t, tier in enumerate(known.tiers) for v in tier}
    return (
        not any(dag[edge] for edge in known.forbidden)
        and all(dag[edge] for edge in known.required)
        and not any(reach[i, j] and tier_of[i] > tier_of[j] for i in tier_of for j in tier_of)
    )


def _right_class(graph: Any) -> None:
    matrix = graphs.as_graph(graph).matrix
    members = list(qwo.enumerate_dags(graph))
    assert members
    assert graphs.class_size(graph) == len(members)
    known = {member.tobytes() for member in members}
    assert len(known) == len(members)
    assert qwo.sample_dag(graph, 0).tobytes() in known
    assert qwo.to_dag(graph).tobytes() in known
    for member in members:
        assert is_acyclic(member)
        assert (member[matrix == 1] == 1).all()
    if not (matrix == 2).any():
        wanted = union_graph(equivalence_class(members[0]))
        assert np.array_equal(qwo.to_cpdag(graph), wanted)
        assert np.array_equal(graphs.as_cpdag(graph), wanted)


def _right_separation(graph: Any) -> None:
    dag = graphs.check_dag(graph)
    for x in range(len(dag)):
        for y in range(x + 1, len(dag)):
            given = [v for v in range(len(dag)) if v not in (x, y) and (v + x) % 2]
            wanted = separated_by_paths(dag, x, y, set(given))
            assert graphs.d_separated(graph, x, y, given) == wanted


CALLS: list[Callable[[Any], Any]] = [
    _right_class,
    _right_separation,
    lambda g: qwo.compare(g, g, aid=False).exact or 1 / 0,
    lambda g: (
        np.array_equal(graphs.as_graph(graphs.to_networkx(g)).matrix, graphs.as_graph(g).matrix)
        or 1 / 0
    ),
    lambda g: graphs.markov_boundary(g, 0),
    lambda g: graphs.adjustment_set(g, 0, 1),
    lambda g: qwo.simulate(g, n_samples=5, random_state=0),
    lambda g: str(graphs.as_graph(g)) + graphs.as_graph(g).__repr__(),
    lambda g: graphs.encode_matrix(g, "causal-learn"),
]

WRONG_CALLS: list[Callable[[Any], Any]] = [
    lambda v: list(qwo.enumerate_dags([[0, 2], [2, 0]], v)),
    lambda v: graphs.class_size([[0, 2], [2, 0]], limit=v),
    lambda v: qwo.sample_dag([[0, 2], [2, 0]], v),
    lambda v: list(islice(graphs.sample_dags([[0, 2], [2, 0]], v), 5)),
    lambda v: qwo.simulate("er", n_variables=v, n_samples=2),
    lambda v: qwo.simulate("er", n_variables=3, n_samples=v),
    lambda v: qwo.simulate("er", n_variables=3, n_samples=2, degree=v),
    lambda v: qwo.simulate("er", n_variables=3, n_samples=2, random_state=v),
    lambda v: qwo.simulate("er", n_variables=3, n_samples=2, noise=v),
    lambda v: qwo.simulate("er", n_variables=3, n_samples=2, weights=v),
    lambda v: qwo.total_effect(v, 0, 1),
    lambda v: graphs.d_separated([[0, 1], [0, 0]], 0, v),
    lambda v: graphs.d_connected([[0, 1], [0, 0]], v),
    lambda v: graphs.parents([[0, 1], [0, 0]], v),
    lambda v: graphs.adjustment_set([[0, 1], [0, 0]], 0, v),
    lambda v: graphs.adjustment_set([[0, 1], [0, 0]], 0, 1, v),
    lambda v: graphs.is_adjustment_set([[0, 1], [0, 0]], 0, 1, v),
    as_knowledge,
    graphs.read_graph,
    lambda v: graphs.read_graph("digraph { a -> b }", v),
    lambda v: graphs.parse_graph(v, "json"),
    lambda v: graphs.as_graph([[0, 1], [0, 0]], v),
    lambda v: CausalGraph.from_matrix([[0, 1], [0, 0]], v),
    lambda v: CausalGraph.from_matrix([[0, 1], [0, 0]], kind=v),
    lambda v: graphs.decode_matrix([[0, 1], [0, 0]], v),
    lambda v: graphs.is_topological(v, [[0, 1], [0, 0]]),
    qwo.datasets.load_network,
    lambda v: CausalGraph.from_matrix([[0, 1], [0, 0]]).renamed(v),
    lambda v: CausalGraph.from_matrix([[0, 1], [0, 0]]).reordered(v),
    lambda v: CausalGraph.from_matrix([[0, 1], [0, 0]]).index(v),
]


@area("graphs")
def graph_arguments(seed: int) -> Case:
    """Right answers for graphs of every kind; refusals for everything else."""
    rng = np.random.default_rng(seed)
    strange = STRANGE[int(rng.integers(0, len(STRANGE)))]
    if seed % 3 == 0:
        graph = small_graph(rng)
        call = CALLS[int(rng.integers(0, len(CALLS)))]
        return lambda: call(graph)
    if seed % 3 == 1:
        call = CALLS[int(rng.integers(0, len(CALLS)))]
        return lambda: call(strange)
    call = WRONG_CALLS[int(rng.integers(0, len(WRONG_CALLS)))]
    return lambda: call(strange)
