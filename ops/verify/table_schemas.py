"""The tables of accepted events: a row per line where an event has lines, else per event."""

from collections.abc import Mapping

import pyarrow as pa

from contracts import (
    ADJUSTMENTS,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    STORES,
)

TEXT, NUMBER = pa.string(), pa.int64()

META: Mapping[str, pa.DataType] = {
    "topic": TEXT,
    "partition": NUMBER,
    "offset": NUMBER,
    "published": NUMBER,
    "event_id": TEXT,
    "event_time": NUMBER,
}
LINES: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("store_id", "cashier_id", "card_token", "sku", "measure"), TEXT),
    **dict.fromkeys(("line", "units", "unit_price_cents"), NUMBER),
}
TABLES: Mapping[str, tuple[str, Mapping[str, pa.DataType]]] = {
    RECEIPTS.name: ("receipt", {**LINES, "customer_id": TEXT}),
    REFUNDS.name: ("refund", {**LINES, "receipt_event_id": TEXT, "receipt_event_time": NUMBER}),
    PRICE_CHANGES.name: ("price", {"effective_at": NUMBER, "sku": TEXT, "price_cents": NUMBER}),
    PROMOTIONS.name: (
        "plan",
        {
            "sku": TEXT,
            **dict.fromkeys(
                ("effective_at", "starts_at", "ends_at", "usual_price_cents", "price_cents"), NUMBER
            ),
        },
    ),
    SHIPMENTS.name: (
        "shipment",
        {
            **dict.fromkeys(("store_id", "purchase_order_id", "status", "sku"), TEXT),
            **dict.fromkeys(("line", "dispatched_units", "received_units"), NUMBER),
        },
    ),
    ADJUSTMENTS.name: (
        "adjustment",
        {**dict.fromkeys(("store_id", "sku", "reason"), TEXT), "units": NUMBER},
    ),
    PRODUCTS.name: (
        "product",
        {
            **dict.fromkeys(("sku", "measure"), TEXT),
            **dict.fromkeys(
                ("effective_at", "unit_cost_cents", "pack_size_units", "lead_time_days"), NUMBER
            ),
        },
    ),
    STORES.name: (
        "store",
        {
            "effective_at": NUMBER,
            "store_id": TEXT,
            "latitude_microdegrees": NUMBER,
            "longitude_microdegrees": NUMBER,
        },
    ),
}
"""By topic, its table and the columns besides META. `line` counts from zero."""

ACCEPTED = "accepted"
SCHEMAS = {
    ACCEPTED: pa.schema(META),
    **{name: pa.schema({**META, **columns}) for name, columns in TABLES.values()},
}
"""The schemas by table; `accepted` has a row per accepted record, for the accounting."""

AS_OF = {"price": "sku", "plan": "sku", "product": "sku", "store": "store_id"}
"""Dimension versions: each holds from `since` on until the next one of its key."""
