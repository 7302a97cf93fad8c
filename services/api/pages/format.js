// Numbers, money and times as text. World time is UTC.

const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const numbers = new Intl.NumberFormat("en");
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat("en", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

const currencies = new Map(); // as many as there are in the world, at most

const inUtc = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const dates = inUtc({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const days = inUtc({ day: "numeric", month: "short" });
const clocks = inUtc({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minutes = inUtc({ hour: "2-digit", minute: "2-digit" });
const wallClocks = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

export const NONE = "–";

const orNone = (format) => (value) => value === null || value === undefined ? NONE : format(value);

export const count = orNone((value) => numbers.format(value));
export const signed = orNone((value) => (value > 0 ? `+${count(value)}` : count(value)));
export const rate = orNone((value) => tenths.format(value));

// Money is counted in hundredths of its currency; null: of one that nobody names.
export function money(cents, currency) {
  if (cents === null || cents === undefined) return NONE;
  if (!currency) return hundredths.format(cents / 100);
  const style = { style: "currency", currency, currencyDisplay: "narrowSymbol" };
  if (!currencies.has(currency)) currencies.set(currency, new Intl.NumberFormat("en", style));
  return currencies.get(currency).format(cents / 100);
}
export const plural = (number, singular, several) => `${count(number)} ${number === 1 ? singular : several}`;

export const date = (ms) => dates.format(ms);
export const day = (ms) => days.format(ms);
export const clock = (ms) => clocks.format(ms);
export const minute = (ms) => minutes.format(ms);
export const wallClock = (ms) => wallClocks.format(ms);

export const wallTime = (iso) => `${days.format(Date.parse(iso))}, ${wallClock(Date.parse(iso))}`;

// A moment of the world: the time, and the day where it is not the world's present one.
export function moment(iso, worldMs) {
  const ms = Date.parse(iso);
  const today = worldMs !== null && Math.floor(ms / DAY_MS) === Math.floor(worldMs / DAY_MS);
  return today ? clock(ms) : `${days.format(ms)}, ${minute(ms)}`;
}

// The two largest units of a span.
export const duration = orNone((ms) => {
  if (ms < 10 * SECOND_MS) return `${tenths.format(ms / SECOND_MS)} s`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${whole(ms, HOUR_MS)} h ${whole(ms % HOUR_MS, MINUTE_MS)} min`;
  return `${count(whole(ms, DAY_MS))} d ${whole(ms % DAY_MS, HOUR_MS)} h`;
});

const whole = (ms, unitMs) => Math.floor(ms / unitMs);
