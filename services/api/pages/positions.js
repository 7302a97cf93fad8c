// The inventory position of one shelf over its reviews, beside the two levels that it is held to.

import { createSvg } from "./dom.js";
import { drawIn } from "./drawing.js";
import { count, day, plural } from "./format.js";

const HEIGHT = 240;
const MARGIN = { top: 26, right: 12, bottom: 40, left: 52 };
const LABEL_WIDTH = 64;
const LINES_MAX = 5;

// A position falls by what is sold until a review, and rises there by what the review orders.
// The levels of a review hold until the next one.
const LINES = [
  { kind: "line", steps: readPositions },
  { kind: "line level", steps: (items) => readLevels(items, "order_up_to_units") },
  { kind: "line level dashed", steps: (items) => readLevels(items, "reorder_point_units") },
];

// `items` are reviews, the oldest first, and `until` is when the last one's levels end.
export function drawPositions(frame, items, until) {
  const last = items.at(-1);
  const position = last.position_units === null ? "a position not known" : units(last.position_units);
  const label =
    `Units over ${plural(items.length, "review", "reviews")}. At the last one: ${position}, ` +
    `reorder point ${units(last.reorder_point_units)}, order up to ${units(last.order_up_to_units)}`;
  drawIn(frame, HEIGHT, label, [items, until], (width) => drawAll(items, until, width));
}

const units = (value) => plural(value, "unit", "units");
const timeOf = ({ review_at }) => Date.parse(review_at);

function readPositions(items) {
  return items.flatMap((item) => {
    if (item.position_units === null) return [];
    const time = timeOf(item);
    return [
      { time, value: item.position_units },
      { time, value: item.position_units + item.ordered_units },
    ];
  });
}

const readLevels = (items, name) => items.map((item) => ({ time: timeOf(item), value: item[name] }));

function drawAll(items, until, width) {
  const drawn = LINES.map(({ kind, steps }) => ({ kind, points: steps(items) }));
  const values = drawn.flatMap(({ points }) => points.map(({ value }) => value));
  const ticks = createTicks(Math.min(0, ...values), Math.max(1, ...values));
  const [low, high] = [ticks[0], ticks.at(-1)];
  const [first, across] = [timeOf(items[0]), width - MARGIN.left - MARGIN.right];
  const x = (time) => MARGIN.left + (across * (time - first)) / Math.max(1, until - first);
  const y = (value) =>
    MARGIN.top + ((HEIGHT - MARGIN.top - MARGIN.bottom) * (high - value)) / (high - low);
  return [
    createSvg("text", { x: 0, y: 12 }, "units"),
    ...ticks.flatMap((value) => drawTick(value, y(value), width)),
    ...listDays(items, across).map((item) =>
      createSvg("text", { x: x(timeOf(item)), y: HEIGHT - 22 }, day(timeOf(item))),
    ),
    createSvg("text", { x: MARGIN.left, y: HEIGHT - 4 }, "review, at midnight UTC"),
    ...drawn.map(({ kind, points }) => drawSteps(kind, points, until, x, y)),
  ];
}

function drawTick(value, y, width) {
  const right = width - MARGIN.right;
  return [
    createSvg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y, y2: y }),
    createSvg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, count(value)),
  ];
}

// Each value holds until the next one's time, and the last one until the end.
function drawSteps(kind, points, until, x, y) {
  const corners = points.flatMap(({ time, value }, number) => {
    const ends = points[number + 1]?.time ?? until;
    return [`${x(time).toFixed(1)},${y(value).toFixed(1)}`, `${x(ends).toFixed(1)},${y(value).toFixed(1)}`];
  });
  return createSvg("polyline", { class: kind, points: corners.join(" ") });
}

// Round values from below the least to above the most.
function createTicks(least, most) {
  const rough = (most - least) / (LINES_MAX - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((factor) => factor >= rough));
  const ticks = [];
  for (let value = Math.floor(least / step) * step; value < most + step; value += step) {
    ticks.push(value);
  }
  return ticks;
}

// As many reviews as have room for their day, evenly.
function listDays(items, across) {
  const every = Math.ceil((items.length * LABEL_WIDTH) / Math.max(LABEL_WIDTH, across));
  return items.filter((_, number) => number % every === 0);
}
