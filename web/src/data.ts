// The JSON that the page embeds, and the graph in it by numbers.

export interface EdgeRecord {
  source: string;
  target: string;
  type: "-->" | "---";
  // What it adds to twice the log-likelihood, and the chance that an edge of its strength is none.
  strength?: number;
  false_rate?: number;
  coefficient?: number | null;
  standard_error?: number | null;
  t?: number | null;
  p_value?: number | null;
  standardized?: number | null;
  link?: number;
  arrow?: number;
  reverse?: number;
  undirected?: number;
  // Whether the arrow is little surer than a coin toss.
  coin_toss?: boolean;
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
  fit: object | null;
  bootstrap: { n_resamples: number } | null;
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
