// What differs in one view.

import { LINKS } from "./api.js";
import { find, Rows, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";

const number = "number";

const COUNTS = [
  { text: ({ name }) => name, kind: "wraps" },
  { text: ({ before }) => format.count(before), kind: number },
  { text: ({ after }) => format.count(after), kind: number },
  { text: ({ before, after }) => format.signed(after - before), kind: number },
];

// In the words of `retail replay diff`; an older report has none.
const MOVED = [
  { text: ({ name }) => name ?? format.NONE, kind: "wraps" },
  { text: ({ kind }) => kind ?? format.NONE },
  { text: ({ words }) => words?.join(" · ") ?? format.NONE, kind: "wraps" },
];

export function createView({ view }) {
  const article = find("view").content.firstElementChild.cloneNode(true);
  for (const kind of ["counts", "moved"]) {
    article.querySelector(`.${kind}`).setAttribute("aria-label", `${kind} of ${view}`);
  }
  const body = (kind) => article.querySelector(`.${kind} tbody`);
  article.counts = new Rows(body("counts"), ({ name }) => name, COUNTS);
  article.moved = new Rows(body("moved"), ({ key }) => JSON.stringify(key), MOVED);
  return article;
}

export function drawView(article, view) {
  const set = (kind, text) => setText(article.querySelector(`.${kind}`), text);
  set("name", view.view);
  setAttribute(article.querySelector(".name"), "href", LINKS.contract(view.view));
  for (const kind of ["added", "removed", "changed"]) set(kind, format.count(view[kind]));
  set("rows", `${format.count(view.before)} rows before, ${format.count(view.after)} after.`);
  const counts = [
    ...view.facets.map(({ field, value, before, after }) => ({
      name: `${field} is ${value}`,
      before,
      after,
    })),
    ...view.totals.map(({ field, before, after }) => ({ name: `sum of ${field}`, before, after })),
  ].filter(({ before, after }) => before !== after);
  article.querySelector(".counts").hidden = counts.length === 0;
  article.counts.show(counts);
  article.querySelector(".moved").hidden = view.largest.length === 0;
  article.moved.show(view.largest);
}

// How the codes differ, in words; empty where nobody has looked.
export function describeChanges(changes) {
  if (!changes) return "";
  const { thresholds, files } = changes;
  if (!files.length) return "Both run the same code.";
  const settings = thresholds.map(
    ({ name, before, after }) => `${name} ${format.count(before)} → ${format.count(after)}`,
  );
  return `The code differs: ${[...settings, ...files].join(", ")}.`;
}
