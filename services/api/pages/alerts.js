// The page Alerts: a case a row, or the one that its address names.

import * as address from "./address.js";
import { LINKS, LISTED } from "./api.js";
import { createCase } from "./case.js";
import { describeMeasure, describeRule, judge, readKey } from "./cases.js";
import { find, Rows } from "./dom.js";
import * as frame from "./frame.js";
import { List } from "./list.js";
import * as names from "./names.js";

const number = "number";

const COLUMNS = [
  {
    text: describeRule,
    link: ({ rule, subject, interval_start }) => LINKS.alert(rule, subject, interval_start),
  },
  { text: ({ subject }) => subject, kind: "id" },
  { text: ({ status }) => status, tone: judge },
  names.storeCell(),
  { text: (alert) => describeMeasure(alert, alert.measured), kind: number },
  { text: (alert) => describeMeasure(alert, alert.threshold), kind: number },
  { text: ({ decided_at }) => frame.moment(decided_at) },
];

function createAll() {
  const list = new List("cases", LISTED.alerts, new Rows(find("case-rows"), readKey, COLUMNS));
  return () => list.draw();
}

const { rule, subject, interval_start } = address.read();
const isOne = Boolean(rule && subject && interval_start);
find(isOne ? "one" : "all").hidden = false;
frame.start(isOne ? createCase(rule, subject, interval_start) : createAll());
