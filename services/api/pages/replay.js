// The page Replay: the generations of a pipeline, what the candidate changes, and what may be done.

import * as actions from "./actions.js";
import * as address from "./address.js";
import { ACTIONS, ONE } from "./api.js";
import { createView, describeChanges, drawView } from "./difference.js";
import { create, find, reconcile, Rows, setAttribute, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";

const PERIOD_MS = 5_000;
const number = "number";
const TONES = { promoted: "good", ready: "warn", "catching-up": "warn", invalid: "bad" };
const CANDIDATE = ["ready", "catching-up"];

const GENERATIONS = [
  { text: ({ number: one }) => `g${one}` },
  { text: describeState, tone: ({ state }) => TONES[state] ?? "", kind: "wraps" },
  { text: describeLoaded },
  { text: ({ read_records }) => format.count(read_records), kind: number },
  { text: ({ left_records }) => format.count(left_records), kind: number },
  { draw: drawProgress },
];

const generations = new Rows(find("generation-rows"), ({ number: one }) => `${one}`, GENERATIONS);
const differenceFeed = new Polled(null, PERIOD_MS);
const chooser = find("pipeline");
chooser.addEventListener("change", () => {
  history.replaceState(null, "", address.create("/replay", { pipeline: chooser.value }));
  draw();
});

function describeState({ state, reason }) {
  return reason ? `${state}: ${reason}` : state;
}

function describeLoaded({ number, loaded, state }) {
  if (findChosen()?.generation === number) return "serves it";
  if (loaded) return "has loaded it";
  return state === "ready" || state === "promoted" ? "is loading it" : format.NONE;
}

function drawProgress(cell, { read_records, left_records }) {
  const isKnown = Number.isFinite(read_records) && Number.isFinite(left_records);
  const share = isKnown && left_records ? read_records / (read_records + left_records) : 1;
  if (!cell.firstElementChild) cell.append(create("progress", { max: 100 }), create("span"));
  const [bar, words] = cell.children;
  bar.hidden = !isKnown;
  const percent = Math.floor(100 * share);
  setAttribute(bar, "value", percent);
  setAttribute(bar, "aria-label", "Share of the log that it has read");
  setText(words, isKnown ? ` ${percent} %` : "no marker yet");
}

const listPipelines = () => frame.pipelinesFeed.value?.pipelines ?? [];

// The one that the address names; without a name, one with a candidate, else the first.
function findChosen() {
  const named = address.read().pipeline;
  const all = listPipelines();
  if (named) return all.find(({ pipeline }) => pipeline === named);
  const hasCandidate = ({ generations: every }) => every.some(({ state }) => isCandidate(state));
  return all.find(hasCandidate) ?? all[0];
}

function explainUnknown() {
  const notice = find("generations").querySelector(".notice");
  const known = listPipelines().map(({ pipeline }) => pipeline);
  chooser.selectedIndex = -1;
  find("generations").querySelector(".none").hidden = true;
  notice.hidden = false;
  setText(
    notice,
    `Unknown pipeline. Expected one of ${known.join(", ")}, found ${address.read().pipeline}.`,
  );
}

const isCandidate = (state) => CANDIDATE.includes(state);

function drawChooser(chosen) {
  const read = ({ pipeline }) => pipeline;
  const createOption = ({ pipeline }) => create("option", { value: pipeline }, pipeline);
  reconcile(chooser, listPipelines(), read, createOption, () => {});
  if (chosen && document.activeElement !== chooser) chooser.value = chosen.pipeline;
}

function drawGenerations(chosen) {
  frame.drawState("generations", frame.pipelinesFeed);
  drawChooser(chosen);
  generations.show(chosen?.generations ?? []);
  frame.drawPresence("generations", frame.pipelinesFeed, Boolean(chosen));
  if (!chosen) {
    if (listPipelines().length) explainUnknown();
    return;
  }
  const candidate = chosen.generations.find(({ state }) => isCandidate(state));
  find("make-one").hidden = Boolean(candidate);
  setText(find("make-command"), `retail replay start ${chosen.pipeline}`);
  actions.draw(find("actions"), listActions(chosen, candidate));
}

// What may be done now, each with what will happen.
function listActions(chosen, candidate) {
  const name = chosen.pipeline;
  const retired = chosen.generations.filter(({ state }) => state === "retired").at(-1);
  const listed = [];
  if (!candidate) {
    listed.push({
      key: "start",
      name: "Start a replay",
      words: `The code on disk reads the log of ${name} from its first record, beside g${chosen.promoted ?? "–"}, and is then compared with it. Readers notice nothing. It takes a minute, and more for a long log.`,
      command: `retail replay start ${name}`,
      path: ACTIONS.start(name),
      question: { label: "Threshold to set, as name=value; empty: the code as it is", parameter: "set" },
    });
  }
  if (candidate?.state === "ready") {
    const one = candidate.number;
    listed.push(
      {
        key: "compare",
        name: "Compare",
        words: `Runs the code of g${one} in one batch up to the marker that is served, and shows what it says otherwise. Nothing switches. It takes some seconds for each thousand records.`,
        command: `retail replay diff ${name}`,
        path: ACTIONS.compare(name),
      },
      {
        key: "promote",
        name: `Promote g${one}`,
        words: `Every reader of ${name} follows g${one} from one moment on, by one record, once each has loaded it. g${chosen.promoted ?? "–"} stays for a rollback; an older retired one is removed.`,
        command: `retail replay promote ${name} --number ${one}`,
        path: ACTIONS.promote(name, one),
      },
    );
  }
  if (retired && !candidate) {
    listed.push({
      key: "rollback",
      name: `Roll back to g${retired.number}`,
      words: `Every reader of ${name} follows g${retired.number} again, by one record. g${chosen.promoted ?? "–"} stays as a candidate.`,
      command: `retail replay rollback ${name}`,
      path: ACTIONS.rollBack(name),
    });
  }
  for (const { number: one } of chosen.generations.filter(({ state }) => state !== "promoted")) {
    listed.push({
      key: `prune-${one}`,
      name: `Forget g${one}`,
      words: `Removes g${one} of ${name}: its process, its topics and its folder. Readers do not notice. Only another replay makes it again.`,
      command: `retail replay prune ${name} --number ${one}`,
      path: ACTIONS.prune(name, one),
    });
  }
  return listed;
}

function drawDifference(chosen) {
  const feed = differenceFeed;
  if (chosen) feed.change(ONE.difference(chosen.pipeline));
  const answer = feed.value;
  const computed = answer?.computed_at;
  frame.drawState("difference", feed, computed && `Computed ${format.wallTime(computed)}`);
  const difference = answer?.difference;
  frame.drawPresence("difference", feed, Boolean(difference));
  setText(find("difference").querySelector(".none"), describeNone(answer));
  if (!difference) return;
  const sum = difference.empty ? "No row differs." : "These rows differ:";
  const { before, after, position, records } = difference;
  setText(
    find("compared"),
    `${before} → ${after}, both at ${position}, after ${format.count(records)} records of the log. ${sum}`,
  );
  const changes = describeChanges(difference.changes);
  find("changes").hidden = !changes;
  setText(find("changes"), changes);
  reconcile(find("view-list"), difference.views, ({ view }) => view, createView, drawView);
}

function describeNone(answer) {
  if (!answer || answer.before === null || answer.after === null) {
    return "There is one generation, so there is nothing to compare.";
  }
  return `Nobody has compared g${answer.before} and g${answer.after} yet.`;
}

function draw() {
  const chosen = findChosen();
  drawGenerations(chosen);
  drawDifference(chosen);
}

frame.start(draw);
