// Answers from the lake, which are asked for only where there is one.

import { POLLED } from "./api.js";
import { find, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as frame from "./frame.js";

const PERIOD_MS = 30_000; // the lake writes a batch every half minute

const historyFeed = new Polled(POLLED.history, PERIOD_MS);

export class FromLake {
  // `readAddress` gives what to ask for; null: nothing yet.
  constructor(id, readAddress) {
    Object.assign(this, { id, readAddress });
    this.feed = new Polled(null, PERIOD_MS);
  }

  // The answer; null while there is none. Says why there is none where the lake is off.
  draw() {
    const history = historyFeed.value;
    if (history?.available) this.feed.change(this.readAddress());
    const isOff = history && !history.available;
    const section = find(this.id);
    section.querySelector(".off").hidden = !isOff;
    if (isOff) setText(section.querySelector(".off"), history.reason);
    frame.drawState(this.id, isOff ? historyFeed : this.feed);
    return this.feed.value;
  }
}
