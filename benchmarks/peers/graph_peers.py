"""What other packages answer to questions about graphs, each through its own types.

A question is put in our matrices (1 = i → j, 2 = undirected in both entries) and answered in them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.peers.tools.tetrad import jar, start
from qwo.graph.causal_graph import CausalGraph
from qwo.graph.coercion import as_graph
from qwo.graph.formats import FORMATS, to_causal_learn, to_pgmpy

Answers = dict[str, Callable[..., Any]]


def causal_learn() -> tuple[str, Answers]:
    dag = import_module("causallearn.graph.Dag")
    to_class = import_module("causallearn.utils.DAG2CPDAG").dag2cpdag
    causal_graph = import_module("causallearn.graph.GraphClass").CausalGraph
    meek = import_module("causallearn.utils.PCUtils.Meek").meek
    distance = import_module("causallearn.graph.SHD").SHD

    def general(matrix: np.ndarray) -> Any:
        return to_causal_learn(CausalGraph.from_matrix(matrix))

    def cpdag(matrix: np.ndarray) -> np.ndarray:
        graph = general(matrix)
        directed = dag.Dag(graph.get_nodes())
        for edge in graph.get_graph_edges():
            directed.add_directed_edge(edge.get_node1(), edge.get_node2())
        return as_graph(to_class(directed)).matrix

    def closure(matrix: np.ndarray) -> np.ndarray:
        holder = causal_graph(len(matrix))
        holder.G = general(matrix)
        return as_graph(meek(holder)).matrix

    def shd(estimated: np.ndarray, truth: np.ndarray) -> int:
        return distance(general(truth), general(estimated)).get_shd()

    return version("causal-learn"), {"cpdag": cpdag, "closure": closure, "shd": shd}


def pgmpy() -> tuple[str, Answers]:
    import_module("pgmpy.base")

    def cpdag(matrix: np.ndarray) -> np.ndarray:
        graph = CausalGraph.from_matrix(matrix)
        return as_graph(to_pgmpy(graph).to_pdag(), graph.names).matrix

    def closure(matrix: np.ndarray) -> np.ndarray:
        graph = CausalGraph.from_matrix(matrix, kind="cpdag")
        return as_graph(to_pgmpy(graph).apply_meeks_rules(apply_r4=True), graph.names).matrix

    return version("pgmpy"), {"cpdag": cpdag, "closure": closure}


def gadjid() -> tuple[str, Answers]:
    package = import_module("gadjid")

    def mistakes(distance: str) -> Callable[..., int]:
        def count(estimated: np.ndarray, truth: np.ndarray) -> int:
            ask = getattr(package, distance)
            forth = ask(truth, estimated, "from row to column")[1]
            # The other direction, stated the other way round, must come to the same.
            back = ask(truth.T.copy(), estimated.T.copy(), "from column to row")[1]
            return forth if forth == back else -1

        return count

    answers: Answers = {"shd": lambda estimated, truth: package.shd(truth, estimated)[1]}
    for name in ("ancestor_aid", "parent_aid", "oset_aid"):
        answers[name] = mistakes(name)
    return version("gadjid"), answers


def cliquepicking() -> tuple[str, Answers]:
    package = import_module("cliquepicking")

    def class_size(cpdag: np.ndarray) -> int:
        edges = [(int(i), int(j)) for i, j in np.argwhere(cpdag)]
        return package.mec_size(edges) if edges else 1

    return version("cliquepicking"), {"class_size": class_size}


def tetrad() -> tuple[str, Answers]:
    """Tetrad's library through JPype; QWO_TETRAD_JAR is the path of its shaded jar."""
    java = start()
    files = java("edu.cmu.tetrad.graph.GraphSaveLoadUtils")
    transforms = java("edu.cmu.tetrad.graph.GraphTransforms")
    search = java("edu.cmu.tetrad.search.utils.GraphSearchUtils")

    def to_tetrad(matrix: np.ndarray) -> Any:
        text = FORMATS["tetrad"].write(CausalGraph.from_matrix(matrix)).decode()
        return files.readerToGraphTxt(text)

    def cpdag(matrix: np.ndarray) -> np.ndarray:
        names = CausalGraph.from_matrix(matrix).names
        text = str(transforms.dagToCpdag(to_tetrad(matrix)))
        return FORMATS["tetrad"].read(text.encode(), "Tetrad").reordered(names).matrix

    def distance(estimated: np.ndarray, truth: np.ndarray) -> int:
        return int(search.structuralHammingDistance(to_tetrad(truth), to_tetrad(estimated)))

    return jar().name, {"cpdag": cpdag, "tetrad_shd": distance}


PEERS = {
    "causal-learn": causal_learn,
    "pgmpy": pgmpy,
    "gadjid": gadjid,
    "cliquepicking": cliquepicking,
    "Tetrad": tetrad,
}
