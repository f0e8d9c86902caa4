"""Graphs written here and read by the tools themselves, and the other way round.

Run in an environment with ``requirements-graphs.txt`` and this package::

    python -m benchmarks.peers.check_formats --graphs 200

pywhy-graphs and XGES are checked in an environment with ``requirements-graphs-numpy1.txt``. Tetrad
takes part if QWO_TETRAD_JAR is the path of its shaded jar.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from benchmarks.peers.check_graphs import random_cases
from benchmarks.peers.graph_peers import tetrad
from qwo.graph import to_cpdag
from qwo.graph.adjustment import is_adjustment_set
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.formats import (
    FORMATS,
    decode_matrix,
    encode_matrix,
    to_causal_learn,
    to_networkx,
    to_pgmpy,
    to_pywhy,
)
from qwo.graph.marks import ARROW, LINE

PLAIN = tuple(f"v{k}" for k in range(11))
TOUGH = ("blood pressure", 'say "no"', "naïve", "变量", "a,b", "<b>", "&amp;", "1", "x;y", "#", "q")
Check = Callable[[CausalGraph, CausalGraph], bool]


def text(graph: CausalGraph, form: str) -> str:
    return FORMATS[form].write(graph).decode()


def same_matrix(found: object, graph: CausalGraph) -> bool:
    return (as_graph(found, graph.names).matrix == graph.matrix).all()


def same_arrows(found: nx.DiGraph, graph: CausalGraph) -> bool:
    """Whether a networkx graph has exactly the nodes and arrows of a DAG."""
    arrows = {(edge.source, edge.target) for edge in graph.edges}
    return set(found.nodes) == set(graph.names) and set(found.edges()) == arrows


def check_networkx(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    for graph in (dag, cpdag):
        wanted = to_networkx(graph)
        for read, form in ((nx.parse_gml, "gml"), (nx.parse_graphml, "graphml")):
            found = read(text(graph, form))
            if list(found) != list(wanted) or set(found.edges) != set(wanted.edges):
                return False
    return True


def check_graphviz(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    for graph in (dag, cpdag):
        drawn = import_module("pygraphviz").AGraph(string=text(graph, "dot"))
        edges = {(*edge, edge.attr["dir"] or "forward") for edge in drawn.edges()}
        marks = {ARROW: "forward", LINE: "none"}
        wanted = {(edge.source, edge.target, marks[edge.mark]) for edge in graph.edges}
        if {str(node) for node in drawn.nodes()} != set(graph.names) or edges != wanted:
            return False
        if not same_matrix(drawn.to_string(), graph):
            return False
    return True


def check_pydot(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    read = import_module("pydot").graph_from_dot_data
    return all(
        same_matrix(read(text(graph, "dot"))[0].to_string(), graph) for graph in (dag, cpdag)
    )


def check_causal_learn(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    read = import_module("causallearn.utils.TXT2GeneralGraph").txt2generalgraph
    for graph in (dag, cpdag):
        general = to_causal_learn(graph)
        if (general.graph != encode_matrix(graph.matrix, "causal-learn")).any():
            return False
        for edge in graph.edges:
            ends = [general.get_node(name) for name in (edge.source, edge.target)]
            if general.is_directed_from_to(*ends) != (edge.mark == ARROW):
                return False
        with written(text(graph, "tetrad")) as path:
            if not same_matrix(read(path), graph):
                return False
    return True


def check_pgmpy(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    base = import_module("pgmpy.base")
    pdag = to_pgmpy(cpdag)
    model = base.DAG.from_lavaan(text(dag, "lavaan"))
    return (
        as_graph(to_pgmpy(dag), dag.names) == dag
        and as_graph(pdag, cpdag.names) == cpdag
        and pdag.directed_edges == {(e.source, e.target) for e in cpdag.edges if e.mark == ARROW}
        and same_matrix(to_pgmpy(dag).to_dagitty(), dag)
        and same_arrows(base.DAG.from_dagitty(text(dag, "dagitty")), dag)
        and set(model.edges) == set(to_networkx(dag).edges)
    )


def check_pgmpy_fit(dag: CausalGraph, _cpdag: CausalGraph) -> bool:
    """The coefficients of pgmpy's linear Gaussian network are those of the regressions."""
    network = import_module("pgmpy.models").LinearGaussianBayesianNetwork()
    graph = to_pgmpy(dag)
    network.add_nodes_from(graph.nodes)
    network.add_edges_from(graph.edges)
    rows = sample_rows(dag)
    network.fit(rows)
    for cpd in network.cpds:
        causes = [rows[name] for name in cpd.evidence]
        design = np.column_stack([np.ones(len(rows)), *causes])
        wanted = np.linalg.lstsq(design, rows[cpd.variable], rcond=None)[0]
        if not np.allclose(cpd.beta, wanted, atol=1e-6):
            return False
    return True


