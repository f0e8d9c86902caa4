// The panels on the left: data, what is known, how to search.

import { element, nameElement } from "../elements";
import type { DataView, Fix, Pair, Settings } from "./api";
import { distribution } from "./charts";

export type Change = (change: Partial<Settings>) => void;

const TYPES = ["", "continuous", "ordinal", "nominal", "binary"];
const TRANSFORMS = ["", "log", "log1p", "rank-normal", "standardise"];

export function dataPanel(view: DataView, settings: Settings, change: Change): Node[] {
  const parts: Node[] = [];
  if (view.error) parts.push(element("p", { class: "note error" }, view.error));
  for (const finding of view.findings) {
    const fixes = finding.fixes.map((fix) => button(fix.label, () => change(merged(settings, fix))));
    parts.push(
      element("div", { class: `note ${finding.severity}` }, element("p", {}, finding.message), element("div", { class: "fixes" }, ...fixes)),
    );
  }
  if (view.columns.some((column) => column.missing) || settings.missing !== "raise") {
    parts.push(
      labelled("Missing values", select(["raise", "drop", "em"], settings.missing, (missing) => change({ missing }), {
        raise: "refuse",
        drop: "leave their rows out",
        em: "use all that is there (EM)",
      })),
    );
  }
  parts.push(element("p", { class: "hint" }, `${view.n_rows.toLocaleString("en")} rows`));
  const kept = view.columns.map((column) => columnRow(column, settings, change));
  const gone = settings.drop.map((name) =>
    element("li", { class: "column" }, check(`take ${name}`, false, () => change({ drop: settings.drop.filter((v) => v !== name) })), nameElement(name)),
  );
  parts.push(element("ul", { class: "columns" }, ...kept, ...gone));
  return parts;
}

function columnRow(column: DataView["columns"][number], settings: Settings, change: Change): HTMLElement {
  const { name } = column;
  const set = (field: "types" | "transform") => (value: string) => {
    const { [name]: _, ...others } = settings[field];
    change({ [field]: value ? { ...others, [name]: value } : others });
  };
  return element(
    "li",
    { class: "column" },
    check(`take ${name}`, true, () => change({ drop: [...settings.drop, name] })),
    nameElement(name),
    distribution(column),
    select(TYPES, settings.types[name] ?? "", set("types"), { "": column.type ?? "type" }, `type of ${name}`),
    select(TRANSFORMS, settings.transform[name] ?? "", set("transform"), { "": "as it is" }, `transformation of ${name}`),
    ...(column.missing ? [element("span", { class: "hint" }, `${column.missing} missing`)] : []),
  );
}

// A fix comes to what is settled already.
export function merged(settings: Settings, { change }: Fix): Partial<Settings> {
  return {
    ...change,
    ...(change.drop ? { drop: [...new Set([...settings.drop, ...change.drop])] } : {}),
    ...(change.extras ? { extras: { ...settings.extras, ...change.extras } } : {}),
    ...(change.roots ? { roots: [...new Set([...settings.roots, ...change.roots])] } : {}),
    ...(change.types ? { types: { ...settings.types, ...change.types } } : {}),
    ...(change.transform ? { transform: { ...settings.transform, ...change.transform } } : {}),
  };
}

export function knowledgePanel(names: string[], settings: Settings, change: Change): Node[] {
  const tiers = settings.tiers.length ? settings.tiers : [[], []];
  const placed = new Set(tiers.flat());
  const free = names.filter((name) => !placed.has(name));
  const move = (name: string, to: number | null) => {
    const next = tiers.map((tier) => tier.filter((v) => v !== name));
    if (to !== null) next[to]!.push(name);
    change({ tiers: next.some((tier) => tier.length) ? next : [] });
  };
  const columns = [
    tierColumn("Anywhere", free, null, tiers.length, move),
    ...tiers.map((tier, t) => tierColumn(`Tier ${t + 1}`, tier, t, tiers.length, move)),
  ];
  const more = button("Add a tier", () => change({ tiers: [...tiers, []] }));
  return [
    element("p", { class: "hint" }, "Drag variables into tiers, or move them with the arrows: nothing in a later tier causes anything in an earlier one."),
    element("div", { class: "tiers" }, ...columns),
    more,
    ...edgeList("Forbidden", settings.forbidden, (forbidden) => change({ forbidden })),
    ...edgeList("Required", settings.required, (required) => change({ required })),
    ...nameList("Nothing causes", settings.roots, (roots) => change({ roots })),
    ...nameList("Causes nothing", settings.leaves, (leaves) => change({ leaves })),
  ];
}

