"""Peers for graphs with cycles, in environments of their own: a line of JSON for each file.

``python cyclic_worker.py METHOD SECONDS FILE …``, the files being .npy tables of rows; after one
that takes longer, it ends. dglearn takes its checkout from DGLEARN; ``ccd-oracle`` reads graphs
(1 for i → j) instead of rows, and answers with what CCD makes of their d-separations.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

ALPHA, DISCOUNT = 0.01, 2.0
CODES = {"CIRCLE": 1, "ARROW": 2, "TAIL": 3}


def dglearn(data: Any) -> Any:
    """Tabu search and virtual refinement as its README calls them, at our penalty of 2."""
    sys.path.insert(0, os.environ["DGLEARN"])
    from dglearn import CyclicManager, reduce_support, tabu_search, virtual_refine

    with contextlib.redirect_stdout(io.StringIO()):
        # Its BIC is loglik - coefficient · edges · log N: 1 is our penalty of 2.
        manager = CyclicManager(data, bic_coef=1.0)
        support, _, _ = tabu_search(manager, 4, 4, first_ascent=False, verbose=0)
        support = virtual_refine(manager, support, patience=0, max_path_len=6, verbose=0)
        support = reduce_support(support, fill_diagonal=False)
    # Entry (i, j) of a support is that of Q = (I - B) Ω^-½: column j is the equation of j.
    graph = (np.asarray(support) != 0).astype(np.int8)
    np.fill_diagonal(graph, 0)
    return graph


def tetrad(method: str) -> Any:
    """CCD by Fisher's z at 0.01, or FASK on the BIC with penalty discount 2."""
    from benchmarks.peers.tools.tetrad import start, to_table

    java = start()
    java("java.lang.System").setOut(
        java("java.io.PrintStream")(java("java.io.OutputStream").nullOutputStream())
    )

    def ccd(data: Any) -> Any:
        covariance = java("edu.cmu.tetrad.data.CovarianceMatrix")(to_table(java, data))
        return java("edu.cmu.tetrad.search.test.IndTestFisherZ")(covariance, ALPHA)

    def oracle(graph: Any) -> Any:
        nodes = [java("edu.cmu.tetrad.graph.GraphNode")(f"X{i}") for i in range(len(graph))]
        true = java("edu.cmu.tetrad.graph.EdgeListGraph")(java("java.util.ArrayList")(nodes))
        for i, j in np.argwhere(graph).tolist():
            true.addDirectedEdge(nodes[i], nodes[j])
        return java("edu.cmu.tetrad.search.test.MsepTest")(true)

    def fask(data: Any) -> Any:
        table = to_table(java, data)
        score = java("edu.cmu.tetrad.search.score.SemBicScore")(table, True)
        score.setPenaltyDiscount(DISCOUNT)
        return java("edu.cmu.tetrad.search.Fask")(table, score)

    def run(given: Any) -> Any:
        if method == "fask":
            return matrix(fask(given).search(), given.shape[1])
        test = (ccd if method == "ccd" else oracle)(given)
        return marks(java("edu.cmu.tetrad.search.Ccd")(test).search(), given.shape[1])

    return run


def ends(graph: Any) -> Any:
    for edge in graph.getEdges():
        a, b = (int(str(v.getName())[1:]) for v in (edge.getNode1(), edge.getNode2()))
        yield a, b, str(edge.getEndpoint1().name()), str(edge.getEndpoint2().name())


def marks(graph: Any, n: int) -> Any:
    """Entry (i, j) is the mark at j of the edge of i and j: 1 circle, 2 arrow, 3 tail."""
    found = np.zeros((n, n), np.int8)
    for a, b, first, second in ends(graph):
        found[b, a], found[a, b] = CODES[first], CODES[second]
    return found


def matrix(graph: Any, n: int) -> Any:
    """1 for i → j; both ways for two edges, and for one that has no direction."""
    found = np.zeros((n, n), np.int8)
    for a, b, first, second in ends(graph):
        found[a, b] |= second in ("ARROW", first)
        found[b, a] |= first in ("ARROW", second)
    return found


def main(method: str, limit: float, files: list[str]) -> None:
    run = dglearn if method == "dglearn" else tetrad(method)
    if method in ("ccd", "fask"):  # The compiler of the virtual machine sees the loops first.
        rng = np.random.default_rng(0)
        for _ in range(20):
            run(rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8)))
    for file in files:
        clock = threading.Timer(limit, lambda: os._exit(3))
        clock.start()
        given = np.load(file)
        begin = time.process_time()
        found = run(given)
        seconds = time.process_time() - begin
        clock.cancel()
        print(json.dumps({"file": file, "seconds": seconds, "found": found.tolist()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
