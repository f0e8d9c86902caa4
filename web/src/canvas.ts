// The graph on its canvas: positions from the page's data, looks from the theme.

import cytoscape from "cytoscape";
import { type Graph, type Judge, type Report, shares } from "./data";
import { MARKS } from "./marks";
import { type Palette, shade } from "./theme";

export type Colouring = "sign" | "link" | "arrow" | "reason" | "plain";

const FONT_SIZE = 13;
// The share of resamples, or the probability, below which a link is faint.
const WEAK = 0.5;
const MANY_NODES = 400;
const MANY_EDGES = 800;

export function createCanvas(container: HTMLElement, graph: Graph): cytoscape.Core {
  const many = graph.size > MANY_NODES || graph.links.length > MANY_EDGES;
  return cytoscape({
    container,
    elements: [...nodes(graph), ...edges(graph)],
    layout: { name: "preset", fit: false },
    minZoom: 0.02,
    maxZoom: 6,
    boxSelectionEnabled: false,
    autounselectify: true,
    // While the view moves, a large graph is a picture of itself.
    textureOnViewport: many,
    hideEdgesOnViewport: false,
    pixelRatio: many ? 1 : "auto",
  });
}

function nodes(graph: Graph): cytoscape.ElementDefinition[] {
  const { boxes, labels, nodes: places } = graph.report.layout;
  const room = boxes ? growths(places) : [];
  return places.map(([x, y, width, height], v) => ({
    group: "nodes",
    data: { id: `n${v}`, label: labels[v], width: boxes ? width : height, height, room: room[v] },
    position: { x, y },
  }));
}

function edges(graph: Graph): cytoscape.ElementDefinition[] {
  const { nodes: places, bends } = graph.report.layout;
  return graph.links.map(({ source, target }, e) => {
    const points = bends[e]!;
    const turns = points.map((point) => relative(places[source]!, places[target]!, point));
    return {
      group: "edges",
      data: {
        id: `e${e}`,
        source: `n${source}`,
        target: `n${target}`,
        weights: turns.map(([weight]) => weight),
        distances: turns.map(([, distance]) => distance),
      },
      classes: [
        MARKS[graph.report.edges[e]!.type].classes,
        turns.length ? "bent" : "",
        graph.report.edges[e]!.coin_toss ? "toss" : "",
      ].join(" "),
    };
  });
}

// A point by its share of the way between two nodes and its distance from the straight line, so
// that a bend follows when a node is dragged.
export function relative(from: number[], to: number[], [x, y]: [number, number]): [number, number] {
  const [dx, dy] = [to[0]! - from[0]!, to[1]! - from[1]!];
  const square = dx * dx + dy * dy || 1;
  const [px, py] = [x - from[0]!, y - from[1]!];
  return [(px * dx + py * dy) / square, (py * dx - px * dy) / Math.sqrt(square)];
}

export function paintEdges(
  cy: cytoscape.Core,
  graph: Graph,
  colouring: Colouring,
  judge: Judge,
  palette: Palette,
): void {
  const sizes = graph.report.edges.map((edge) => Math.abs(edge.standardized ?? 0));
  const largest = Math.max(...sizes, 0) || 1;
  cy.batch(() => {
    graph.report.edges.forEach((edge, e) => {
      const sure = shares(edge, judge);
      let colour = palette.edge;
      if (colouring === "sign" && !edge.contrasts) {
        colour = (edge.standardized ?? 0) >= 0 ? palette.positive : palette.negative;
      } else if (colouring === "reason" && edge.reason) {
        colour = palette.reasons[edge.reason];
      } else if (colouring === "link") {
        colour = shade(palette.support, sure?.link ?? 0);
      } else if (colouring === "arrow" && edge.type === "-->") {
        colour = shade(palette.support, sure?.arrow ?? 0);
      }
      const weak = (sure?.link ?? 1) < WEAK;
      const size = graph.report.fit ? 1 + (3 * sizes[e]!) / largest : 1.4;
      // Where colour shows how sure an edge is, width does too.
      const known = colouring === "arrow" ? sure?.arrow : sure?.link;
      const width = colouring === "link" || colouring === "arrow" ? 1 + 3 * (known ?? 0) : size;
      cy.getElementById(`e${e}`).data({ colour, width }).toggleClass("weak", weak);
    });
  });
}

export interface Magnification {
  lines: number;
  dots: number;
  // The font size that can be read at this zoom.
  names: number;
}

