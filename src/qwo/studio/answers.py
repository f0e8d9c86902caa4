"""What the page asks and is told, as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, cast

import networkx as nx
import numpy as np

from qwo.agreement import check
from qwo.errors import Cure, InputError
from qwo.graph import CausalGraph, compare
from qwo.graph.adjustment import adjustment_set, d_separated
from qwo.graph.marks import ARROW, LINE
from qwo.graph.pdag import to_dag
from qwo.inspection.audit import Finding
from qwo.order.reference import partial_correlation
from qwo.report.contents import Contents
from qwo.report.data import contents_data, draw_contents, scene_layout
from qwo.report.remarks import remarks
from qwo.sem import LinearSem, fit_sem, ida, score_graph, total_effect
from qwo.studio.searches import Data, Result, scatter_plot
from qwo.studio.settings import Settings, offered
from qwo.text import plain
from qwo.types import FloatArray

MOST_LEVELS = 12
BINS = 24
MOST_PATHS = 8
SHOWN_FIT = ("rmsea", "rmsea_interval", "cfi", "srmr", "p_value")


def told_plainly(told: dict[str, Any]) -> dict[str, Any]:
    """The same as JSON has it: no arrays, and None for numbers that are not finite."""
    return cast("dict[str, Any]", plain(told))


def data_view(data: Data) -> dict[str, Any]:
    """Every column with its type, its distribution and what is missing; findings with fixes."""
    findings = [_finding(finding) for finding in data.audit.findings]
    try:
        table = data.table
    except InputError as error:
        return {"columns": [], "findings": findings, "n_rows": 0, "error": str(error)}
    types = dict(data.audit.types)
    columns = [
        _column(name, table.values[:, v], variable.levels, types.get(name))
        for v, (name, variable) in enumerate(zip(table.names, table.coding.variables, strict=True))
    ]
    refused = [{"name": r.name, "type": "not numeric", "missing": 0} for r in table.refused]
    return told_plainly(
        {"columns": [*columns, *refused], "findings": findings, "n_rows": len(table.values)}
    )


def _column(
    name: str, values: FloatArray, levels: Sequence[str], kind: str | None
) -> dict[str, Any]:
    seen = values[np.isfinite(values)]
    told: dict[str, Any] = {"name": name, "type": kind, "missing": len(values) - len(seen)}
    if levels:
        counts = np.bincount(seen.astype(int), minlength=len(levels))[: len(levels)]
        told["levels"] = [[str(k), int(n)] for k, n in zip(levels, counts, strict=True)][
            :MOST_LEVELS
        ]
    elif seen.size:
        counts, ends = np.histogram(seen, bins=BINS)
        told |= {"bins": counts, "from": ends[0], "to": ends[-1], "mean": seen.mean()}
    return told


def _finding(finding: Finding) -> dict[str, Any]:
    """What was seen, and its fixes as changes of the settings."""
    fixes = [{"label": _label(fix), "change": _change(fix, finding)} for fix in finding.cures]
    return {
        "severity": finding.severity,
        "columns": list(finding.columns),
        "message": finding.message,
        "fixes": [fix for fix in fixes if fix["change"]],
    }


def _label(fix: Cure) -> str:
    """What a button says."""
    option, value, effect = fix.option, fix.value, fix.effect
    if option == "knowledge" and isinstance(value, dict):
        [(option, value)], effect = value.items(), "nothing causes them"
    if isinstance(value, dict):
        own = {str(text) if isinstance(text, str) else "" for text in value.values()}
        value = own.pop() if len(own) == 1 else ""
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value[:3])) + ("…" if len(value) > 3 else "")
    what = option.replace("_", " ") + (f": {value}" if value else "")
    return what + (f" ({effect})" if effect else "")


def _change(fix: Cure, finding: Finding) -> dict[str, Any] | None:
    """The part of the settings that the fix sets; None where a button cannot know it."""
    if fix.value is None:
        return None
    if fix.option == "drop":
        return {"drop": [str(name) for name in fix.value]}
    if fix.option in ("transform", "types"):
        given = (
            fix.value if isinstance(fix.value, dict) else dict.fromkeys(finding.columns, fix.value)
        )
        named = {name: how for name, how in given.items() if isinstance(how, str)}
        return {fix.option: named} if named else None
    if fix.option == "knowledge" and isinstance(fix.value, dict) and "roots" in fix.value:
        return {"roots": list(fix.value["roots"])}
    if fix.option in offered():
        return {"extras": {fix.option: fix.value}}
    return {"missing": fix.value} if fix.option == "missing" else None


def graph_view(result: Result, file: str, before: Result | None = None) -> dict[str, Any]:
    """The graph with all that is known of it, and what is new since another one."""
    contents = Contents(result.found, model=result.model)
    view = contents_data(contents, None)
    view["seconds"] = result.found.seconds
    view["notes"] = [
        *({"level": "warning", "text": text} for text in result.said),
        *({"level": remark.level, "text": remark.sentence} for remark in remarks(contents)),
    ]
    view["readings"] = [reading.summary() for reading in result.found.readings.values()]
    view["leans"] = [[a, b, odds] for (a, b), odds in result.found.leans.items()]
    view["weak_edges"] = [asdict(edge) for edge in result.found.weak_edges]
    view["changed"] = {} if before is None else _changed(before, result)
    view["reproduce"] = {
        "command": result.settings.command_line(file),
        "python": result.settings.python(file),
    }
    return told_plainly(view)


def _changed(before: Result, now: Result) -> dict[str, list[list[str]]]:
    """Which edges came, went and were turned or opened."""
    return _differences(_joined(before), _joined(now))


Joined = dict[frozenset[str], tuple[str, str, str]]
"""The edge between two variables: one end, its mark, the other end."""


def _joined(result: Result) -> Joined:
    return {frozenset((a, b)): (a, mark, b) for a, mark, b in result.found.edges}


def _differences(old: Joined, new: Joined) -> dict[str, list[list[str]]]:
    return {
        "added": [[*edge] for pair, edge in new.items() if pair not in old],
        "removed": [[*edge] for pair, edge in old.items() if pair not in new],
        "turned": [[*edge] for pair, edge in new.items() if pair in old and old[pair] != edge],
    }


def own_differences(result: Result, edges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The graph found beside one that the user has drawn.

    An arrow of the drawing agrees with a line: the graphs of the class have it both ways.
    """
    found = _joined(result)
    drawn: Joined = {frozenset((a, b)): (a, ARROW, b) for a, b in edges}
    for pair, edge in found.items():
        if pair in drawn and edge[1] == LINE:
            drawn[pair] = edge
    graph = _drawn(result.found.names, [e for e in edges if {*e} <= {*result.found.names}])
    told = compare(graph, _among(result, result.found.names), aid=False).to_dict()
    return told_plainly({"comparison": told, "changed": _differences(drawn, found)})


