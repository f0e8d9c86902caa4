"""Tetrad's searches on tables with categories, for `benchmarks.mixed`, in Tetrad's environment."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.tools.tetrad import start, to_matrix


def to_mixed_table(java: Any, values: Any, levels: Any) -> Any:
    """Its data set of continuous and discrete variables X0, X1, …"""
    variables = java("java.util.ArrayList")()
    for v, own in enumerate(levels):
        if own:
            variables.add(java("edu.cmu.tetrad.data.DiscreteVariable")(f"X{v}", int(own)))
        else:
            variables.add(java("edu.cmu.tetrad.data.ContinuousVariable")(f"X{v}"))
    box = java("edu.cmu.tetrad.data.MixedDataBox")(variables, len(values))
    table = java("edu.cmu.tetrad.data.BoxDataSet")(box, variables)
    for v, own in enumerate(levels):
        for row, value in enumerate(values[:, v].tolist()):
            if own:
                table.setInt(row, v, int(value))
            else:
                table.setDouble(row, v, float(value))
    return table


def search(java: Any, name: str, score: Any) -> Any:
    """The CPDAG that one of its searches finds from one start."""
    if name == "boss":
        boss = java("edu.cmu.tetrad.search.Boss")(score)
        boss.setNumStarts(1)
        boss.setNumThreads(1)
        boss.setUseBes(False)
        boss.setVerbose(False)
        permutations = java("edu.cmu.tetrad.search.PermutationSearch")(boss)
        permutations.setSeed(1)
        return permutations.search()
    grasp = java("edu.cmu.tetrad.search.Grasp")(score)
    grasp.setSeed(1)
    grasp.setNumStarts(1)
    grasp.setVerbose(False)
    grasp.bestOrder(score.getVariables())
    return grasp.getGraph(True)


def main() -> None:
    folder, discount, *names = sys.argv[1:]
    java = start()
    files = sorted(Path(folder).glob("*.npz"), key=lambda file: int(file.stem))
    # The first is done twice: the machine's compiler has then seen the loops that matter.
    for turn, file in enumerate([files[0], *files]):
        with np.load(file) as content:
            table = to_mixed_table(java, content["values"], content["levels"].tolist())
        for name in names:
            started = time.process_time()
            # Built from a table its penalty discount is 0 until it is set.
            score = java("edu.cmu.tetrad.search.score.DegenerateGaussianScore")(table, True)
            score.setPenaltyDiscount(float(discount))
            graph = to_matrix(search(java, name, score))
            seconds = time.process_time() - started
            if turn:
                answer = {"sample": int(file.stem), "search": name, "seconds": seconds}
                print(json.dumps(answer | {"graph": graph.tolist()}), flush=True)


if __name__ == "__main__":
    main()
