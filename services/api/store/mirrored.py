"""The mirrored topics: the storage of products, stores, prices, promotions, purchase orders,
confirmations, rejections and actions.

All times are epoch milliseconds.
"""

from dataclasses import replace

from contracts import (
    ACTIONS,
    CONFIRMATIONS,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    PURCHASE_ORDERS,
    QUARANTINE,
    STORES,
    Contract,
    Field,
    Row,
    holds_from,
)
from contracts.times import to_epoch_ms, to_instant
from services.api.store.changelog import Record
from services.api.store.mirror import Layout
from services.api.store.tables import Table

PLACE = ("partition", "offset")
ADDED = (
    Field("published_at", "timestamp", required=True, description="the record's timestamp"),
    Field("holds_from", "timestamp", required=True, description="when it begins to hold"),
    *(Field(name, "long", required=True, description="of the record") for name in PLACE),
)
"""What a row of an announcement has beside the fields of its contract."""


def create_announcements(contract: Contract, file: str, since: str) -> Layout:
    """The layout of announcements; `since`: the time that orders those of a product or store.

    A second copy of an event in a partition changes nothing: the first copy counts.
    """
    whole = replace(contract, fields=(*contract.fields, *ADDED))
    [subject] = contract.key

    def extend(record: Record, event: Row) -> Row | None:
        added = (
            record.published_ms,
            holds_from(to_epoch_ms(event["effective_at"]), record.published_ms),
            record.partition[1],
            record.offset,
        )
        row = {**event, **{field.name: value for field, value in zip(ADDED, added, strict=True)}}
        # No client can ask for a time that no calendar has.
        is_askable = all(to_instant(to_epoch_ms(row[name])) for name in whole.times)
        return row if is_askable else None

    return Layout(
        Table(whole, key=PLACE),
        file,
        "ignore",
        newest_first=(since, "offset", "partition"),
        indexes={
            # The id comes first: changes are also found by what their ids begin with.
            "unique": ("event_id", "event_time", "partition"),
            subject: (subject, since, "offset"),
        },
        extend=extend,
    )


PRICES = create_announcements(PRICE_CHANGES, "prices.sqlite", since="holds_from")
SOLD = create_announcements(PRODUCTS, "products.sqlite", since="holds_from")
OPENED = create_announcements(STORES, "stores.sqlite", since="holds_from")
PLANNED = create_announcements(PROMOTIONS, "promotions.sqlite", since="starts_at")

ORDER_ID = "purchase_order_id"
NEWEST_ORDERS_FIRST = ("review_at", ORDER_ID)

# A second record of the same order changes nothing.
ORDERS = Layout(
    Table(PURCHASE_ORDERS, key=(ORDER_ID,)),
    "orders.sqlite",
    "ignore",
    NEWEST_ORDERS_FIRST,
    {"newest": NEWEST_ORDERS_FIRST, "shelves": ("store_id", "sku", *NEWEST_ORDERS_FIRST)},
)
CONFIRMED = Layout(Table(CONFIRMATIONS, key=(ORDER_ID,)), "confirmations.sqlite", "ignore")

NEWEST_REJECTIONS_FIRST = ("published_at", *QUARANTINE.key)

# The quarantine may copy a record twice; the copies are one row.
REJECTIONS = Layout(
    Table(QUARANTINE),
    "quarantine.sqlite",
    "replace",
    NEWEST_REJECTIONS_FIRST,
    {"newest": NEWEST_REJECTIONS_FIRST, "counts": ("topic", "reason", "published_at")},
)

NEWEST_ACTIONS_FIRST = ("asked_at", *ACTIONS.key)

# The last record of an action has all of it.
AUDITED = Layout(
    Table(ACTIONS),
    "actions.sqlite",
    "replace",
    NEWEST_ACTIONS_FIRST,
    {"newest": NEWEST_ACTIONS_FIRST},
)

MIRRORED = (SOLD, OPENED, PRICES, PLANNED, ORDERS, CONFIRMED, REJECTIONS, AUDITED)