function tierColumn(title: string, names: string[], at: number | null, n: number, move: (name: string, to: number | null) => void): HTMLElement {
  const items = names.map((name) => {
    const item = element("li", { draggable: "true" }, nameElement(name));
    item.addEventListener("dragstart", (event) => event.dataTransfer!.setData("text/plain", name));
    const earlier = at === null ? null : at - 1;
    const later = at === null ? 0 : at + 1;
    if (at !== null) item.append(button("←", () => move(name, earlier! < 0 ? null : earlier), `move ${name} to the left`));
    if (later < n) item.append(button("→", () => move(name, later), `move ${name} to the right`));
    return item;
  });
  const column = element("section", { class: "tier", "aria-label": title }, element("h2", {}, title), element("ul", {}, ...items));
  column.addEventListener("dragover", (event) => event.preventDefault());
  column.addEventListener("drop", (event) => {
    event.preventDefault();
    const name = event.dataTransfer!.getData("text/plain");
    if (name) move(name, at);
  });
  return column;
}

function edgeList(title: string, pairs: Pair[], set: (pairs: Pair[]) => void): Node[] {
  if (!pairs.length) return [];
  const rows = pairs.map(([a, b], k) =>
    element("li", {}, nameElement(a), " → ", nameElement(b), button("release", () => set(pairs.filter((_, j) => j !== k)), `release ${a} → ${b}`)),
  );
  return [element("h2", {}, title), element("ul", { class: "plain" }, ...rows)];
}

function nameList(title: string, names: string[], set: (names: string[]) => void): Node[] {
  if (!names.length) return [];
  const rows = names.map((name) =>
    element("li", {}, nameElement(name), button("release", () => set(names.filter((v) => v !== name)), `release ${name}`)),
  );
  return [element("h2", {}, title), element("ul", { class: "plain" }, ...rows)];
}

const EXTRAS: Record<string, { label: string; choices?: string[]; column?: boolean; number?: string }> = {
  regime: { label: "Conditions (a column)", column: true },
  lags: { label: "Earlier rows as causes (lags)", choices: ["", "auto", "1", "2", "3", "4", "5"] },
  time: { label: "Time (a column)", column: true },
  unit: { label: "Unit of a panel (a column)", column: true },
  relations: { label: "Relations", choices: ["", "curved"] },
  arrows: { label: "Arrows from the noise", choices: ["", "noise"] },
  hidden_causes: { label: "Hidden causes are possible" },
  feedback: { label: "Feedback is possible" },
};

export function searchPanel(names: string[], offered: string[], settings: Settings, chosen: number | null, change: Change): Node[] {
  const auto = settings.penalty === "auto";
  const value = auto ? (chosen ?? 2) : Number(settings.penalty);
  const slider = element("input", { id: "penalty", type: "range", min: "0.2", max: "10", step: "0.1", value: String(value), "aria-label": "Penalty of an edge" });
  const shown = element("output", { for: "penalty" }, value.toFixed(1));
  const chosenBox = check("chosen from the data", auto, (on) => change({ penalty: on ? "auto" : value }));
  slider.addEventListener("input", () => {
    shown.textContent = Number(slider.value).toFixed(1);
    chosenBox.checked = false;
    change({ penalty: Number(slider.value) });
  });
  const parts: Node[] = [
    element("h2", {}, "Penalty of an edge"),
    element("div", { class: "slider" }, slider, shown, element("span", { class: "hint" }, "log N")),
    element("label", {}, chosenBox, " chosen from the data"),
  ];
  const set = (name: string) => (given: unknown) => {
    const { [name]: _, ...others } = settings.extras;
    change({ extras: given ? { ...others, [name]: given } : others });
  };
  if (offered.length) parts.push(element("h2", {}, "Assumptions to drop"));
  for (const name of offered) {
    const kind = EXTRAS[name];
    if (!kind) continue;
    const now = settings.extras[name];
    if (kind.choices || kind.column) {
      const choices = kind.choices ?? ["", ...names];
      const whole = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);
      parts.push(labelled(kind.label, select(choices, String(now ?? ""), (text) => set(name)(whole(text)), { "": "–" })));
    } else parts.push(element("label", { class: "row" }, check(kind.label, Boolean(now), set(name)), ` ${kind.label}`));
  }
  return parts;
}

export function button(text: string, action: () => void, label = ""): HTMLButtonElement {
  const made = element("button", { type: "button", ...(label ? { "aria-label": label } : {}) }, text);
  made.addEventListener("click", action);
  return made;
}

function check(label: string, on: boolean, changed: (on: boolean) => void): HTMLInputElement {
  const made = element("input", { type: "checkbox", "aria-label": label });
  made.checked = on;
  made.addEventListener("change", () => changed(made.checked));
  return made;
}

function select(choices: string[], now: string, changed: (value: string) => void, words: Record<string, string> = {}, label = ""): HTMLSelectElement {
  const all = choices.includes(now) ? choices : [...choices, now];
  const made = element("select", label ? { "aria-label": label } : {}, ...all.map((value) => element("option", { value }, words[value] ?? value)));
  made.value = now;
  made.addEventListener("change", () => changed(made.value));
  return made;
}

function labelled(text: string, control: HTMLElement): HTMLElement {
  return element("label", { class: "row" }, `${text} `, control);
}
