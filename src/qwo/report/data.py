"""Everything that a report shows, as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.discovery import Discovery
from qwo.discovery.price import price_range
from qwo.drawing.layers import causal_order
from qwo.drawing.scene import Scene, page_scene
from qwo.errors import Wording
from qwo.graph.compare import compare
from qwo.graph.dag import adjacency_lists
from qwo.report.contents import Contents
from qwo.report.verdict import arrow_sources, verdict
from qwo.resample.support import Supports, pair_supports, ranked_pairs
from qwo.sem import LinearSem
from qwo.text import plain
from qwo.types import Adjacency, Indices, Mask

if TYPE_CHECKING:
    from qwo.agreement import Check, ConditionChecks
    from qwo.sem.cyclic import CyclicSem


MOST_PAIRS = 2000
"""Pairs of variables in the table of supports; those found most often are kept."""

LEAST_LINK = 0.01
"""Probability of a link from which on a pair is in the table."""

_POSTERIOR_FACTS = ("n_draws", "n_chains", "status", "seconds", "rhat_99", "largest_outside")
_ESTIMATES = ("coefficient", "standard_error", "t", "p_value", "standardized")


def edge_records(contents: Contents) -> list[dict[str, Any]]:
    """A record for each edge, in the order of `Contents.ends`.

    An undirected edge has the ends, and so the coefficient, of the member of the class that
    ``discovery.dag`` is.
    """
    names = contents.discovery.names
    tails, heads = contents.ends
    records: list[dict[str, Any]] = [
        {"source": names[i], "target": names[j], "type": mark}
        for i, j, mark in zip(tails, heads, contents.types, strict=True)
    ]
    evidence = contents.discovery.evidence
    if evidence is not None:
        # The evidence has them by effect, the report by cause.
        by_cause = np.lexsort((evidence.effects, evidence.causes))
        for record, k in zip(records, by_cause, strict=True):
            record["strength"] = evidence.strengths[k]
            record["false_rate"] = evidence.false_rates[k]
    if contents.model is not None:
        for record, estimate in zip(records, _estimates(contents.model, tails, heads), strict=True):
            record.update(estimate)
    _add_doubts(contents, records)
    for judge, prefix in ((contents.bootstrap, ""), (contents.probabilities, "p_")):
        if judge is not None:
            pairs = pair_supports(judge, contents.discovery.shown, tails, heads)
            for record, pair in zip(records, pairs, strict=True):
                record |= {f"{prefix}{name}": share for name, share in pair.shares.items()}
                record.setdefault("coin_toss", pair.coin_toss)
    return records


def _add_doubts(contents: Contents, records: list[dict[str, Any]]) -> None:
    """How sure links and arrows are, and where the arrows come from."""
    sources, regimes = arrow_sources(contents), contents.discovery.regimes
    own = {frozenset((a, b)): k for k, (a, _, b) in enumerate(contents.discovery.edges)}
    for record in records:
        pair = record["source"], record["target"]
        record["link_doubt"], record["arrow_doubt"] = contents.doubts[own[frozenset(pair)]]
        record["directed_by"] = sources.get(pair)
        if regimes is not None:
            record["reason"] = regimes.reasons.get(pair, (None, None))[0]


def _pairs_record(shares: Supports, cpdag: Adjacency, wanted: Mask) -> dict[str, Any]:
    """Some pairs with their shares, the surest first."""
    first, second = ranked_pairs(shares.link_support, cpdag, wanted)
    pairs = pair_supports(shares, cpdag, first[:MOST_PAIRS], second[:MOST_PAIRS])
    return {"n_pairs": len(first), "pairs": [pair._asdict() for pair in pairs]}


def _bootstrap(contents: Contents) -> dict[str, Any] | None:
    """The pairs that any resample joined."""
    found = contents.bootstrap
    if found is None:
        return None
    told = _pairs_record(found, contents.discovery.shown, found.link_support > 0)
    if contents.discovery.pag is not None:
        told["pairs"] = [pair._asdict() for pair in found.to_records()[:MOST_PAIRS]]
    told |= {"resampling": getattr(found, "params", {}).get("resampling")}
    return told | {"n_resamples": int(found.n_counted)}


def _posterior(contents: Contents) -> dict[str, Any] | None:
    """The pairs whose link is not all but impossible, effects, and how the chains did."""
    found, shares = contents.posterior, contents.probabilities
    if found is None or shares is None:
        return None
    facts, cpdag = found.to_dict(), contents.discovery.shown
    wanted = (shares.link_support >= LEAST_LINK) | (cpdag != 0) | (cpdag.T != 0)
    return {
        **{name: facts[name] for name in _POSTERIOR_FACTS},
        **_pairs_record(shares, cpdag, wanted),
        "effects": [effect.to_dict() for effect in contents.effects],
    }


def _estimates(
    model: LinearSem | CyclicSem, tails: Indices, heads: Indices
) -> Iterator[dict[str, Any]]:
    """The estimates of each edge; those of an edge between categories are its contrasts."""
    found = {(edge.cause, edge.effect): edge for edge in model.edges}
    variables, coding = model.variables.names, model.variables.coding
    tests = {}
    if isinstance(model, LinearSem) and not coding.is_plain:
        tests = {(test.cause, test.effect): test for test in model.edge_tests}
    for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
        causes, effects = (coding.columns_of([v]).tolist() for v in (i, j))
        pairs = [found[model.names[a], model.names[b]] for b in effects for a in causes]
        own = [{field: getattr(pair, field) for field in _ESTIMATES} for pair in pairs]
        if len(pairs) == 1:
            yield own[0]
            continue
        ends = ({"source": pair.cause, "target": pair.effect} for pair in pairs)
        yield {
            **dict.fromkeys(_ESTIMATES),
            "p_value": tests[variables[i], variables[j]].p_value,
            "standardized": float(model.edge_sizes[i, j]),
            "contrasts": [both | numbers for both, numbers in zip(ends, own, strict=True)],
        }


FORMAT = "qwo-report"
VERSION = 1
_MOST_TRACE_POINTS = 2000
_APART = 9.0
"""How far the two arrows of a cycle of two bend from the middle between their ends, in points."""


def report_data(discovery: Discovery, **beside: Any) -> dict[str, Any]:
    """The dictionary that a report embeds and shows; ``json.dumps`` takes it as it is.

    What is known ``beside`` the discovery is given by the names that `write_report` has for it.
    Sections that were not given are None; numbers that are not finite are None as well.
    """
    contents = Contents(discovery, **beside)
    return contents_data(contents, draw_contents(contents))


def draw_contents(contents: Contents) -> Scene | None:
    """The drawing of the graph, in which categories say how many levels they have."""
    types = [_few_words(record) for record in _types(contents)]
    edges = np.column_stack(contents.ends)
    if contents.cyclic is not None:
        place = np.argsort(causal_order(None, contents.cyclic))
        edges = np.where((place[edges[:, 0]] > place[edges[:, 1]])[:, None], edges[:, ::-1], edges)
    return page_scene(contents.discovery.names, edges, types if any(types) else ())


def _few_words(record: dict[str, Any]) -> str:
    if not record.get("levels"):
        return ""
    return record["kind"] if record["kind"] == "binary" else f"{len(record['levels'])} levels"


def contents_data(contents: Contents, drawing: Scene | None) -> dict[str, Any]:
    """The dictionary of a report whose graph is drawn already, or is too large for that."""
    discovery = contents.discovery
    result = plain(
        {
            "format": FORMAT,
            "version": VERSION,
            "title": contents.title or "Causal graph",
            "command": contents.command,
            "summary": _summary(contents),
            "data": contents.data_summary,
            "audit": None
            if contents.audit is None
            else [
                {**asdict(f), "message": f.worded(contents.wording)}
                for f in contents.audit.findings
            ],
            "verdict": dict(verdict(contents).lines()),
            "doubt": contents.doubt_source,
            "outcome": None if contents.outcome is None else contents.outcome.to_dict(),
            "variables": _variables(contents),
            "edges": edge_records(contents),
            "layout": None if drawing is None else scene_layout(drawing, contents.ends[0]),
            "fit": None if contents.linear is None else asdict(contents.linear.fit),
            "bootstrap": _bootstrap(contents),
            "posterior": _posterior(contents),
            "price": _price(discovery),
            "comparison": None
            if contents.truth is None
            else compare(discovery, contents.truth).to_dict(),
            "check": _check(contents.check, contents.wording),
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


def _price(discovery: Discovery) -> dict[str, Any] | None:
    """The price of an edge in units of log N, and what other prices would give."""
    evidence = discovery.evidence
    if evidence is None:
        return None
    size, chosen = evidence.nulls[0].n_samples, bool(discovery.params.get("penalty_chosen"))
    unit, low = math.log(size), evidence.price
    if chosen:
        extension = 2 * discovery.params["gamma"] * math.log(discovery.n_variables)
        columns = np.array(discovery.params.get("columns", [1] * discovery.n_variables))
        low = min(low, price_range(columns, size, extension)[0])
    prices = np.linspace(low, max(1.5 * evidence.price, 4 * unit), 121)
    edges, false = evidence.curve(prices)
    return {
        "taken": evidence.price / unit,
        "chosen": chosen,
        "expected_false": discovery.expected_false_edges,
        "curve": np.column_stack([prices / unit, edges, false]),
    }


def _variables(contents: Contents) -> list[dict[str, Any]]:
    """A record for each variable, in column order."""
    discovery = contents.discovery
    shown = discovery.shown
    arrows = adjacency_lists(shown == 1)
    lines = adjacency_lists((shown > 1) | (shown.T > 1)).children
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
    for record, kind in zip(records, _types(contents), strict=True):
        record.update(kind)
    model = contents.linear
    if model is None:
        return records
    coding, nodes = model.variables.coding, {node.name: node for node in model.nodes}
    for v, (name, record) in enumerate(zip(discovery.names, records, strict=True)):
        labels = coding.variables[v].labels(name)
        for field in ("r_squared", "residual_variance", "intercept"):
            record[field] = None if len(labels) > 1 else getattr(nodes[labels[0]], field)
    return records


def _types(contents: Contents) -> list[dict[str, Any]]:
    """The type and the levels of each variable, as far as they are known."""
    names = contents.discovery.names
    types = {} if contents.audit is None else contents.audit.types
    records: list[dict[str, Any]] = [{"kind": types.get(name)} for name in names]
    if contents.model is not None:
        coding = contents.model.variables.coding
        for record, variable in zip(records, coding.variables, strict=True):
            if variable.levels:
                record |= {"kind": variable.kind, "levels": list(variable.levels)}
    return records


def scene_layout(drawing: Scene, tails: Indices) -> dict[str, Any]:
    """Where nodes and bends of edges stand, those of each edge from its cause on."""
    layout = drawing.layout
    nodes = np.column_stack([layout.centres, layout.sizes])
    bends = list(layout.bends)
    pairs = {frozenset(pair): k for k, pair in enumerate(drawing.edges.tolist())}
    for k, (upper, lower) in enumerate(drawing.edges.tolist()):
        other = pairs[frozenset((upper, lower))]
        if other != k and not len(bends[k]):
            # The two arrows of a cycle of two, side by side.
            ends = layout.centres[[upper, lower]]
            along = ends[1] - ends[0]
            across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
            bends[k], bends[other] = (
                (ends.mean(axis=0) + side * _APART * across)[None] for side in (1, -1)
            )
        if upper != tails[k]:
            bends[k] = bends[k][::-1]
    return {
        "boxes": drawing.boxes,
        "labels": drawing.labels,
        "nodes": np.round(nodes, 1),
        "bends": [np.round(points, 1) for points in bends],
    }


def _check(found: Check | ConditionChecks | None, wording: Wording) -> dict[str, Any] | None:
    """The verdict, what was found in plain words, and the p-values."""
    if found is None:
        return None
    verdict, *words = found.summary(wording).split("\n\n")
    return {
        "alarm": found.alarm,
        "verdict": verdict,
        "words": words[:-1],
        "tests": [asdict(test) for test in found.tests],
    }


def _thinned(trace: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """The trace with its first and last point, and no more points than a chart can show."""
    kept = np.linspace(0, len(trace) - 1, min(len(trace), _MOST_TRACE_POINTS)).astype(int)
    return [trace[k] for k in kept]
