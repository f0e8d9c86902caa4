// The graph that follows every change: edges come, go and turn, and everything moves to its place.

import cytoscape from "cytoscape";
import { applyStyle, growths, relative } from "../canvas";
import type { Report } from "../data";
import { MARKS } from "../marks";
import { palette, shade } from "../theme";
import type { GraphView, OwnView, Pair } from "./api";

const MOVE = 260;
const HIGHLIGHT = 2600;
// More variables than this are shown one neighbourhood at a time.
const LARGE = 400;

export interface Chosen {
  variables: string[];
  edge: Pair | null;
}

export class Stage {
  readonly cy: cytoscape.Core;
  view: GraphView | null = null;
  private boxes = true;
  private places: Report["layout"] | null = null;
  private fitted = "";
  private moved = false;
  private chosen: Chosen = { variables: [], edge: null };

  constructor(
    container: HTMLElement,
    private readonly picked: (chosen: Chosen) => void,
  ) {
    this.cy = cytoscape({
      container,
      layout: { name: "preset" },
      minZoom: 0.02,
      maxZoom: 5,
      boxSelectionEnabled: false,
      autounselectify: true,
    });
    this.cy.on("tap", (event) => {
      if (event.target === this.cy) this.choose({ variables: [], edge: null });
      else if (event.target.isNode()) this.chooseVariable(event.target.data("name") as string);
      else this.choose({ variables: event.target.data("ends") as string[], edge: event.target.data("ends") as Pair });
    });
    this.restyle();
    new ResizeObserver(() => {
      this.cy.resize();
      if (!this.moved) this.fit();
    }).observe(container);
    // Once the reader has moved the view it is hers.
    this.cy.on("dragpan scrollzoom pinchzoom", () => (this.moved = true));
  }

  chooseVariable(name: string): void {
    this.focus(name);
    const { variables, edge } = this.chosen;
    const first = edge ? [] : variables;
    const together = first.length === 1 && first[0] !== name ? [first[0]!, name] : [name];
    this.choose({ variables: together, edge: null });
  }

  // Whether anything is chosen.
  get busy(): boolean {
    return this.chosen.variables.length > 0;
  }

  choose(chosen: Chosen): void {
    this.chosen = chosen;
    this.mark();
    this.picked(chosen);
  }

  private mark(): void {
    const { variables, edge } = this.chosen;
    this.cy.batch(() => {
      this.cy.elements().removeClass("selected");
      for (const name of variables) this.node(name).addClass(edge ? "" : "selected");
      if (edge) this.cy.getElementById(pairId(edge)).addClass("selected");
    });
  }

  node(name: string): cytoscape.CollectionReturnValue {
    return this.cy.getElementById(`n:${name}`);
  }

  // The new graph at once, where variables stand; `place` moves them afterwards.
  show(view: GraphView): void {
    this.view = view;
    const names = new Set(view.variables.map(({ name }) => name));
    const leans = new Map(view.leans.map(([a, b, odds]) => [pairId([a, b]), odds]));
    const fresh = new Set((view.changed.added ?? []).map(([a, , b]) => pairId([a!, b!])));
    const turned = new Set((view.changed.turned ?? []).map(([a, , b]) => pairId([a!, b!])));
    const largest = Math.max(...view.edges.map((edge) => Math.abs(edge.standardized ?? 0)), 0) || 1;
    this.cy.batch(() => {
      this.cy.nodes().filter((node) => !names.has(node.data("name") as string)).remove();
      view.variables.forEach(({ name }, v) => {
        if (this.node(name).empty()) this.cy.add(newNode(name, v, view.variables.length));
      });
      this.cy.edges().remove();
      for (const edge of view.edges) {
        const id = pairId([edge.source, edge.target]);
        const classes = [MARKS[edge.type].classes];
        if (leans.has(id)) classes.push("leaning");
        if (fresh.has(id)) classes.push("fresh");
        if (turned.has(id)) classes.push("turned");
        this.cy.add({
          group: "edges",
          data: {
            id,
            ends: [edge.source, edge.target],
            source: `n:${edge.source}`,
            target: `n:${edge.target}`,
            width: 1 + (3 * Math.abs(edge.standardized ?? largest / 4)) / largest,
            colour: "#888",
          },
          classes: classes.join(" "),
        });
      }
      for (const [a, , b] of view.changed.removed ?? []) {
        if (names.has(a!) && names.has(b!)) this.ghost([a!, b!], "removed");
      }
    });
    this.paint();
    this.mark();
    if (names.size > LARGE) this.focus(this.chosen.variables[0] ?? busiest(view));
    window.setTimeout(() => {
      this.cy.edges(".removed").remove();
      this.cy.edges().removeClass("fresh turned");
    }, HIGHLIGHT);
  }

