// What the pages have in common: the clock, how fresh a section is, and when all of it is drawn.

import { POLLED } from "./api.js";
import { create, find, setAttribute, setText } from "./dom.js";
import { isFailing, findConnectionState, Polled, startFeeds } from "./feeds.js";
import * as format from "./format.js";
import * as names from "./names.js";

const DRAW_MS = 1_000;
const SOON_MS = 500; // at most so often, however much news there is

// They change only when the state does, since they are read out.
const CONNECTIONS = {
  connecting: "Connecting",
  live: "Live",
  partial: "Live, but not all of it: the sections below say what is missing",
  gone: "The API does not answer. The page tries again by itself",
};

const clockFeed = new Polled(POLLED.clock, 5_000);
export const pipelinesFeed = new Polled(POLLED.pipelines, 3_000);

// What time it is: { worldMs, speed, isRunning }; null before the first answer.
export function readTime() {
  const answer = clockFeed.value;
  if (!answer) return null;
  const elapsedMs = performance.now() - clockFeed.receivedAt;
  const isRunning = answer.state === "running";
  return {
    worldMs: answer.world_ms + (isRunning ? elapsedMs * answer.speed : 0),
    speed: answer.speed,
    isRunning,
  };
}

export const worldMs = () => readTime()?.worldMs ?? null;
export const moment = (iso) => format.moment(iso, worldMs());

// Draws now and then once a second, and soon after news while the page is seen.
export function start(drawPage) {
  let drawnAt = -Infinity;
  let timer = 0;
  const draw = () => {
    clearTimeout(timer);
    timer = setTimeout(draw, DRAW_MS);
    drawnAt = performance.now();
    if (document.hidden) return;
    drawClock();
    drawConnection();
    drawPage();
    names.update();
  };
  startFeeds(() => {
    clearTimeout(timer);
    timer = setTimeout(draw, Math.max(0, drawnAt + SOON_MS - performance.now()));
  });
  draw();
}

function drawConnection() {
  const state = findConnectionState();
  document.body.dataset.connection = state;
  setText(find("connection"), CONNECTIONS[state]);
}

function drawClock() {
  const time = readTime();
  drawFigure("clock", clockFeed, {
    value: time ? format.clock(time.worldMs) : format.NONE,
    unit: "UTC",
    words: time ? describeTime(time) : describeProblem(clockFeed),
  });
}

function describeTime({ worldMs, speed, isRunning }) {
  const pace = isRunning ? `${format.count(speed)} × real time` : "stopped";
  return `${format.date(worldMs)} · ${pace}`;
}

// One of the figures at the top: a number with its unit, and words on it, or why it is an old one.
export function drawFigure(id, feed, { value, unit, words }) {
  const figure = find(id);
  setText(figure.querySelector(".value"), value);
  setText(figure.querySelector(".unit"), value === format.NONE ? "" : unit);
  const isOld = isFailing(feed) && value !== format.NONE;
  setText(figure.querySelector(".words"), isOld ? `not current: ${feed.problem.title}` : words);
}

const WAITING = "Waiting for the first answer";

export function describeProblem(feed) {
  if (feed.problem) return feed.problem.title;
  return feed.receivedAt === null ? WAITING : "Nothing yet";
}

// Says of a section how fresh it is, and what stands in the way of its feed's answers; what it was
// read from is behind its source. `dated` is the answer that says so, if it is not the feed's.
export function drawState(id, feed, words = "", { value: dated, receivedAt } = feed) {
  const section = find(id);
  const state = section.querySelector(".state");
  if (!state.firstElementChild) {
    const source = createSource(create("a", { class: "address" }), create("p", { class: "marker" }));
    state.append(create("span", { class: "fresh" }), source);
  }
  const fresh = words || describeFreshness(dated, receivedAt);
  setText(state.querySelector(".fresh"), feed.receivedAt === null ? WAITING : fresh);
  setText(state.querySelector(".marker"), describeMarker(dated?.as_of));
  const address = state.querySelector(".address");
  setText(address, feed.address ?? "");
  if (feed.address) setAttribute(address, "href", feed.address);
  const problem = feed.problem;
  const notice = section.querySelector(".notice");
  notice.hidden = !problem;
  const retries = isFailing(feed) ? " The page asks again by itself." : "";
  if (problem) setText(notice, `${problem.title}. ${problem.message}${retries}`);
  section.classList.toggle("old", isFailing(feed));
}

// A cell that says only when asked where its row comes from.
export function drawSource(cell, words) {
  if (!cell.firstElementChild) cell.append(createSource(create("span")));
  setText(cell.querySelector("span"), words);
}

const createSource = (...parts) => create("details", {}, create("summary", {}, "Source"), ...parts);

// Shows a part of a section only where there is something in it, and its words where there is not.
export function drawPresence(id, feed, hasSome) {
  const section = find(id);
  section.querySelector(".content").hidden = !hasSome;
  const none = section.querySelector(".none");
  if (none) none.hidden = hasSome || !feed.value;
}

// How old an answer is, in words: it holds all that the log held then.
export function describeFreshness(dated, receivedAt) {
  if (receivedAt === null) return "";
  const sinceMs = performance.now() - receivedAt;
  if (dated?.freshness_ms === undefined) return `Asked ${format.duration(sinceMs)} ago`;
  if (dated.freshness_ms === null) {
    return `Freshness unknown: ${dated.freshness_unknown ?? "no reason given"}`;
  }
  return `As of ${format.duration(dated.freshness_ms + sinceMs)} ago`;
}

// What an answer has counted: the run that made it, and the next offset of each partition.
function describeMarker(marker) {
  if (!marker) return "";
  const { generation, batch, inputs = {} } = marker;
  const run = generation === undefined ? [] : [`Generation ${generation}, batch ${format.count(batch)}`];
  const offsets = Object.entries(inputs).map(
    ([topic, ends]) => `${topic} before ${ends.map(format.count).join(" · ")}`,
  );
  return [...run, ...offsets].join("; ");
}

// The same of rows that come by a stream; its pipeline says how fresh they are.
export function drawStreamed(id, feed, view) {
  const { receivedAt } = pipelinesFeed;
  const value = findPipeline(view);
  drawState(id, feed, value ? "" : "Freshness not known yet", { value, receivedAt });
}

export const findPipeline = (view) =>
  pipelinesFeed.value?.pipelines.find(({ views }) => views?.includes(view));

// What is known of a pipeline's standing, in words.
export function describeStanding(pipeline) {
  const { generation, loading, trouble } = pipeline;
  if (trouble) return `in trouble: ${trouble}`;
  if (generation !== undefined) return loading ? `served; ${loading}` : "served";
  if (loading) return loading;
  const invalid = pipeline.generations.find(({ state }) => state === "invalid");
  if (!invalid) return "not served";
  return `not served: g${invalid.number} is invalid, ${invalid.reason ?? "no reason given"}`;
}

// Good where all is well, bad where readers get nothing or nothing new.
export function judgeStanding({ generation, loading, trouble }) {
  if (trouble || (generation === undefined && !loading)) return "bad";
  return loading ? "warn" : "good";
}

export function describeGenerations(pipeline) {
  const others = pipeline.generations.filter(({ number }) => number !== pipeline.generation);
  const served = pipeline.generation === undefined ? [] : [`g${pipeline.generation}`];
  const all = [...served, ...others.map(({ number, state }) => `g${number} ${state}`)];
  return all.join(", ") || format.NONE;
}

export const createLink = (text, href) => {
  const link = create("a", { href });
  link.textContent = text;
  return link;
};
