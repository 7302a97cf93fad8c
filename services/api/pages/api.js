// Every address that the pages ask for or lead to, and how they ask.
// The API refuses parameters that it does not know: tests ask for each of these.

const ANSWER_MS_MAX = 10_000;

export const POLLED = {
  clock: "/v1/clock",
  pipelines: "/v1/pipelines",
  bestSellers: "/v1/best-sellers?top=10",
  emptyShelves: "/v1/stock?state=out&sort=-last_event_time&limit=50",
  lowShelves: "/v1/stock?state=low&low_max=5&sort=units_on_hand&limit=50",
  negativeShelves: "/v1/stock?state=negative&sort=units_on_hand&limit=50",
  orders: "/v1/orders?limit=50",
};

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

export const LINKS = {
  storeSales: (store) =>
    `/v1/views/public.analytics.store-sales.v1/rows?order=newest&store_id=${part(store)}`,
  shelf: (store, sku) => `/v1/stock/${part(store)}/${part(sku)}`,
  product: (sku) => `/v1/products/${part(sku)}/stock`,
  alert: (rule, subject, start) => `/v1/alerts/${part(rule)}/${part(subject)}/${part(start)}`,
  ordersOfShelf: (store, sku) => `/v1/orders?store_id=${part(store)}&sku=${part(sku)}`,
  pipeline: (name) => `/v1/pipelines/${part(name)}`,
  view: (name) => `/v1/views/${part(name)}`,
  contract: (name) => `/catalogue/topics/${part(name)}.html`,
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
export async function ask(address) {
  let answer;
  try {
    answer = await fetch(address, {
      cache: "no-store",
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
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
