// What became of an order, in words.

import * as format from "./format.js";
import * as frame from "./frame.js";

export function describeOrder({ confirmation }) {
  if (!confirmation) return "waiting for the supplier";
  const { shipped_units, arrives_at } = confirmation;
  if (shipped_units === 0) return "confirmed: nothing will come";
  const now = frame.worldMs();
  const shipped = format.plural(shipped_units, "unit", "units");
  const isDue = now !== null && Date.parse(arrives_at) <= now;
  return `${shipped}, ${isDue ? "due since" : "on the way until"} ${frame.moment(arrives_at)}`;
}
