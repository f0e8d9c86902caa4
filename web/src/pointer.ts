// What the pointer is on, by its full name: labels may be short, small or left out.

import type cytoscape from "cytoscape";
import { type Graph, shares } from "./data";
import { byId, nameElement } from "./elements";
import { MARKS } from "./marks";
import { percent } from "./numbers";

const BESIDE = 14;

export function startPointer(cy: cytoscape.Core, graph: Graph): void {
  const pointed = byId("pointed");
  cy.on("mouseover", "node, edge", (event) => {
    const id = event.target.id() as string;
    const number = Number(id.slice(1));
    pointed.replaceChildren(
      ...(id[0] === "n" ? [nameElement(graph.name(number))] : edgeText(graph, number)),
    );
    pointed.hidden = false;
    place(cy, pointed, event.renderedPosition);
  });
  cy.on("mousemove", "node, edge", (event) => place(cy, pointed, event.renderedPosition));
  cy.on("mouseout", "node, edge", () => (pointed.hidden = true));
  cy.on("viewport grab", () => (pointed.hidden = true));
}

// Beside the pointer, on the side where there is more room.
function place(cy: cytoscape.Core, pointed: HTMLElement, { x, y }: cytoscape.Position): void {
  const left = x < cy.width() / 2;
  pointed.style.left = left ? `${x + BESIDE}px` : "auto";
  pointed.style.right = left ? "auto" : `${cy.width() - x + BESIDE}px`;
  pointed.style.top = `${Math.max(y - BESIDE, 4)}px`;
}

function edgeText(graph: Graph, e: number): (Node | string)[] {
  const { source, target, directed } = graph.links[e]!;
  const edge = graph.report.edges[e]!;
  const mark = edge.coin_toss && directed ? " →? " : ` ${MARKS[edge.type].symbol} `;
  const sure = shares(edge, graph.judge);
  const supports = sure ? ` · link ${percent(sure.link)}` : "";
  const direction = sure && directed ? `, arrow ${percent(sure.arrow)}` : "";
  return [
    nameElement(graph.name(source)),
    mark,
    nameElement(graph.name(target)),
    supports + direction,
  ];
}
