"""Peers on rows of several conditions, in an environment of their own; see `benchmarks.regimes`.

``python regimes_peers.py METHOD FOLDER SECONDS``: a line of JSON for each ``k.npz`` of the folder,
null where the time was up.
"""

import json
import math
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def gies_given(parts, targets):
    """GIES (Hauser and Bühlmann 2012) with the true targets, at our penalty."""
    import gies
    from gies.scores import GaussIntL0Pen

    family = [np.flatnonzero(own).tolist() for own in targets]
    penalty = math.log(sum(map(len, parts)))
    graph, _ = gies.fit(GaussIntL0Pen(parts, family, lmbda=penalty))
    return np.asarray(graph != 0), None


def gnies_unknown(parts, _):
    """GnIES (Gamella, Taeb, Heinze-Deml and Bühlmann 2022); its targets are of all conditions."""
    import gnies

    _, graph, _ = gnies.fit(parts, approach="rank", center=False)
    return np.asarray(graph != 0), None


def ut_igsp(parts, _):
    """UT-IGSP (Squires, Wang and Uhler 2020), tests at 0.001."""
    import causaldag
    from conditional_independence import (
        MemoizedCI_Tester,
        MemoizedInvarianceTester,
        gauss_invariance_suffstat,
        gauss_invariance_test,
        partial_correlation_suffstat,
        partial_correlation_test,
    )

    n = parts[0].shape[1]
    links = MemoizedCI_Tester(
        partial_correlation_test, partial_correlation_suffstat(parts[0]), alpha=1e-3
    )
    same = MemoizedInvarianceTester(
        gauss_invariance_test, gauss_invariance_suffstat(parts[0], parts[1:]), alpha=1e-3
    )
    unknown = [{"known_interventions": []} for _ in parts[1:]]
    dag, touched = causaldag.unknown_target_igsp(unknown, set(range(n)), links, same, nruns=5)
    graph, found = np.zeros((n, n), int), np.zeros((len(parts), n), bool)
    for a, b in dag.arcs:
        graph[a, b] = 1
    for r, own in enumerate(touched, 1):
        found[r, list(own)] = True
    return graph, found


METHODS = {"UT-IGSP": ut_igsp, "GIES, targets given": gies_given, "GnIES": gnies_unknown}


class TimeUpError(Exception):
    """The run took too long."""


def stop(*_):
    raise TimeUpError


def main(method, folder, seconds):
    warnings.simplefilter("ignore")
    # Imports are no part of the time.
    rng = np.random.default_rng(0)
    METHODS[method]([rng.normal(size=(50, 2)) for _ in range(2)], np.zeros((2, 2), bool))
    signal.signal(signal.SIGPROF, stop)
    for path in sorted(Path(folder).glob("*.npz"), key=lambda own: int(own.stem)):
        stored = np.load(path)
        parts = [stored[f"arr_{r}"] for r in range(len(stored.files) - 1)]
        signal.setitimer(signal.ITIMER_PROF, float(seconds))
        start = time.process_time()
        try:
            graph, targets = METHODS[method](parts, stored["targets"])
        except TimeUpError:
            print("null", flush=True)
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        answer = {
            "graph": graph.astype(int).tolist(),
            "targets": None if targets is None else targets.tolist(),
            "cpu": time.process_time() - start,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
