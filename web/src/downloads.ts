// Files that the reader takes away.

import type cytoscape from "cytoscape";
import type { Graph } from "./data";
import { svg } from "./svg";
import { csv, dot } from "./texts";
import { palette } from "./theme";

const LARGEST_PICTURE = 5000;

export function startDownloads(
  cy: cytoscape.Core,
  graph: Graph,
  embedded: string,
  shown: () => boolean[],
): void {
  const makers: Record<string, [string, () => Blob | Promise<Blob>]> = {
    svg: ["graph.svg", () => unmarked(cy, () => text(svg(cy, graph, palette()), "image/svg+xml"))],
    png: ["graph.png", () => unmarked(cy, () => png(cy))],
    dot: ["graph.dot", () => text(dot(graph, shown()), "text/vnd.graphviz")],
    csv: ["graph.edges.csv", () => text(csv(graph, shown()), "text/csv")],
    json: ["report.json", () => text(embedded, "application/json")],
  };
  for (const button of document.querySelectorAll<HTMLElement>("[data-download]")) {
    const [name, make] = makers[button.dataset.download!]!;
    button.addEventListener("click", async () => save(await make(), name));
  }
}

function text(content: string, type: string): Blob {
  return new Blob([content], { type: `${type};charset=utf-8` });
}

// Without the marks of the selection, which fade everything else.
const MARKS = ["selected", "sure", "possible", "lit", "dim", "named", "match"];

async function unmarked(cy: cytoscape.Core, make: () => Blob | Promise<Blob>): Promise<Blob> {
  const marked = MARKS.map((mark) => [mark, cy.elements(`.${mark}`)] as const);
  cy.elements().removeClass(MARKS.join(" "));
  try {
    return await make();
  } finally {
    cy.batch(() => marked.forEach(([mark, elements]) => elements.addClass(mark)));
  }
}

async function png(cy: cytoscape.Core): Promise<Blob> {
  const { w, h } = cy.elements().not(".absent").boundingBox({ includeOverlays: false });
  return cy.png({
    output: "blob-promise",
    full: true,
    scale: Math.min(2, LARGEST_PICTURE / Math.max(w, h)),
    bg: palette().surface,
  }) as unknown as Promise<Blob>;
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
