// One alert: its rule, what was measured against what, its events, and what became of it.

import { LINKS, ONE } from "./api.js";
import { describeMeasure, describeRule, judge } from "./cases.js";
import { create, createSvg, find, Rows, setAttribute, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { FromLake } from "./lake.js";
import * as names from "./names.js";
import { drawMoments } from "./timeline.js";

const { moment } = frame;
const BAR = { width: 600, height: 34, most: 1.15 };

const RULES = {
  "card-velocity": "One card pays more often within a short time than a family that shops together.",
  "impossible-travel": "One card pays in two stores, faster than anybody travels between them.",
  sweethearting: "A cashier sells below the price that was valid at that moment.",
  "refund-without-receipt": "More is taken back than the receipt sold that was published before.",
  "refund-rate": "A cashier gives back more often than others, in cash or to one card again.",
  "bulk-purchase": "Far more of a product is bought at once than it is usually bought.",
};

const COLUMNS = [
  { text: ({ event_time }) => moment(event_time) },
  { text: ({ topic }) => topic.split(".").at(-2), link: ({ topic }) => LINKS.contract(topic) },
  { text: ({ event }) => (event ? names.store(event.store_id) : format.NONE), kind: "wraps" },
  { text: ({ event }) => format.count(event?.lines?.length), kind: "number" },
  { text: ({ published_at }) => (published_at ? moment(published_at) : format.NONE) },
  { draw: (cell, event) => frame.drawSource(cell, describeSource(event)) },
];

const describeSource = ({ event_id, topic, partition, offset }) =>
  offset == null ? `event ${event_id}` : `event ${event_id} at ${topic}/${partition}/${offset}`;

// The function that draws it.
export function createCase(rule, subject, start) {
  setText(find("title"), describeRule({ rule }));
  setText(find("lead"), `About ${subject}.`);
  document.title = `${describeRule({ rule })} · Retail`;
  const feed = new Polled(ONE.alert(rule, subject, start), 3_000);
  const evidence = new FromLake("evidence", () => ONE.evidence(rule, subject, start));
  const rows = new Rows(find("evidence-rows"), readPlace, COLUMNS);
  return () => {
    frame.drawState("case", feed);
    frame.drawPresence("case", feed, feed.value !== null);
    if (feed.value) drawCase(feed);
    const found = evidence.draw();
    const events = joinEvidence(feed.value?.evidence ?? [], found?.events ?? []);
    rows.show(events);
    frame.drawPresence("evidence", feed, events.length > 0);
  };
}

const readPlace = ({ topic, event_id, partition }) => `${topic}/${event_id}/${partition}`;

// What the alert names, with what the lake has of it.
function joinEvidence(named, found) {
  return named.map((event) => ({
    ...event,
    ...found.find(({ topic, event_id }) => topic === event.topic && event_id === event.event_id),
    event_time: event.event_time,
  }));
}

function drawCase(feed) {
  const alert = feed.value;
  setText(find("rule"), RULES[alert.rule] ?? "");
  const figures = { measured: alert.measured, limit: alert.threshold };
  for (const [id, value] of Object.entries(figures)) {
    const words = id === "limit" ? "an open alert has measured more" : "by its events so far";
    frame.drawFigure(id, feed, { value: describeMeasure(alert, value), unit: "", words });
  }
  const words = alert.status === "open" ? "a suspicion, no verdict" : "what else is known speaks for it";
  frame.drawFigure("status", feed, { value: alert.status, unit: "", words });
  setAttribute(find("status").querySelector(".value"), "class", `value badge ${judge(alert)}`);
  drawBar(find("measure-bar"), alert);
  setText(find("store"), `${names.store(alert.store_id)} · ${alert.store_id}`);
  setText(find("interval"), `${moment(alert.interval_start)} to ${moment(alert.interval_end)}`);
  const named = alert.evidence.length;
  const all = format.plural(alert.events, "event", "events");
  setText(find("events"), named < alert.events ? `${all}, ${format.count(named)} of them named` : all);
  setText(find("corrected"), describeCorrection(alert));
  setText(find("final"), describeFinality(alert));
  const whole = { from: Date.parse(alert.interval_start), until: Date.parse(alert.interval_end) };
  const moments = alert.evidence.map(({ event_time }) => Date.parse(event_time));
  const label = `${format.plural(named, "event", "events")} between ${find("interval").textContent}`;
  drawMoments(find("evidence-line"), whole, moments, label);
}

function describeCorrection(alert) {
  const events = format.plural(alert.version, "event", "events");
  if (alert.status === "withdrawn") {
    const without = alert.measured === 0 ? "; nothing is left to measure" : "";
    return `It is withdrawn: of the ${events} that gave it a signal, a later one speaks for the subject${without}.`;
  }
  return `Nothing so far. Decided at ${moment(alert.decided_at)} UTC, by ${events} that gave it a signal.`;
}

function describeFinality(alert) {
  if (alert.final === true) return "Final: every event that may change it had to be here by now.";
  const until = moment(alert.interval_end);
  return `Not final: events until ${until} UTC count, and late ones for as long as their horizon.`;
}

// A bar of what was measured, and a line where the limit is.
function drawBar(frameNode, alert) {
  const state = `${alert.measured}/${alert.threshold}`;
  if (frameNode.drawn === state) return;
  frameNode.drawn = state;
  const most = BAR.most * Math.max(alert.measured, alert.threshold, 1);
  const x = (value) => (BAR.width * value) / most;
  const limit = x(alert.threshold);
  const words = [alert.measured, alert.threshold].map((value) => describeMeasure(alert, value));
  const svg = createSvg("svg", {
    viewBox: `0 0 ${BAR.width} ${BAR.height}`,
    role: "img",
    "aria-label": `${words[0]} measured, ${words[1]} allowed`,
  });
  svg.append(
    createSvg("rect", { class: "area", x: 0, y: 8, width: BAR.width, height: 18, rx: 2 }),
    createSvg("rect", { class: "mark", x: 0, y: 8, width: x(alert.measured), height: 18, rx: 2 }),
    createSvg("line", { class: "limit", x1: limit, x2: limit, y1: 0, y2: BAR.height }),
  );
  frameNode.replaceChildren(svg, create("p", { class: "hint" }, "Bar: measured. Line: limit."));
}
