// A list that the API gives page by page. Its filters are a form, and stand in the page's address.

import * as address from "./address.js";
import { find, setAttribute } from "./dom.js";
import { Polled } from "./feeds.js";
import * as frame from "./frame.js";
import { addChoice } from "./names.js";

const PERIOD_MS = 3_000;
const TYPING_MS = 250;
const PAGE = 50;

export class List {
  #typing = 0;

  // `id` names the section; `always` is asked for beside what the form says.
  constructor(id, path, rows, always = {}) {
    Object.assign(this, { id, path, rows, always });
    this.form = find(id).querySelector("form");
    this.cursor = address.read().cursor ?? "";
    this.#fill();
    this.feed = new Polled(this.#question(), PERIOD_MS);
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#ask(), TYPING_MS);
    });
  }

  draw() {
    const { feed } = this;
    frame.drawState(this.id, feed);
    const items = feed.value?.items ?? [];
    this.rows.show(items);
    frame.drawPresence(this.id, feed, items.length > 0);
    this.#lead(".first", this.cursor && this.#filters());
    const next = feed.value?.next;
    this.#lead(".next", next && { ...this.#filters(), cursor: next });
  }

  #fill() {
    const asked = address.read();
    for (const field of this.form.elements) {
      const value = asked[field.name];
      if (value) field.value = value;
      if (value && field.value !== value && field.options) addChoice(field, value, value, true);
    }
  }

  #filters() {
    return Object.fromEntries(new FormData(this.form));
  }

  #question() {
    const asked = { limit: PAGE, ...this.always, ...this.#filters(), cursor: this.cursor };
    return address.create(this.path, asked);
  }

  #ask() {
    this.cursor = "";
    history.replaceState(null, "", address.create(location.pathname, this.#filters()));
    this.feed.change(this.#question());
  }

  #lead(kind, parameters) {
    const link = find(this.id).querySelector(kind);
    link.hidden = !parameters;
    if (parameters) setAttribute(link, "href", address.create(location.pathname, parameters));
  }
}
