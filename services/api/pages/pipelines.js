// The page Pipelines: where each stands, and what became of every record that it read.

import { LINKS } from "./api.js";
import * as checks from "./checks.js";
import { find, reconcile, Rows, setAttribute, setText } from "./dom.js";
import { describeBooks, drawFlow } from "./flow.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import * as quarantine from "./quarantine.js";

const SECOND_MS = 1_000;
const number = "number";

const COLUMNS = [
  { text: ({ topic }) => topic, link: ({ topic }) => LINKS.contract(topic) },
  { text: ({ read }) => format.count(read), kind: number },
  { text: ({ applied }) => format.count(applied), kind: number },
  { text: ({ duplicate }) => format.count(duplicate), kind: number },
  { text: ({ quarantined }) => format.count(quarantined), kind: number },
  { text: ({ lag }) => format.count(lag), kind: number },
];

function createArticle({ pipeline }) {
  const article = find("pipeline").content.firstElementChild.cloneNode(true);
  article.id = pipeline;
  article.querySelector(".scrolls").setAttribute("aria-label", `Records of ${pipeline}`);
  article.rows = new Rows(article.querySelector("tbody"), ({ topic }) => topic, COLUMNS);
  return article;
}

function drawArticle(article, pipeline) {
  const set = (kind, text) => setText(article.querySelector(`.${kind}`), text);
  set("name", pipeline.pipeline);
  set("brief", `${format.count(pipeline.lag_records)} waiting`);
  setAttribute(article.querySelector(".whole"), "href", LINKS.pipeline(pipeline.pipeline));
  set("standing", frame.describeStanding(pipeline));
  const tone = frame.judgeStanding(pipeline);
  setAttribute(article.querySelector(".standing"), "class", `standing badge ${tone}`);
  set("generations", frame.describeGenerations(pipeline));
  setAttribute(article.querySelector(".generations"), "href", LINKS.replay(pipeline.pipeline));
  set("lag", withUnit(format.count(pipeline.lag_records), "records not counted yet"));
  set("rate", withUnit(format.rate(pipeline.rate_per_second), "records a second"));
  set("behind", describeBehind(pipeline.behind_world_seconds));
  const fresh = frame.describeFreshness(pipeline, frame.pipelinesFeed.receivedAt);
  set("freshness", fresh || format.NONE);
  set("batch", withUnit(format.duration(pipeline.batch_ms), "until its rows were acknowledged"));
  set("balance", describeBooks(pipeline.books));
  drawViews(article.querySelector(".views"), pipeline.views ?? []);
  const topics = addUp(pipeline);
  article.querySelector(".scrolls").hidden = topics.length === 0;
  article.rows.show(topics);
}

const withUnit = (text, unit) => (text === format.NONE ? text : `${text} ${unit}`);

function describeBehind(seconds) {
  if (seconds === null || seconds === undefined) return format.NONE;
  return `${format.duration(seconds * SECOND_MS)} of world time`;
}

function drawViews(list, views) {
  reconcile(list, views, (view) => view, createView, () => {});
}

function createView(view) {
  const item = document.createElement("li");
  const contract = frame.createLink(view, LINKS.contract(view));
  item.append(contract, " · ", frame.createLink("JSON", LINKS.view(view)));
  return item;
}

// The books have a row per partition; the page shows a topic's sums.
function addUp({ books, lag_records_by_input }) {
  const topics = new Map();
  for (const book of books ?? []) {
    const sums = topics.get(book.topic) ?? { read: 0, applied: 0, duplicate: 0, quarantined: 0 };
    for (const name of Object.keys(sums)) sums[name] += book[name];
    topics.set(book.topic, sums);
  }
  return [...topics]
    .sort()
    .map(([topic, sums]) => ({ topic, ...sums, lag: lag_records_by_input?.[topic] }));
}

// The address may name a pipeline, whose part of the page is there only now.
let isPlaced = false;

function placeOnce() {
  if (isPlaced) return;
  isPlaced = true;
  const named = find(location.hash.slice(1));
  if (named?.matches("article")) named.querySelector("details").open = true;
  named?.scrollIntoView();
}

frame.start(() => {
  const feed = frame.pipelinesFeed;
  frame.drawState("pipelines", feed);
  const pipelines = feed.value?.pipelines ?? [];
  find("pipelines-none").hidden = !feed.value || pipelines.length > 0;
  drawFlow(find("flow"), pipelines);
  const list = find("pipeline-list");
  reconcile(list, pipelines, ({ pipeline }) => pipeline, createArticle, drawArticle);
  checks.draw();
  quarantine.draw();
  if (pipelines.length) placeOnce();
});
