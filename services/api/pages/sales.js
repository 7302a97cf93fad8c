// Receipts and revenue of the last hour of the world, from the rows of each store's minutes.

import { ask } from "./api.js";
import { MINUTE_MS } from "./format.js";

export const SHOWN_MINUTES = 60;
const RATE_MINUTES = 5;
const PAGES_MAX = 4; // of 500 rows: an hour of some thirty stores
const KEPT_MS = (SHOWN_MINUTES + RATE_MINUTES) * MINUTE_MS;

const minutesOf = (rows) => rows.map((row) => ({ ...row, minuteMs: Date.parse(row.window_start) }));

export const readKey = ({ store_id, window_start }) => `${store_id}/${window_start}`;

// The newest minutes, page by page, until an hour of them is there.
export async function load(address) {
  const rows = [];
  let next = null;
  let page;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    page = await ask(next === null ? address : `${address}&cursor=${encodeURIComponent(next)}`);
    rows.push(...minutesOf(page.items));
    next = page.next;
    if (next === null || rows.at(-1).minuteMs < rows[0].minuteMs - KEPT_MS) break;
  }
  const { generation, batch } = page.as_of;
  return { generation, batch, rows };
}

export function forget(rows) {
  for (const row of rows.values()) row.minuteMs ??= Date.parse(row.window_start);
  const oldest = findNewest(rows) - KEPT_MS;
  for (const [key, { minuteMs }] of rows) if (minuteMs < oldest) rows.delete(key);
}

const findNewest = (rows) => Math.max(...[...rows.values()].map(({ minuteMs }) => minuteMs));

// The hour's sums; null without rows. A minute counts once the pipeline has passed it:
// `countedMs` is up to when it has counted, null if that is not known.
export function summarise(rows, countedMs) {
  if (!rows.size) return null;
  const began = Math.min(...[...rows.values()].map(({ minuteMs }) => minuteMs));
  const counted = countedMs === null ? 0 : Math.floor(countedMs / MINUTE_MS) * MINUTE_MS;
  const end = Math.max(findNewest(rows), counted);
  const start = Math.max(began, end - SHOWN_MINUTES * MINUTE_MS);
  const minutes = [];
  for (let minuteMs = start; minuteMs < end; minuteMs += MINUTE_MS) minutes.push(minuteMs);
  const receipts = new Map(minutes.map((minuteMs) => [minuteMs, 0]));
  const stores = new Map();
  for (const row of rows.values()) {
    if (!stores.has(row.store_id)) stores.set(row.store_id, createStore(row.store_id, minutes));
    if (receipts.has(row.minuteMs)) {
      receipts.set(row.minuteMs, receipts.get(row.minuteMs) + row.receipts);
      addMinute(stores.get(row.store_id), row);
    }
  }
  const points = minutes.map((minuteMs) => ({ minuteMs, value: receipts.get(minuteMs) }));
  return { end, points, ...addUp([...stores.values()]) };
}

const createStore = (store_id, minutes) => ({
  store_id,
  receipts: 0,
  units: 0,
  revenueCents: 0,
  centsByMinute: new Map(minutes.map((minuteMs) => [minuteMs, 0])),
});

function addMinute(store, row) {
  store.receipts += row.receipts;
  store.units += row.units;
  store.revenueCents += row.revenue_cents;
  store.centsByMinute.set(row.minuteMs, row.revenue_cents);
}

function addUp(stores) {
  stores.sort((one, other) => (one.store_id < other.store_id ? -1 : 1));
  const lines = stores.map(({ centsByMinute }) => Math.max(0, ...centsByMinute.values()));
  return {
    stores,
    centsPerMinuteMax: Math.max(0, ...lines),
  };
}

// Receipts per minute of the world, over the last minutes; null without any.
export function measureRate({ points }) {
  const last = points.slice(-RATE_MINUTES);
  return last.length ? last.reduce((sum, { value }) => sum + value, 0) / last.length : null;
}
