// What is known of the variable or edge that is selected.

import { type Graph, shares, type Shares } from "./data";
import { element, nameElement, quietButton } from "./elements";
import { MARKS } from "./marks";
import { count, number, percent, pValue } from "./numbers";
import type { Related, Relation } from "./relations";

const MOST_LISTED = 60;

const HEADINGS: Record<Relation, string> = {
  neighbours: "Causes and effects",
  ancestors: "Ancestors",
  descendants: "Descendants",
  boundary: "Markov boundary",
};

const DIRECTED = {
  data: "The data fix this direction: every graph that fits equally well has it.",
  you: "What you said beforehand fixes this direction.",
  conditions: "A condition that touched one of the two and not the other fixes this direction.",
};

export interface Actions {
  selectVariable(v: number): void;
  selectEdge(e: number): void;
}

export function emptyDetails(): Node[] {
  return [
    element("p", { class: "hint" }, "Click a variable or an edge, or pick one in the tables."),
  ];
}

export function variableDetails(
  graph: Graph,
  v: number,
  shown: boolean[],
  relation: Relation,
  found: Related,
  actions: Actions,
): Node[] {
  const record = graph.report.variables[v]!;
  const parts: Node[] = [element("h3", {}, nameElement(record.name))];
  const rows: [string, string][] = [["Place in the order", String(record.place)]];
  if (graph.report.fit) {
    rows.push(["R²", number(record.r_squared)]);
    rows.push(["Residual variance", number(record.residual_variance)]);
  }
  parts.push(pairs(rows));
  if (relation !== "neighbours") parts.push(...relatives(graph, relation, found, actions));
  const links = graph.incident[v]!.filter(({ link }) => shown[link]);
  parts.push(element("h4", {}, `Edges (${links.length})`));
  parts.push(
    list(
      links.map(({ link }) => edgeButton(graph, link, actions)),
      links.length,
    ),
  );
  return parts;
}

function relatives(graph: Graph, relation: Relation, found: Related, actions: Actions): Node[] {
  const members = [...found.roles].sort(([a], [b]) => a - b);
  const possible = members.filter(([, role]) => role === "possible").length;
  const parts: Node[] = [element("h4", {}, `${HEADINGS[relation]} (${members.length})`)];
  if (possible) {
    const path = `${possible} of them only by a path with an undirected edge (dashed border)`;
    parts.push(element("p", { class: "hint" }, path));
  }
  const buttons = members
    .slice(0, MOST_LISTED)
    .map(([u]) => quietButton(() => actions.selectVariable(u), nameElement(graph.name(u))));
  parts.push(list(buttons, members.length));
  return parts;
}

export function edgeDetails(graph: Graph, e: number, actions: Actions): Node[] {
  const edge = graph.report.edges[e]!;
  const { source, target, directed } = graph.links[e]!;
  const variable = (v: number) =>
    quietButton(() => actions.selectVariable(v), nameElement(graph.name(v)));
  const parts: Node[] = [
    element("h3", {}, variable(source), ` ${MARKS[edge.type].symbol} `, variable(target)),
    element(
      "p",
      { class: "hint" },
      directed
        ? DIRECTED[edge.directed_by ?? "data"]
        : MARKS[edge.type].meaning,
    ),
  ];
  const { posterior, bootstrap } = graph.report;
  if (posterior) {
    parts.push(...meters("Probability", shares(edge, "posterior")!));
    const effect = posterior.effects.find(
      (record) => record.cause === edge.source && record.effect === edge.target,
    );
    if (effect) {
      parts.push(
        pairs([
          ["Any effect", percent(effect.probability)],
          ["Total effect, median", number(effect.median)],
          ["90 % interval", `${number(effect.low)} to ${number(effect.high)}`],
        ]),
      );
    }
  }
  if (bootstrap) {
    const resamples = count(bootstrap.n_resamples, "resample");
    const support = shares(edge, "bootstrap")!;
    // One measure of doubt is enough; why another one differs is said beside it.
    if (!posterior) parts.push(...meters(`Support in ${resamples}`, support));
    else {
      const text =
        `In ${percent(support.link)} of ${resamples}: each has fewer rows than the table, so ` +
        "that this is usually lower than the probability.";
      parts.push(element("p", { class: "hint" }, text));
    }
  }
  if (edge.coin_toss) {
    parts.push(element("p", { class: "toss-note" }, "The direction is not settled."));
  }
  if (!posterior && !bootstrap && edge.link_doubt != null) {
    parts.push(pairs([["Chance that there is no such link", percent(edge.link_doubt)]]));
    if (directed && edge.arrow_doubt != null) {
      parts.push(pairs([["Chance that the arrow is wrong", percent(edge.arrow_doubt)]]));
    }
  }
  if (edge.strength !== undefined) parts.push(pairs([["Strength", number(edge.strength)]]));
  if (graph.report.fit && edge.contrasts) {
    parts.push(
      element("h4", {}, "Coefficients"),
      pairs([
        ...edge.contrasts.map(({ source, target, coefficient }): [string, string] => [
          `${source} → ${target}`,
          number(coefficient),
        ]),
        ["p of all", pValue(edge.p_value)],
      ]),
    );
  } else if (graph.report.fit) {
    parts.push(
      pairs([
        ["Coefficient", number(edge.coefficient)],
        ["Standard error", number(edge.standard_error)],
        ["t", number(edge.t)],
        ["p", pValue(edge.p_value)],
        ["Standardized", number(edge.standardized)],
      ]),
    );
    if (!directed) {
      const text = "The coefficient holds if the first of the two is the cause.";
      parts.push(element("p", { class: "hint" }, text));
    }
  }
  return parts;
}

function meters(heading: string, sure: Shares): HTMLElement[] {
  return [
    element("h4", {}, heading),
    element(
      "div",
      { class: "bar-chart" },
      meter("link", sure.link),
      meter("arrow →", sure.arrow),
      meter("reverse ←", sure.reverse),
      meter("undirected —", sure.undirected),
    ),
  ];
}

function edgeButton(graph: Graph, e: number, actions: Actions): HTMLElement {
  const { source, target, directed } = graph.links[e]!;
  const { standardized: slope, coin_toss: toss, type } = graph.report.edges[e]!;
  return quietButton(
    () => actions.selectEdge(e),
    nameElement(graph.name(source)),
    toss && directed ? " →? " : ` ${MARKS[type].symbol} `,
    nameElement(graph.name(target)),
    slope == null ? "" : ` (${slope.toFixed(2)})`,
  );
}

function list(items: HTMLElement[], total: number): HTMLElement {
  if (!total) return element("p", { class: "hint" }, "None.");
  const rows = items.slice(0, MOST_LISTED).map((item) => element("li", {}, item));
  if (total > rows.length) rows.push(element("li", {}, `and ${total - rows.length} more`));
  return element("ul", {}, ...rows);
}

function pairs(rows: [string, string][]): HTMLElement {
  const cells = rows.flatMap(([key, value]) => [
    element("dt", {}, key),
    element("dd", {}, value),
  ]);
  return element("dl", {}, ...cells);
}

function meter(label: string, share: number): HTMLElement {
  const bar = element("b");
  bar.style.width = `${100 * share}%`;
  return element(
    "div",
    { class: "meter" },
    element("span", {}, label),
    element("i", {}, bar),
    element("span", {}, percent(share)),
  );
}
