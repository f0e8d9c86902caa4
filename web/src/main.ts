// Makes the page interactive; without this script it shows a still picture and plain tables.

import { Graph, readReport } from "./data";
import { startDownloads } from "./downloads";
import { byId } from "./elements";
import { startKeyboard } from "./keyboard";
import { startSearch } from "./search";
import { Table } from "./tables";
import { startTheme } from "./theme";
import { Workbench } from "./workbench";

function start(): void {
  // First of all, so that the canvas has a size.
  document.documentElement.classList.add("live");
  const { text, report } = readReport();
  const tables = new Map<string, Table>();
  for (const root of document.querySelectorAll<HTMLElement>("[data-table]")) {
    tables.set(root.dataset.table!, new Table(root));
  }
  const bench = new Workbench(new Graph(report), tables);
  startTheme(() => bench.restyle());
  startSearch(bench);
  startKeyboard(bench);
  startDownloads(bench.cy, bench.graph, text, () => bench.shown);
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-edge], [data-variable]");
    if (!button) return;
    const { edge, variable } = button.dataset;
    bench.select(
      edge !== undefined
        ? { kind: "edge", number: Number(edge) }
        : { kind: "variable", number: Number(variable) },
    );
    bench.reveal();
    byId("graph").scrollIntoView({ block: "start" });
    byId("details").focus({ preventScroll: true });
  });
}

start();
