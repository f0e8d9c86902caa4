// The graph without a mouse.

import type { Workbench } from "./workbench";

const STEP = 60;

export function startKeyboard(bench: Workbench): void {
  const canvas = document.getElementById("canvas")!;
  canvas.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (act(bench, event.key, event.shiftKey)) event.preventDefault();
  });
}

// Whether the key meant anything.
function act(bench: Workbench, key: string, shift: boolean): boolean {
  const direction = DIRECTIONS[key];
  if (direction && shift) {
    bench.cy.panBy({ x: -STEP * direction.x, y: -STEP * direction.y });
  } else if (direction) {
    const found = neighbour(bench, direction);
    if (found !== null) {
      bench.select({ kind: "variable", number: found });
      bench.reveal();
    }
  } else if (key === "+" || key === "=") bench.zoomBy(1.25);
  else if (key === "-" || key === "−") bench.zoomBy(0.8);
  else if (key === "0") bench.fit();
  else if (key === "Escape") bench.select(null);
  else if (key === "Enter") document.getElementById("details")!.focus();
  else return false;
  return true;
}

type Direction = { x: number; y: number };

const DIRECTIONS: Record<string, Direction | undefined> = {
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
};

// Up and down along the edges; to either side to the nearest variable at about the same height.
function neighbour(bench: Workbench, direction: Direction): number | null {
  const { selection, graph, cy } = bench;
  const place = (u: number) => cy.getElementById(`n${u}`).position();
  const visible = (u: number) => !cy.getElementById(`n${u}`).hasClass("absent");
  const all = graph.report.variables.map((_, u) => u).filter(visible);
  if (selection === null) return least(all, (u) => place(u).x + 10 * place(u).y);
  const v =
    selection.kind === "variable" ? selection.number : graph.links[selection.number]!.source;
  const { x, y } = place(v);
  if (direction.x === 0) {
    const linked = graph.incident[v]!.filter(({ link }) => bench.shown[link]);
    const ahead = linked.map(({ other }) => other).filter((u) => (place(u).y - y) * direction.y > 0);
    return least(ahead, (u) => Math.abs(place(u).x - x) + Math.abs(place(u).y - y));
  }
  const beside = all.filter((u) => u !== v && (place(u).x - x) * direction.x > 0);
  return least(beside, (u) => Math.abs(place(u).x - x) + 8 * Math.abs(place(u).y - y));
}

function least(candidates: number[], cost: (u: number) => number): number | null {
  let best: number | null = null;
  for (const u of candidates) if (best === null || cost(u) < cost(best)) best = u;
  return best;
}
