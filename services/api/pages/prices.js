// The page Prices: what is and was marked down, and every price of a chosen product.

import * as address from "./address.js";
import { LINKS, LISTED, ONE } from "./api.js";
import { find, Rows } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { createPrices, drawPrices } from "./history.js";
import { List } from "./list.js";

const PERIOD_MS = 5_000;
const number = "number";

const COLUMNS = [
  { text: ({ sku }) => sku, link: ({ sku }) => LINKS.prices(sku) },
  { text: ({ usual_price_cents }) => format.money(usual_price_cents), kind: number },
  { text: ({ price_cents }) => format.money(price_cents), kind: number },
  { text: describeCut, kind: number },
  { text: ({ holds_from }) => frame.moment(holds_from) },
  { text: describeState },
];

function describeCut({ usual_price_cents, price_cents }) {
  if (!usual_price_cents) return format.NONE;
  return format.count(Math.round(100 * (1 - price_cents / usual_price_cents)));
}

function describeState({ state, holds_from, until }) {
  if (state === "ended") return `ended ${frame.moment(until)}`;
  const now = frame.worldMs();
  if (now !== null && Date.parse(holds_from) > now) return "announced";
  return until ? `ends ${frame.moment(until)}` : "holds now";
}

const readMarkdown = ({ sku, holds_from, decided_at }) => `${sku}/${holds_from}/${decided_at}`;

const markdowns = new List(
  "markdowns",
  LISTED.markdowns,
  new Rows(find("markdown-rows"), readMarkdown, COLUMNS),
);
const prices = new Polled(null, PERIOD_MS);
const priceRows = createPrices();

frame.start(() => {
  markdowns.draw(frame.describeAsked);
  const { sku } = address.read();
  find("prices").hidden = !sku;
  prices.change(sku ? ONE.prices(sku) : null);
  if (sku) drawPrices(prices, priceRows);
});
