// What the server is asked and answers; every request bears the token of the address.

import type { EdgeRecord, Report } from "../data";

export type Pair = [string, string];

export interface Settings {
  drop: string[];
  transform: Record<string, string>;
  types: Record<string, string>;
  missing: string;
  penalty: number | "auto";
  tiers: string[][];
  forbidden: Pair[];
  required: Pair[];
  roots: string[];
  leaves: string[];
  extras: Record<string, unknown>;
  seed: number;
}

export interface GraphView extends Omit<Report, "layout"> {
  layout: Report["layout"] | null;
  summary: { n_samples: number | null; n_edges: number; n_directed: number; score: number };
  seconds: number;
  notes: { level: string; text: string }[];
  readings: string[];
  leans: [string, string, number][];
  weak_edges: { source: string; target: string; false_rate: number }[];
  changed: { added?: string[][]; removed?: string[][]; turned?: string[][] };
  reproduce: { command: string; python: string };
  check: { alarm: boolean; verdict: string; words: string[] } | null;
}

export interface Step {
  settings: Settings;
  steps: number;
  at: number;
  own: Pair[];
  graph: GraphView | null;
  error?: string;
  superseded?: boolean;
  // Why the state could not be stored.
  unsaved?: string | null;
}

export interface ColumnView {
  name: string;
  type: string | null;
  missing: number;
  bins?: number[];
  from?: number;
  to?: number;
  levels?: [string, number][];
}

export interface Fix {
  label: string;
  change: Partial<Settings>;
}

export interface DataView {
  columns: ColumnView[];
  findings: { severity: string; columns: string[]; message: string; fixes: Fix[] }[];
  n_rows: number;
  error?: string;
}

export interface EffectView {
  cause: string;
  effect: string;
  estimate?: number;
  interval?: [number, number];
  range?: [number, number];
  note?: string;
  paths: string[][];
  adjust: string[] | null;
}

export interface PairView {
  first: string;
  second: string;
  points: [number, number][];
  residuals: number[];
  line: [number | null, number | null];
  curve: [number, number][] | null;
  labels: string[][];
  n_rows: number;
  correlation: number | null;
  effects?: EffectView[];
  why: string[];
}

export interface OwnView {
  edges: Pair[];
  unexplained: { first: string; second: string; r: number; p: number }[];
  unneeded: [string, string, number][];
  wanted: [string, string, string, number][];
  score: number;
  fit: Record<"rmsea" | "cfi" | "srmr" | "p_value", number | null> & { rmsea_interval: [number | null, number | null] };
  unsaved?: string | null;
}

export interface State {
  files: string[];
  runs: Record<string, { file: string; steps: number; at: number }>;
  extras: string[];
}

export interface Doubt {
  edges: EdgeRecord[];
  check: GraphView["check"];
  posterior: Report["posterior"];
}

const token = new URLSearchParams(location.search).get("token") ?? "";

// A failure that the server has put into words.
export class Refused extends Error {}

export async function ask<T>(what: string, given: object = {}): Promise<T> {
  return send<T>(`/api/${what}`, JSON.stringify(given));
}

export async function upload(file: File): Promise<string> {
  const path = `/api/upload?name=${encodeURIComponent(file.name)}`;
  return (await send<{ file: string }>(path, file)).file;
}

async function send<T>(path: string, body: BodyInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", body, headers: { "X-Qwo-Token": token } });
  } catch {
    throw new Refused("The studio's server does not answer. Start it again with the same command: nothing is lost.");
  }
  const text = await response.text();
  let told: { error?: string };
  try {
    told = JSON.parse(text) as { error?: string };
  } catch {
    throw new Refused(text);
  }
  if (!response.ok) throw new Refused(told.error ?? text);
  return told as T;
}
