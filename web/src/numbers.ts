// Numbers as people read them; the same rules as in the tables.

const NONE = "–";

export function number(value: number | null | undefined): string {
  if (value == null) return NONE;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toPrecision(3).replace("+", "");
  return value.toFixed(3);
}

export function pValue(value: number | null | undefined): string {
  if (value == null) return NONE;
  return value < 0.001 ? "<0.001" : value.toFixed(3);
}

export function percent(value: number | null | undefined): string {
  if (value == null) return NONE;
  if (value > 0 && value < 0.01) return "<1 %";
  if (value > 0.99 && value < 1) return ">99 %";
  return `${Math.round(100 * value)} %`;
}

export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}
