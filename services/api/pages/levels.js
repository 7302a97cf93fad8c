// The levels of one shelf over its reviews: when to order, and up to what.

import { createSvg } from "./dom.js";
import { count, date } from "./format.js";

const HEIGHT = 190;
const MARGIN = { top: 12, right: 10, bottom: 24, left: 44 };
const WIDTH_MIN = 240;

const LINES = [
  { name: "order up to", kind: "line", read: ({ order_up_to_units }) => order_up_to_units },
  { name: "reorder point", kind: "line dashed", read: ({ reorder_point_units }) => reorder_point_units },
];

// `reviews` are the oldest first.
export function drawLevels(frame, reviews) {
  const width = Math.max(WIDTH_MIN, frame.clientWidth);
  const state = JSON.stringify([width, reviews.map((one) => LINES.map(({ read }) => read(one)))]);
  if (frame.drawn === state) return;
  frame.drawn = state;
  const most = Math.max(1, ...reviews.flatMap((one) => LINES.map(({ read }) => read(one))));
  const x = (at) => MARGIN.left + ((width - MARGIN.left - MARGIN.right) * at) / (reviews.length - 1);
  const y = (value) => HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * value) / most;
  const last = reviews.at(-1);
  const words = LINES.map(({ name, read }) => `${name} ${count(read(last))} units`).join(", ");
  const svg = createSvg("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    width,
    height: HEIGHT,
    role: "img",
    "aria-label": `${reviews.length} reviews; at the last one: ${words}`,
  });
  for (const value of [0, most]) {
    svg.append(
      createSvg("line", { class: "grid", x1: MARGIN.left, x2: width, y1: y(value), y2: y(value) }),
      createSvg("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    );
  }
  for (const { kind, read } of LINES) {
    const points = reviews.map((one, at) => `${x(at).toFixed(1)},${y(read(one)).toFixed(1)}`);
    svg.append(createSvg("polyline", { class: kind, points: points.join(" ") }));
  }
  const day = ({ review_at }) => date(Date.parse(review_at));
  svg.append(
    createSvg("text", { x: MARGIN.left, y: HEIGHT - 6 }, day(reviews[0])),
    createSvg("text", { x: width - MARGIN.right, y: HEIGHT - 6, "text-anchor": "end" }, day(last)),
  );
  frame.replaceChildren(svg);
}