def layout_view(result: Result) -> dict[str, Any]:
    """Where everything stands in the picture."""
    contents = Contents(result.found)
    scene = draw_contents(contents)
    return {"layout": None if scene is None else plain(scene_layout(scene, contents.ends[0]))}


def doubt_view(result: Result) -> dict[str, Any]:
    """How probable each edge is, and whether the data contradict the graph."""
    contents = Contents(
        result.found, model=result.model, posterior=result.posterior, check=result.check
    )
    data = contents_data(contents, None)
    return told_plainly(
        {"edges": data["edges"], "check": data["check"], "posterior": data["posterior"]}
    )


def pair_view(result: Result, first: str, second: str) -> dict[str, Any]:
    """Two variables: their scatter plot, and what the graph says of one and the other."""
    told: dict[str, Any] = {"first": first, "second": second}
    told |= scatter_plot(result.data, first, second)
    if isinstance(result.model, LinearSem):
        both = (first, second), (second, first)
        told["effects"] = [_effect(result, result.model, a, b) for a, b in both]
    told["why"] = list(_reasons(result, first, second))
    return told_plainly(told)


def _effect(result: Result, model: LinearSem, cause: str, effect: str) -> dict[str, Any]:
    """The total effect in the DAG found, its range over the class, paths and adjustment set."""
    names = result.found.names
    a, b = names.index(cause), names.index(effect)
    told: dict[str, Any] = {"cause": cause, "effect": effect}
    try:
        found = total_effect(model, cause, effect)
        told |= {"estimate": found.estimate, "interval": found.interval(), "note": found.note}
        several = ida(result.data.moments, result.found.cpdag, a, b).estimates
        told["range"] = [several.min(), several.max()]
    except InputError as error:
        told["note"] = str(error)
    graph = nx.from_numpy_array(np.asarray(result.found.dag), create_using=nx.DiGraph)
    found_paths = islice(nx.all_simple_paths(graph, a, b, cutoff=8), MOST_PATHS)
    told["paths"] = [[names[v] for v in path] for path in found_paths]
    adjusted = adjustment_set(result.found.dag, a, b)
    told["adjust"] = None if adjusted is None else [names[v] for v in adjusted]
    return told


