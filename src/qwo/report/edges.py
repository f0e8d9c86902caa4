"""The edges of a report: ends, coefficients, and how often resamples found them."""

from __future__ import annotations

from typing import Any

from qwo.graph.marks import ARROW, LINE
from qwo.report.contents import Contents
from qwo.resample.support import coin_tosses, pair_supports, ranked_pairs

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
    records: list[dict[str, Any]] = [
        {"source": names[i], "target": names[j], "type": ARROW if arrow else LINE}
        for i, j, arrow in zip(tails, heads, contents.directed, strict=True)
    ]
    if contents.model is not None:
        found = {(edge.cause, edge.effect): edge for edge in contents.model.edges}
        for record in records:
            estimate = found[record["source"], record["target"]]
            record.update({field: getattr(estimate, field) for field in _ESTIMATES})
    if contents.bootstrap is not None:
        supports = pair_supports(contents.bootstrap, contents.discovery.cpdag, tails, heads)
        for record, pair in zip(records, supports, strict=True):
            record.update(pair.shares, coin_toss=pair.coin_toss)
    return records


def bootstrap_record(contents: Contents) -> dict[str, Any] | None:
    """The pairs that any resample joined, those joined most often first."""
    bootstrap = contents.bootstrap
    if bootstrap is None:
        return None
    cpdag = contents.discovery.cpdag
    links = bootstrap.link_support
    first, second = ranked_pairs(links, cpdag, links > 0)
    pairs = pair_supports(bootstrap, cpdag, first[:MOST_PAIRS], second[:MOST_PAIRS])
    tosses = coin_tosses(bootstrap.arrow_support) & (cpdag == 1)
    return {
        "n_resamples": int(bootstrap.n_counted),
        "resampling": getattr(bootstrap, "params", {}).get("resampling"),
        "n_coin_tosses": int(tosses.sum()),
        "n_pairs": len(first),
        "pairs": [pair._asdict() for pair in pairs],
    }