// How much larger than life lines and dots are drawn, so that they can be seen from afar.
export function magnification(zoom: number): Magnification {
  const step = 2 ** (Math.round(2 * Math.log2(zoom)) / 2);
  return { lines: clamp(0.5 / step, 1, 8), dots: clamp(0.22 / step, 1, 3), names: 11 / step };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

// In pixels on the screen; the zoom is known to within a fifth of itself.
const SMALLEST_TEXT = 11;
const LARGEST_GROWTH = 6;

// By how much each box can grow, together with all others, before two of them touch.
export function growths(places: Report["layout"]["nodes"]): number[] {
  const room = places.map(() => LARGEST_GROWTH);
  places.forEach(([x, y, width, height], v) => {
    for (let u = 0; u < v; u++) {
      const [x2, y2, width2, height2] = places[u]!;
      const across = (2 * Math.abs(x - x2)) / (width + width2);
      const along = (2 * Math.abs(y - y2)) / (height + height2);
      const most = 0.97 * Math.max(across, along);
      room[v] = Math.min(room[v]!, most);
      room[u] = Math.min(room[u]!, most);
    }
  });
  return room.map((most) => Math.max(most, 1));
}

export function applyStyle(cy: cytoscape.Core, boxes: boolean, palette: Palette): void {
  const { fontFamily } = getComputedStyle(document.body);
  const { lines, dots, names } = magnification(cy.zoom());
  // Seen from afar, boxes and their labels grow until they can be read, as far as there is room.
  const wanted = Math.max((SMALLEST_TEXT * names) / (11 * FONT_SIZE), 1);
  const grown = (node: cytoscape.NodeSingular) => Math.min(wanted, node.data("room") as number);
  const side =
    (key: string, times = 1) =>
    (node: cytoscape.NodeSingular) =>
      (node.data(key) as number) * (boxes ? grown(node) : dots) * times;
  const text: Record<string, unknown> = boxes
    ? {
        "font-size": (node: cytoscape.NodeSingular) => FONT_SIZE * grown(node),
        "text-valign": "center",
        "min-zoomed-font-size": 5,
      }
    : {
        "font-size": 6,
        "text-valign": "bottom",
        "text-margin-y": 1.5,
        "min-zoomed-font-size": 7,
        // A rim, so that lines behind the label do not strike it through.
        "text-outline-color": palette.surface,
        "text-outline-width": 1,
      };
  const styles = [
    {
      selector: "node",
      style: {
        shape: boxes ? "round-rectangle" : "ellipse",
        width: side("width"),
        height: side("height"),
        label: "data(label)",
        "text-wrap": "wrap",
        "font-family": fontFamily,
        color: palette.ink,
        "background-color": boxes ? palette.node : palette.edge,
        "border-width": boxes ? 1 : 0,
        "border-color": palette.outline,
        "overlay-opacity": 0,
        ...text,
      },
    },
    {
      selector: "edge",
      style: {
        width: (edge: cytoscape.EdgeSingular) => (edge.data("width") as number) * lines,
        "line-color": "data(colour)",
        "target-arrow-color": "data(colour)",
        "target-arrow-shape": "none",
        "arrow-scale": 0.9 / Math.sqrt(lines),
        "curve-style": "straight",
        "line-opacity": boxes ? 1 : 0.7,
        "overlay-opacity": 0,
      },
    },
    {
      selector: "edge.bent",
      style: {
        "curve-style": "round-segments",
        "segment-weights": "data(weights)",
        "segment-distances": "data(distances)",
        "segment-radii": 30,
        "edge-distances": "node-position",
      },
    },
    { selector: "edge.directed, edge.head-ahead", style: { "target-arrow-shape": "triangle" } },
    {
      selector: "edge.head-behind",
      style: { "source-arrow-shape": "triangle", "source-arrow-color": "data(colour)" },
    },
    {
      selector: "edge.circle-ahead",
      style: { "target-arrow-shape": "circle", "target-arrow-fill": "hollow" },
    },
    {
      selector: "edge.circle-behind",
      style: {
        "source-arrow-shape": "circle",
        "source-arrow-fill": "hollow",
        "source-arrow-color": "data(colour)",
      },
    },
    { selector: "edge.toss", style: { "target-arrow-fill": "hollow" } },
    {
      selector: "edge.undirected",
      style: { "line-style": "dashed", "line-dash-pattern": [6, 4] },
    },
    { selector: "edge.weak", style: { opacity: 0.35 } },
    { selector: ".absent", style: { display: "none" } },
    { selector: "node.dim", style: { opacity: 0.28 } },
    { selector: "edge.dim", style: { opacity: 0.1 } },
    {
      selector: "node.match",
      style: { "border-width": 3, "border-color": palette.accent, opacity: 1 },
    },
    {
      selector: "node.sure, node.possible",
      style: {
        "background-color": boxes ? palette.wash : palette.accent,
        "border-width": 2.5 * lines,
        "border-color": palette.accent,
      },
    },
    {
      selector: "node.possible",
      style: {
        "border-style": "dashed",
        "border-width": 2 * lines,
        "background-color": palette.wash,
      },
    },
    {
      selector: "node.selected",
      style: {
        "background-color": palette.accent,
        "border-color": palette.accent,
        color: boxes ? palette.accentInk : palette.ink,
        "underlay-color": palette.accent,
        "underlay-opacity": 0.3,
        "underlay-shape": boxes ? "round-rectangle" : "ellipse",
        "underlay-padding": (boxes ? 6 : 8) * dots,
      },
    },
    {
      selector: "node.named",
      style: {
        "z-index": 10,
        "min-zoomed-font-size": 0,
        ...(boxes ? {} : { "font-size": Math.max(6, names) }),
        "text-margin-y": boxes ? 0 : 0.3 * names,
        "text-background-color": palette.surface,
        "text-background-opacity": boxes ? 0 : 0.85,
        "text-background-padding": boxes ? 0 : 0.2 * names,
        width: side("width", boxes ? 1 : 2),
        height: side("height", boxes ? 1 : 2),
      },
    },
    {
      selector: "edge.lit",
      style: boxes
        ? {}
        : {
            width: (edge: cytoscape.EdgeSingular) => (edge.data("width") as number) * 1.5 * lines,
            "line-opacity": 1,
            "z-index": 9,
          },
    },
    {
      selector: "edge.selected",
      style: {
        opacity: 1,
        "line-opacity": 1,
        "underlay-color": palette.accent,
        "underlay-opacity": 0.25,
        "underlay-padding": 5 * lines,
      },
    },
  ];
  cy.style(styles as cytoscape.StylesheetJson);
}
