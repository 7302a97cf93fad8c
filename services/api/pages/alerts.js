// The page Alerts: a case a row, or the one that its address names.

import * as address from "./address.js";
import { LINKS, LISTED } from "./api.js";
import { createCase } from "./case.js";
import { describeMeasure, readKey } from "./cases.js";
import { find, Rows } from "./dom.js";
import * as frame from "./frame.js";
import { List } from "./list.js";

const number = "number";

const COLUMNS = [
  {
    text: ({ rule }) => rule,
    link: ({ rule, subject, interval_start }) => LINKS.alert(rule, subject, interval_start),
  },
  { text: ({ subject }) => subject, kind: "id" },
  { text: ({ status }) => status },
  { text: ({ store_id }) => store_id },
  { text: (alert) => describeMeasure(alert, alert.measured), kind: number },
  { text: (alert) => describeMeasure(alert, alert.threshold), kind: number },
  { text: ({ decided_at }) => frame.moment(decided_at) },
];

function createAll() {
  const list = new List("cases", LISTED.alerts, new Rows(find("case-rows"), readKey, COLUMNS));
  const describe = ({ value, receivedAt }) => frame.describeFreshness(value, receivedAt);
  return () => list.draw(describe);
}

const { rule, subject, interval_start } = address.read();
const isOne = Boolean(rule && subject && interval_start);
find(isOne ? "one" : "all").hidden = false;
frame.start(isOne ? createCase(rule, subject, interval_start) : createAll());
