// What is known of the variable, edge or pair that is chosen, and what can be done about it.

import { element, nameElement } from "../elements";
import { number, percent } from "../numbers";
import type { EffectView, GraphView, Pair, PairView, Settings } from "./api";
import { scatter } from "./charts";
import { button, type Change } from "./panels";

const same = (x: Pair, a: string, b: string) => x[0] === a && x[1] === b;
const joins = (x: Pair, a: string, b: string) => same(x, a, b) || same(x, b, a);

export function edgeActions(a: string, b: string, settings: Settings, change: Change): HTMLElement {
  const without = (pairs: Pair[]) => pairs.filter((pair) => !joins(pair, a, b));
  const forbid = (...pairs: Pair[]) => change({ forbidden: [...without(settings.forbidden), ...pairs], required: without(settings.required) });
  const require = (pair: Pair) => change({ required: [...without(settings.required), pair], forbidden: without(settings.forbidden) });
  const known = [...settings.forbidden, ...settings.required].some((pair) => joins(pair, a, b));
  return element(
    "div",
    { class: "actions" },
    button(`Require ${a} → ${b}`, () => require([a, b])),
    button(`Require ${b} → ${a}`, () => require([b, a])),
    button(`Forbid ${a} → ${b}`, () => forbid([a, b])),
    button("Forbid both", () => forbid([a, b], [b, a])),
    ...(known ? [button("Release", () => change({ forbidden: without(settings.forbidden), required: without(settings.required) }))] : []),
  );
}

export function edgeFacts(view: GraphView, [a, b]: Pair): Node[] {
  const edge = view.edges.find((record) => record.source === a && record.target === b);
  if (!edge) return [];
  const lean = view.leans.find(([x, y]) => (x === a && y === b) || (x === b && y === a));
  const rows: [string, string][] = [];
  if (edge.coefficient != null) rows.push(["Coefficient", `${number(edge.coefficient)} ± ${number(edge.standard_error)}`]);
  if (edge.standardized != null) rows.push(["Standardized", number(edge.standardized)]);
  if (edge.p_link !== undefined) {
    rows.push(["Probability of a link", percent(edge.p_link)]);
    rows.push([`${a} → ${b}`, percent(edge.p_arrow)], [`${b} → ${a}`, percent(edge.p_reverse)]);
  } else if (edge.false_rate !== undefined) rows.push(["Chance that the link is false", percent(edge.false_rate)]);
  if (lean) rows.push(["Leans", `${lean[0]} → ${lean[1]}, ${lean[2].toFixed(1)} to 1`]);
  return [facts(rows)];
}

export function pairDetails(view: PairView): Node[] {
  const parts: Node[] = view.why.map((text) => element("p", {}, text));
  parts.push(
    element("p", { class: "hint" }, `Correlation ${number(view.correlation)}${view.curve ? "; the relation bends: curve, with the line dashed" : ""}`),
    scatter(view, false),
    element("details", {}, element("summary", {}, view.curve ? "Residuals of the curve" : "Residuals of the line"), scatter(view, true)),
  );
  for (const effect of view.effects ?? []) parts.push(...effectPart(effect));
  return parts;
}

function effectPart(effect: EffectView): Node[] {
  const rows: [string, string][] = [];
  if (effect.estimate !== undefined && effect.paths.length) {
    const [low, high] = effect.interval ?? [null, null];
    rows.push(["Total effect", `${number(effect.estimate)} (${number(low)} to ${number(high)})`]);
  }
  if (effect.range) rows.push(["Over the class", `${number(effect.range[0])} to ${number(effect.range[1])}`]);
  if (effect.paths.length) rows.push(["Adjust for", effect.adjust === null ? "no set does" : effect.adjust.join(", ") || "nothing"]);
  const paths = effect.paths.map((path) => element("li", {}, path.join(" → ")));
  return [
    element("h3", {}, "Effect of ", nameElement(effect.cause), " on ", nameElement(effect.effect)),
    facts(rows),
    ...(paths.length ? [element("ul", { class: "plain" }, ...paths)] : [element("p", { class: "hint" }, "No directed path in the graph found.")]),
  ];
}

function facts(rows: [string, string][]): HTMLElement {
  return element("dl", { class: "facts" }, ...rows.flatMap(([key, value]) => [element("dt", {}, key), element("dd", {}, value)]));
}
