// Light and dark: what the system prefers until the reader chooses.

import type { Reason } from "./data";

export interface Palette {
  ink: string;
  accent: string;
  accentInk: string;
  surface: string;
  edge: string;
  faint: string;
  node: string;
  outline: string;
  wash: string;
  positive: string;
  negative: string;
  support: [string, string, string];
  reasons: Record<Reason, string>;
}

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"),
    accent: colour("accent"),
    accentInk: colour("accent-ink"),
    surface: colour("surface"),
    edge: colour("edge"),
    faint: colour("faint"),
    node: colour("node"),
    outline: colour("outline"),
    wash: colour("wash"),
    positive: colour("positive"),
    negative: colour("negative"),
    support: [colour("support-low"), colour("support-mid"), colour("support-high")],
    reasons: {
      regime: colour("positive"),
      collider: colour("negative"),
      rule: colour("reverse"),
      knowledge: colour("ink"),
    },
  };
}

// A colour between the three of a scale, for a share from 0 to 1.
export function shade([low, mid, high]: Palette["support"], share: number): string {
  const [from, to, part] = share < 0.5 ? [low, mid, 2 * share] : [mid, high, 2 * share - 1];
  const channel = (colour: string, k: number) => parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16);
  const mixed = [0, 1, 2].map((k) =>
    Math.round(channel(from, k) + part * (channel(to, k) - channel(from, k))),
  );
  return `rgb(${mixed.join(",")})`;
}

export function startTheme(changed: () => void): void {
  const button = document.getElementById("theme")!;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const refresh = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    refresh();
  });
  system.addEventListener("change", refresh);
  button.setAttribute("aria-pressed", String(isDark()));
}
