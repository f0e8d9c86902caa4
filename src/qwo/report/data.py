"""What a report is made of, and everything that it shows, as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qwo.discovery import Discovery
from qwo.discovery.price import price_range
from qwo.drawing.scene import Scene, page_scene
from qwo.errors import ArgumentError
from qwo.graph.compare import compare
from qwo.graph.dag import adjacency_lists
from qwo.graph.marks import ARROW, LINE
from qwo.moments.audit import Audit, Finding
from qwo.resample.support import (
    PairSupport,
    Shares,
    Supports,
    coin_tosses,
    pair_supports,
    ranked_pairs,
)
from qwo.sem import LinearSem
from qwo.text import plain
from qwo.types import Adjacency, Indices, Mask

if TYPE_CHECKING:
    from qwo.agreement import Check
    from qwo.bayes import EffectPosterior, Posterior


@dataclass(frozen=True, eq=False)
class Contents:
    """A discovery and what is known beside it, as `write_report` takes it; None for what is not."""

    discovery: Discovery
    audit: Audit | None = None
    model: LinearSem | None = None
    bootstrap: Supports | None = None
    posterior: Posterior | None = None
    truth: object | None = None
    command: str | None = None
    title: str | None = None
    data_summary: Mapping[str, Any] | None = None
    check: Check | None = None

    def __post_init__(self) -> None:
        names = tuple(self.discovery.names)
        model = self.model
        parts = {
            "model": None if model is None else model.variables,
            "bootstrap": self.bootstrap,
            "posterior": self.posterior,
            "check": self.check,
        }
        for what, part in parts.items():
            if part is not None and tuple(part.names) != names:
                raise ArgumentError(
                    f"the variables of the {what} are not those of the discovery, in the same "
                    f"order; make both from the same data"
                )
        if model is not None and not np.array_equal(model.variable_dag, self.discovery.dag):
            raise ArgumentError(
                "the model was fitted to another graph; fit it with "
                "qwo.fit_sem(data, discovery.dag)"
            )

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """Cause and effect of every edge of the DAG, in row order: the order of all edge lists."""
        tails, heads = np.nonzero(self.discovery.dag)
        return tails, heads

    @cached_property
    def directed(self) -> Mask:
        """For each edge whether the equivalence class determines its direction."""
        return np.asarray(self.discovery.cpdag[self.ends] == 1)

    @cached_property
    def probabilities(self) -> Shares | None:
        """What the posterior says of classes of graphs, as a bootstrap says it of resamples."""
        found = self.posterior
        if found is None:
            return None
        links, arrows = found.link_probabilities, found.arrow_probabilities
        return Shares(found.names, found.n_draws, links, arrows, found.knowledge)

    @cached_property
    def edge_supports(self) -> list[PairSupport]:
        """How often resamples have each of the edges found; nothing without a bootstrap."""
        return self._judged(self.bootstrap)

    @cached_property
    def edge_probabilities(self) -> list[PairSupport]:
        """How probable each of the edges found is; nothing without a posterior."""
        return self._judged(self.probabilities)

    def _judged(self, judge: Supports | None) -> list[PairSupport]:
        if judge is None:
            return []
        place = {name: k for k, name in enumerate(self.discovery.names)}
        ends = [(place[a], place[b]) for a, _, b in self.discovery.edges]
        pairs = np.array(ends, dtype=np.intp).reshape(-1, 2)
        return pair_supports(judge, self.discovery.cpdag, *pairs.T)

    @cached_property
    def effects(self) -> list[EffectPosterior]:
        """The effects along the edges and likely paths; nothing without a posterior."""
        if self.posterior is None:
            return []
        return likely_effects(self.posterior, self.discovery.dag, self.discovery.cpdag)


MOST_PAIRS = 2000
"""Pairs of variables in the table of supports; those found most often are kept."""

LEAST_LINK = 0.01
"""Probability of a link from which on a pair is in the table."""

MOST_EFFECTS = 500
LIKELY_PATH = 0.5
"""Effects in the table, and the probability of a path from which on they are there."""


def likely_effects(found: Posterior, dag: Adjacency, cpdag: Adjacency) -> list[EffectPosterior]:
    """The effects along the edges of a graph and of pairs with a likely path, likeliest first.

    An edge without direction has effects both ways.
    """
    paths = found.path_probabilities
    edges = (dag == 1) | (cpdag == 2)
    wanted = edges | (paths > LIKELY_PATH)
    np.fill_diagonal(wanted, val=False)
    causes, targets = np.nonzero(wanted)
    first = np.lexsort((-paths[causes, targets], ~edges[causes, targets]))[:MOST_EFFECTS]
    chosen: dict[int, list[int]] = {}
    for k in first.tolist():
        chosen.setdefault(int(causes[k]), []).append(int(targets[k]))
    effects = [effect for x, ys in chosen.items() for effect in found.effects(x, ys)]
    return sorted(effects, key=lambda effect: -effect.probability)


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
        {"source": names[i], "target": names[j], "type": ARROW if arrow else LINE}
        for i, j, arrow in zip(tails, heads, contents.directed, strict=True)
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
    if contents.bootstrap is not None:
        supports = pair_supports(contents.bootstrap, contents.discovery.cpdag, tails, heads)
        for record, pair in zip(records, supports, strict=True):
            record.update(pair.shares, coin_toss=pair.coin_toss)
    if contents.probabilities is not None:
        likely = pair_supports(contents.probabilities, contents.discovery.cpdag, tails, heads)
        for record, pair in zip(records, likely, strict=True):
            record.update({f"p_{name}": share for name, share in pair.shares.items()})
            record.setdefault("coin_toss", pair.coin_toss)
    return records


def posterior_record(contents: Contents) -> dict[str, Any] | None:
    """The pairs whose link is not all but impossible, effects, and how the chains did."""
    found, shares = contents.posterior, contents.probabilities
    if found is None or shares is None:
        return None
    discovery, links = contents.discovery, shares.link_support
    wanted = (links >= LEAST_LINK) | (discovery.cpdag != 0) | (discovery.cpdag.T != 0)
    first, second = ranked_pairs(links, discovery.cpdag, wanted)
    pairs = pair_supports(shares, discovery.cpdag, first[:MOST_PAIRS], second[:MOST_PAIRS])
    tosses = coin_tosses(shares.arrow_support, shares.knowledge) & (discovery.cpdag == 1)
    facts = found.to_dict()
    return {
        **{name: facts[name] for name in _POSTERIOR_FACTS},
        "n_coin_tosses": int(tosses.sum()),
        "n_pairs": len(first),
        "pairs": [pair._asdict() for pair in pairs],
        "effects": [effect.to_dict() for effect in contents.effects],
    }


def _estimates(model: LinearSem, tails: Indices, heads: Indices) -> Iterator[dict[str, Any]]:
    """The estimates of each edge; those of an edge between categories are its contrasts."""
    found = {(edge.cause, edge.effect): edge for edge in model.edges}
    coding, names = model.coding, model.names
    if coding is not None:
        variables = model.variables.names
        tests = {(test.cause, test.effect): test for test in model.edge_tests}
    for i, j in zip(tails.tolist(), heads.tolist(), strict=True):
        own = [[i], [j]] if coding is None else [coding.columns_of([v]).tolist() for v in (i, j)]
        pairs = [found[names[a], names[b]] for b in own[1] for a in own[0]]
        if len(pairs) == 1:
            yield {field: getattr(pairs[0], field) for field in _ESTIMATES}
            continue
        together = tests[variables[i], variables[j]]
        nothing = dict.fromkeys(_ESTIMATES)
        yield {
            **nothing,
            "p_value": together.p_value,
            "standardized": float(model.edge_sizes[i, j]),
            "contrasts": [
                {"source": pair.cause, "target": pair.effect}
                | {field: getattr(pair, field) for field in _ESTIMATES}
                for pair in pairs
            ],
        }


def bootstrap_record(contents: Contents) -> dict[str, Any] | None:
    """The pairs that any resample joined, those joined most often first."""
    bootstrap = contents.bootstrap
    if bootstrap is None:
        return None
    cpdag = contents.discovery.cpdag
    links = bootstrap.link_support
    first, second = ranked_pairs(links, cpdag, links > 0)
    pairs = pair_supports(bootstrap, cpdag, first[:MOST_PAIRS], second[:MOST_PAIRS])
    tosses = coin_tosses(bootstrap.arrow_support, bootstrap.knowledge) & (cpdag == 1)
    return {
        "n_resamples": int(bootstrap.n_counted),
        "resampling": getattr(bootstrap, "params", {}).get("resampling"),
        "n_coin_tosses": int(tosses.sum()),
        "n_pairs": len(first),
        "pairs": [pair._asdict() for pair in pairs],
    }


FORMAT = "qwo-report"
VERSION = 1
_MOST_TRACE_POINTS = 2000


def report_data(
    discovery: Discovery,
    *,
    audit: Audit | None = None,
    model: LinearSem | None = None,
    bootstrap: Supports | None = None,
    posterior: Posterior | None = None,
    truth: object | None = None,
    command: str | None = None,
    title: str | None = None,
    data_summary: Mapping[str, Any] | None = None,
    check: Check | None = None,
) -> dict[str, Any]:
    """The dictionary that a report embeds and shows; ``json.dumps`` takes it as it is.

    The parameters are those of `write_report`. Sections that were not given are None; numbers that
    are not finite are None as well.
    """
    contents = Contents(
        discovery, audit, model, bootstrap, posterior, truth, command, title, data_summary, check
    )
    return contents_data(contents, draw_contents(contents))


def draw_contents(contents: Contents) -> Scene | None:
    """The drawing of the graph, in which categories say how many levels they have."""
    types = [_few_words(record) for record in _types(contents)]
    edges = np.column_stack(contents.ends)
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
            else list(map(_worded, contents.audit.findings)),
            "variables": _variables(contents),
            "edges": edge_records(contents),
            "layout": None if drawing is None else _layout(drawing),
            "fit": None if contents.model is None else asdict(contents.model.fit),
            "bootstrap": bootstrap_record(contents),
            "posterior": posterior_record(contents),
            "price": _price(discovery),
            "comparison": _comparison(contents),
            "check": _check(contents.check),
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
    for record, kind in zip(records, _types(contents), strict=True):
        record.update(kind)
    model = contents.model
    if model is None:
        return records
    names = discovery.names
    columns = names if model.coding is None else model.coding.labels(names)
    nodes = {node.name: node for node in model.nodes}
    owners = range(len(names)) if model.coding is None else model.coding.owners.tolist()
    single = {v: nodes[column] for v, column in zip(owners, columns, strict=True)}
    for v, record in enumerate(records):
        several = owners.count(v) > 1
        for field in ("r_squared", "residual_variance", "intercept"):
            record[field] = None if several else getattr(single[v], field)
    return records


def _types(contents: Contents) -> list[dict[str, Any]]:
    """The type and the levels of each variable, as far as they are known."""
    names = contents.discovery.names
    types = {} if contents.audit is None else contents.audit.types
    coding = None if contents.model is None else contents.model.variables.coding
    records: list[dict[str, Any]] = [{"kind": types.get(name)} for name in names]
    if coding is not None:
        for record, variable in zip(records, coding.variables, strict=True):
            if variable.levels:
                record["kind"] = variable.kind
                record["levels"] = list(variable.levels)
    return records


def _layout(drawing: Scene) -> dict[str, Any]:
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


def _check(found: Check | None) -> dict[str, Any] | None:
    """The verdict, what was found in plain words, and the p-values."""
    if found is None:
        return None
    verdict, *words = found.summary().split("\n\n")
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


def _worded(finding: Finding) -> dict[str, Any]:
    """A finding whose message tells its cures."""
    return {**asdict(finding), "message": finding.worded()}
