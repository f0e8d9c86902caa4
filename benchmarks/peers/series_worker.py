"""One peer on files of series, in its own environment: the graphs by lag, and its times.

``python series_worker.py METHOD LAGS SECONDS SOURCE TARGET``: data sets are the arrays of SOURCE
(.npz). Those that are done go to TARGET, which is written anew after each; no further one is begun
when the seconds of processor time are over, and one that takes three times as long is cut off.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

PENALTY = 2.0
STARTING = 10
"""Seconds of processor time that imports may take."""


def pcmci_plus(lags: int) -> Any:
    """PCMCI+ with partial correlations at .01; units of a panel less their means."""
    from tigramite import data_processing
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    def run(data: Any) -> tuple[Any, float]:
        begun = time.process_time()
        if data.ndim == 3:
            centred = data - data.mean(axis=1, keepdims=True)
            frame = data_processing.DataFrame(dict(enumerate(centred)), analysis_mode="multiple")
        else:
            frame = data_processing.DataFrame(data)
        search = PCMCI(frame, ParCorr(), verbosity=0)
        out = search.run_pcmciplus(tau_min=0, tau_max=lags, pc_alpha=0.01)
        cpu = time.process_time() - begun
        marks = out["graph"].transpose(2, 0, 1)
        graph = (marks == "-->").astype(np.int8)
        graph[0] += 2 * np.isin(marks[0], ["o-o", "x-x"]).astype(np.int8)
        return graph, cpu

    return run


def varlingam(lags: int) -> Any:
    """VARLiNGAM, pruned by the adaptive lasso."""
    import lingam

    def run(data: Any) -> tuple[Any, float]:
        begun = time.process_time()
        model = lingam.VARLiNGAM(lags=lags, criterion=None, prune=True, random_state=0)
        model.fit(data)
        cpu = time.process_time() - begun
        return (np.abs(np.array(model.adjacency_matrices_)) > 0).transpose(0, 2, 1), cpu

    return run


def svar_fges(lags: int) -> Any:
    """Tetrad's SvarFges on lagged data, penalty discount 2."""
    from benchmarks.peers.tools.tetrad import start, to_table

    java = start()
    quiet = java("java.io.PrintStream")(java("java.io.OutputStream").nullOutputStream())
    java("java.lang.System").setOut(quiet)
    series = java("edu.cmu.tetrad.search.utils.TsUtils")

    def run(data: Any) -> tuple[Any, float]:
        table = to_table(java, data)
        begun = time.process_time()
        lagged = series.createLagData(table, lags)
        score = java("edu.cmu.tetrad.search.score.SemBicScore")(lagged, True)
        score.setPenaltyDiscount(PENALTY)
        search = java("edu.cmu.tetrad.search.SvarFges")(score)
        search.setKnowledge(lagged.getKnowledge())
        search.setVerbose(False)
        found = search.search()
        cpu = time.process_time() - begun
        n = data.shape[1]
        graph = np.zeros((lags + 1, n, n), np.int8)
        for edge in found.getEdges():
            (a, k), (b, m) = (_place(str(v.getName())) for v in (edge.getNode1(), edge.getNode2()))
            ends = [str(end.name()) for end in (edge.getEndpoint1(), edge.getEndpoint2())]
            if k == m == 0:
                graph[0, a, b] = 2 if ends == ["TAIL", "TAIL"] else ends[1] == "ARROW"
                graph[0, b, a] = 2 if ends == ["TAIL", "TAIL"] else ends[0] == "ARROW"
            elif 0 in (k, m):
                cause, effect = (a, b) if m == 0 else (b, a)
                graph[max(k, m), cause, effect] = 1
        return graph, cpu

    rng = np.random.default_rng(0)
    for _ in range(3):  # The compiler of the virtual machine sees the loops first.
        run(rng.normal(size=(300, 5)).cumsum(axis=0) * 0.1 + rng.normal(size=(300, 5)))
    return run


def _place(name: str) -> tuple[int, int]:
    """Variable and lag of a name such as X3 or X3:2."""
    variable, _, lag = name.partition(":")
    return int(variable[1:]), int(lag or 0)


METHODS = {"PCMCI+": pcmci_plus, "VARLiNGAM": varlingam, "SvarFges": svar_fges}


def main(method: str, lags: int, seconds: float, source: str, target: str) -> None:
    warnings.simplefilter("ignore")
    most = int(3 * seconds) + STARTING
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    run = METHODS[method](lags)
    sets, found, cpu = np.load(source), {}, []
    for name in sets.files:
        graph, own = run(sets[name])
        found[name] = np.asarray(graph, np.int8)
        cpu.append(own)
        np.savez(target, cpu=np.array(cpu), **found)
        if sum(cpu) > seconds:
            break


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5])
