// Who is related to a variable, over the edges that are shown.

import type { Graph } from "./data";

export type Relation = "neighbours" | "ancestors" | "descendants" | "boundary";

// "sure" by a path of arrows, "possible" by one that takes an undirected edge.
export type Role = "sure" | "possible";

export interface Related {
  roles: Map<number, Role>;
  links: Set<number>;
}

export function related(graph: Graph, shown: boolean[], v: number, relation: Relation): Related {
  if (relation === "neighbours") return neighbours(graph, shown, v);
  if (relation === "boundary") return boundary(graph, shown, v);
  const upward = relation === "ancestors";
  const sure = reached(graph, shown, v, upward, false);
  const possible = reached(graph, shown, v, upward, true);
  const roles = new Map<number, Role>();
  for (const u of possible.visited) roles.set(u, sure.visited.has(u) ? "sure" : "possible");
  roles.delete(v);
  return { roles, links: possible.links };
}

function neighbours(graph: Graph, shown: boolean[], v: number): Related {
  const found: Related = { roles: new Map(), links: new Set() };
  for (const { link, other } of graph.incident[v]!) {
    if (!shown[link]) continue;
    found.roles.set(other, graph.links[link]!.directed ? "sure" : "possible");
    found.links.add(link);
  }
  return found;
}

// Parents, children and the children's other parents: the same in every member of the class.
function boundary(graph: Graph, shown: boolean[], v: number): Related {
  const found: Related = { roles: new Map(), links: new Set() };
  for (const { link, other } of graph.incident[v]!) {
    if (!shown[link]) continue;
    found.roles.set(other, "sure");
    found.links.add(link);
    if (graph.links[link]!.source !== v) continue;
    for (const { link: next, other: spouse } of graph.incident[other]!) {
      if (!shown[next] || graph.links[next]!.target !== other || spouse === v) continue;
      found.roles.set(spouse, "sure");
      found.links.add(next);
    }
  }
  return found;
}

function reached(graph: Graph, shown: boolean[], v: number, upward: boolean, loosely: boolean) {
  const visited = new Set([v]);
  const links = new Set<number>();
  const waiting = [v];
  while (waiting.length) {
    const at = waiting.pop()!;
    for (const { link, other } of graph.incident[at]!) {
      const { directed, source } = graph.links[link]!;
      const along = directed ? (source === other) === upward : loosely;
      if (!shown[link] || !along) continue;
      links.add(link);
      if (visited.has(other)) continue;
      visited.add(other);
      waiting.push(other);
    }
  }
  return { visited, links };
}
