// The page Replenishment: what was proposed, ordered and confirmed, of all shelves or of some.

import * as address from "./address.js";
import { LINKS, LISTED, ONE, PROPOSALS } from "./api.js";
import { find, Rows, setText } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { List } from "./list.js";
import { describeOrder } from "./orders.js";
import { drawPositions } from "./positions.js";

const PERIOD_MS = 5_000;
const REVIEW_MS = 24 * 60 * 60 * 1_000;
const PAGE = 100;
const number = "number";

const shelf = {
  text: ({ store_id, sku }) => `${store_id} ${sku}`,
  link: ({ store_id, sku }) => LINKS.shelf(store_id, sku),
};

const ORDERS = [
  shelf,
  { text: ({ review_at }) => frame.moment(review_at) },
  { text: ({ ordered_at }) => frame.moment(ordered_at) },
  { text: ({ units }) => format.count(units), kind: number },
  { text: ({ confirmation }) => format.count(confirmation?.shipped_units), kind: number },
  { text: describeOrder, kind: "wraps" },
];

const PROPOSED = [
  shelf,
  { text: ({ review_at }) => frame.moment(review_at) },
  { text: ({ sold_units }) => format.count(sold_units), kind: number },
  { text: ({ days }) => format.count(days), kind: number },
  { text: ({ reorder_point_units }) => format.count(reorder_point_units), kind: number },
  { text: ({ order_up_to_units }) => format.count(order_up_to_units), kind: number },
  { text: ({ pack_size_units }) => format.count(pack_size_units), kind: number },
  { text: describeLeadTime, kind: number },
];

function describeLeadTime({ lead_time_days, lead_time_hours }) {
  const parts = [
    [lead_time_days, "d"],
    [lead_time_hours, "h"],
  ];
  return parts.flatMap(([count, unit]) => (count ? `${format.count(count)} ${unit}` : [])).join(" ") || "0 h";
}

const readReview = ({ store_id, sku, review_at }) => `${store_id}/${sku}/${review_at}`;

const orders = new List(
  "orders",
  LISTED.orders,
  new Rows(find("order-rows"), ({ purchase_order_id }) => purchase_order_id, ORDERS),
);
const proposals = new Polled(null, PERIOD_MS);
const positions = new Polled(null, PERIOD_MS);
const proposed = new Rows(find("proposal-rows"), readReview, PROPOSED);

// Asked for only where a pipeline writes them.
function drawProposals() {
  const { store_id, sku } = address.read();
  const isWritten = Boolean(frame.findPipeline(PROPOSALS));
  find("no-reorder").hidden = isWritten || !frame.pipelinesFeed.value;
  if (isWritten) {
    const asked = { order: "newest", limit: PAGE, store_id, sku };
    proposals.change(address.create(LISTED.proposals, asked));
  }
  const feed = isWritten ? proposals : frame.pipelinesFeed;
  const { value, receivedAt } = proposals;
  frame.drawState("proposals", feed, frame.describeFreshness(value, receivedAt));
  const items = value?.items ?? [];
  proposed.show(items);
  frame.drawPresence("proposals", proposals, items.length > 0);
}

// Of one shelf: its position at the reviews that are over, and at the next one as far as is known.
function drawPosition() {
  const { store_id, sku } = address.read();
  const isOne = Boolean(store_id && sku && frame.findPipeline(PROPOSALS));
  find("positions").hidden = !isOne;
  positions.change(isOne ? ONE.positions(store_id, sku) : null);
  if (!isOne) return;
  const { value, receivedAt } = positions;
  frame.drawState("positions", positions, frame.describeFreshness(value, receivedAt));
  const now = frame.worldMs() ?? Infinity;
  const items = (value?.items ?? []).filter((one) => Date.parse(one.review_at) < now + REVIEW_MS);
  frame.drawPresence("positions", positions, items.length > 0);
  if (!items.length) return;
  drawPositions(find("positions-chart"), items, Date.parse(items.at(-1).review_at) + REVIEW_MS);
  setText(find("position-words"), describePosition(items.at(-1)));
}

function describePosition({ position_units, ordered_units, review_at, reorder_point_units }) {
  if (position_units === null) {
    return "The position is not known here: the view has dropped the first reviews. The gate knows it.";
  }
  const units = format.plural(position_units, "unit", "units");
  const ordered = ordered_units ? `; ordered then: ${format.count(ordered_units)}` : "";
  const side = position_units > reorder_point_units ? "above" : "not above";
  return `For the review of ${frame.moment(review_at)}: ${units}, ${side} the reorder point of ${format.count(reorder_point_units)}${ordered}.`;
}

frame.start(() => {
  orders.draw(frame.describeAsked);
  drawPosition();
  drawProposals();
});
