// Tables that sort by any column and filter by names.

import { element } from "./elements";
import { count } from "./numbers";

const PAGE = 100;

interface Row {
  element: HTMLTableRowElement;
  number: number;
  text: string;
}

export class Table {
  private readonly rows: Row[];
  private readonly body: HTMLTableSectionElement;
  private readonly heads: HTMLTableCellElement[];
  private readonly filter: HTMLInputElement;
  private readonly counter: HTMLElement;
  private readonly more: HTMLButtonElement;
  private sorted: Row[];
  private column = -1;
  private descending = false;
  private limit = PAGE;

  constructor(root: HTMLElement) {
    this.body = root.querySelector("tbody")!;
    this.heads = [...root.querySelectorAll<HTMLTableCellElement>("th:not(.go)")];
    this.filter = root.querySelector(".filter")!;
    this.counter = root.querySelector(".count")!;
    this.more = root.querySelector(".more")!;
    const found = [...this.body.querySelectorAll<HTMLTableRowElement>("tr[data-row]")];
    this.rows = found.map((row, number) => ({ element: row, number, text: searchText(row) }));
    this.sorted = this.rows;
    this.heads.forEach((head, k) => this.makeSortable(head, k));
    this.filter.addEventListener("input", () => {
      this.limit = PAGE;
      this.render();
    });
    this.more.addEventListener("click", () => {
      this.limit += 10 * PAGE;
      this.render();
    });
    if (this.rows.length) this.render();
  }

  // Mark a row, or none.
  mark(number: number | null): void {
    for (const row of this.rows) row.element.classList.toggle("selected", row.number === number);
  }

  private makeSortable(head: HTMLTableCellElement, k: number): void {
    const button = element("button", { type: "button" }, head.textContent!.trim());
    if (head.title) button.title = head.title;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => this.sort(k));
  }

  // Numbers start with the largest, names with the first.
  private sort(k: number): void {
    const numeric = this.heads[k]!.classList.contains("number");
    this.descending = this.column === k ? !this.descending : numeric;
    this.column = k;
    const sign = this.descending ? -1 : 1;
    const keys = new Map(this.rows.map((row) => [row, sortKey(row.element.cells[k]!, numeric)]));
    this.sorted = [...this.rows].sort(
      (a, b) => compare(keys.get(a)!, keys.get(b)!, sign) || a.number - b.number,
    );
    this.heads.forEach((head, other) => {
      const state = other !== k ? "none" : this.descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", state);
    });
    this.render();
  }

  private render(): void {
    const wanted = this.filter.value.trim().toLowerCase();
    const fitting = this.sorted.filter((row) => row.text.includes(wanted));
    const visible = fitting.slice(0, this.limit);
    this.body.replaceChildren(...visible.map((row) => row.element));
    const total = count(this.rows.length, "row");
    this.counter.textContent = wanted
      ? `${fitting.length.toLocaleString("en")} of ${total}`
      : total;
    const hidden = fitting.length - visible.length;
    this.more.hidden = hidden === 0;
    this.more.textContent = `Show more rows (${hidden.toLocaleString("en")} left)`;
  }
}

function searchText(row: HTMLTableRowElement): string {
  const cells = [...row.querySelectorAll("td.name, td.mark")];
  return cells.map((cell) => cell.textContent!.trim().toLowerCase()).join(" ");
}

type Key = string | number | null;

function sortKey(cell: HTMLTableCellElement, numeric: boolean): Key {
  if (!numeric) return cell.textContent!.trim();
  return cell.dataset.sort === undefined ? null : Number(cell.dataset.sort);
}

// Cells without a value come last, whichever way the rest is sorted.
function compare(a: Key, b: Key, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
}
