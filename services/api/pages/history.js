// The prices of one product over time, announced ones too.

import { find, Rows } from "./dom.js";
import * as format from "./format.js";
import * as frame from "./frame.js";

const COLUMNS = [
  { text: ({ holds_from }) => frame.moment(holds_from) },
  { text: ({ price_cents }) => format.money(price_cents), kind: "number" },
  { text: ({ state }) => state },
  { text: ({ published_at }) => frame.moment(published_at) },
];

export const createPrices = () => new Rows(find("price-rows"), ({ event_id }) => event_id, COLUMNS);

export function drawPrices(feed, rows) {
  frame.drawState("prices", feed);
  const items = feed.value?.items ?? [];
  const now = frame.worldMs();
  const holding = items.find(({ holds_from }) => Date.parse(holds_from) <= now);
  const describe = (one) => {
    if (now !== null && Date.parse(one.holds_from) > now) return "announced";
    return one === holding ? "holds now" : "past";
  };
  rows.show(items.map((one) => ({ ...one, state: describe(one) })));
  frame.drawPresence("prices", feed, items.length > 0);
}
