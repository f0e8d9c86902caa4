"""How good a graph is: against the truth, and by its score on the data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.data import Problem
from benchmarks.peers.process import Workers
from qwo.errors import DataWarning, InputError
from qwo.graph import to_cpdag
from qwo.graph.compare import adjacency_agreement, arrowhead_agreement, shd
from qwo.graph.cpdag import is_cpdag
from qwo.moments import Moments
from qwo.sem import score_graph

Figures = dict[str, Any]
LARGEST_SORTED = 500
"""Variables up to which sortability is measured: that takes n products of n × n matrices."""


class Judge:
    """The judge of all graphs found on one data set."""

    def __init__(self, problem: Problem, folder: Path, workers: Workers) -> None:
        self._problem = problem
        self._workers = workers
        self._truth = to_cpdag(problem.dag)
        with warnings.catch_warnings():
            # That there are few samples is what such a data set is about.
            warnings.simplefilter("ignore", DataWarning)
            self._moments = Moments.from_data(problem.data)
        self.data_file = folder / "data.npy"
        self.graph_file = folder / "graph.npy"
        self._files = {"dag": folder / "dag.npy", "truth": folder / "truth.npy"}
        self._found_file = folder / "found.npy"
        np.save(self.data_file, problem.data)
        np.save(self._files["dag"], problem.dag)
        np.save(self._files["truth"], self._truth)

    def data_set(self, penalty_discount: float) -> Figures:
        """What there is to say of the data: the score of the true graph, and sortability."""
        figures = {
            "status": "data",
            "edges": int(self._problem.dag.sum()),
            "score": self._score(self._problem.dag, penalty_discount),
        }
        if len(self._problem.dag) <= LARGEST_SORTED:
            arguments = {"data": str(self.data_file), "dag": str(self._files["dag"])}
            figures |= self._measure("sortability", arguments)
        return figures

    def graph(self, penalty_discount: float) -> Figures:
        """The figures of the graph that a run has left in `graph_file`."""
        found = np.load(self.graph_file)
        if not (found == 2).any():
            found = to_cpdag(found)
        adjacency = adjacency_agreement(found, self._truth)
        arrowhead = arrowhead_agreement(found, self._truth)
        np.save(self._found_file, found)
        arguments = {"truth": str(self._files["truth"]), "graph": str(self._found_file)}
        valid = bool(is_cpdag(found))
        return {
            "shd": int(shd(found, self._truth)),
            "edges": int((found == 1).sum() + (found == 2).sum() // 2),
            "adjacency_precision": round(adjacency.precision, 5),
            "adjacency_recall": round(adjacency.recall, 5),
            "arrowhead_precision": round(arrowhead.precision, 5),
            "arrowhead_recall": round(arrowhead.recall, 5),
            "exact": bool(np.array_equal(found, self._truth)),
            "is_cpdag": valid,
            "score": self._score(found, penalty_discount),
            # The distance is defined between CPDAGs.
            **(self._measure("ancestor_aid", arguments) if valid else {}),
        }

    def _score(self, graph: Any, penalty_discount: float) -> float | None:
        """The score; None for a graph that no DAG stands for, or with more parents than samples."""
        try:
            score = score_graph(self._moments, graph, penalty_discount).score
        except (InputError, np.linalg.LinAlgError):
            return None
        return round(score, 4) if np.isfinite(score) else None

    def _measure(self, function: str, arguments: dict[str, str]) -> Figures:
        if "measure" not in self._workers:
            return {}
        request = {"task": "measure", "function": function, "arguments": arguments}
        answer = self._workers["measure"].ask(request, limit=120.0)
        return {} if "error" in answer else {k: round(v, 5) for k, v in answer.items()}
