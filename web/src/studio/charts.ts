// Small pictures: distributions of columns, and two variables against each other.

import type { ColumnView, PairView } from "./api";

const SPACE = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const made = document.createElementNS(SPACE, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

function titled(text: string): Node {
  const title = svg("title", {});
  title.textContent = text;
  return title;
}

export function distribution(column: ColumnView): SVGElement {
  const counts = column.bins ?? column.levels?.map(([, n]) => n) ?? [];
  const most = Math.max(...counts, 1);
  const wide = 72 / Math.max(counts.length, 1);
  const bars = counts.map((n, k) =>
    svg("rect", {
      x: (k * wide).toFixed(2),
      y: (22 - (22 * n) / most).toFixed(2),
      width: Math.max(wide - (column.levels ? 2 : 0.3), 0.5).toFixed(2),
      height: ((22 * n) / most).toFixed(2),
    }),
  );
  const told = column.levels
    ? column.levels.map(([level, n]) => `${level}: ${n}`).join(", ")
    : `from ${column.from?.toPrecision(4)} to ${column.to?.toPrecision(4)}`;
  const text = `Distribution of ${column.name}: ${told}`;
  return svg("svg", { class: "bars", viewBox: "0 0 72 22", role: "img", "aria-label": text }, titled(text), ...bars);
}

const [WIDE, HIGH, LEFT, BELOW] = [300, 190, 46, 30];

export function scatter(view: PairView, residual: boolean): SVGElement {
  const xs = view.points.map(([x]) => x);
  const ys = residual ? view.residuals : view.points.map(([, y]) => y);
  const [x0, x1] = ends(xs);
  const [y0, y1] = ends(ys);
  const px = (x: number) => LEFT + ((x - x0) / (x1 - x0)) * (WIDE - LEFT - 8);
  const py = (y: number) => HIGH - BELOW - ((y - y0) / (y1 - y0)) * (HIGH - BELOW - 8);
  const dots = xs.map((x, k) =>
    svg("circle", { cx: px(x).toFixed(1), cy: py(ys[k]!).toFixed(1), r: xs.length > 400 ? 1.3 : 2 }),
  );
  const parts: Node[] = [svg("g", { class: "dots" }, ...dots)];
  const [slope, middle] = view.line;
  if (!residual && view.curve) {
    const points = view.curve.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" ");
    parts.push(svg("polyline", { class: "fitted curve", points }));
  }
  if (!residual && slope != null && middle != null) {
    parts.push(
      svg("line", { class: view.curve ? "fitted beside" : "fitted", x1: px(x0), y1: py(slope * x0 + middle), x2: px(x1), y2: py(slope * x1 + middle) }),
    );
  } else if (residual) parts.push(svg("line", { class: "fitted", x1: px(x0), y1: py(0), x2: px(x1), y2: py(0) }));
  const label = (text: string, x: number, y: number, anchor: string) => {
    const made = svg("text", { x, y, "text-anchor": anchor });
    made.textContent = text;
    return made;
  };
  parts.push(
    svg("path", { class: "axis", d: `M${LEFT},4 V${HIGH - BELOW} H${WIDE - 4}` }),
    label(short(x0), LEFT, HIGH - BELOW + 13, "start"),
    label(short(x1), WIDE - 4, HIGH - BELOW + 13, "end"),
    label(view.first, (LEFT + WIDE) / 2, HIGH - 3, "middle"),
    label(short(y1), LEFT - 4, 12, "end"),
    label(short(y0), LEFT - 4, HIGH - BELOW, "end"),
  );
  const what = residual ? `residuals of ${view.second}` : view.second;
  const text = `${what} against ${view.first}, ${view.points.length} of ${view.n_rows} rows`;
  return svg("svg", { class: "scatter", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": text }, titled(text), ...parts);
}

function ends(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? [low, high] : [low - 1, high + 1];
}

function short(value: number): string {
  return Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-2)
    ? value.toExponential(0)
    : String(Number(value.toPrecision(3)));
}
