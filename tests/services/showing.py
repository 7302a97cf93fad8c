"""A small shop with something for every part of a page, and a lake and a report beside it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from contracts import (
    ADJUSTMENTS,
    ALERTS,
    BEST_SELLERS,
    CONFIRMATIONS,
    MARKDOWN_PROPOSALS,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    PROPOSALS,
    PURCHASE_ORDERS,
    QUARANTINE,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    STORE_SALES,
    STORES,
    Contract,
)
from contracts.times import to_epoch_ms
from infra.checks import Checked, Outcome, Result, locate_quality, write_checked
from infra.folder import Folder
from infra.lake import Folders
from infra.reports import find_difference
from services.markdowns.prices import BEGINS, ENDS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving
from tests.services.silver import Silver
from tests.services.world import NOON, announce, find_minute
from tests.services.writing import INPUT_PARTITIONS, Writing, all_on_time, promote

MINUTES = 90
STORE_COUNT = 12
PRODUCT_COUNT = 14
GOODS = ("Oat biscuits", "Whole milk", "Rye bread", "Olive oil, extra virgin, cold pressed")
SHELF = ("S004", "SKU-00042")
"""The one that has a past, prices, orders and proposals."""
SHELVES_ORDERED = (("S001", "SKU-00417"), SHELF, ("S003", "SKU-00417"))
PIPELINES = ("inventory", "analytics", "fraud", "reorder", "pricing")


class Shop:
    """Five pipelines at noon of the world, each at its first marker, and a candidate of fraud."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        for topic in (RECEIPTS, ADJUSTMENTS):
            log.make(topic.name, INPUT_PARTITIONS)
        self.inventory = Writing(log)
        self.analytics = Writing(log, pipeline="analytics", views=(STORE_SALES, BEST_SELLERS))
        self.fraud = Writing(log, generation=2, pipeline="fraud", views=(ALERTS,))
        self.candidate = Writing(log, generation=3, pipeline="fraud", views=(ALERTS,))
        self.reorder = Writing(log, pipeline="reorder", views=(PROPOSALS,))
        self.pricing = Writing(log, pipeline="pricing", views=(MARKDOWN_PROPOSALS,))
        for minute in range(-MINUTES, 0):
            self.sell(minute)
        self._open()
        self._stock()
        self._rank()
        self._suspect()
        self._order()
        self._propose()
        self._price()
        self._mark_down()
        self._promote()
        self._reject()
        self.candidate.mark()
        for pipeline in (self.inventory, self.analytics, self.reorder, self.pricing):
            pipeline.mark()
            promote(log, pipeline)
        self.fraud.mark()
        promote(log, self.fraud, self.candidate)
        announce(log)

    def sell(self, minute: int, version: int = 1) -> None:
        """What each store sold in that minute after noon."""
        for store in range(1, STORE_COUNT + 1):
            receipts = 3 + version + (store * 7 + minute * minute // 40 + minute * store) % 9
            cents = receipts * (610 + 37 * store)
            self.analytics.put(
                STORE_SALES,
                store_id=f"S{store:03}",
                window_start=find_minute(minute),
                window_end=find_minute(minute + 1),
                version=version,
                **all_on_time(receipts=receipts, units=receipts * 3, revenue_cents=cents),
            )

    def _open(self) -> None:
        """What the stores and the products are called; some products have no name."""
        began = NOON - timedelta(days=7)
        for number in range(1, STORE_COUNT + 1):
            store = {"event_id": f"store-{number}", "store_id": f"S{number:03}"}
            name = {"name": f"Leeds, Mill Lane {number}", "currency": "GBP"}
            self._plan(STORES, began, **store, **name, effective_at=began)
        for number in (*range(1, PRODUCT_COUNT + 1), 41, 42, 417):
            sku, goods = f"SKU-{number:05}", GOODS[number % len(GOODS)]
            product = {"event_id": f"{sku}-new", "sku": sku, "name": f"{goods} {number}"}
            supplier = {"supplier_id": f"SUP-0{number % 3}"}
            self._plan(PRODUCTS, began, **product, **supplier, effective_at=began)

    def _stock(self) -> None:
        for product in range(PRODUCT_COUNT):
            sku = f"SKU-{product + 1:05}"
            self.inventory.row(1 + product % STORE_COUNT, sku, 0)
            self.inventory.row(1 + product % 5, f"{sku}-L", 1 + product % 5)
        self.inventory.row(4, "SKU-00041", -3)
        self.inventory.row(4, "SKU-00042", 30)

    def _rank(self) -> None:
        for product in range(PRODUCT_COUNT):
            self.analytics.put(
                BEST_SELLERS,
                store_id=f"S{1 + product % STORE_COUNT:03}",
                sku=f"SKU-{product * 31 + 7:05}",
                window_start=find_minute(-60),
                window_end=find_minute(0),
                **all_on_time(units=60 - 3 * product, revenue_cents=14_940 - 510 * product),
            )

    def _suspect(self) -> None:
        rules = {
            "card-velocity": (7, 5),
            "impossible-travel": (1_842, 300),
            "sweethearting": (3_120, 2_500),
            "refund-without-receipt": (4_950, 2_000),
            "refund-rate": (9, 6),
            "bulk-purchase": (650, 400),
        }
        for number, (rule, (measured, threshold)) in enumerate(rules.items()):
            self.fraud.put(
                ALERTS,
                status="withdrawn" if rule == "refund-rate" else "open",
                rule=rule,
                subject=f"tok_9a3{number}%2F7",
                store_id=f"S{number + 1:03}",
                measured=measured,
                threshold=threshold,
                decided_at=find_minute(-7 * number),
            )

    def _order(self) -> None:
        for number, (store, sku) in enumerate(SHELVES_ORDERED):
            order = {"purchase_order_id": f"PO-{number}", "store_id": store, "sku": sku}
            review_at = NOON - timedelta(hours=12)
            times = {"review_at": review_at, "ordered_at": review_at + timedelta(minutes=2)}
            self._log.put(PURCHASE_ORDERS, {**PURCHASE_ORDERS.examples[0], **order, **times})
            if number:
                times = {
                    "dispatches_at": NOON - timedelta(hours=6),
                    "arrives_at": NOON + timedelta(hours=30 * (number - 1) - 2),
                }
                self._log.put(CONFIRMATIONS, {**CONFIRMATIONS.examples[0], **order, **times})

    def _propose(self) -> None:
        for day in (0, 1):
            review_at = NOON - timedelta(hours=12, days=day)
            shelf = {"store_id": SHELF[0], "sku": SHELF[1]}
            self.reorder.put(PROPOSALS, **shelf, review_at=review_at, sold_units=63 - 5 * day)

    def _price(self) -> None:
        for days, cents in ((-3, 249), (-1, 179), (1, 249)):
            time = NOON + timedelta(days=days)
            price = {"event_id": f"price-{days}", "sku": SHELF[1], "price_cents": cents}
            self._plan(PRICE_CHANGES, time, **price, effective_at=time)

    def _mark_down(self) -> None:
        """One markdown holds, one is announced, and one has ended."""
        self.pricing.put(MARKDOWN_PROPOSALS, ends_at=find_minute(-30))
        for number, minutes in enumerate((-10, 10, -MINUTES)):
            changes = [("usual", -200, 200), (BEGINS, minutes, 150)]
            changes += [(ENDS, -30, 200)] if minutes == -MINUTES else []
            for kind, since, cents in changes:
                price = {
                    "event_id": f"{kind}{number}",
                    "sku": f"SKU-{number}",
                    "price_cents": cents,
                }
                time = find_minute(since)
                self._plan(PRICE_CHANGES, time, **price, effective_at=time)

    def _promote(self) -> None:
        """A promotion that lasts, and the next one."""
        for days in (-1, 6):
            time = NOON + timedelta(days=days)
            times = {"starts_at": time, "ends_at": time + timedelta(days=2)}
            times["effective_at"] = time - timedelta(hours=12)
            self._plan(PROMOTIONS, time, event_id=f"promotion-{days}", sku=SHELF[1], **times)

    def _plan(self, contract: Contract, time: datetime, **fields: Any) -> None:
        """It is published a day and a half before the moment that it is for."""
        planned_at = time - timedelta(hours=36)
        value = {**contract.examples[0], "event_time": planned_at, **fields}
        self._log.put(contract, value, published_ms=to_epoch_ms(planned_at))

    def _reject(self) -> None:
        """Two late receipts that may be released, and one that nobody can read to its end."""
        late = QUARANTINE.examples[0]
        torn = {"reason": "undecodable", "value": late["value"][:-8]}
        for offset, changes in enumerate([late, late, {**late, **torn}]):
            row = {**changes, "offset": offset, "published_at": find_minute(offset - 30)}
            self._log.put(QUARANTINE, row)


REPORT = {
    "pipeline": "fraud",
    "before": "generation 2",
    "after": "generation 3",
    "position": "marker 812",
    "records": 40_620,
    "views": [
        {
            "view": ALERTS.name,
            "before": 12,
            "after": 14,
            "added": 2,
            "removed": 0,
            "changed": 0,
            "totals": [{"field": "events", "before": 70, "after": 78}],
            "facets": [{"field": "rule", "value": "card-velocity", "before": 3, "after": 5}],
            "largest": [
                {
                    "key": {"rule": "card-velocity", "subject": "tok_9a31"},
                    "name": "card-velocity/tok_9a31",
                    "kind": "new",
                    "words": ["measured 4", "threshold 3"],
                    "before": {},
                    "after": {"measured": 4, "threshold": 3},
                }
            ],
        }
    ],
    "changes": {
        "thresholds": [{"name": "card_sales_per_window_max", "before": 5, "after": 3}],
        "files": ["pipelines/fraud/thresholds.py"],
    },
    "empty": False,
}


BROKEN = {"_partition": 1, "_offset": 4, "event_id": "damaged", "units": 0}
RULE = "units is not 0"


def fill_folder(home: Path) -> None:
    """A report, checks of which one failed and one could not run, and a lake: what moved one shelf
    in the morning, empty for half an hour.
    """
    write_report(home)
    write_checks(home)
    silver = Silver(Folders(Folder(str(home / "lake"))))

    def put(topic: Contract, minute: int, event_id: str, **fields: Any) -> None:
        moment, store = find_minute(minute), SHELF[0]
        silver.put(topic, event_time=moment, event_id=event_id, store_id=store, **fields)

    sku = {"sku": SHELF[1]}
    put(ADJUSTMENTS, -90, "opening", units=12, **sku)
    for minute, units in ((-80, 5), (-60, 7)):
        lines = [{**sku, "units": units, "unit_price_cents": 179}]
        put(RECEIPTS, minute, f"sale-{minute}", lines=lines)
    put(REFUNDS, -20, "back", lines=[{**sku, "units": 2, "unit_price_cents": 179}])
    for minute, status, units in ((-70, "dispatched", 0), (-30, "received", 24)):
        lines = [{**sku, "dispatched_units": 24, "received_units": units}]
        put(SHIPMENTS, minute, status, status=status, lines=lines)


def write_report(folder: Path) -> None:
    """The difference between the promoted generation of fraud and its candidate."""
    file = find_difference(folder / "reports", "fraud", 2, 3)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(REPORT))


