// The page Prices: what is and was marked down, and every price of a chosen product.

import * as address from "./address.js";
import { LINKS, LISTED, ONE } from "./api.js";
import { find, Rows, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { createPrices, drawPrices } from "./history.js";
import { List } from "./list.js";
import * as names from "./names.js";

const PERIOD_MS = 5_000;
const number = "number";

const COLUMNS = [
  names.productCell(({ sku }) => LINKS.prices(sku)),
  { text: ({ usual_price_cents }) => names.money(usual_price_cents), kind: number },
  { text: ({ price_cents }) => names.money(price_cents), kind: number },
  { text: describeCut, kind: number },
  { text: ({ holds_from }) => frame.moment(holds_from) },
  { text: describeState, tone: ({ state }) => (state === "open" ? "good" : "") },
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

const markdownRows = new Rows(find("markdown-rows"), readMarkdown, COLUMNS);
const markdowns = new List("markdowns", LISTED.markdowns, markdownRows);
const prices = new Polled(null, PERIOD_MS);
const priceRows = createPrices();

frame.start(() => {
  markdowns.draw();
  const { sku } = address.read();
  find("prices").hidden = !sku;
  prices.change(sku ? ONE.prices(sku) : null);
  if (!sku) return;
  setText(find("prices-heading"), `Prices of ${names.product(sku)}, past and announced`);
  drawPrices(prices, priceRows);
});
