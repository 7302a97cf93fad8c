// A line of time with spans or moments on it.

import { createSvg } from "./dom.js";
import { drawIn } from "./drawing.js";
import { minute, MINUTE_MS } from "./format.js";

const HEIGHT = 56;
const SIDE = 24;
const LABELS_MAX = 6;
const STEPS_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440];
const MARK_WIDTH = 3;

// `spans` have { from, until } each, in milliseconds like the whole line's.
export const drawSpans = (frame, whole, spans, label) =>
  drawIn(frame, HEIGHT, label, [whole.from, whole.until, spans], (width) => {
    const x = (ms) => {
      const share = (ms - whole.from) / Math.max(1, whole.until - whole.from);
      return SIDE + (width - 2 * SIDE) * Math.min(1, Math.max(0, share));
    };
    return [
      createSvg("line", { class: "grid", x1: SIDE, x2: width - SIDE, y1: 32, y2: 32 }),
      ...spans.map(({ from, until }) => drawMark(x(from), x(until))),
      ...listLabels(whole).map((ms) =>
        createSvg("text", { x: x(ms), y: HEIGHT - 6, "text-anchor": "middle" }, minute(ms)),
      ),
    ];
  });

export const drawMoments = (frame, whole, moments, label) =>
  drawSpans(frame, whole, moments.map((ms) => ({ from: ms, until: ms })), label);

const drawMark = (from, until) =>
  createSvg("rect", {
    class: "mark",
    x: from - MARK_WIDTH / 2,
    y: 8,
    width: until - from + MARK_WIDTH,
    height: 20,
    rx: 1.5,
  });

function listLabels({ from, until }) {
  const minutes = (until - from) / MINUTE_MS;
  const step = STEPS_MINUTES.find((one) => minutes / one <= LABELS_MAX) ?? minutes;
  const stepMs = step * MINUTE_MS;
  const labels = [];
  for (let ms = Math.ceil(from / stepMs) * stepMs; ms <= until; ms += stepMs) labels.push(ms);
  return labels;
}
