// The marks that an edge can have: how each is read and drawn.

import type { EdgeRecord } from "./data";

interface Look {
  symbol: string;
  // Classes of the canvas, for what stands at its ends.
  classes: string;
  meaning: string;
}

export const MARKS: Record<EdgeRecord["type"], Look> = {
  "-->": { symbol: "→", classes: "directed", meaning: "" },
  "---": { symbol: "—", classes: "undirected", meaning: "The data cannot tell the direction." },
  "<->": {
    symbol: "↔",
    classes: "head-ahead head-behind",
    meaning: "Neither causes the other; something unmeasured causes both.",
  },
  "o->": { symbol: "o→", classes: "head-ahead circle-behind", meaning: "The second does not cause the first." },
  "o-o": {
    symbol: "o–o",
    classes: "circle-ahead circle-behind",
    meaning: "The data say nothing of the direction, nor whether a hidden cause is behind it.",
  },
  "--o": { symbol: "–o", classes: "circle-ahead", meaning: "The first may be a cause of the second." },
};