def write_checks(folder: Path) -> None:
    """A row of silver that breaks a rule, and a check of gold that raised."""
    failed = Outcome("events", RULE, success=False, unexpected=1, rows=(BROKEN,))
    now_ms = to_epoch_ms(NOON)
    results = (
        Result("silver/inventory.adjustment.v1", 12, now_ms, 80, (failed,)),
        Result("gold/daily-facts", 11, now_ms, trouble="MemoryError: "),
    )
    checked = Checked(now_ms, "", {result.table: result for result in results})
    write_checked(locate_quality(folder / "reports"), checked, results)


@contextmanager
def serving_shop(log: MemoryLog, folder: Path) -> Iterator[Answers]:
    """The API of the shop in the log and of what is beside it, once it has read all of it."""
    fill_folder(folder)
    with serving(create_sources(log, folder)) as api:
        for pipeline in PIPELINES:
            api.ready(pipeline=pipeline)
        history = f"/v1/prices/{SHELF[1]}/history"
        for path in ("/v1/orders", "/v1/quarantine", history, "/v1/markdowns"):
            api.await_items(path, 3)
        api.await_items("/v1/stores", STORE_COUNT)
        api.await_items("/v1/products", PRODUCT_COUNT + 3)
        api.await_items(f"/v1/promotions/{SHELF[1]}", 2)
        yield api
