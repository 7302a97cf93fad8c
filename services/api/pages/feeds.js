// What a page knows of the API. A feed that fails tries again, ever more slowly, and keeps what it
// had. A hidden page asks nothing.

import { ask, Problem } from "./api.js";

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
const HTTP_NOT_FOUND = 404;

const OUTDATED = new Error("something else is asked for by now");

const feeds = [];
let notify = () => {};

// Begins all feeds made so far; `onNews` is called after each answer, event or failure.
export function startFeeds(onNews) {
  notify = onNews;
  document.addEventListener("visibilitychange", applyVisibility);
  applyVisibility();
}

function applyVisibility() {
  for (const feed of feeds) document.hidden ? feed.pause() : feed.resume();
}

// How all feeds together stand: connecting, live, partial or gone.
export function findConnectionState() {
  const asking = feeds.filter(({ address }) => address);
  if (asking.some(({ problem }) => problem?.isGone)) return "gone";
  if (asking.every(isWaiting)) return "connecting";
  return asking.some(isFailing) ? "partial" : "live";
}

const isWaiting = ({ problem, receivedAt }) => receivedAt === null && !problem;

// What is not found is not there yet, as in a new world.
export const isFailing = (feed) => feed.problem !== null && feed.problem.status !== HTTP_NOT_FOUND;

// Doubled with each failure; at random, so that many pages do not come back at one moment.
function backOffMs(failures, atLeastMs) {
  const limit = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(failures, 10));
  return Math.max(atLeastMs, limit * (0.5 + Math.random() / 2));
}

export class Feed {
  problem = null;
  receivedAt = null; // of the newest answer, on the clock of performance.now()
  running = false;
  failures = 0;
  #timer = 0;

  constructor(address) {
    this.address = address;
    feeds.push(this);
  }

  pause() {
    this.running = false;
    this.cancel();
  }

  resume() {
    if (this.running) return;
    this.running = true;
    this.begin();
  }

  wake() {
    this.begin();
  }

  cancel() {
    clearTimeout(this.#timer);
  }

  later(ms, work) {
    this.cancel();
    if (this.running) this.#timer = setTimeout(work, ms);
  }

  retryLater(work) {
    this.failures += 1;
    this.later(backOffMs(this.failures, this.problem?.retryMs ?? 0), work);
  }

  succeed() {
    if (this.problem?.isGone) queueMicrotask(wakeGone);
    this.problem = null;
    this.receivedAt = performance.now();
    notify();
  }

  fail(problem) {
    const isKnown = problem instanceof Problem;
    this.problem = isKnown ? problem : new Problem(-1, "Unexpected answer", String(problem), 0);
    notify();
  }
}

// The API is back: those that wait for it need not wait longer.
function wakeGone() {
  for (const feed of feeds) if (feed.running && feed.problem?.isGone) feed.wake();
}

// An answer that is asked for every so many milliseconds; without an address nothing is asked.
export class Polled extends Feed {
  value = null;
  #asking = false;

  constructor(address, periodMs) {
    super(address);
    this.periodMs = periodMs;
  }

  begin() {
    if (this.address && !this.#asking) this.#ask();
  }

  // Asks for something else from now on.
  change(address) {
    if (address === this.address) return;
    Object.assign(this, { address, value: null, receivedAt: null, problem: null, failures: 0 });
    this.cancel();
    if (this.running) this.begin();
    notify();
  }

  async #ask() {
    this.#asking = true;
    const { address } = this;
    try {
      const value = await ask(address);
      if (address !== this.address) throw OUTDATED;
      this.value = value;
      this.failures = 0;
      this.succeed();
    } catch (problem) {
      if (address === this.address) this.#failOrForget(problem);
    }
    this.#asking = false;
    if (address !== this.address) {
      this.begin();
      return;
    }
    const again = () => this.begin();
    if (isFailing(this)) this.retryLater(again);
    else this.later(this.periodMs, again);
  }

  #failOrForget(problem) {
    if (problem.status === HTTP_NOT_FOUND) {
      this.value = null;
      this.receivedAt = performance.now();
    }
    this.fail(problem);
  }
}
