// The graph and its controls: what is shown, what is selected, and what follows from that.

import type cytoscape from "cytoscape";
import { applyStyle, type Colouring, createCanvas, magnification, paintEdges } from "./canvas";
import { type Graph, type Judge, shares } from "./data";
import { edgeDetails, emptyDetails, variableDetails } from "./details";
import { byId, optional } from "./elements";
import { count } from "./numbers";
import { related, type Relation } from "./relations";
import type { Table } from "./tables";
import { startPointer } from "./pointer";
import { palette } from "./theme";

const LARGEST_FIT = 1.8;
// More edges than this are a tangle: at first only so many of the surest or largest are shown.
const MOST_EDGES = 150;
const SHOWN_AT_FIRST = 75;
// On a phone a graph of more variables than this begins with what is around one of them.
const FEW_ON_A_PHONE = 12;
// More names than this beside one another cannot be read.
const MOST_NAMED = 40;
// Milliseconds without a change of the zoom after which lines are drawn for the new one.
const PAUSE = 150;

export type Selection = { kind: "variable" | "edge"; number: number } | null;

export class Workbench {
  readonly cy: cytoscape.Core;
  shown: boolean[];
  selection: Selection = null;
  private thinned = false;
  private readonly container = byId("canvas");
  private readonly details = byId("details");
  private readonly relation = byId<HTMLSelectElement>("relation");
  private readonly colour = optional<HTMLSelectElement>("colour");
  private readonly judge = optional<HTMLSelectElement>("judge");
  private readonly link = optional<HTMLInputElement>("least-link");
  private readonly arrow = optional<HTMLInputElement>("least-arrow");
  private readonly mostFalse = optional<HTMLInputElement>("most-false");
  private readonly coefficient = optional<HTMLInputElement>("least-coefficient");
  private readonly hideIsolated = byId<HTMLInputElement>("hide-isolated");

  constructor(
    readonly graph: Graph,
    private readonly tables: Map<string, Table>,
  ) {
    this.shown = graph.links.map(() => true);
    this.thinOut();
    // What is above the graph takes the room that it takes; the graph gets the rest of the window.
    const above = Math.ceil(this.container.getBoundingClientRect().top + window.scrollY) + 16;
    document.documentElement.style.setProperty("--above", `${above}px`);
    this.cy = createCanvas(this.container, graph);
    // What fits depends on the sizes of things, and the widths of lines on what fits.
    this.restyle();
    this.fit();
    this.restyle();
    this.listen();
    this.filter();
    // The page may settle after this: until the reader moves the view, it shows the whole graph.
    let moved = false;
    this.cy.on("dragpan pinchzoom scrollzoom grab", () => (moved = true));
    byId("zoom-in").parentElement!.addEventListener("click", () => (moved = true));
    new ResizeObserver(() => {
      this.cy.resize();
      if (!moved && !this.selection) this.fit();
    }).observe(this.container);
    this.cy.resize();
    this.fit();
    this.beginNearby();
  }

  // On a narrow screen: the variable with the most edges and what is beside it, large enough to read.
  private beginNearby(): void {
    const { boxes, nodes } = this.graph.report.layout;
    if (!boxes || nodes.length <= FEW_ON_A_PHONE || !matchMedia("(max-width: 40rem)").matches) return;
    const busiest = this.cy.nodes().max((node) => node.connectedEdges().not(".absent").length).ele;
    this.select({ kind: "variable", number: Number(busiest.id().slice(1)) });
    this.fitTo(busiest.closedNeighborhood().not(".absent"), 16);
  }

  // Colours again, after the theme or what they show has changed.
  restyle(): void {
    const colours = palette();
    paintEdges(this.cy, this.graph, this.colouring(), this.by(), colours);
    applyStyle(this.cy, this.graph.report.layout.boxes, colours);
    for (const key of document.querySelectorAll<HTMLElement>("li[class^=by-]")) {
      key.hidden = !key.classList.contains(`by-${this.colouring()}`);
    }
  }

  select(selection: Selection): void {
    this.selection = selection;
    this.refresh();
  }

  // Bring the selection into view: among dots with what is named beside it, if that is anything.
  reveal(): void {
    if (!this.selection) return;
    const { boxes } = this.graph.report.layout;
    const named = this.cy.nodes(".named");
    if (!boxes && named.length > 1) {
      this.fitTo(named, 90);
      return;
    }
    const id = (this.selection.kind === "variable" ? "n" : "e") + this.selection.number;
    const chosen = this.cy.getElementById(id);
    const box = chosen.renderedBoundingBox({ includeOverlays: false });
    const [width, height] = [this.cy.width(), this.cy.height()];
    const inside = box.x1 > 0 && box.y1 > 0 && box.x2 < width && box.y2 < height;
    const readable = this.cy.zoom() >= (boxes ? 0.6 : 1.6);
    if (inside && readable) return;
    if (!readable) this.cy.zoom(boxes ? 0.6 : 1.6);
    this.cy.center(chosen);
  }

