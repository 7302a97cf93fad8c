// The page Shop: what is sold, what is short, what looks wrong, and how fresh all of that is.

import { LINKS, POLLED, STREAMED } from "./api.js";
import * as alerts from "./cases.js";
import { drawChart } from "./chart.js";
import { find, setAttribute, setText } from "./dom.js";
import { isFailing, Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import * as load from "./load.js";
import * as names from "./names.js";
import * as sales from "./sales.js";
import { Streamed } from "./stream.js";
import * as tables from "./tables.js";

const SHOWN = 6; // rows of a list: the page is an overview
const SECOND_MS = 1_000;

const salesFeed = new Streamed(STREAMED.sales, sales);
const alertsFeed = new Streamed(STREAMED.alerts, alerts);
const bestFeed = new Polled(POLLED.bestSellers, 5_000);
const ordersFeed = new Polled(POLLED.orders, 5_000);

const createShelves = (state, name) => ({
  feed: new Polled(POLLED[state], 5_000),
  rows: tables.createShelves(`${state}-rows`),
  title: `${state}-title`,
  state,
  name,
});
const shelfLists = [
  createShelves("negative", "Below zero: more was sold than the log accounts for"),
  createShelves("out", "Empty"),
  createShelves("low", "Low: 1 to 5 units"),
];
const [negativeFeed, emptyFeed, lowFeed] = shelfLists.map(({ feed }) => feed);

function drawSales() {
  const { view } = STREAMED.sales;
  frame.drawStreamed("sales", salesFeed, view);
  const summary = sales.summarise(salesFeed.rows, findCountedMs(frame.findPipeline(view)));
  drawSalesFigures(summary);
  find("sales-content").hidden = !summary;
  find("sales-none").hidden = Boolean(summary) || salesFeed.generation === null;
  if (!summary) return;
  const perMinute = format.rate(sales.measureRate(summary));
  const until = `until ${format.minute(summary.end)} UTC`;
  setText(find("sales-until"), until);
  drawChart(
    find("receipts-chart"),
    summary.points,
    `Receipts per minute of the world, ${until}; ${perMinute} a minute over the last 5`,
  );
  tables.stores.show(
    summary.stores.map((store) => ({
      ...store,
      values: [...store.centsByMinute.values()],
      most: summary.centsPerMinuteMax,
    })),
  );
}

// Up to when the pipeline has counted, in world time; null if it does not know.
function findCountedMs(pipeline) {
  const now = frame.worldMs();
  const behind = pipeline?.behind_world_seconds;
  if (now === null || behind === null || behind === undefined) return null;
  const sinceMs = performance.now() - frame.pipelinesFeed.receivedAt;
  const { speed, isRunning } = frame.readTime();
  return now - behind * SECOND_MS - (isRunning ? sinceMs * speed : 0);
}

function drawSalesFigures(summary) {
  const perMinute = summary && sales.measureRate(summary);
  const time = frame.readTime();
  const isKnown = perMinute !== null && time !== null;
  const speed = time?.isRunning ? time.speed : 1;
  frame.drawFigure("receipts", salesFeed, {
    value: isKnown ? format.rate((perMinute * speed) / 60) : format.NONE,
    unit: time?.isRunning ? "per second of wall time" : "per second of world time",
    words: isKnown
      ? `${format.rate(perMinute)} a minute of the world, over the last 5`
      : frame.describeProblem(salesFeed),
  });
  frame.drawFigure("revenue", salesFeed, {
    value: summary ? names.total(summary.stores) : format.NONE,
    unit: "",
    words: summary ? describeSpan(summary) : frame.describeProblem(salesFeed),
  });
}

function describeSpan({ points, stores }) {
  const minutes = format.plural(points.length, "minute", "minutes");
  return `${minutes} of the world, ${format.plural(stores.length, "store", "stores")}`;
}

function drawBestSellers() {
  const best = bestFeed.value;
  frame.drawState("best", bestFeed);
  find("best-content").hidden = !best;
  if (!best) return;
  const final = best.final ? "final" : "may still change";
  const [from, until] = [frame.moment(best.window_start), frame.moment(best.window_end)];
  setText(find("best-window"), `From ${from} until ${until}, ${final}`);
  tables.bestSellers.show(best.items);
}

// Only one page of the API is asked for: "50+" says that there are more.
const describeCount = ({ items, next }) =>
  next === null ? format.count(items.length) : `${format.count(items.length)}+`;

function drawShelves() {
  const source = shelfLists.find(({ feed }) => isFailing(feed))?.feed ?? emptyFeed;
  frame.drawState("shelves", source);
  for (const { feed, rows, title, name, state } of shelfLists) {
    const items = feed.value?.items ?? [];
    const shown = Math.min(items.length, SHOWN);
    const heading = find(title);
    const words = feed.value ? `${name} (${shown} of ${describeCount(feed.value)})` : name;
    setText(heading.firstElementChild, words);
    setAttribute(heading.firstElementChild, "href", LINKS.shelves(state));
    heading.parentElement.hidden = items.length === 0;
    rows.show(items.slice(0, SHOWN));
  }
  const isAnyShort = shelfLists.some(({ feed }) => feed.value?.items.length);
  find("shelves-none").hidden = isAnyShort || !shelfLists.every(({ feed }) => feed.value);
  frame.drawFigure("short", emptyFeed, {
    value: emptyFeed.value ? describeCount(emptyFeed.value) : format.NONE,
    unit: "empty",
    words: describeOtherShelves(lowFeed.value, negativeFeed.value),
  });
}

function describeOtherShelves(low, negative) {
  if (!low || !negative) return frame.describeProblem(low ? negativeFeed : lowFeed);
  return `${describeCount(low)} low (1 to 5 units), ${describeCount(negative)} below zero`;
}

function drawAlerts() {
  const { view } = STREAMED.alerts;
  frame.drawStreamed("alerts", alertsFeed, view);
  const open = alerts.listOpen(alertsFeed.rows);
  const isKnown = alertsFeed.generation !== null;
  find("alerts-content").hidden = open.length === 0;
  find("alerts-none").hidden = !isKnown || open.length > 0;
  tables.alerts.show(open.slice(0, SHOWN));
  frame.drawFigure("open-alerts", alertsFeed, {
    value: isKnown ? `${format.count(open.length)}${open.length >= 100 ? "+" : ""}` : format.NONE,
    unit: "open",
    words: isKnown ? describeNewest(open[0]) : frame.describeProblem(alertsFeed),
  });
}

function describeNewest(alert) {
  if (!alert) return "nothing looks wrong";
  return `newest: ${alerts.describeRule(alert)} in ${names.store(alert.store_id)}, ${frame.moment(alert.decided_at)}`;
}

function drawOrders() {
  frame.drawState("orders", ordersFeed);
  const items = ordersFeed.value?.items ?? [];
  find("orders-content").hidden = items.length === 0;
  find("orders-none").hidden = !ordersFeed.value || items.length > 0;
  tables.orders.show(items.slice(0, SHOWN));
}

function drawPipelines() {
  const pipelines = frame.pipelinesFeed.value?.pipelines ?? [];
  frame.drawState("pipelines", frame.pipelinesFeed);
  find("pipelines-none").hidden = !frame.pipelinesFeed.value || pipelines.length > 0;
  find("pipelines-content").hidden = pipelines.length === 0;
  tables.pipelines.show(pipelines);
  const isKnown = pipelines.some(({ lag_records }) => Number.isFinite(lag_records));
  const lag = pipelines.reduce((sum, { lag_records }) => sum + (lag_records ?? 0), 0);
  const served = pipelines.filter((one) => one.generation !== undefined && !one.trouble).length;
  frame.drawFigure("lag", frame.pipelinesFeed, {
    value: isKnown ? format.count(lag) : format.NONE,
    unit: lag === 1 ? "record" : "records",
    words: pipelines.length
      ? `not counted yet; ${served} of ${pipelines.length} pipelines served`
      : frame.describeProblem(frame.pipelinesFeed),
  });
}

frame.start(() => {
  drawSales();
  drawBestSellers();
  drawShelves();
  drawAlerts();
  drawOrders();
  drawPipelines();
  load.draw();
});
