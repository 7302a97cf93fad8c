// What products and stores are called, and in which money they count. A product is asked for once
// a page shows it, a store with all the others.

import { ask, ONE, POLLED } from "./api.js";
import { create, find, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";

const ASKED_MAX = 20; // ids in one address, which has 4 kB at most
const KEPT_MAX = 5_000;
const AGAIN_MS = 5_000;
const TYPING_MS = 250;

const storesFeed = new Polled(POLLED.stores, 60_000);
const products = new Map(); // by sku; null: nobody has named it
const wanted = new Set();
let askAt = 0;
let drawn = null;

const listStores = () => storesFeed.value?.items ?? [];
const findStore = (id) => listStores().find(({ store_id }) => store_id === id);
export const store = (id) => findStore(id)?.name ?? id;

export function product(sku) {
  if (!products.has(sku)) wanted.add(sku);
  return products.get(sku)?.name ?? sku;
}

// Cells with a name and its id small beside it.
const createCell = (name, id) => (link) => ({
  text: (row) => name(row[id]),
  small: (row) => row[id],
  link,
  kind: "wraps",
});
export const productCell = createCell(product, "sku");
export const storeCell = createCell(store, "store_id");

// The money of a store, or of all stores where each takes the same; null: nobody says.
function findCurrency(id) {
  if (id) return findStore(id)?.currency ?? null;
  const all = new Set(listStores().map(({ currency }) => currency));
  return all.size === 1 ? [...all][0] : null;
}

export const money = (cents, storeId) => format.money(cents, findCurrency(storeId));

// What several stores took, apart by currency: nobody converts.
export function total(stores) {
  const sums = new Map();
  for (const { store_id, revenueCents } of stores) {
    const currency = findCurrency(store_id);
    sums.set(currency, (sums.get(currency) ?? 0) + revenueCents);
  }
  return [...sums].map(([currency, cents]) => format.money(cents, currency)).join(" + ");
}

// After each drawing: asks for the names that it lacked, and fills the choices of a store.
export function update() {
  if (wanted.size && performance.now() > askAt) askForProducts();
  if (drawn === storesFeed.value) return;
  drawn = storesFeed.value;
  for (const select of document.querySelectorAll("select.stores")) {
    for (const { store_id, name } of listStores()) addChoice(select, store_id, `${name} · ${store_id}`);
  }
}

export function addChoice(select, value, text, isChosen = false) {
  const before = [...select.options].find((option) => option.value === value);
  if (before) setText(before, text);
  else select.append(new Option(text, value, false, isChosen));
}

async function askForProducts() {
  askAt = Infinity;
  const skus = [...wanted].slice(0, ASKED_MAX);
  try {
    const { items } = await ask(ONE.names(skus));
    if (products.size > KEPT_MAX) products.clear();
    for (const sku of skus) products.set(sku, null);
    for (const item of items) products.set(item.sku, item);
    for (const sku of skus) wanted.delete(sku);
    askAt = 0;
    if (wanted.size) askForProducts();
  } catch {
    askAt = performance.now() + AGAIN_MS; // the ids stand there meanwhile
  }
}

// What is typed where a product is chosen finds some by name.
let typing = 0;
addEventListener("input", ({ target }) => {
  clearTimeout(typing);
  if (target.list && target.value) typing = setTimeout(() => suggest(target.value), TYPING_MS);
});

async function suggest(text) {
  const { items } = await ask(ONE.found(text)).catch(() => ({ items: [] }));
  const createOption = ({ sku, name }) => create("option", { value: sku }, name);
  find("products").replaceChildren(...items.map(createOption));
}