  // Of a graph too large to be read, a variable and what is next to it, two steps far.
  private focus(name: string): void {
    if (!this.view || this.view.variables.length <= LARGE) return;
    const centre = this.node(name);
    const near = centre.closedNeighborhood().nodes();
    const kept = near.length > 25 ? near : near.closedNeighborhood().nodes();
    this.cy.batch(() => {
      this.cy.nodes().addClass("absent");
      kept.removeClass("absent");
    });
    const ring = (node: cytoscape.NodeSingular) => (node.same(centre) ? 3 : near.contains(node) ? 2 : 1);
    kept
      .union(kept.edgesWith(kept))
      .layout({ name: "concentric", concentric: ring, levelWidth: () => 1, minNodeSpacing: 26, fit: true, padding: 30 } as cytoscape.LayoutOptions)
      .run();
  }

  // The same graph, after something else was shown in its place.
  again(view: GraphView): void {
    this.show(view);
    this.place(this.places);
  }

  private ghost(ends: Pair, kind: string): void {
    this.cy.add({
      group: "edges",
      data: { id: `${kind}:${pairId(ends)}`, ends, source: `n:${ends[0]}`, target: `n:${ends[1]}`, width: 2, colour: palette().negative },
      classes: `ghost ${kind}`,
    });
  }

  // Everything to its place, smoothly.
  place(layout: Report["layout"] | null): void {
    if (!layout || !this.view || this.view.variables.length > LARGE) return;
    this.places = layout;
    this.boxes = layout.boxes;
    const room = layout.boxes ? growths(layout.nodes) : layout.nodes.map(() => 1);
    const known = this.view.variables.map(({ name }) => name).join("\n");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || this.fitted !== known;
    this.view.variables.forEach(({ name }, v) => {
      const [x, y, width, height] = layout.nodes[v]!;
      const node = this.node(name);
      node.data({ label: layout.labels[v], width: layout.boxes ? width : height, height, room: room[v] });
      if (still) node.position({ x, y });
      else node.animate({ position: { x, y } }, { duration: MOVE, easing: "ease-in-out" });
    });
    this.bend(layout);
    this.fitted = known;
    if (!this.moved) this.fit();
    this.restyle();
  }

  // Edges around the nodes in their way, as shares of the way between their ends.
  private bend({ nodes, bends }: Report["layout"]): void {
    const { edges, variables } = this.view!;
    const at = new Map(variables.map(({ name }, v) => [name, nodes[v]!]));
    edges.forEach((edge, e) => {
      const points = bends[e] ?? [];
      const turns = points.map((point) => relative(at.get(edge.source)!, at.get(edge.target)!, point));
      const drawn = this.cy.getElementById(pairId([edge.source, edge.target]));
      drawn.data({ weights: turns.map(([weight]) => weight), distances: turns.map(([, distance]) => distance) });
      drawn.toggleClass("bent", turns.length > 0);
    });
  }

  fitAll(): void {
    this.moved = false;
    this.fit();
  }

