"""Results to report on, made without a search where only the looks matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import qwo
from qwo.discovery import Discovery
from qwo.graph.dag import topological_order
from qwo.order.linalg import versions
from qwo.types import Adjacency

FloatArray = npt.NDArray[np.float64]

HOSTILE_NAMES = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"double\" and 'single'",
    "&amp; <b>bold</b>",
    "__proto__",
    "constructor",
    "{{ 7 * 7 }}",
    "--><!--",
    "שלום עולם",
    "\u202eright to left",
    "😀 emoji",
    "line\nbreak\u2028and more",
    "x" * 400,
    "ends in a backslash\\",
    "% percent",
    "comma, and = sign",
)


@dataclass(frozen=True)
class Supports:
    names: tuple[str, ...]
    n_counted: int
    link_support: FloatArray
    arrow_support: FloatArray
    knowledge: None = None


def discovery_of(dag: Adjacency, names: tuple[str, ...], **changes: Any) -> Discovery:
    """A discovery that found a given DAG."""
    fields: dict[str, Any] = {
        "cpdag": qwo.to_cpdag(dag),
        "dag": dag,
        "order": topological_order(dag),
        "names": names,
        "score": 1234.5,
        "n_edges": int(dag.sum()),
        "trace": ((0.001, 100.0), (0.02, 900.0), (0.15, 1234.5)),
        "status": "converged",
        "seconds": 0.2,
        "params": {"search": "insertion", "n_samples": 1000.0, "random_state": 7},
        "versions": versions(),
    }
    return Discovery(**(fields | changes))


def supports_of(discovery: Discovery, seed: int = 0) -> Supports:
    """Made-up supports: every edge has some, and so have a few pairs that are not adjacent."""
    rng = np.random.default_rng(seed)
    n = discovery.n_variables
    adjacency, edges = np.zeros((n, n)), np.zeros((n, n))
    joined = np.triu(discovery.dag + discovery.dag.T, 1) > 0
    others = np.triu(rng.random((n, n)) < min(1.0, 2 / n), 1)
    for i, j in np.argwhere(joined | others).tolist():
        total = rng.integers(20, 101) if joined[i, j] else rng.integers(1, 20)
        forward, backward, _ = rng.multinomial(total, (0.9, 0.05, 0.05))
        if discovery.dag[j, i]:
            forward, backward = backward, forward
        adjacency[i, j] = adjacency[j, i] = total / 100
        edges[i, j], edges[j, i] = forward / 100, backward / 100
    return Supports(discovery.names, 100, adjacency, edges)


def example(
    n_variables: int, *, names: tuple[str, ...] | None = None, degree: float = 3.0, seed: int = 1
) -> dict[str, Any]:
    """The arguments of `write_report` for a simulated graph, taken to have been found."""
    data, dag, _ = qwo.simulate(
        "er",
        n_variables=n_variables,
        n_samples=2 * n_variables + 200,
        degree=degree,
        random_state=seed,
    )
    labels = names or tuple(f"V{k}" for k in range(n_variables))
    moments = qwo.Moments.from_data(data, names=labels)
    discovery = discovery_of(dag, labels)
    return {
        "discovery": discovery,
        "model": qwo.fit_sem(moments, dag),
        "bootstrap": supports_of(discovery),
        "command": "qwo learn data.csv --seed 7",
    }
