// The graph as it lies on the canvas, as a drawing in SVG: all that is shown, whatever is selected.

import type cytoscape from "cytoscape";
import type { Graph } from "./data";
import type { Palette } from "./theme";

const NAMESPACE = "http://www.w3.org/2000/svg";
const MARGIN = 20;
const CORNER = 30;

type Point = { x: number; y: number };

export function svg(cy: cytoscape.Core, graph: Graph, palette: Palette): string {
  const box = cy.elements().not(".absent").boundingBox({ includeOverlays: false });
  const width = Math.ceil(box.w + 2 * MARGIN);
  const height = Math.ceil(box.h + 2 * MARGIN);
  const root = make("svg", {
    viewBox: `${round(box.x1 - MARGIN)} ${round(box.y1 - MARGIN)} ${width} ${height}`,
    width,
    height,
    "font-family": "sans-serif",
  });
  root.append(
    make("rect", {
      x: round(box.x1 - MARGIN),
      y: round(box.y1 - MARGIN),
      width,
      height,
      fill: palette.surface,
    }),
  );
  cy.edges().not(".absent").forEach((edge) => root.append(edgeGroup(edge, palette)));
  cy.nodes().not(".absent").forEach((node) => {
    root.append(nodeGroup(node, graph, palette));
  });
  return `${new XMLSerializer().serializeToString(root)}\n`;
}

function edgeGroup(edge: cytoscape.EdgeSingular, palette: Palette): SVGElement {
  const colour = edge.data("colour") as string;
  const width = edge.data("width") as number;
  const bends = edge.hasClass("bent") ? (edge.segmentPoints() ?? []) : [];
  const points = [edge.sourceEndpoint(), ...bends, edge.targetEndpoint()];
  const group = make("g", {});
  const tip = points[points.length - 1]!;
  if (edge.hasClass("directed")) {
    const before = points[points.length - 2]!;
    const length = 8 + 1.5 * width;
    const base = towards(tip, before, length);
    const side = { x: ((base.y - tip.y) / length) * 0.4, y: ((tip.x - base.x) / length) * 0.4 };
    const corners = [
      tip,
      { x: base.x + side.x * length, y: base.y + side.y * length },
      { x: base.x - side.x * length, y: base.y - side.y * length },
    ];
    points[points.length - 1] = towards(tip, before, 0.8 * length);
    group.append(
      make("polygon", {
        points: corners.map(pair).join(" "),
        fill: edge.hasClass("toss") ? palette.surface : colour,
        stroke: colour,
      }),
    );
  }
  const line = make("path", {
    d: path(points),
    fill: "none",
    stroke: colour,
    "stroke-width": round(width),
  });
  if (edge.hasClass("undirected")) line.setAttribute("stroke-dasharray", "6 4");
  group.prepend(line);
  return group;
}

// A line whose corners are rounded.
function path(points: Point[]): string {
  let text = `M${pair(points[0]!)}`;
  for (let k = 1; k < points.length - 1; k++) {
    const at = points[k]!;
    const enter = towards(at, points[k - 1]!, CORNER);
    const leave = towards(at, points[k + 1]!, CORNER);
    text += `L${pair(enter)}Q${pair(at)} ${pair(leave)}`;
  }
  return `${text}L${pair(points[points.length - 1]!)}`;
}

// So far from one point towards another, but no further than halfway.
function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const share = Math.min(distance / length, 0.5);
  return { x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) };
}

function nodeGroup(node: cytoscape.NodeSingular, graph: Graph, palette: Palette): SVGElement {
  const { boxes, labels } = graph.report.layout;
  const v = Number(node.id().slice(1));
  const { x, y } = node.position();
  const [width, height] = [node.data("width") as number, node.data("height") as number];
  const look = { fill: palette.node, stroke: palette.outline };
  const group = make("g", {});
  const title = make("title", {});
  title.textContent = printable(graph.name(v));
  const shape = boxes
    ? make("rect", { x: round(x - width / 2), y: round(y - height / 2), width, height, rx: 8, ...look })
    : make("circle", { cx: round(x), cy: round(y), r: height / 2, ...look });
  group.append(title, shape);
  const size = boxes ? 13 : 6;
  const lines = labels[v]!.split("\n");
  const middle = boxes ? y : y + height / 2 + size;
  lines.forEach((line, k) => {
    const text = make("text", {
      x: round(x),
      y: round(middle + (k - (lines.length - 1) / 2) * 1.2 * size),
      "text-anchor": "middle",
      "dominant-baseline": "central",
      "font-size": size,
      fill: palette.ink,
    });
    text.textContent = printable(line);
    group.append(text);
  });
  return group;
}

function make(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

// Without the characters that XML has no way to write.
function printable(text: string): string {
  return text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

function pair({ x, y }: Point): string {
  return `${round(x)},${round(y)}`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
