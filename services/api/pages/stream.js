// Rows of a view by key: loaded once, then kept up to date by the view's event stream.

import { createGone } from "./api.js";
import { Feed } from "./feeds.js";

const INTERRUPTED_MS_MAX = 3_000; // a stream that ends is back in a second, and that is no news

// Of two rows of one key, the one with the higher version is the newer, so order does not matter.
export class Streamed extends Feed {
  rows = new Map();
  generation = null;
  batch = null;
  #byGeneration = new Map();
  #source = null;
  #loading = false;
  #interrupted = false;
  #stale = false; // a reset came while the rows were being loaded

  // `load` gives { generation, batch, rows }; `forget` takes from the map what is not needed.
  constructor({ rows, changes }, { load, readKey, forget }) {
    super(rows);
    Object.assign(this, { changes, load, readKey, forget });
  }

  pause() {
    super.pause();
    this.#close();
  }

  // While there is a stream, the browser itself comes back to it, after the last event it had.
  wake() {
    if (!this.#source) this.begin();
  }

  begin() {
    this.#close();
    const source = new EventSource(this.changes);
    source.addEventListener("reset", () => this.#load());
    source.addEventListener("change", (event) => this.#apply(JSON.parse(event.data)));
    source.addEventListener("open", () => this.#goOn());
    source.addEventListener("error", () => this.#fail(source));
    this.#source = source;
  }

  #close() {
    this.#interrupted = false;
    this.#source?.close();
    this.#source = null;
  }

  #apply({ generation, batch, rows }) {
    this.#merge(generation, rows);
    if (generation !== this.generation) return; // it is being loaded
    this.batch = Math.max(this.batch, batch);
    this.succeed();
  }

  #merge(generation, rows) {
    const known = this.#byGeneration.get(generation) ?? new Map();
    for (const row of rows) {
      const key = this.readKey(row);
      const before = known.get(key);
      if (!before || before.version <= row.version) known.set(key, row);
    }
    this.forget(known);
    this.#byGeneration.set(generation, known);
    return known;
  }

  async #load() {
    this.#stale = this.#loading;
    if (this.#loading) return;
    this.#loading = true;
    try {
      const { generation, batch, rows } = await this.load(this.address);
      this.rows = this.#merge(generation, rows);
      this.#byGeneration = new Map([[generation, this.rows]]);
      this.batch = generation === this.generation ? Math.max(this.batch, batch) : batch;
      this.generation = generation;
      if (this.#source) this.failures = 0;
      this.succeed();
    } catch (problem) {
      this.fail(problem);
    }
    this.#loading = false;
    if (this.problem) this.retryLater(() => (this.#source ? this.#load() : this.begin()));
    else if (this.#stale) await this.#load();
  }

  #interrupt() {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.later(INTERRUPTED_MS_MAX, () => this.fail(createGone()));
  }

  #goOn() {
    if (!this.#interrupted) return;
    this.#interrupted = false;
    this.cancel();
    if (this.problem) this.#load();
  }

  async #fail(source) {
    if (source !== this.#source) return;
    if (source.readyState !== EventSource.CLOSED) {
      this.#interrupt();
      return;
    }
    this.#close();
    await this.#load(); // the stream was refused; the answer to this says why
    if (!this.problem && !this.#source) this.retryLater(() => this.begin());
  }
}
