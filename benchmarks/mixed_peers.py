"""What others find in tables with categories, for `benchmarks.mixed`, in their environments."""

from __future__ import annotations

import json
import logging
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def tetrad(name: str) -> Callable[[Any, list[int]], Any]:
    """One of Tetrad's searches from one start: "boss-dg" is BOSS on the degenerate Gaussian."""
    from benchmarks.peers.tools.tetrad import SEARCHES, start, to_matrix

    java = start()
    algorithm, kind = name.split("-")

    def prepare(values: Any, levels: list[int]) -> Any:
        table = to_mixed_table(java, values, levels)

        def run() -> Any:
            if kind == "dg":
                # Built from a table its penalty discount is 0 until it is set.
                score = java("edu.cmu.tetrad.search.score.DegenerateGaussianScore")(table, True)
                score.setPenaltyDiscount(2.0)
            else:
                scores = java("edu.cmu.tetrad.search.score.ConditionalGaussianScore")
                score = scores(table, 1.0, True)
            return to_matrix(SEARCHES[algorithm](java, score, 1))

        return run

    return prepare


def to_mixed_table(java: Any, values: Any, levels: list[int]) -> Any:
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


def causal_learn(_: str) -> Callable[[Any, list[int]], Any]:
    """causal-learn's BOSS on its BIC, codes being numbers: it knows no types of columns."""
    from causallearn.search.PermutationBased.BOSS import boss  # type: ignore[import-not-found]

    from benchmarks.peers.tools.causal_learn import SCORE, from_endpoints, penalty

    def prepare(values: Any, levels: list[int]) -> Any:
        del levels

        def run() -> Any:
            random.seed(0)
            np.random.seed(0)  # noqa: NPY002
            found = boss(values, score_func=SCORE, parameters=penalty(2.0), verbose=False)
            return from_endpoints(found.graph)

        return run

    return prepare


def pgmpy(name: str) -> Callable[[Any, list[int]], Any]:
    """pgmpy's hill climbing on one of its scores, at its defaults."""
    import pandas as pd
    from pgmpy.causal_discovery import HillClimbSearch  # type: ignore[import-not-found]

    from benchmarks.peers.tools.call import cpdag_of_ones

    logging.getLogger("pgmpy").setLevel(logging.ERROR)

    def prepare(values: Any, levels: list[int]) -> Any:
        frame = pd.DataFrame(values, columns=[f"X{v}" for v in range(len(levels))])
        for v, own in enumerate(levels):
            if own:
                frame[f"X{v}"] = frame[f"X{v}"].astype(int).astype("category")
        wanted = name if any(levels) else "bic-g"

        def run() -> Any:
            found = HillClimbSearch(scoring_method=wanted, show_progress=False).fit(frame)
            names = list(frame.columns)
            return cpdag_of_ones(found.adjacency_matrix_.loc[names, names].to_numpy())

        return run

    return prepare


MAKERS = {"tetrad": tetrad, "causal-learn": causal_learn, "pgmpy": pgmpy}


def main() -> None:
    files = sorted(Path(sys.argv[1]).glob("*.npz"), key=lambda file: int(file.stem))
    tasks = []
    for file in files:
        with np.load(file) as content:
            tasks += [(method, file) for method in content["methods"].tolist()]
    # Stable, so that each method goes through all tables, and the slow ones come last.
    methods = list(dict.fromkeys(method for method, _ in tasks))
    tasks.sort(key=lambda task: methods.index(task[0]))
    # The first are done twice: a virtual machine's compiler has then seen the loops that matter.
    warm = [task for task in tasks if task[1] == files[0] and task[0].endswith("dg")]
    for turn, (method, file) in enumerate([*warm, *tasks]):
        with np.load(file) as content:
            values, levels = content["values"], content["levels"].tolist()
        tool, name = method.split()
        run = MAKERS[tool](name)(values, levels)
        started = time.process_time()
        graph = run()
        seconds = time.process_time() - started
        if turn >= len(warm):
            answer = {"sample": int(file.stem), "method": method, "seconds": seconds}
            print(json.dumps(answer | {"graph": graph.tolist()}), flush=True)


if __name__ == "__main__":
    main()
