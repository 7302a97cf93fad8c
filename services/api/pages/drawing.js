// A drawing as wide as its frame, with a name for who cannot see it.

import { createSvg } from "./dom.js";

const WIDTH_MIN = 240;

// `draw` gives the parts for a width. It is called when the width, the label or `what` has changed.
export function drawIn(frame, height, label, what, draw) {
  const width = Math.max(WIDTH_MIN, frame.clientWidth);
  const state = JSON.stringify([width, label, what]);
  if (frame.drawn === state) return;
  frame.drawn = state;
  const svg = createSvg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": label,
  });
  svg.append(...draw(width));
  frame.replaceChildren(svg);
}
