"""Everything that a report shows, as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from qwo.discovery import Discovery
from qwo.graph.compare import compare
from qwo.graph.dag import adjacency_lists
from qwo.moments.findings import Audit
from qwo.report.contents import Contents
from qwo.report.drawing import Drawing, draw
from qwo.report.edges import bootstrap_record, edge_records
from qwo.resample.support import Supports
from qwo.sem import LinearSem
from qwo.text import plain

FORMAT = "qwo-report"
VERSION = 1
_MOST_TRACE_POINTS = 2000


def report_data(
    discovery: Discovery,
    *,
    audit: Audit | None = None,
    model: LinearSem | None = None,
    bootstrap: Supports | None = None,
    truth: object | None = None,
    command: str | None = None,
    title: str | None = None,
    data_summary: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The dictionary that a report embeds and shows; ``json.dumps`` takes it as it is.

    The parameters are those of `write_report`. Sections that were not given are None; numbers that
    are not finite are None as well.
    """
    contents = Contents(discovery, audit, model, bootstrap, truth, command, title, data_summary)
    return contents_data(contents, draw(discovery.names, discovery.dag))


def contents_data(contents: Contents, drawing: Drawing) -> dict[str, Any]:
    """The dictionary of a report whose graph is drawn already."""
    discovery = contents.discovery
    result = plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": contents.title or "Causal graph",
            "command": contents.command,
            "summary": _summary(contents),
            "data": contents.data_summary,
            "audit": None if contents.audit is None else list(map(asdict, contents.audit.findings)),
            "variables": _variables(contents),
            "edges": edge_records(contents),
            "layout": _layout(drawing),
            "fit": None if contents.model is None else asdict(contents.model.fit),
            "bootstrap": bootstrap_record(contents),
            "comparison": _comparison(contents),
            "trace": _thinned(discovery.trace),
            "params": discovery.params,
            "versions": discovery.versions,
        }
    )
    assert isinstance(result, dict)
    return result


def _summary(contents: Contents) -> dict[str, Any]:
    discovery, directed = contents.discovery, contents.directed
    return {
        "n_variables": discovery.n_variables,
        "n_samples": discovery.params.get("n_samples"),
        "n_edges": len(directed),
        "n_directed": int(directed.sum()),
        "n_undirected": int((~directed).sum()),
        "score": discovery.score,
        "status": discovery.status,
        "seconds": discovery.seconds,
    }


def _variables(contents: Contents) -> list[dict[str, Any]]:
    """A record for each variable, in column order."""
    discovery = contents.discovery
    arrows = adjacency_lists(discovery.cpdag == 1)
    lines = adjacency_lists(discovery.cpdag == 2).children
    place = np.argsort(discovery.order).tolist()
    records: list[dict[str, Any]] = [
        {
            "name": name,
            "place": place[v] + 1,
            "parents": len(arrows.parents[v]),
            "children": len(arrows.children[v]),
            "undirected": len(lines[v]),
        }
        for v, name in enumerate(discovery.names)
    ]
    if contents.model is not None:
        for record, node in zip(records, contents.model.nodes, strict=True):
            record["r_squared"] = node.r_squared
            record["residual_variance"] = node.residual_variance
            record["intercept"] = node.intercept
    return records


def _layout(drawing: Drawing) -> dict[str, Any]:
    layout = drawing.layout
    nodes = np.column_stack([layout.centres, layout.sizes])
    return {
        "boxes": drawing.boxes,
        "labels": drawing.labels,
        "nodes": np.round(nodes, 1),
        "bends": [np.round(points, 1) for points in layout.bends],
    }


def _comparison(contents: Contents) -> dict[str, object] | None:
    if contents.truth is None:
        return None
    return compare(contents.discovery, contents.truth).to_dict()


def _thinned(trace: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """The trace with its first and last point, and no more points than a chart can show."""
    kept = np.linspace(0, len(trace) - 1, min(len(trace), _MOST_TRACE_POINTS)).astype(int)
    return [trace[k] for k in kept]