def _reasons(result: Result, first: str, second: str) -> Iterator[str]:
    """Why there is no edge, or why it has its direction."""
    found = result.found
    edge = next((e for e in found.edges if {e[0], e[2]} == {first, second}), None)
    if edge is None:
        yield from _why_no_edge(result, first, second)
        return
    a, mark, b = edge
    required = {*map(tuple, result.settings.required)}
    if (a, b) in required:
        yield f"{a} → {b} is there because you require it."
    elif mark == ARROW:
        yield from _why_arrow(result, a, b)
    elif mark == LINE and (a, b) in found.leans:
        odds = found.leans[a, b]
        yield f"The data lean towards {a} → {b}, {odds:.1f} to 1, which is not enough to say it."
    elif mark == LINE:
        yield "Both directions fit the data equally well: no collider or rule decides."


def _why_arrow(result: Result, a: str, b: str) -> Iterator[str]:
    known = result.settings.knowledge
    if known is not None:
        forbids = known.resolve(result.found.names).forbidden
        if forbids[result.found.names.index(b), result.found.names.index(a)]:
            yield f"What you know (tiers or forbidden edges) rules out {b} → {a}."
    arrows = result.found.arrow_evidence
    if arrows is None:
        return
    names = result.found.names
    for k in np.flatnonzero(arrows.causes == names.index(a)):
        if arrows.effects[k] == names.index(b):
            yield (
                f"Turned round, the best graph loses {arrows.worths[k]:.1f} points of score "
                f"(odds {min(math.exp(min(arrows.worths[k] / 2, 20)), 1e6):,.0f} to 1)."
            )
            hanging = result.found.hanging_on(a, b)
            if hanging:
                listed = ", ".join(f"{c} → {e}" for c, _, e in hanging[:6])
                yield f"{len(hanging)} other arrows hang on it: {listed}."


def _why_no_edge(result: Result, first: str, second: str) -> Iterator[str]:
    names, dag = result.found.names, np.asarray(result.found.dag)
    a, b = names.index(first), names.index(second)
    pair = frozenset((first, second))
    if any(frozenset(p) == pair for p in result.settings.forbidden):
        yield "You forbid an edge between them."
    # The parents of whichever comes later separate two variables that no edge joins.
    place = np.argsort(result.found.order)
    late, early = (a, b) if place[a] > place[b] else (b, a)
    given = np.flatnonzero(dag[:, late]).tolist()
    if result.data.moments.has_blocks or not d_separated(dag, [early], [late], given):
        yield "The graph needs no edge between them."
        return
    correlation = np.asarray(result.data.moments.correlation)
    r = partial_correlation(correlation, early, late, given)
    beside = ", ".join(names[v] for v in given) or "nothing"
    yield f"Given {beside}, their partial correlation is {r:.3f}: too weak to pay for an edge."


def _drawn(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> CausalGraph:
    """The graph of arrows that were drawn."""
    matrix = np.zeros((len(names), len(names)), dtype=np.int8)
    for cause, effect in edges:
        matrix[names.index(cause), names.index(effect)] = 1
    return CausalGraph.from_matrix(matrix, names)


def own_view(
    data: Data, settings: Settings, edges: Sequence[tuple[str, str]], penalty: float = 2.0
) -> dict[str, Any]:
    """What the data say against a graph that the user draws."""
    moments = data.moments
    names = moments.names
    graph = _drawn(names, edges)
    dag = to_dag(graph)
    found = check(
        moments, graph, learnt=False, knowledge=settings.knowledge, n_draws=1, n_subsets=0
    )
    tests = found.independences
    model = fit_sem(moments, dag)
    return told_plainly(
        {
            "edges": [list(edge) for edge in edges],
            "unexplained": [
                {"first": names[u], "second": names[v], "r": r, "p": p}
                for u, v, r, p, fails in zip(
                    tests.first,
                    tests.second,
                    tests.partial,
                    tests.p_values,
                    found.failing,
                    strict=True,
                )
                if fails
            ],
            "unneeded": [
                [names[c.cause], names[c.effect], c.gain]
                for c in found.changes
                if c.kind == "remove"
            ],
            "wanted": [
                [c.kind, names[c.cause], names[c.effect], c.gain] for c in found.changes[:12]
            ],
            "score": score_graph(moments, graph, penalty).score,
            "fit": {name: getattr(model.fit, name) for name in SHOWN_FIT},
        }
    )


def compare_view(first: Result, second: Result) -> dict[str, Any]:
    """Two results beside each other: what they share and where they differ."""
    shared = [name for name in first.found.names if name in second.found.names]
    graphs = [_among(result, shared) for result in (first, second)]
    told = compare(*graphs, aid=False).to_dict()
    return told_plainly({"names": shared, "comparison": told, "changed": _changed(first, second)})


def _among(result: Result, names: Sequence[str]) -> CausalGraph:
    """The graph shown, with edges among some of its variables."""
    at = [result.found.names.index(name) for name in names]
    return CausalGraph.from_matrix(np.asarray(result.found.shown)[np.ix_(at, at)], names)
