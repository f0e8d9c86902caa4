// qwo studio: every change is sent, searched and shown; the newest one counts.

import { byId, element, nameElement, quietButton } from "../elements";
import { count, number } from "../numbers";
import { startTheme } from "../theme";
import { ask, type DataView, type Doubt, type OwnView, type Pair, type PairView, Refused, type Settings, type State, type Step, upload } from "./api";
import { edgeActions, edgeFacts, pairDetails } from "./pair";
import { button, dataPanel, knowledgePanel, searchPanel } from "./panels";
import { type Chosen, Stage } from "./stage";

type Panel = "data" | "knowledge" | "search" | "draw" | "compare";
// Milliseconds of quiet after which the slower answers are asked for.
const QUIET = 700;
const MOST_LISTED = 300;

class Studio {
  private state: State = { files: [], runs: {}, extras: [] };
  private run = "";
  private step: Step | null = null;
  private data: DataView | null = null;
  private panel: Panel = "data";
  private drawing = false;
  private own: Pair[] = [];
  private ownView: OwnView | null = null;
  private asked = 0;
  private quiet = 0;
  private pending: Settings | null = null;
  private readonly stage: Stage;

  constructor() {
    this.stage = new Stage(byId("canvas"), (chosen) => void this.guarded(() => this.picked(chosen)));
    startTheme(() => this.stage.restyle());
    const tabs = byId("panels").querySelectorAll<HTMLButtonElement>("[role=tab]");
    tabs.forEach((tab, k) => {
      tab.addEventListener("click", () => this.open(tab.dataset.panel as Panel));
      tab.addEventListener("keydown", (event) => {
        const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (by) {
          const next = tabs[(k + by + tabs.length) % tabs.length]!;
          next.focus();
          next.click();
        }
      });
    });
    byId("undo").addEventListener("click", () => void this.move("undo"));
    byId("redo").addEventListener("click", () => void this.move("redo"));
    byId("fit").addEventListener("click", () => this.stage.fitAll());
    byId("save").addEventListener("click", () => void this.guarded(() => this.save()));
    byId("reproduce").addEventListener("click", () => this.reproduce());
    byId("close-dialog").addEventListener("click", () => byId<HTMLDialogElement>("dialog").close());
    byId<HTMLInputElement>("file").addEventListener("change", (event) => {
      void this.take((event.target as HTMLInputElement).files);
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer?.files.length) void this.take(event.dataTransfer.files);
    });
    byId<HTMLSelectElement>("find-variable").addEventListener("change", (event) => {
      const { value } = event.target as HTMLSelectElement;
      if (value) this.stage.chooseVariable(value);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || (event.target as Element).matches("input, select, textarea")) return;
    if (event.key === "z") void this.move(event.shiftKey ? "redo" : "undo");
    else if (event.key === "y") void this.move("redo");
    else return;
    event.preventDefault();
  }

  async start(): Promise<void> {
    this.state = await ask<State>("state");
    const first = Object.keys(this.state.runs)[0];
    this.tabs();
    if (first) await this.switchTo(first);
    else this.say("Drop a file onto this page, or open one.");
  }

  private async take(files: FileList | null): Promise<void> {
    await this.guarded(async () => {
      for (const file of files ?? []) {
        this.say(`Reading ${file.name} …`);
        const name = await upload(file);
        const { run } = await ask<{ run: string }>("new", { file: name });
        this.state = await ask<State>("state");
        await this.switchTo(run);
      }
    });
  }

  private async switchTo(run: string): Promise<void> {
    this.run = run;
    this.drawing = false;
    this.data = null;
    this.step = null;
    this.pending = null;
    delete document.body.dataset.settled;
    this.stage.cy.elements().remove();
    this.tabs();
    this.data = await ask<DataView>("data", { run });
    this.panels();
    await this.arrive(await ask<Step>("jump", { run, to: this.state.runs[run]?.at ?? 0 }));
  }

  // One change after the other: while one is on its way, only the newest waits.
  change = (change: Partial<Settings>): void => {
    if (!this.step) return;
    const settings = { ...(this.pending ?? this.step.settings), ...change };
    this.step = { ...this.step, settings };
    const slow = "drop" in change || "types" in change || "transform" in change || "missing" in change;
    this.pending = settings;
    this.asked += 1;
    const mine = this.asked;
    byId("status").classList.add("busy");
    void this.guarded(async () => {
      const step = await ask<Step>("change", { run: this.run, settings });
      if (step.superseded || mine !== this.asked) return;
      this.pending = null;
      if (slow) this.data = await ask<DataView>("data", { run: this.run });
      await this.arrive(step);
    });
    if (!("penalty" in change)) this.panels();
  };

