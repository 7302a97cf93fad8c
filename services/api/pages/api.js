// Every address that the pages ask for or lead to, and how they ask.
// The API refuses parameters that it does not know: tests ask for each of these.

const ANSWER_MS_MAX = 10_000;
const ACTION_MS_MAX = 1_000_000; // a command may take a quarter of an hour

export const POLLED = {
  clock: "/v1/clock",
  pipelines: "/v1/pipelines",
  bestSellers: "/v1/best-sellers?top=10",
  out: "/v1/stock?state=out&sort=-last_event_time&limit=50",
  low: "/v1/stock?state=low&sort=units_on_hand&limit=50",
  negative: "/v1/stock?state=negative&sort=units_on_hand&limit=50",
  orders: "/v1/orders?limit=50",
  history: "/v1/history",
  checks: "/v1/checks",
  stores: "/v1/stores?limit=500",
};

export const LISTED = {
  stock: "/v1/stock",
  alerts: "/v1/alerts",
  orders: "/v1/orders",
  markdowns: "/v1/markdowns",
  proposals: "/v1/views/public.replenishment.proposal.v1/rows",
  quarantine: "/v1/quarantine",
};

export const PROPOSALS = "public.replenishment.proposal.v1";

export const STREAMED = {
  sales: {
    view: "public.analytics.store-sales.v1",
    rows: "/v1/views/public.analytics.store-sales.v1/rows?order=newest&limit=500",
    changes: "/v1/stream?view=public.analytics.store-sales.v1",
  },
  alerts: {
    view: "public.fraud.alert.v1",
    rows: "/v1/alerts?status=open&limit=100",
    changes: "/v1/stream?view=public.fraud.alert.v1",
  },
};

const part = encodeURIComponent;

// Answers about one thing.
export const ONE = {
  names: (skus) => `/v1/products?${skus.map((sku) => `sku=${part(sku)}`).join("&")}`,
  found: (text) => `/v1/products?limit=20&q=${part(text)}`,
  shelf: (store, sku) => `/v1/stock/${part(store)}/${part(sku)}`,
  prices: (sku) => `/v1/prices/${part(sku)}/history?limit=20`,
  promotions: (sku) => `/v1/promotions/${part(sku)}?limit=10`,
  orders: (store, sku) => `/v1/orders?limit=20&store_id=${part(store)}&sku=${part(sku)}`,
  movements: (store, sku) => `/v1/history/movements/${part(store)}/${part(sku)}`,
  stockOuts: (store, sku) => `/v1/history/stock-outs/${part(store)}/${part(sku)}`,
  alert: (rule, subject, start) => `/v1/alerts/${part(rule)}/${part(subject)}/${part(start)}`,
  evidence: (rule, subject, start) =>
    `/v1/history/alerts/${part(rule)}/${part(subject)}/${part(start)}`,
  difference: (pipeline) => `/v1/pipelines/${part(pipeline)}/difference`,
  rejected: (topic, partition, offset) =>
    `/v1/quarantine/${part(topic)}/${part(partition)}/${part(offset)}`,
};

// Where to post what shall be done.
export const ACTIONS = {
  start: (pipeline) => `/v1/pipelines/${part(pipeline)}/start`,
  compare: (pipeline) => `/v1/pipelines/${part(pipeline)}/difference`,
  promote: (pipeline, number) => `/v1/pipelines/${part(pipeline)}/promote?number=${number}`,
  rollBack: (pipeline) => `/v1/pipelines/${part(pipeline)}/rollback`,
  prune: (pipeline, number) => `/v1/pipelines/${part(pipeline)}/prune?number=${number}`,
  release: (topic, partition, offset) =>
    `/v1/quarantine/${part(topic)}/${part(partition)}/${part(offset)}/release`,
  simulate: "/v1/simulation",
};

// Where a number leads to.
export const LINKS = {
  store: (store) => `/stock?store_id=${part(store)}`,
  shelves: (state) => `/stock?state=${part(state)}`,
  shelf: (store, sku) => `/stock?store_id=${part(store)}&sku=${part(sku)}`,
  product: (sku) => `/stock?search=${part(sku)}`,
  alert: (rule, subject, start) =>
    `/alerts?rule=${part(rule)}&subject=${part(subject)}&interval_start=${part(start)}`,
  ordersOfShelf: (store, sku) => `/replenishment?store_id=${part(store)}&sku=${part(sku)}`,
  prices: (sku) => `/prices?sku=${part(sku)}`,
  pipeline: (name) => `/v1/pipelines/${part(name)}`,
  replay: (name) => `/replay?pipeline=${part(name)}`,
  view: (name) => `/v1/views/${part(name)}`,
  contract: (name) => `/v1/contracts/${part(name)}`,
  rejectedFor: (topic, reason) =>
    `/pipelines?topic=${part(topic)}&reason=${part(reason)}#quarantine`,
  rejected: (place) => `/pipelines?record=${part(place)}#rejected`,
};

// What the API said instead of an answer: its problem document, in two lines.
export class Problem extends Error {
  constructor(status, title, detail, retryMs) {
    super(detail);
    this.status = status;
    this.title = title;
    this.retryMs = retryMs;
  }

  get isGone() {
    return this.status === 0;
  }
}

export const createGone = () =>
  new Problem(0, "No connection", "The API does not answer. Look with make status.", 0);

// The answer's JSON. Throws Problem.
export const ask = (address) =>
  request(address, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS_MAX) });

// Has the API do something, and gives what it says. Throws Problem.
export const act = (address, token) =>
  request(address, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ACTION_MS_MAX),
  });

async function request(address, options) {
  let answer;
  try {
    const headers = { Accept: "application/json", ...options.headers };
    answer = await fetch(address, { ...options, headers });
    if (answer.ok) return await answer.json();
  } catch {
    throw createGone();
  }
  throw await readProblem(answer);
}

async function readProblem(answer) {
  const retryMs = 1000 * (Number(answer.headers.get("Retry-After")) || 0);
  const document = await answer.json().catch(() => ({}));
  const title = document.title ?? `Status ${answer.status}`;
  return new Problem(answer.status, title, document.detail ?? answer.statusText, retryMs);
}
