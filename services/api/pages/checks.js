// What the newest check found of each table of the lake, and the rows that are not as expected.

import { POLLED } from "./api.js";
import { find, Rows, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";

const feed = new Polled(POLLED.checks, 30_000);

const tables = new Rows(find("check-rows"), ({ table }) => table, [
  { text: ({ table }) => table },
  { text: describeResult, tone: (check) => (isKept(check) ? "good" : "bad"), kind: "wraps" },
  { text: ({ version }) => format.count(version), kind: "number" },
  { text: ({ records }) => format.count(records), kind: "number" },
  { text: ({ checked_at }) => format.wallTime(checked_at) },
]);

const isKept = ({ failures: failed, trouble }) => !trouble && !failed.length;
const createKey = ({ table, suite, expectation }) => `${table} ${suite} ${expectation}`;

const failures = new Rows(find("failure-rows"), createKey, [
  { text: ({ table }) => table },
  { text: ({ expectation }) => expectation, kind: "wraps" },
  { text: ({ unexpected }) => format.count(unexpected), kind: "number" },
  { text: ({ rows }) => rows.map((row) => JSON.stringify(row)).join(" "), kind: "wraps" },
]);

function describeResult({ expectations, failures: failed, trouble }) {
  if (trouble) return `could not run: ${trouble}`;
  const kept = `${format.count(expectations - failed.length)} of ${format.count(expectations)}`;
  return `${kept} expectations hold`;
}

export function draw() {
  frame.drawState("checks", feed);
  const checked = feed.value?.tables ?? [];
  frame.drawPresence("checks", feed, checked.length > 0);
  tables.show(checked);
  const failed = checked.flatMap(({ table, failures: all }) => all.map((one) => ({ table, ...one })));
  failures.show(failed);
  find("failures").hidden = failed.length === 0;
  const words = describeAlert(failed, checked, feed.value?.trouble);
  find("checks-alert").hidden = !words;
  setText(find("checks-alert"), words);
}

function describeAlert(failed, checked, trouble) {
  const troubled = checked.filter((table) => table.trouble).length;
  const words = [];
  if (failed.length) words.push(`${format.plural(failed.length, "expectation fails", "expectations fail")}.`);
  if (troubled) words.push(`${format.plural(troubled, "check", "checks")} could not run.`);
  if (trouble) words.push(`The newest checks could not run: ${trouble}.`);
  return words.join(" ");
}