  private async move(which: "undo" | "redo"): Promise<void> {
    if (!this.run) return;
    this.asked += 1;
    this.pending = null;
    await this.guarded(async () => {
      const step = await ask<Step>(which, { run: this.run });
      this.data = await ask<DataView>("data", { run: this.run });
      await this.arrive(step);
    });
  }

  private async arrive(step: Step): Promise<void> {
    if (step.superseded) return;
    this.step = step;
    byId("status").classList.remove("busy");
    byId<HTMLButtonElement>("undo").disabled = step.at === 0;
    byId<HTMLButtonElement>("redo").disabled = step.at + 1 >= step.steps;
    const { graph } = step;
    byId("notes").replaceChildren();
    if (step.unsaved) this.note("warning", step.unsaved);
    if (!graph) {
      this.note("error", step.error ?? "There is no graph.");
      this.say("No graph: see the note.");
    } else {
      if (!this.drawing) {
        this.stage.show(graph);
        if (!this.stage.busy) this.edgeList();
      }
      this.tell();
    }
    const active = document.activeElement?.id;
    this.panels();
    if (active) document.getElementById(active)?.focus();
    this.names();
    if (!graph) return;
    const mine = this.asked;
    const { layout } = await ask<{ layout: Parameters<Stage["place"]>[0] }>("layout", { run: this.run });
    if (mine !== this.asked || this.drawing) return;
    this.stage.place(layout);
    document.body.dataset.settled = String(step.at);
    window.clearTimeout(this.quiet);
    this.quiet = window.setTimeout(() => void this.guarded(() => this.doubt(mine)), QUIET);
  }

  private tell(): void {
    const graph = this.step!.graph!;
    const { n_edges, n_directed, n_samples } = graph.summary;
    const rows = n_samples == null ? "" : ` from ${count(n_samples, "row")}`;
    this.say(`${count(graph.variables.length, "variable")}, ${count(n_edges, "edge")} (${n_directed} directed)${rows}; searched in ${Math.max(1, Math.round(1000 * graph.seconds))} ms`);
    for (const note of graph.notes) this.note(note.level, note.text);
    for (const text of graph.readings) byId("notes").append(element("pre", {}, text));
    if (graph.weak_edges.length) {
      const listed = graph.weak_edges.slice(0, 6).map(({ source, target }) => `${source} – ${target}`);
      this.note("info", `Left out as more likely false than true: ${listed.join(", ")}`);
    }
  }

  private async doubt(mine: number): Promise<void> {
    const graph = this.step?.graph;
    if (!graph || graph.variables.length > 60) return;
    const found = await ask<Doubt>("doubt", { run: this.run });
    if (mine !== this.asked || this.step?.graph !== graph) return;
    graph.edges = found.edges;
    graph.posterior = found.posterior;
    this.stage.paint();
    if (found.check) this.note(found.check.alarm ? "warning" : "info", found.check.verdict);
    document.body.dataset.doubted = String(this.step.at);
  }

  private open(panel: Panel): void {
    this.panel = panel;
    const was = this.drawing;
    this.drawing = panel === "draw";
    if (this.drawing) {
      this.stage.choose({ variables: [], edge: null });
      byId("details").replaceChildren();
      this.own = this.step?.own ?? [];
      void this.guarded(() => this.judge());
    } else if (was && this.step?.graph) this.stage.again({ ...this.step.graph, changed: {} });
    this.panels();
  }

