// Lines over the minutes of an hour: a chart with its axes, and a small line for a table's row.

import { createSvg, setAttribute } from "./dom.js";
import { drawIn } from "./drawing.js";
import { count, minute, MINUTE_MS } from "./format.js";

const HEIGHT = 190;
const MARGIN = { top: 12, right: 10, bottom: 24, left: 44 };
const LABEL_MINUTES = 15;
const LABEL_WIDTH = 20; // half of it, with what is around it
const SPARK = { width: 160, height: 28 };

// `points` has one { at, value } a minute. The unit stands in the words around the chart.
export const drawChart = (frame, points, label) =>
  drawIn(frame, HEIGHT, label, points, (width) =>
    points.length > 1 ? drawLine(points, width) : [],
  );

function drawLine(points, width) {
  const most = roundUp(Math.max(...points.map(({ value }) => value)));
  const [first, last] = [points[0].minuteMs, points.at(-1).minuteMs];
  const across = width - MARGIN.left - MARGIN.right;
  const up = HEIGHT - MARGIN.top - MARGIN.bottom;
  const x = (minuteMs) => MARGIN.left + (across * (minuteMs - first)) / (last - first);
  const y = (value) => MARGIN.top + up * (1 - value / most);
  const path = points.map(({ minuteMs, value }) => `${x(minuteMs).toFixed(1)},${y(value).toFixed(1)}`);
  const floor = y(0).toFixed(1);
  return [
    ...[0, most / 2, most].flatMap((value) => drawLevel(value, y(value), width)),
    ...listLabels(first, last).map((minuteMs) => drawTime(minuteMs, x(minuteMs), width)),
    createSvg("polygon", {
      class: "area",
      points: `${x(first)},${floor} ${path.join(" ")} ${x(last)},${floor}`,
    }),
    createSvg("polyline", { class: "line", points: path.join(" ") }),
  ];
}

const drawLevel = (value, y, width) => [
  createSvg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }),
  createSvg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, count(value)),
];

function drawTime(minuteMs, x, width) {
  const isLast = x > width - LABEL_WIDTH;
  const place = isLast ? { x: width, "text-anchor": "end" } : { x, "text-anchor": "middle" };
  return createSvg("text", { ...place, y: HEIGHT - 6 }, minute(minuteMs));
}

function listLabels(first, last) {
  const step = LABEL_MINUTES * MINUTE_MS;
  const labels = [];
  for (let minuteMs = Math.ceil(first / step) * step; minuteMs <= last; minuteMs += step) labels.push(minuteMs);
  return labels;
}

// The next of 2, 4, 10, 20, 40, 100 …: half of it is a round number too.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [2, 4, 10, 20].map((step) => step * power).find((step) => step >= value);
}

// A row's line. All rows share `most`, so that they can be compared; the numbers stand beside it.
export function drawSpark(cell, values, most) {
  if (!cell.firstElementChild) {
    const line = createSvg("polyline", { class: "line" });
    const { width, height } = SPARK;
    const viewBox = `0 0 ${width} ${height}`;
    cell.append(createSvg("svg", { viewBox, width, height, "aria-hidden": "true" }, line));
  }
  const step = SPARK.width / Math.max(1, values.length - 1);
  const y = (value) => (SPARK.height - 2) * (1 - value / Math.max(1, most)) + 1;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${y(value).toFixed(1)}`);
  setAttribute(cell.querySelector("polyline"), "points", points.join(" "));
}
