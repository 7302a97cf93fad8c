// The page Replenishment: what was proposed, ordered and confirmed, of all shelves or of some.

import * as address from "./address.js";
import { LINKS, LISTED, PROPOSALS } from "./api.js";
import { find, Rows } from "./dom.js";
import { Polled } from "./feeds.js";
import * as format from "./format.js";
import * as frame from "./frame.js";
import { List } from "./list.js";
import * as names from "./names.js";
import { describeOrder } from "./orders.js";

const PERIOD_MS = 5_000;
const PAGE = 100;
const number = "number";

const shelf = [names.productCell(({ store_id, sku }) => LINKS.shelf(store_id, sku)), names.storeCell()];

const ORDERS = [
  ...shelf,
  { text: ({ review_at }) => frame.moment(review_at) },
  { text: ({ ordered_at }) => frame.moment(ordered_at) },
  { text: ({ units }) => format.count(units), kind: number },
  { text: ({ confirmation }) => format.count(confirmation?.shipped_units), kind: number },
  { text: describeOrder, kind: "wraps" },
];

const PROPOSED = [
  ...shelf,
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

const orderRows = new Rows(find("order-rows"), ({ purchase_order_id: id }) => id, ORDERS);
const orders = new List("orders", LISTED.orders, orderRows);
const proposals = new Polled(null, PERIOD_MS);
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
  frame.drawState("proposals", feed, "", proposals);
  const items = proposals.value?.items ?? [];
  proposed.show(items);
  frame.drawPresence("proposals", proposals, items.length > 0);
}

frame.start(() => {
  orders.draw();
  drawProposals();
});