  private fit(): void {
    const { places } = this;
    if (places) {
      // Where the nodes will stand, not where they are on their way.
      const xs = places.nodes.map(([x, , w]) => [x - w / 2, x + w / 2]).flat();
      const ys = places.nodes.map(([, y, , h]) => [y - h / 2, y + h / 2]).flat();
      const box = { x1: Math.min(...xs), x2: Math.max(...xs), y1: Math.min(...ys), y2: Math.max(...ys) };
      const [w, h] = [box.x2 - box.x1 + 60, box.y2 - box.y1 + 60];
      const zoom = Math.min(this.cy.width() / w, this.cy.height() / h, 1.8);
      this.cy.viewport({
        zoom,
        pan: {
          x: this.cy.width() / 2 - (zoom * (box.x1 + box.x2)) / 2,
          y: this.cy.height() / 2 - (zoom * (box.y1 + box.y2)) / 2,
        },
      });
    } else this.cy.fit(undefined, 30);
  }

  paint(): void {
    const colours = palette();
    this.cy.batch(() => {
      for (const edge of this.view?.edges ?? []) {
        const drawn = this.cy.getElementById(pairId([edge.source, edge.target]));
        const sure = edge.p_link;
        const colour =
          sure !== undefined
            ? shade(colours.support, sure)
            : (edge.standardized ?? 0) >= 0
              ? colours.positive
              : colours.negative;
        drawn.data("colour", colour);
        drawn.toggleClass("weak", (sure ?? 1 - (edge.false_rate ?? 0)) < 0.5);
      }
    });
  }

  restyle(): void {
    const colours = palette();
    applyStyle(this.cy, this.boxes, colours);
    this.paint();
    this.cy
      .style()
      .selector("edge.fresh, edge.turned")
      .style({ "underlay-color": colours.accent, "underlay-opacity": 0.28, "underlay-padding": 5 })
      .selector("edge.ghost")
      .style({ "line-style": "dotted", "line-color": "data(colour)", opacity: 0.75, "target-arrow-shape": "none" })
      .selector("edge.unneeded")
      .style({ "line-color": cssColour("retyped"), "target-arrow-color": cssColour("retyped"), "line-style": "dashed" })
      .update();
  }

  // Edges that only this graph has, those that only the other one has, and those that differ.
  differences({ added, removed, turned }: { added: string[][]; removed: string[][]; turned: string[][] }): void {
    const [only, other] = [added, turned].map((edges) => new Set(edges.map(([a, , b]) => pairId([a!, b!]))));
    this.cy.batch(() => {
      this.cy.edges(".ghost").remove();
      this.cy.edges().forEach((edge) => {
        edge.toggleClass("fresh", only!.has(edge.id()));
        edge.toggleClass("turned", other!.has(edge.id()));
      });
      const here = (name: string) => this.cy.getElementById(`n:${name}`).length > 0;
      for (const [a, , b] of removed) if (here(a!) && here(b!)) this.ghost([a!, b!], "elsewhere");
    });
  }

  // What the data say against a graph that is being drawn.
  judge(own: OwnView | null, edges: Pair[]): void {
    this.cy.batch(() => {
      this.cy.edges().remove();
      for (const ends of edges) {
        const needless = own?.unneeded.some(([a, b]) => a === ends[0] && b === ends[1]);
        this.cy.add({
          group: "edges",
          data: { id: pairId(ends), ends, source: `n:${ends[0]}`, target: `n:${ends[1]}`, width: 2, colour: palette().edge },
          classes: `directed own ${needless ? "unneeded" : ""}`,
        });
      }
      for (const { first, second } of own?.unexplained ?? []) this.ghost([first, second], "unexplained");
    });
  }
}

export function pairId(ends: readonly string[]): string {
  return [...ends].sort().join("\u0000");
}

function busiest(view: GraphView): string {
  const degree = (v: GraphView["variables"][number]) => v.parents + v.children + v.undirected;
  return view.variables.reduce((most, v) => (degree(v) > degree(most) ? v : most)).name;
}

function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function newNode(name: string, v: number, n: number): cytoscape.ElementDefinition {
  const turn = (2 * Math.PI * v) / n;
  return {
    group: "nodes",
    data: { id: `n:${name}`, name, label: name, width: 60, height: 26, room: 1 },
    position: { x: 40 * n ** 0.7 * Math.cos(turn), y: 40 * n ** 0.7 * Math.sin(turn) },
  };
}
