// Finding variables by a part of their names.

import { byId, element, nameElement, quietButton } from "./elements";
import { count } from "./numbers";
import type { Workbench } from "./workbench";

const MOST_LISTED = 8;

export function startSearch(bench: Workbench): void {
  const input = byId<HTMLInputElement>("find");
  const message = byId("matches");
  const list = byId("match-list");
  const names = bench.graph.report.variables.map((variable) => variable.name.toLowerCase());
  let matches: number[] = [];
  let next = 0;

  const choose = (v: number) => {
    bench.select({ kind: "variable", number: v });
    bench.reveal();
  };

  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    matches = wanted ? [...names.keys()].filter((v) => names[v]!.includes(wanted)) : [];
    // The name itself comes before those that merely contain it.
    matches.sort((a, b) => Number(names[b] === wanted) - Number(names[a] === wanted) || a - b);
    next = 0;
    bench.cy.batch(() => {
      bench.cy.nodes().removeClass("match");
      for (const v of matches) bench.cy.getElementById(`n${v}`).addClass("match");
    });
    message.textContent = !wanted
      ? ""
      : matches.length
        ? `${count(matches.length, "variable")}; Enter selects one after the other`
        : "No variable has this in its name";
    const buttons = matches
      .slice(0, MOST_LISTED)
      .map((v) => element("li", {}, quietButton(() => choose(v), nameElement(bench.graph.name(v)))));
    list.replaceChildren(...buttons);
  });

  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !matches.length) return;
    event.preventDefault();
    choose(matches[next % matches.length]!);
    next += 1;
  });
}
