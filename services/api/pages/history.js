// The prices of one product over time, announced ones too.

import { find, Rows } from "./dom.js";
import * as frame from "./frame.js";
import * as names from "./names.js";

const COLUMNS = [
  { text: ({ holds_from }) => frame.moment(holds_from) },
  { text: ({ price_cents }) => names.money(price_cents), kind: "number" },
  { text: ({ state }) => state, tone: ({ state }) => judgePrice(state) },
  { text: ({ published_at }) => frame.moment(published_at) },
];

export const judgePrice = (state) => (state === "holds now" ? "good" : "");

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
