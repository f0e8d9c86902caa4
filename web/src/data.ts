// The JSON that the page embeds, and the graph in it by numbers.

export interface EdgeRecord {
  source: string;
  target: string;
  type: "-->" | "---" | "<->" | "o->" | "o-o" | "--o";
  // What it adds to twice the log-likelihood, and the chance that an edge of its strength is none.
  strength?: number;
  false_rate?: number;
  coefficient?: number | null;
  standard_error?: number | null;
  t?: number | null;
  p_value?: number | null;
  standardized?: number | null;
  // The coefficients of an edge between categories, which has several.
  contrasts?: { source: string; target: string; coefficient: number | null }[];
  link?: number;
  arrow?: number;
  reverse?: number;
  undirected?: number;
  // The same four as probabilities.
  p_link?: number;
  p_arrow?: number;
  p_reverse?: number;
  p_undirected?: number;
  // Whether the direction of the arrow is not settled.
  coin_toss?: boolean;
  // The chance that there is no such link, and that the arrow is not so, from the best source.
  link_doubt?: number | null;
  arrow_doubt?: number | null;
  // Where conditions were named: why the arrow points as it does.
  reason?: Reason | null;
  directed_by?: "you" | "conditions" | "data" | null;
}

export type Reason = "regime" | "collider" | "rule" | "knowledge";

// What says how sure an edge is.
export type Judge = "posterior" | "bootstrap";

export interface Shares {
  link: number;
  arrow: number;
  reverse: number;
  undirected: number;
}

export function shares(edge: EdgeRecord, judge: Judge): Shares | null {
  const [link, arrow, reverse, undirected] =
    judge === "posterior"
      ? [edge.p_link, edge.p_arrow, edge.p_reverse, edge.p_undirected]
      : [edge.link, edge.arrow, edge.reverse, edge.undirected];
  if (link === undefined) return null;
  return { link, arrow: arrow!, reverse: reverse!, undirected: undirected! };
}

export interface EffectRecord {
  cause: string;
  effect: string;
  probability: number;
  median: number;
  low: number;
  high: number;
}

export interface VariableRecord {
  name: string;
  place: number;
  parents: number;
  children: number;
  undirected: number;
  r_squared?: number | null;
  residual_variance?: number | null;
  intercept?: number | null;
}

type Point = [number, number];

export interface Report {
  title: string;
  variables: VariableRecord[];
  edges: EdgeRecord[];
  layout: {
    boxes: boolean;
    labels: string[];
    nodes: [x: number, y: number, width: number, height: number][];
    bends: Point[][];
  };
  price: object | null;
  // Where doubts come from: posterior, bootstrap or false rate.
  doubt: string;
  fit: object | null;
  bootstrap: { n_resamples: number } | null;
  posterior: { n_draws: number; effects: EffectRecord[] } | null;
}

// An edge by the numbers of its ends; the direction of an undirected one is that of a member.
export interface Link {
  source: number;
  target: number;
  directed: boolean;
}

export interface Incidence {
  link: number;
  other: number;
}

export class Graph {
  readonly links: Link[];
  // The edges at each variable.
  readonly incident: Incidence[][];

  constructor(readonly report: Report) {
    // Names are keys of a Map, never of an object, whose prototype they could reach.
    const place = new Map(report.variables.map((variable, v) => [variable.name, v]));
    const number = (name: string): number => {
      const found = place.get(name);
      if (found === undefined) throw new Error("an edge has an end that is no variable");
      return found;
    };
    this.links = report.edges.map((edge) => ({
      source: number(edge.source),
      target: number(edge.target),
      directed: edge.type === "-->",
    }));
    this.incident = report.variables.map(() => []);
    this.links.forEach(({ source, target }, link) => {
      this.incident[source]!.push({ link, other: target });
      this.incident[target]!.push({ link, other: source });
    });
  }

  // What to go by unless the reader says otherwise.
  get judge(): Judge {
    return this.report.posterior ? "posterior" : "bootstrap";
  }

  get size(): number {
    return this.report.variables.length;
  }

  name(v: number): string {
    return this.report.variables[v]!.name;
  }
}

export function readReport(): { text: string; report: Report } {
  const text = document.getElementById("data")!.textContent!;
  return { text, report: JSON.parse(text) as Report };
}
