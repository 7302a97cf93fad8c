// The tables of the page Shop: their columns, each with its text and where it leads.

import { describeMeasure, describeRule, readKey } from "./cases.js";
import { LINKS } from "./api.js";
import { drawSpark } from "./chart.js";
import { find, Rows } from "./dom.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import * as names from "./names.js";
import { describeOrder } from "./orders.js";

const number = "number";
const { moment } = frame;

export const stores = new Rows(find("stores"), ({ store_id }) => store_id, [
  names.storeCell(({ store_id }) => LINKS.store(store_id)),
  { text: ({ store_id, revenueCents }) => names.money(revenueCents, store_id), kind: number },
  { text: ({ receipts }) => format.count(receipts), kind: number },
  { text: ({ units }) => format.count(units), kind: number },
  { draw: (cell, { values, most }) => drawSpark(cell, values, most), kind: "spark" },
]);

export const bestSellers = new Rows(find("best-rows"), ({ sku }) => sku, [
  names.productCell(({ sku }) => LINKS.product(sku)),
  { text: ({ units }) => format.count(units), kind: number },
  { text: ({ revenue_cents }) => names.money(revenue_cents), kind: number },
]);

export const createShelves = (id) =>
  new Rows(find(id), ({ store_id, sku }) => `${store_id}/${sku}`, [
    names.productCell(({ store_id, sku }) => LINKS.shelf(store_id, sku)),
    names.storeCell(),
    { text: ({ units_on_hand }) => format.count(units_on_hand), kind: number },
    { text: ({ units_in_transit }) => format.count(units_in_transit), kind: number },
    { text: ({ last_event_time }) => moment(last_event_time) },
  ]);

export const alerts = new Rows(find("alert-rows"), readKey, [
  {
    text: describeRule,
    link: ({ rule, subject, interval_start }) => LINKS.alert(rule, subject, interval_start),
  },
  { text: ({ subject }) => subject, kind: "id" },
  names.storeCell(),
  { text: (alert) => describeMeasure(alert, alert.measured), kind: number },
  { text: (alert) => describeMeasure(alert, alert.threshold), kind: number },
  { text: ({ decided_at }) => moment(decided_at) },
]);

export const orders = new Rows(find("order-rows"), ({ purchase_order_id }) => purchase_order_id, [
  names.productCell(({ store_id, sku }) => LINKS.ordersOfShelf(store_id, sku)),
  names.storeCell(),
  { text: ({ units }) => format.count(units), kind: number },
  { text: ({ ordered_at }) => moment(ordered_at) },
  { text: describeOrder, kind: "wraps" },
]);

export const pipelines = new Rows(find("pipeline-rows"), ({ pipeline }) => pipeline, [
  { text: ({ pipeline }) => pipeline, link: ({ pipeline }) => `/pipelines#${pipeline}` },
  { text: frame.describeStanding, tone: frame.judgeStanding, kind: "wraps" },
  { text: frame.describeGenerations },
  { text: ({ lag_records }) => format.count(lag_records), kind: number },
  { text: ({ rate_per_second }) => format.rate(rate_per_second), kind: number },
  { text: ({ freshness_ms }) => format.duration(freshness_ms), kind: number },
]);
