// The way of the records as a drawing: topics, the pipelines that read them, their views, the API.

import { createSvg } from "./dom.js";
import { drawIn } from "./drawing.js";
import * as format from "./format.js";

const SECOND_MS = 1_000;
const LINE = 16;
const INSET = 10;
const GAP = 10;
const COLUMNS = [
  { from: 0, until: 0.25 },
  { from: 0.33, until: 0.57 },
  { from: 0.65, until: 0.89 },
  { from: 0.93, until: 1 },
];

// `pipelines` as the API lists them.
export function drawFlow(frame, pipelines) {
  const columns = [listTopics(pipelines), pipelines.map(describe), listViews(pipelines)];
  columns.push([{ key: "api", lines: ["API"] }]);
  const height = Math.max(...columns.map(measure));
  const [topics, of, views] = columns.map((boxes) => boxes.length);
  const label =
    `${format.plural(topics, "topic", "topics")}, ${format.plural(of, "pipeline", "pipelines")} ` +
    `that read them, ${format.plural(views, "view", "views")}, and the API that answers from these`;
  drawIn(frame, height, label, columns, (width) => drawAll(columns, listEdges(pipelines), width, height));
}

function listTopics(pipelines) {
  const lags = new Map();
  for (const { lag_records_by_input } of pipelines) {
    for (const [topic, lag] of Object.entries(lag_records_by_input ?? {})) {
      lags.set(topic, Math.max(lag, lags.get(topic) ?? 0));
    }
  }
  const boxes = [...lags].map(([topic, lag]) => ({
    key: topic,
    lines: [shorten(topic), `${format.count(lag)} not counted yet`],
  }));
  return boxes.sort((former, latter) => (former.key < latter.key ? -1 : 1));
}

const listViews = (pipelines) =>
  pipelines.flatMap(({ views }) => views ?? []).map((view) => ({ key: view, lines: [shorten(view)] }));

const shorten = (topic) => topic.replace(/^public\./, "").replace(/\.v1$/, "");

function describe(pipeline) {
  const generation = pipeline.generation === undefined ? "not served" : `g${pipeline.generation}`;
  const rate = pipeline.rate_per_second ?? null;
  return {
    key: `pipeline ${pipeline.pipeline}`,
    isIdle: !rate,
    lines: [
      `${pipeline.pipeline} · ${generation}`,
      `${format.rate(rate)} records/s · lag ${format.count(pipeline.lag_records)}`,
      `behind ${inSeconds(pipeline.behind_world_seconds)} · batch ${format.duration(pipeline.batch_ms)}`,
      describeBooks(pipeline.books),
    ],
  };
}

const inSeconds = (seconds) => format.duration(seconds == null ? null : seconds * SECOND_MS);

// What was read and is neither applied nor quarantined was there before: it cannot be less than none.
export function describeBooks(books) {
  if (!books?.length) return "no books yet";
  return books.every(({ duplicate }) => duplicate >= 0) ? "books balanced" : "books do not balance";
}

function listEdges(pipelines) {
  return pipelines.flatMap((pipeline) => {
    const { key, isIdle } = describe(pipeline);
    const topics = Object.keys(pipeline.lag_records_by_input ?? {});
    return [
      ...topics.map((topic) => ({ from: topic, to: key, isIdle })),
      ...(pipeline.views ?? []).flatMap((view) => [
        { from: key, to: view, isIdle },
        { from: view, to: "api", isIdle },
      ]),
    ];
  });
}

const measureBox = ({ lines }) => lines.length * LINE + INSET;
const measure = (boxes) => boxes.reduce((sum, box) => sum + measureBox(box) + GAP, 0);

function drawAll(columns, edges, width, height) {
  const placed = new Map(columns.flatMap((boxes, index) => place(boxes, COLUMNS[index], width, height)));
  return [
    ...edges.map(({ from, to, isIdle }) => drawEdge(placed.get(from), placed.get(to), isIdle)),
    ...[...placed.values()].map(drawBox),
  ];
}

// A column's boxes below each other, in the middle of the drawing.
function place(boxes, { from, until }, width, height) {
  let y = (height - measure(boxes) + GAP) / 2;
  return boxes.map((box) => {
    const tall = measureBox(box);
    const found = { ...box, x: from * width, y, wide: (until - from) * width, tall };
    y += tall + GAP;
    return [box.key, found];
  });
}

function drawEdge(source, target, isIdle) {
  const [x, y] = [source.x + source.wide, source.y + source.tall / 2];
  const [toX, toY] = [target.x, target.y + target.tall / 2];
  const bend = (x + toX) / 2;
  const points = [x, y, bend, y, bend, toY, toX, toY].map((value) => value.toFixed(1));
  const d = `M ${points.slice(0, 2)} C ${points.slice(2)}`;
  return createSvg("path", { class: isIdle ? "edge idle" : "edge", d });
}

function drawBox({ x, y, wide, tall, lines }) {
  const box = createSvg("rect", { class: "box", x, y, width: Math.max(0, wide - 1), height: tall, rx: 5 });
  const texts = lines.map((line, index) =>
    createSvg("text", { class: index ? "" : "name", x: x + INSET, y: y + LINE * (index + 1) }, line),
  );
  return createSvg("g", {}, box, ...texts);
}
