// Open alerts, and what a rule measures in words.

import { ask } from "./api.js";
import { count, rate } from "./format.js";
import { money } from "./names.js";

const KEPT_MAX = 200;

export const readKey = ({ rule, subject, interval_start }) =>
  `${rule}/${subject}/${interval_start}`;

export async function load(address) {
  const { items, as_of } = await ask(address);
  return { generation: as_of.generation, batch: as_of.batch, rows: items };
}

// Keeps those decided last.
export function forget(rows) {
  const surplus = sortNewestFirst([...rows.values()]).slice(KEPT_MAX);
  for (const row of surplus) rows.delete(readKey(row));
}

export const listOpen = (rows) =>
  sortNewestFirst([...rows.values()].filter(({ status }) => status === "open"));

const sortNewestFirst = (rows) =>
  rows.sort((former, latter) => Date.parse(latter.decided_at) - Date.parse(former.decided_at));


const MEASURES = {
  "card-velocity": (value) => `${count(value)} sales`,
  "impossible-travel": (value) => `${count(value)} km/h`,
  sweethearting: money,
  "refund-without-receipt": money,
  "refund-rate": (value) => `${count(value)} refunds`,
  "bulk-purchase": (value) => `${rate(value / 100)} packs`,
};

export function describeMeasure({ rule, store_id }, value) {
  return (MEASURES[rule] ?? count)(value, store_id);
}

export const describeRule = ({ rule }) => rule[0].toUpperCase() + rule.slice(1).replaceAll("-", " ");
export const judge = ({ status }) => (status === "open" ? "bad" : "");
