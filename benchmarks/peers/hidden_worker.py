"""One peer on files of rows, in its own environment: a line of JSON for each, with marks and time.

``python hidden_worker.py METHOD SECONDS FILE …``; at a file that takes more processor time it ends.
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


def tetrad(method: str) -> Any:
    """A search of Tetrad: complete rules, no selection bias, alpha 0.01, penalty discount 2."""
    from benchmarks.peers.tools.tetrad import start, to_table

    java = start()
    quiet = java("java.io.PrintStream")(java("java.io.OutputStream").nullOutputStream())
    java("java.lang.System").setOut(quiet)
    codes = {"CIRCLE": 1, "ARROW": 2, "TAIL": 3}

    def run(data: Any) -> tuple[Any, float]:
        table = to_table(java, data)
        begin = time.process_time()
        covariance = java("edu.cmu.tetrad.data.CovarianceMatrix")(table)
        test = java("edu.cmu.tetrad.search.test.IndTestFisherZ")(covariance, ALPHA)
        score = java("edu.cmu.tetrad.search.score.SemBicScore")(covariance)
        score.setPenaltyDiscount(DISCOUNT)
        own = java(f"edu.cmu.tetrad.search.{method}")
        search = (
            own(test) if method == "Fci" else own(score) if method == "LvDumb" else own(test, score)
        )
        for name, value in (
            ("setCompleteRuleSetUsed", True),
            ("setExcludeSelectionBias", True),
            ("setVerbose", False),
            ("setDepth", 3 if method == "GraspFci" else -1),
        ):
            if hasattr(search, name):
                getattr(search, name)(value)
        graph = search.search()
        cpu = time.process_time() - begin
        n = data.shape[1]
        marks = np.zeros((n, n), np.int8)
        for edge in graph.getEdges():
            a, b = (int(str(v.getName())[1:]) for v in (edge.getNode1(), edge.getNode2()))
            marks[b, a] = codes[str(edge.getEndpoint1().name())]
            marks[a, b] = codes[str(edge.getEndpoint2().name())]
        return marks, cpu

    return run


def causal_learn(_method: str) -> Any:
    from causallearn.search.ConstraintBased.FCI import fci

    def run(data: Any) -> tuple[Any, float]:
        begin = time.process_time()
        hush = io.StringIO()
        with contextlib.redirect_stdout(hush), contextlib.redirect_stderr(hush):
            graph, _ = fci(data, "fisherz", ALPHA, show_progress=False)
        cpu = time.process_time() - begin
        marks = np.array([0, 2, 1, 3], np.int8)[graph.graph.astype(int)].T
        return marks, cpu

    return run


def main(method: str, limit: float, files: list[str]) -> None:
    run = (causal_learn if method.startswith("causal-learn") else tetrad)(method)
    rng = np.random.default_rng(0)
    for _ in range(5):  # The compiler of the virtual machine sees the loops first.
        run(rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8)))
    begin = [time.process_time()]

    def watch() -> None:
        while time.process_time() < begin[-1] + limit:
            time.sleep(0.1)
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()
    for k, file in enumerate(files):
        begin.append(time.process_time())
        marks, cpu = run(np.load(file))
        print(json.dumps({"file": k, "cpu": cpu, "marks": marks.tolist()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
