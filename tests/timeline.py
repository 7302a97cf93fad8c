"""Builds the events of a test. Times are hh:mm or hh:mm:ss of one day, or of a later one."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import (
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    RECEIPTS,
    REFUNDS,
    STORES,
    Contract,
    encode,
    encode_key,
)
from contracts.partitions import choose_partition
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Partition, Record
from ops.verify.fraud import FraudOracle
from ops.verify.inventory import Row
from pipelines.fraud.thresholds import Thresholds

DAY = datetime(2026, 3, 4, tzinfo=UTC)
BEFORE = DAY - timedelta(days=2)
LEEDS, YORK, LONDON = "S001", "S002", "S003"
PLACES = {
    LEEDS: (53_796_480, -1_547_850),
    YORK: (53_957_630, -1_082_710),  # 35 km from Leeds
    LONDON: (51_507_220, -127_500),  # 272 km from Leeds
}
MILK, WINE = "SKU-MILK", "SKU-WINE"
PRICES = {MILK: 100, WINE: 1_000}
PACKS = {MILK: 10, WINE: 6}
APPLES = "SKU-APPLES"
"""Sold by the kilogram. A timeline has them from `introduce_apples` on."""


Line = tuple[str, int, int] | tuple[str, int, int, str]
"""Sku, units and unit price in cents, and the measure of what is sold by one."""


def parse_clock(clock: str, days: int = 0) -> datetime:
    hours, minutes, *seconds = map(int, clock.split(":"))
    return DAY + timedelta(days, hours=hours, minutes=minutes, seconds=sum(seconds))


LIMITS = Thresholds(
    card_sales_per_window_max=2,
    distance_km_min=30,
    given_away_cents_max=600,
    given_away_receipts_min=2,
    unbacked_cents_max=900,
    blind_refunds_max=1,
    blind_refunds_percent=50,
    packs_hundredths_max=150,
)
"""Low thresholds: a few events are enough."""


class Timeline:
    """Stores, prices and products that hold throughout, and the events that a test adds."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._offsets: Counter[Partition] = Counter()
        self._events = 0
        for store_id, (latitude, longitude) in PLACES.items():
            place: Row = {"latitude_microdegrees": latitude, "longitude_microdegrees": longitude}
            self.put(STORES, BEFORE, effective_at=BEFORE, store_id=store_id, **place)
        for sku, cents in PRICES.items():
            self.set_price(sku, cents, BEFORE)
            self.introduce(sku, pack_size_units=PACKS[sku])

    def put(
        self,
        contract: Contract,
        happened: datetime,
        published: datetime | None = None,
        **fields: Any,
    ) -> str:
        """Publish an event, by default at its event time. Returns its id."""
        self._events += 1
        own = {"event_id": f"E{self._events:04d}", "event_time": happened}
        event = {**contract.examples[0], **own, **fields}
        key = encode_key(contract, event)
        place = contract.name, choose_partition(key, contract.settings.partitions)
        published_ms = ((published or happened) - EPOCH) // MILLISECOND
        value = encode(contract, event)
        self.records.append(Record(*place, self._offsets[place], published_ms, key, value, ()))
        self._offsets[place] += 1
        return str(event["event_id"])

    def introduce(self, sku: str, **fields: Any) -> None:
        """Publish a product that holds throughout, with these fields of its event."""
        self.put(PRODUCTS, BEFORE, effective_at=BEFORE, sku=sku, **fields)

    def introduce_apples(self, **terms: Any) -> None:
        """A kilogram is £2.99, and a crate has 12.5 of them."""
        self.introduce(APPLES, measure="kilogram", **{"pack_size_units": 12_500, **terms})
        self.set_price(APPLES, 299, BEFORE)

    def set_price(
        self, sku: str, cents: int, effective_at: datetime, published: datetime | None = None
    ) -> None:
        self._announce(PRICE_CHANGES, effective_at, published, sku=sku, price_cents=cents)

    def plan_promotion(
        self,
        sku: str,
        starts_at: datetime,
        ends_at: datetime,
        cents: int,
        effective_at: datetime = BEFORE,
        published: datetime | None = None,
    ) -> None:
        """A promotion at a price in cents; by default it is published when it takes effect."""
        prices = {"usual_price_cents": PRICES[sku], "price_cents": cents}
        span = {"starts_at": starts_at, "ends_at": ends_at}
        self._announce(PROMOTIONS, effective_at, published, sku=sku, **span, **prices)

    def _announce(
        self, contract: Contract, effective_at: datetime, published: datetime | None, **fields: Any
    ) -> None:
        """Publish what holds from `effective_at` on, by default at that time."""
        time = published or effective_at
        self.put(contract, min(time, effective_at), time, effective_at=effective_at, **fields)

    def sell(
        self,
        happened: datetime,
        *lines: Line,
        card: str | None = None,
        customer: str | None = None,
        store: str = LEEDS,
        cashier: str = "K1",
        **fields: Any,
    ) -> str:
        """Publish a receipt. `lines`: sku, units, unit price, and a measure if it is sold by one;
        one milk by default.
        """
        sold = build_lines(lines or ((MILK, 1, PRICES[MILK]),))
        by: Row = {"card_token": card, "customer_id": customer, "cashier_id": cashier}
        return self.put(RECEIPTS, happened, lines=sold, store_id=store, **by, **fields)

    def refund(
        self,
        happened: datetime,
        *lines: Line,
        receipt: str | None = None,
        issued: datetime | None = None,
        card: str | None = None,
        cashier: str = "K1",
        **fields: Any,
    ) -> str:
        """Publish a refund of the receipt with that id, issued at that time."""
        back = build_lines(lines or ((WINE, 1, PRICES[WINE]),))
        of_receipt: Row = {"receipt_event_id": receipt, "receipt_event_time": issued}
        by: Row = {"card_token": card, "cashier_id": cashier, "store_id": LEEDS}
        return self.put(REFUNDS, happened, lines=back, **of_receipt, **by, **fields)

    def compute_alerts(self, rule: str, **limits: Any) -> list[Row]:
        rows = FraudOracle(self.records, Thresholds(**limits)).compute_view()
        return [row for row in rows if row["rule"] == rule]


def build_lines(lines: Iterable[Line]) -> list[Row]:
    names = ("sku", "units", "unit_price_cents", "measure")
    return [dict(zip(names, line, strict=False)) for line in lines]
