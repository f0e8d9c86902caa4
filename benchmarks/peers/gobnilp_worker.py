"""The best graph of a .npy table by pygobnilp's Gaussian BIC: ``python gobnilp_worker.py FILE``.

A line of JSON: the graph (1 for i → j) and processor seconds, those for the local scores apart.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import types
from typing import Any

import numpy as np

# It draws with pygraphviz, which takes headers of Graphviz; nothing is drawn here.
sys.modules.setdefault("pygraphviz", types.ModuleType("pygraphviz"))


def gobnilp() -> Any:
    """It, for a gurobipy that takes a constraint as one expression, not as its parts."""
    import gurobipy
    from pygobnilp import gobnilp as module

    class Parts:
        def addConstr(self, left: Any, sense: Any = "", right: Any = None, name: str = "") -> Any:
            if right is not None:
                kinds = {"<": left.__le__, ">": left.__ge__, "=": left.__eq__}
                left, sense = kinds[sense[0]](right), name
            return gurobipy.Model.addConstr(self, left, sense)

    module.Model = type("Model", (Parts, gurobipy.Model), {})
    return type("Gobnilp", (Parts, module.Gobnilp), {})()


def main(path: str) -> None:
    data = np.load(path)
    n = data.shape[1]
    names = [f"X{i}" for i in range(n)]
    with contextlib.redirect_stdout(io.StringIO()):
        model = gobnilp()
        options = {
            "varnames": names,
            "data_type": "continuous",
            "score": "GaussianBIC",
            "palim": n - 1,
            "plot": False,
            "abbrev": False,
            "output_stem": None,
        }
        begun = time.process_time()
        model.learn(data, end="local scores", **options)
        scored = time.process_time()
        model.learn(start="local scores", **options)
        ended = time.process_time()
    graph = np.zeros((n, n), dtype=int)
    for cause, effect in model.learned_bn.edges:
        graph[names.index(cause), names.index(effect)] = 1
    told = {"seconds": ended - scored, "scoring_seconds": scored - begun, "graph": graph.tolist()}
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
