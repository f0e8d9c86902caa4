// The graph as DOT and CSV.

import type { Graph } from "./data";

export function dot(graph: Graph, shown: boolean[]): string {
  const ids = graph.report.variables.map((variable) => dotId(variable.name));
  const lines = ids.map((id) => `  ${id};`);
  graph.links.forEach(({ source, target, directed }, e) => {
    const look = directed ? "" : " [dir=none]";
    if (shown[e]) lines.push(`  ${ids[source]} -> ${ids[target]}${look};`);
  });
  return `digraph {\n${lines.join("\n")}\n}\n`;
}

// In DOT's strings \" is a quote and any other backslash stands for itself, so that an odd one
// before a quote, a line break or the end cannot be written and is doubled. Graphviz keeps names
// that begin with a percent sign for itself.
function dotId(name: string): string {
  const fit = name
    .replaceAll("\0", "\uFFFD")
    .replace(/(?<!\\)((?:\\\\)*)\\(?=["\r\n]|$)/g, "$1\\\\")
    .replace(/^%/, "_%");
  return `"${fit.replaceAll('"', '\\"')}"`;
}

const ENDS = ["source", "target", "type"] as const;
const STRENGTHS = ["strength", "false_rate"] as const;
const ESTIMATES = ["coefficient", "standard_error", "t", "p_value", "standardized"] as const;
const SUPPORTS = ["link", "arrow", "reverse", "undirected"] as const;
const PROBABILITIES = ["p_link", "p_arrow", "p_reverse", "p_undirected"] as const;

// The edges, and a line of its own for each variable that has none.
export function csv(graph: Graph, shown: boolean[]): string {
  const { edges, price, fit, bootstrap, posterior } = graph.report;
  const fields = [
    ...ENDS,
    ...(price ? STRENGTHS : []),
    ...(fit ? ESTIMATES : []),
    ...(bootstrap ? SUPPORTS : []),
    ...(posterior ? PROBABILITIES : []),
    ...(bootstrap || posterior ? (["coin_toss"] as const) : []),
  ];
  const rows = edges
    .filter((_, e) => shown[e])
    .map((edge) =>
      fields
        .map((field) => csvCell(NAMES.has(field) ? noFormula(String(edge[field])) : edge[field]))
        .join(","),
    );
  const blanks = ",".repeat(fields.length - 1);
  const alone = graph.report.variables
    .filter((_, v) => graph.incident[v]!.every(({ link }) => !shown[link]))
    .map(({ name }) => csvCell(noFormula(name)) + blanks);
  return [fields.join(","), ...rows, ...alone].join("\n") + "\n";
}

const NAMES: ReadonlySet<string> = new Set(["source", "target"]);

// A spreadsheet would compute a name such as =1+1; behind an apostrophe it is a text. The table is
// for people; the other downloads have the names as they are.
function noFormula(name: string): string {
  return /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
}

function csvCell(value: string | number | boolean | null | undefined): string {
  const text = value == null ? "" : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
