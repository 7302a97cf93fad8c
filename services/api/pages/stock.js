// The page Stock: every shelf, or the one that its address names.

import * as address from "./address.js";
import { LINKS, LISTED } from "./api.js";
import { find, Rows } from "./dom.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { List } from "./list.js";
import * as names from "./names.js";
import { createShelf } from "./shelf.js";

const number = "number";
const LOW_MAX = 5;

const COLUMNS = [
  names.productCell(({ store_id, sku }) => LINKS.shelf(store_id, sku)),
  names.storeCell(),
  { text: describeStock, tone: ({ units_on_hand }) => (units_on_hand > 0 ? "warn" : "bad") },
  { text: ({ units_on_hand }) => format.count(units_on_hand), kind: number },
  { text: ({ units_in_transit }) => format.count(units_in_transit), kind: number },
  { text: ({ units_sold }) => format.count(units_sold), kind: number },
  { text: ({ units_received }) => format.count(units_received), kind: number },
  { text: ({ last_event_time }) => frame.moment(last_event_time) },
];

// As the filter calls it; of a full shelf there is nothing to say.
function describeStock({ units_on_hand: units }) {
  if (units > 0) return units > LOW_MAX ? "" : "low";
  return units === 0 ? "empty" : "below zero";
}

function createAll() {
  const rows = new Rows(find("shelf-rows"), ({ store_id, sku }) => `${store_id}/${sku}`, COLUMNS);
  const list = new List("shelves", LISTED.stock, rows);
  return () => list.draw();
}

const { store_id, sku } = address.read();
const isOne = Boolean(store_id && sku);
find(isOne ? "one" : "all").hidden = false;
frame.start(isOne ? createShelf(store_id, sku) : createAll());