  zoomBy(factor: number): void {
    const centre = { x: this.cy.width() / 2, y: this.cy.height() / 2 };
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: centre });
  }

  fit(): void {
    this.fitTo(this.cy.elements().not(".absent"), 24);
  }

  private fitTo(visible: cytoscape.CollectionArgument, padding: number): void {
    this.cy.fit(visible, padding);
    // A graph of few variables need not fill the window.
    if (this.cy.zoom() > LARGEST_FIT) {
      this.cy.zoom(LARGEST_FIT);
      this.cy.center(visible);
    }
  }

  private colouring(): Colouring {
    if (this.colour) return this.colour.value as Colouring;
    if (this.graph.report.edges.some((edge) => edge.reason !== undefined)) return "reason";
    if (this.graph.report.fit) return "sign";
    return this.graph.report.bootstrap || this.graph.report.posterior ? "link" : "plain";
  }

  private by(): Judge {
    return this.judge ? (this.judge.value as Judge) : this.graph.judge;
  }

  private listen(): void {
    this.cy.on("tap", (event) => {
      const touched = (event.originalEvent?.type ?? "").startsWith("touch");
      if (!touched) this.container.focus({ preventScroll: true });
      if (event.target === this.cy) this.select(null);
      else {
        const id = event.target.id() as string;
        this.select({ kind: id[0] === "n" ? "variable" : "edge", number: Number(id.slice(1)) });
        // Where the details are below the graph, they come into view.
        if (matchMedia("(max-width: 60rem)").matches) {
          this.details.scrollIntoView({ block: "nearest" });
        }
      }
    });
    startPointer(this.cy, this.graph);
    let drawnFor = magnification(this.cy.zoom());
    let timer = 0;
    this.cy.on("zoom", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const now = magnification(this.cy.zoom());
        if (now.names === drawnFor.names) return;
        drawnFor = now;
        this.restyle();
      }, PAUSE);
    });
    // The wheel scrolls the page past the graph, unless the reader has turned to the graph. This is
    // settled on the way down to the container, where the graph library listens.
    this.container.parentElement!.addEventListener(
      "wheel",
      (event) => {
        const turned = document.activeElement === this.container;
        this.cy.userZoomingEnabled(turned || event.ctrlKey || event.metaKey);
      },
      { capture: true, passive: true },
    );
    for (const slider of this.sliders()) {
      slider.addEventListener("input", () => this.filter());
    }
    if (this.coefficient) this.setLargest();
    this.hideIsolated.addEventListener("change", () => this.filter());
    this.relation.addEventListener("change", () => this.refresh());
    this.colour?.addEventListener("change", () => this.restyle());
    this.judge?.addEventListener("change", () => {
      this.restyle();
      this.filter();
    });
    byId("zoom-in").addEventListener("click", () => this.zoomBy(1.4));
    byId("zoom-out").addEventListener("click", () => this.zoomBy(1 / 1.4));
    byId("fit-view").addEventListener("click", () => this.fit());
    byId("reset").addEventListener("click", () => this.reset());
  }

  private sliders(): HTMLInputElement[] {
    return [this.link, this.arrow, this.mostFalse, this.coefficient].filter((slider) => slider !== null);
  }

  private reset(): void {
    for (const slider of this.sliders()) slider.value = slider.defaultValue;
    this.hideIsolated.checked = false;
    const find = byId<HTMLInputElement>("find");
    find.value = "";
    find.dispatchEvent(new Event("input"));
    this.selection = null;
    this.cy.batch(() => {
      this.graph.report.layout.nodes.forEach(([x, y], v) => {
        this.cy.getElementById(`n${v}`).position({ x, y });
      });
    });
    this.filter();
    this.fit();
  }

  // Move a slider so far that no more edges are left than can be told apart.
  private thinOut(): void {
    const { edges } = this.graph.report;
    if (edges.length <= MOST_EDGES) return;
    const slider = this.link ?? this.coefficient;
    if (!slider) return;
    const sizes = edges.map((edge) =>
      this.link ? 100 * (shares(edge, this.by())?.link ?? 1) : Math.abs(edge.standardized ?? Infinity),
    );
    if (this.coefficient) this.setLargest();
    const step = Number(slider.step);
    const least = sizes.sort((a, b) => b - a)[SHOWN_AT_FIRST]!;
    const value = Math.min((Math.floor(least / step) + 1) * step, Number(slider.max));
    slider.defaultValue = slider.value = String(Number(value.toFixed(2)));
    this.thinned = true;
    byId<HTMLDetailsElement>("filters").open = true;
  }

  private setLargest(): void {
    const sizes = this.graph.report.edges.map((edge) => Math.abs(edge.standardized ?? 0));
    this.coefficient!.max = (Math.ceil(100 * Math.max(...sizes, 0.01)) / 100).toFixed(2);
  }

  // Which edges pass the sliders, and which variables are left.
  private filter(): void {
    const least = (slider: HTMLInputElement | null) => Number(slider?.value ?? 0) / 100;
    const [link, arrow] = [least(this.link), least(this.arrow)];
    const mostFalse = Number(this.mostFalse?.value ?? 100) / 100;
    const coefficient = Number(this.coefficient?.value ?? 0);
    this.shown = this.graph.report.edges.map((edge) => {
      const sure = shares(edge, this.by());
      return (
        (sure?.link ?? 1) >= link &&
        // An edge without direction has no arrow to doubt.
        (edge.type === "---" || (sure?.arrow ?? 1) >= arrow) &&
        (edge.link_doubt ?? 0) <= mostFalse &&
        Math.abs(edge.standardized ?? Infinity) >= coefficient
      );
    });
    for (const slider of [this.link, this.arrow, this.mostFalse]) {
      if (slider) byId(`${slider.id}-value`).textContent = `${slider.value} %`;
    }
    if (this.coefficient) {
      byId("least-coefficient-value").textContent = coefficient.toFixed(2);
    }
    const isolated = this.graph.incident.map((links) => links.every(({ link }) => !this.shown[link]));
    this.cy.batch(() => {
      this.shown.forEach((shown, e) => {
        this.cy.getElementById(`e${e}`).toggleClass("absent", !shown);
      });
      isolated.forEach((alone, v) => {
        this.cy.getElementById(`n${v}`).toggleClass("absent", alone && this.hideIsolated.checked);
      });
    });
    const left = this.shown.filter(Boolean).length;
    const why = this.thinned && left < this.shown.length ? "; move the sliders to see the others" : "";
    byId("shown").textContent =
      `${left.toLocaleString("en")} of ${count(this.shown.length, "edge")} shown${why}`;
    this.refresh();
  }

  private refresh(): void {
    const { selection, graph } = this;
    const chosen = (kind: string) => (selection?.kind === kind ? selection.number : null);
    const [v, e] = [chosen("variable"), chosen("edge")];
    const relation = this.relation.value as Relation;
    const found = v === null ? null : related(graph, this.shown, v, relation);
    const ends = e === null ? null : graph.links[e]!;
    this.cy.batch(() => {
      this.cy.elements().removeClass("selected sure possible lit dim named");
      if (found) {
        graph.links.forEach((_, link) => {
          this.cy.getElementById(`e${link}`).addClass(found.links.has(link) ? "lit" : "dim");
        });
      }
      if (found || ends) {
        graph.report.variables.forEach((_, u) => {
          const role = found?.roles.get(u);
          const near = role ?? (ends && (ends.source === u || ends.target === u) ? "sure" : null);
          const kind = u === v ? "selected" : (near ?? (found ? "dim" : ""));
          if (!kind) return;
          const names = kind !== "dim" && (u === v || !found || found.roles.size <= MOST_NAMED);
          this.cy.getElementById(`n${u}`).addClass(names ? `${kind} named` : kind);
        });
      }
      if (e !== null) this.cy.getElementById(`e${e}`).addClass("selected");
    });
    this.tables.get("variables")?.mark(v);
    this.tables.get("edges")?.mark(e);
    const actions = {
      selectVariable: (u: number) => this.follow({ kind: "variable", number: u }),
      selectEdge: (link: number) => this.follow({ kind: "edge", number: link }),
    };
    this.details.replaceChildren(
      ...(v !== null
        ? variableDetails(graph, v, this.shown, relation, found!, actions)
        : e !== null
          ? edgeDetails(graph, e, actions)
          : emptyDetails()),
    );
    this.details.scrollTop = 0;
  }

  // A step from within the details, whose button is gone afterwards: the focus stays with them.
  private follow(selection: Selection): void {
    this.select(selection);
    this.reveal();
    this.details.focus({ preventScroll: true });
  }
}
