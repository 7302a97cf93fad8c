// What was rejected: by reason, record by record, and one of them with what can be read of it.

import * as actions from "./actions.js";
import * as address from "./address.js";
import { ACTIONS, LINKS, LISTED, ONE } from "./api.js";
import { find, Rows, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { List } from "./list.js";
import { addChoice } from "./names.js";

const PERIOD_MS = 30_000; // a record in quarantine changes no more

const createPlace = ({ topic, partition, offset }) => `${topic}/${partition}/${offset}`;

const reasons = new Rows(find("reason-rows"), ({ topic, reason }) => `${topic} ${reason}`, [
  { text: ({ reason }) => reason, link: ({ topic, reason }) => LINKS.rejectedFor(topic, reason) },
  { text: ({ topic }) => topic, link: ({ topic }) => LINKS.contract(topic) },
  { text: ({ records }) => format.count(records), kind: "number" },
]);

const rejected = new Rows(find("rejected-rows"), createPlace, [
  { text: createPlace, link: (rejection) => LINKS.rejected(createPlace(rejection)), kind: "wraps" },
  { text: ({ reason }) => reason },
  { text: ({ found }) => found, kind: "wraps" },
  { text: ({ published_at }) => frame.moment(published_at) },
]);

const fields = new Rows(find("field-rows"), ({ name }) => name, [
  { text: ({ name }) => name },
  { text: ({ value }) => render(value), kind: "wraps" },
]);

const list = new List("quarantine", LISTED.quarantine, rejected);
const recordFeed = new Polled(null, PERIOD_MS);

const render = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export function draw() {
  list.draw();
  const counts = list.feed.value?.counts ?? [];
  for (const { topic, reason } of counts) {
    addChoice(list.form.elements.topic, topic, topic);
    addChoice(list.form.elements.reason, reason, reason);
  }
  find("reasons").hidden = counts.length === 0;
  reasons.show(counts.toSorted((former, latter) => latter.records - former.records));
  drawRecord(address.read().record);
}

// The address names a record as topic/partition/offset.
function drawRecord(place) {
  find("rejected").hidden = !place;
  if (!place) return;
  recordFeed.change(ONE.rejected(...splitPlace(place)));
  frame.drawState("rejected", recordFeed);
  const record = recordFeed.value;
  frame.drawPresence("rejected", recordFeed, Boolean(record));
  setText(find("rejected-heading"), `Record ${place}`);
  if (!record) return;
  setText(find("rejected-reason"), record.reason);
  setText(find("rejected-found"), record.found);
  setText(find("rejected-published"), `${frame.moment(record.published_at)} UTC`);
  setText(find("rejected-remedy"), record.remedy ?? "Its topic is gone.");
  setText(find("rejected-fault"), record.fault ? `It cannot be read: ${record.fault}.` : "");
  fields.show(Object.entries(record.fields).map(([name, value]) => ({ name, value })));
  actions.draw(find("actions"), record.releasable ? [createRelease(record)] : []);
}

const splitPlace = (place) => [...place.split("/"), "", "", ""].slice(0, 3);

function createRelease(record) {
  const place = createPlace(record);
  return {
    key: place,
    name: "Release it",
    words: `Publishes a new event that holds this record. Stock counts it once, at the time when it happened; windows that are over stay as they are. Nothing takes it back. It is refused while a copy may still come in time, and if the event has counted already.`,
    command: `retail quarantine release ${place} --because …`,
    path: ACTIONS.release(record.topic, record.partition, record.offset),
    question: { label: "Why it shall count", parameter: "because", isNeeded: true },
  };
}