  private panels(): void {
    for (const tab of byId("panels").querySelectorAll<HTMLElement>("[role=tab]")) {
      const on = tab.dataset.panel === this.panel;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    const { step } = this;
    if (!step) return;
    const names = this.data?.columns.map(({ name }) => name) ?? [];
    const chosen = (step.graph as { price?: { taken?: number } } | null)?.price?.taken ?? null;
    const made: Record<Panel, () => Node[]> = {
      data: () => (this.data ? dataPanel(this.data, step.settings, this.change) : []),
      knowledge: () => knowledgePanel(names, step.settings, this.change),
      search: () => searchPanel(names, this.state.extras, step.settings, chosen, this.change),
      draw: () => this.drawPanel(),
      compare: () => this.comparePanel(),
    };
    const body = byId("panel");
    // While a slider is held, its panel stays as it is.
    if (this.panel === "search" && body.querySelector("#penalty") === document.activeElement) return;
    body.replaceChildren(...made[this.panel]());
  }

  private drawPanel(): Node[] {
    const { own, ownView } = this;
    const found = (this.step?.graph?.edges ?? []).filter((edge) => edge.type === "-->" || edge.type === "---");
    const parts: Node[] = [
      element("p", { class: "hint" }, "Click a cause, then its effect, to draw an arrow; click an arrow to remove it. Dotted lines are associations that your graph does not explain; dashed arrows the data do not need."),
      element(
        "div",
        { class: "actions" },
        button("Start from the graph found", () => this.redraw(found.map(({ source, target }) => [source, target]))),
        button("Clear", () => this.redraw([])),
        button("Complete the rest for me", () => {
          this.open("knowledge");
          this.change({ required: this.own });
        }),
      ),
    ];
    if (ownView) {
      const { rmsea, cfi, p_value, rmsea_interval: [low, high] } = ownView.fit;
      parts.push(
        element("p", { id: "own-fit" }, `${count(own.length, "arrow")}; score ${ownView.score.toFixed(1)} (found: ${this.step?.graph?.summary.score?.toFixed(1) ?? "–"}); RMSEA ${number(rmsea)} (${number(low)} to ${number(high)}), CFI ${number(cfi)}, p ${number(p_value)}`),
        element("p", {}, `${count(ownView.unexplained.length, "association")} not explained, ${count(ownView.unneeded.length, "arrow")} not needed.`),
        element("ul", { class: "plain" }, ...ownView.wanted.map(([kind, a, b, gain]) => element("li", {}, `${kind} ${a} → ${b}: score + ${gain.toFixed(1)}`))),
      );
    }
    parts.push(element("ul", { class: "plain" }, ...own.map(([a, b]) => element("li", {}, nameElement(a), " → ", nameElement(b)))));
    return parts;
  }

  private redraw(edges: Pair[]): void {
    this.own = edges;
    void this.guarded(() => this.judge());
  }

  private async judge(): Promise<void> {
    this.stage.judge(null, this.own);
    this.ownView = await ask<OwnView>("own", { run: this.run, edges: this.own });
    // Another panel may be open by now: a drawing is kept all the same.
    if (this.step) this.step.own = this.own;
    if (this.drawing) this.stage.judge(this.ownView, this.own);
    if (this.drawing || this.panel === "compare") this.panels();
    if (this.ownView.unsaved) this.note("warning", this.ownView.unsaved);
  }

  private comparePanel(): Node[] {
    const others = Object.keys(this.state.runs).filter((name) => name !== this.run);
    const drawn = this.step?.own.length ?? 0;
    const hint = others.length || drawn ? "Compare this run with:" : "Open another file, or the same one again, to compare two runs; or draw a graph of your own.";
    return [
      element("p", { class: "hint" }, hint),
      ...(drawn ? [button("the graph that I have drawn", () => void this.guarded(() => this.compareWith(null)))] : []),
      ...others.map((name) => button(name, () => void this.guarded(() => this.compareWith(name)))),
      button("Another run on this file", () => void this.another()),
      element("div", { id: "differences" }),
    ];
  }

  private async another(): Promise<void> {
    await this.guarded(async () => {
      const { run } = await ask<{ run: string }>("new", { file: this.state.runs[this.run]!.file });
      this.state = await ask<State>("state");
      await this.switchTo(run);
    });
  }

  private async compareWith(name: string | null): Promise<void> {
    const told = await ask<{ changed: { added: string[][]; removed: string[][]; turned: string[][] }; comparison: Record<string, unknown> }>("compare", { ...(name === null ? {} : { first: name }), second: this.run });
    const list = (title: string, edges: string[][]) => [
      element("h2", {}, `${title} (${edges.length})`),
      element("ul", { class: "plain" }, ...edges.map((edge) => element("li", {}, edge.join(" ")))),
    ];
    byId("differences").replaceChildren(
      element("p", {}, `Structural Hamming distance: ${String(told.comparison.shd_cpdag)}`),
      ...list(name === null ? "Only in the graph found" : "Only here", told.changed.added),
      ...list(name === null ? "Only in your drawing" : `Only in ${name}`, told.changed.removed),
      ...list(name === null ? "Another direction" : "Another mark", told.changed.turned),
    );
    this.stage.differences(told.changed);
  }

  private async picked({ variables, edge }: Chosen): Promise<void> {
    const body = byId("details");
    const { step } = this;
    if (!step?.graph) return;
    if (this.drawing) return this.drawn(variables, edge);
    if (!variables.length) return this.edgeList();
    const [a, b] = variables as [string, string?];
    if (b === undefined) {
      const { settings } = step;
      const rooted = settings.roots.includes(a);
      body.replaceChildren(
        element("h2", {}, nameElement(a)),
        element("p", { class: "hint" }, "Click another variable to see the two together."),
        element(
          "div",
          { class: "actions" },
          rooted
            ? button("Something may cause it", () => this.change({ roots: settings.roots.filter((v) => v !== a) }))
            : button("Nothing causes it", () => this.change({ roots: [...settings.roots, a] })),
          button("Leave it out", () => this.change({ drop: [...settings.drop, a] })),
        ),
      );
      return;
    }
    const mark = edge ? (step.graph.edges.find((e) => e.source === a && e.target === b)?.type ?? "") : "and";
    const heading = element("h2", {}, nameElement(a), ` ${mark} `, nameElement(b));
    body.replaceChildren(heading, ...(edge ? edgeFacts(step.graph, edge) : []), edgeActions(a, b, step.settings, this.change));
    const view = await ask<PairView>("pair", { run: this.run, first: a, second: b });
    if (body.firstChild === heading) body.append(...pairDetails(view));
  }

  // All edges, for those who would rather read or use the keyboard.
  private edgeList(): void {
    const edges = this.step?.graph?.edges ?? [];
    const rows = edges.slice(0, MOST_LISTED).map(({ source, type, target }) => {
      const choose = () => this.stage.choose({ variables: [source, target], edge: [source, target] });
      return element("li", {}, quietButton(choose, nameElement(source), ` ${type} `, nameElement(target)));
    });
    byId("details").replaceChildren(
      element("p", { class: "hint" }, "Click an edge, or two variables one after the other."),
      element("h2", {}, count(edges.length, "edge")),
      element("ul", { class: "plain" }, ...rows),
      ...(edges.length > rows.length ? [element("p", { class: "hint" }, `and ${edges.length - rows.length} more`)] : []),
    );
  }

  private drawn(variables: string[], edge: Pair | null): void {
    if (edge) {
      this.stage.choose({ variables: [], edge: null });
      if (this.own.some(([a, b]) => a === edge[0] && b === edge[1])) {
        this.redraw(this.own.filter(([a, b]) => a !== edge[0] || b !== edge[1]));
      }
    } else if (variables.length === 2) {
      const [a, b] = variables as Pair;
      this.stage.choose({ variables: [], edge: null });
      this.redraw([...this.own.filter((pair) => !(pair.includes(a) && pair.includes(b))), [a, b]]);
    }
  }

  private async save(): Promise<void> {
    this.say("Writing …");
    const { folder } = await ask<{ folder: string }>("save", { run: this.run, name: `${this.run.replace(/[^\w -]/g, "_")}-result` });
    this.say(`Wrote ${folder}, as qwo learn does; open its report.html.`);
  }

  private reproduce(): void {
    const graph = this.step?.graph;
    if (!graph) return;
    byId("dialog-text").replaceChildren(
      element("h2", {}, "On the command line"),
      element("pre", {}, graph.reproduce.command),
      element("h2", {}, "In Python"),
      element("pre", {}, graph.reproduce.python),
    );
    byId<HTMLDialogElement>("dialog").showModal();
  }

  private tabs(): void {
    const runs = Object.keys(this.state.runs).map((name) => {
      const made = button(name, () => void this.guarded(() => this.switchTo(name)));
      made.setAttribute("aria-pressed", String(name === this.run));
      return made;
    });
    byId("runs").replaceChildren(...runs);
  }

  private names(): void {
    const names = this.step?.graph?.variables.map(({ name }) => name) ?? [];
    byId("find-variable").replaceChildren(element("option", { value: "" }, "Choose a variable"), ...names.map((name) => element("option", { value: name }, name)));
  }

  private say(text: string): void {
    byId("status").textContent = text;
  }

  private note(level: string, text: string): void {
    byId("notes").append(element("p", { class: `note ${level}` }, text));
  }

  private async guarded(action: () => Promise<void> | void): Promise<void> {
    try {
      await action();
    } catch (error) {
      byId("status").classList.remove("busy");
      if (!(error instanceof Refused)) throw error;
      this.note("error", error.message);
      this.say("That did not work: see the note.");
    }
  }
}

void new Studio().start().catch((error: unknown) => {
  byId("status").textContent = error instanceof Error ? error.message : String(error);
});