def check_dowhy(dag: CausalGraph, _cpdag: CausalGraph) -> bool:
    """A CausalModel from networkx, GML and DOT; its effect is that of our adjustment set."""
    if not dag.n_edges:
        return True
    edge = dag.edges[0]
    rows = sample_rows(dag)
    for graph in (to_networkx(dag), text(dag, "gml"), text(dag, "dot")):
        model = import_module("dowhy").CausalModel(rows, edge.source, edge.target, graph=graph)
        if not same_arrows(model._graph._graph, dag):
            return False
    identified = model.identify_effect(proceed_when_unidentifiable=True)
    estimate = model.estimate_effect(
        identified, method_name="backdoor.linear_regression", effect_modifiers=[]
    )
    theirs = [dag.index(name) for name in identified.get_backdoor_variables()]
    pair = dag.index(edge.source), dag.index(edge.target)
    return is_adjustment_set(dag.matrix, *pair, theirs) and np.isclose(
        estimate.value, effect(rows, dag, pair, theirs)
    )


def effect(rows: Any, dag: CausalGraph, pair: tuple[int, int], covariates: list[int]) -> float:
    columns = [rows[dag.names[k]] for k in (pair[0], *covariates)]
    design = np.column_stack([*columns, np.ones(len(rows))])
    return float(np.linalg.lstsq(design, rows[dag.names[pair[1]]], rcond=None)[0][0])


def check_semopy(dag: CausalGraph, _cpdag: CausalGraph) -> bool:
    """semopy reads lavaan's syntax, but no variable that stands in no regression."""
    joined = {name for edge in dag.edges for name in (edge.source, edge.target)}
    lines = text(dag, "lavaan").splitlines()
    kept = [line for line in lines if line.split(" ", 1)[0] in joined]
    if not kept:
        return True
    model = import_module("semopy").Model("\n".join(kept))
    model.load(sample_rows(dag))
    found = model.inspect()
    regressions = found[found["op"] == "~"]
    arrows = set(zip(regressions["rval"], regressions["lval"], strict=True))
    return arrows == set(to_networkx(dag).edges)


def check_pywhy(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    import_module("pywhy_graphs")
    return as_graph(to_pywhy(dag)) == dag and as_graph(to_pywhy(cpdag)) == cpdag


def check_xges(_dag: CausalGraph, cpdag: CausalGraph) -> bool:
    pdag = import_module("xges.pdag").PDAG(len(cpdag.names))
    for edge in cpdag.edges:
        add = pdag.add_directed_edge if edge.mark == ARROW else pdag.add_undirected_edge
        add(cpdag.index(edge.source), cpdag.index(edge.target))
    found = decode_matrix(pdag.to_adjacency_matrix(), "zero-one")
    return (found == cpdag.matrix).all() and pdag.check_is_cpdag()


def check_tetrad(dag: CausalGraph, cpdag: CausalGraph) -> bool:
    """Tetrad reads our text and our pcalg matrix, and writes what we read."""
    files = import_module("jpype").JClass("edu.cmu.tetrad.graph.GraphSaveLoadUtils")
    file = import_module("jpype").JClass("java.io.File")
    for graph in (dag, cpdag):
        if not same_matrix(str(files.readerToGraphTxt(text(graph, "tetrad"))), graph):
            return False
        # It reads what R's write.table writes: blanks, and no field above the names.
        table = text(graph, "pcalg").replace(",", " ").lstrip()
        with written(table) as path:
            if not same_matrix(str(files.loadGraphAmatCpdag(file(path))), graph):
                return False
    return True


@contextmanager
def written(content: str) -> Iterator[str]:
    """The path of a file with the content."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.txt"
        path.write_text(content, encoding="utf-8")
        yield str(path)


def sample_rows(dag: CausalGraph, n_rows: int = 200) -> Any:
    """Rows of a linear model on the DAG, as a pandas frame."""
    rng = np.random.default_rng(0)
    n = dag.n_variables
    weights = dag.matrix * rng.uniform(0.5, 1.5, (n, n))
    rows = rng.standard_normal((n_rows, n)) @ np.linalg.inv(np.eye(n) - weights)
    return import_module("pandas").DataFrame(rows, columns=list(dag.names))


CHECKS: dict[str, tuple[Check, tuple[str, ...]]] = {
    "networkx": (check_networkx, TOUGH),
    "pygraphviz": (check_graphviz, TOUGH),
    "pydot": (check_pydot, TOUGH),
    "causal-learn": (check_causal_learn, PLAIN),
    "pgmpy": (check_pgmpy, PLAIN),
    "pgmpy's fit": (check_pgmpy_fit, PLAIN),
    "dowhy": (check_dowhy, PLAIN),
    "semopy": (check_semopy, PLAIN),
    "pywhy-graphs": (check_pywhy, TOUGH),
    "xges": (check_xges, PLAIN),
    "Tetrad": (check_tetrad, PLAIN),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=200)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    cases = list(random_cases(options.graphs, seed=2))
    failures = 0
    print(f"{'tool':<14}{'version':<12}{'graphs':>8}{'wrong':>8}")
    for tool, (check, names) in CHECKS.items():
        try:
            release = tetrad()[0] if tool == "Tetrad" else version(tool.removesuffix("'s fit"))
        except ImportError as error:
            print(f"{tool:<14}left out: {error}")
            continue
        wrong = 0
        for case in cases:
            chosen = names[: len(case.truth)]
            dag = CausalGraph(chosen, case.truth, "dag")
            wrong += not check(dag, CausalGraph(chosen, to_cpdag(case.truth), "cpdag"))
        print(f"{tool:<14}{release:<12}{len(cases):>8}{wrong:>8}")
        failures += wrong
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
