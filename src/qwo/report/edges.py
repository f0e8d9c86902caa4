"""The edges of a report: ends, coefficients, and how often resamples found them."""

from __future__ import annotations

from typing import Any

import numpy as np

from qwo.graph.marks import ARROW, LINE
from qwo.report.contents import Contents, Supports

MOST_PAIRS = 2000
"""Pairs of variables in the table of supports; those found most often are kept."""

_ESTIMATES = ("coefficient", "standard_error", "t", "p_value", "standardized")


def edge_records(contents: Contents) -> list[dict[str, Any]]:
    """A record for each edge, in the order of `Contents.ends`.

    An undirected edge has the ends, and so the coefficient, of the member of the class that
    ``discovery.dag`` is.
    """
    names = contents.discovery.names
    tails, heads = contents.ends
    ends = list(zip(tails.tolist(), heads.tolist(), strict=True))
    records: list[dict[str, Any]] = [
        {"source": names[i], "target": names[j], "type": ARROW if arrow else LINE}
        for (i, j), arrow in zip(ends, contents.directed.tolist(), strict=True)
    ]
    if contents.model is not None:
        found = {(edge.cause, edge.effect): edge for edge in contents.model.edges}
        for record in records:
            estimate = found[record["source"], record["target"]]
            record.update({field: getattr(estimate, field) for field in _ESTIMATES})
    if contents.bootstrap is not None:
        for record, (i, j) in zip(records, ends, strict=True):
            record.update(pair_support(contents.bootstrap, i, j))
    return records


def pair_support(bootstrap: Supports, i: int, j: int) -> dict[str, float]:
    """How often a pair was adjacent, directed forward, backward, and without direction."""
    adjacent = float(bootstrap.adjacency_support[i, j])
    forward, backward = float(bootstrap.edge_support[i, j]), float(bootstrap.edge_support[j, i])
    return {
        "support": adjacent,
        "forward": forward,
        "backward": backward,
        # Differences of rounded shares may fall a hair below zero.
        "undirected": max(adjacent - forward - backward, 0.0),
    }


def bootstrap_record(contents: Contents) -> dict[str, Any] | None:
    """The pairs that any resample joined, those joined most often first."""
    bootstrap = contents.bootstrap
    if bootstrap is None:
        return None
    names, cpdag = contents.discovery.names, contents.discovery.cpdag
    above = np.triu(np.asarray(bootstrap.adjacency_support), 1)
    i, j = np.nonzero(above)
    ranked = np.argsort(-above[i, j], kind="stable")[:MOST_PAIRS]
    pairs = []
    for first, second in zip(i[ranked].tolist(), j[ranked].tolist(), strict=True):
        source, target = (second, first) if cpdag[second, first] == 1 else (first, second)
        mark = {0: "", 1: ARROW, 2: LINE}[int(cpdag[source, target])]
        pairs.append(
            {
                "source": names[source],
                "target": names[target],
                "found": mark,
                **pair_support(bootstrap, source, target),
            }
        )
    return {
        "n_resamples": int(bootstrap.n_counted),
        "n_pairs": len(i),
        "pairs": pairs,
    }
