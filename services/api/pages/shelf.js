// One shelf: what it holds, what it costs, what comes, and, where the lake is on, what moved it.

import * as address from "./address.js";
import { ONE } from "./api.js";
import { find, Rows, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { createPrices, drawPrices, judgePrice } from "./history.js";
import { FromLake } from "./lake.js";
import * as names from "./names.js";
import { describeOrder } from "./orders.js";
import { drawSpans } from "./timeline.js";

const number = "number";
const HOUR_MS = 60 * format.MINUTE_MS;
const SPAN_MS = 24 * HOUR_MS;
const MOVEMENTS_MAX = 500;
const { moment } = frame;

const FIGURES = [
  ["on-hand", "units_on_hand", ({ version }) => `by ${format.plural(version, "event", "events")}`],
  ["in-transit", "units_in_transit", () => "dispatched, and not received yet"],
  ["sold", "units_sold", () => "at the tills"],
  ["refunded", "units_refunded", () => "taken back"],
  ["received", "units_received", () => "from deliveries"],
  ["adjusted", "units_adjusted", () => "opening stock, counts, damage, theft"],
];

const PROMOTIONS = [
  { text: ({ starts_at }) => moment(starts_at) },
  { text: ({ ends_at }) => moment(ends_at) },
  { text: ({ usual_price_cents }) => names.money(usual_price_cents), kind: number },
  { text: ({ price_cents }) => names.money(price_cents), kind: number },
  { text: describePromotion, tone: (promotion) => judgePrice(describePromotion(promotion)) },
];

const ORDERS = [
  { text: ({ ordered_at }) => moment(ordered_at) },
  { text: ({ units }) => format.count(units), kind: number },
  { text: describeOrder, kind: "wraps" },
];

const MOVEMENTS = [
  { text: ({ event_time }) => moment(event_time) },
  { text: (one) => (one.original ? `${one.movement}, released from quarantine` : one.movement) },
  { text: ({ units_on_hand_change }) => format.signed(units_on_hand_change), kind: number },
  { text: ({ units_in_transit_change }) => format.signed(units_in_transit_change), kind: number },
  { draw: (cell, record) => frame.drawSource(cell, place(record)) },
];

const STOCK_OUTS = [
  { text: ({ started_at }) => moment(started_at) },
  { text: ({ ended_at }) => (ended_at ? moment(ended_at) : "lasts") },
  { text: ({ lastedMs }) => format.duration(lastedMs), kind: number },
  { text: ({ units_on_hand_min }) => format.count(units_on_hand_min), kind: number },
];

const place = ({ topic, partition, offset }) => `${topic}/${partition}/${offset}`;

// The function that draws it.
export function createShelf(store, sku) {
  const feeds = {
    shelf: new Polled(ONE.shelf(store, sku), 1_000),
    prices: new Polled(ONE.prices(sku), 5_000),
    promotions: new Polled(ONE.promotions(sku), 5_000),
    orders: new Polled(ONE.orders(store, sku), 5_000),
  };
  const rows = {
    prices: createPrices(),
    promotions: new Rows(find("promotion-rows"), ({ event_id }) => event_id, PROMOTIONS),
    orders: new Rows(find("order-rows"), ({ purchase_order_id }) => purchase_order_id, ORDERS),
    movements: new Rows(find("movement-rows"), place, MOVEMENTS),
    stockOuts: new Rows(find("stock-out-rows"), ({ started_at }) => started_at, STOCK_OUTS),
  };
  const ask = (path) => () => createPastAddress(path);
  const movements = new FromLake("movements", ask(ONE.movements(store, sku)));
  const stockOuts = new FromLake("stock-outs", ask(ONE.stockOuts(store, sku)));
  return () => {
    drawTitle(store, sku);
    drawNow(feeds.shelf);
    drawPrices(feeds.prices, rows.prices);
    drawList("promotions", feeds.promotions, rows.promotions);
    drawList("orders", feeds.orders, rows.orders);
    drawStockOuts(stockOuts, rows.stockOuts);
    drawMovements(movements, rows.movements);
  };
}

// The last day, from a full hour on: the address changes once an hour.
function createPastAddress(path) {
  const now = frame.worldMs();
  if (now === null) return null;
  const since = new Date(Math.floor(now / HOUR_MS) * HOUR_MS - SPAN_MS).toISOString();
  return address.create(path, { since, limit: MOVEMENTS_MAX });
}

function drawTitle(store, sku) {
  setText(find("title"), names.product(sku));
  setText(find("lead"), `${sku} in ${names.store(store)}, store ${store}.`);
  document.title = `${names.product(sku)} · Retail`;
}

function drawNow(feed) {
  frame.drawState("shelf", feed);
  for (const [id, name, describe] of FIGURES) {
    const isKnown = feed.value !== null;
    frame.drawFigure(id, feed, {
      value: isKnown ? format.count(feed.value[name]) : format.NONE,
      unit: isKnown && feed.value[name] === 1 ? "unit" : "units",
      words: isKnown ? describe(feed.value) : frame.describeProblem(feed),
    });
  }
}

function describePromotion({ starts_at, ends_at }) {
  const now = frame.worldMs();
  if (now === null || now < Date.parse(starts_at)) return "planned";
  return now < Date.parse(ends_at) ? "holds now" : "past";
}

function drawList(id, feed, rows) {
  frame.drawState(id, feed);
  const items = feed.value?.items ?? [];
  rows.show(items);
  frame.drawPresence(id, feed, items.length > 0);
}

function drawMovements(from, rows) {
  const items = (from.draw()?.items ?? []).toReversed();
  rows.show(items);
  frame.drawPresence("movements", from.feed, items.length > 0);
}

function drawStockOuts(from, rows) {
  const now = frame.worldMs();
  const items = (from.draw()?.items ?? []).map((one) => ({
    ...one,
    lastedMs: (one.ended_at ? Date.parse(one.ended_at) : now) - Date.parse(one.started_at),
  }));
  rows.show(items.toReversed());
  frame.drawPresence("stock-outs", from.feed, items.length > 0);
  if (!items.length || now === null) return;
  const spans = items.map(({ started_at, ended_at }) => ({
    from: Date.parse(started_at),
    until: ended_at ? Date.parse(ended_at) : now,
  }));
  const label = `When it was empty: ${format.plural(items.length, "time", "times")} in a day`;
  drawSpans(find("stock-outs-line"), { from: now - SPAN_MS, until: now }, spans, label);
}
