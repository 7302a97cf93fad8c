"""Examples of the answers for OpenAPI, from the contracts' examples."""

from contracts import (
    ACTIONS,
    ADJUSTMENTS,
    ALERTS,
    CONFIRMATIONS,
    PRICE_CHANGES,
    PROMOTIONS,
    PURCHASE_ORDERS,
    QUARANTINE,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    STOCK_LEVELS,
)
from services.api.http.problems import Responses
from services.api.store.tables import AnyJson, Table, to_document

JSON = "application/json"


SHELF = (_TABLE := Table(STOCK_LEVELS)).to_json(_TABLE.to_stored(STOCK_LEVELS.examples[0]))
INPUTS = {
    ADJUSTMENTS.name: [812, 790, 801, 822],
    RECEIPTS.name: [10412, 9981, 10007, 10220],
    REFUNDS.name: [104, 97, 101, 99],
    SHIPMENTS.name: [34, 30, 31, 33],
}
DATES = {"freshness_ms": 212, "as_of": {"generation": 1, "batch": 812, "inputs": INPUTS}}

PAGE = {
    "items": [SHELF],
    "next": "WzEsInNvcnQ9a2V5Jmxvd19tYXg9NSIsWyJTMDAzIiwiU0tVLTAwNDE3Il1d",
    **DATES,
}
PRODUCT = {
    "sku": SHELF["sku"],
    "totals": {"stores": 1, **{name: n for name, n in SHELF.items() if name.startswith("units_")}},
    "stores": [SHELF],
    **DATES,
}
PIPELINES = {
    "pipelines": [
        {
            "pipeline": "inventory",
            "promoted": 1,
            "generations": [{"number": 1, "state": "promoted", "loaded": True}],
            "generation": 1,
            "lag_records": 9,
            "lag_records_by_input": dict.fromkeys(INPUTS, 0) | {RECEIPTS.name: 9},
            "rate_per_second": 20.4,
            "behind_world_seconds": 4.1,
            "marker_written_at": "2026-03-02T10:41:07.212Z",
            "batch_ms": 204,
            "books": [
                {
                    "topic": RECEIPTS.name,
                    "partition": 0,
                    "read": 10412,
                    "applied": 10371,
                    "quarantined": 4,
                    "duplicate": 37,
                }
            ],
            **DATES,
        }
    ]
}
VIEW = {
    "view": STOCK_LEVELS.name,
    "pipeline": "inventory",
    "generation": 1,
    "topic": f"{STOCK_LEVELS.name}.g1",
    "served": 1,
    "batch": 812,
    "written_at": "2026-03-02T10:41:07.212Z",
    "rows": 9304,
    "oldest_kept": None,
    "description": STOCK_LEVELS.description,
    "key": list(STOCK_LEVELS.key),
    "retention_seconds": None,
    "grace_seconds": None,
    "fields": [
        {
            "name": "units_on_hand",
            "type": "long",
            "unit": "units",
            "required": True,
            "description": "What the shelf holds.",
        }
    ],
    "filters": ["store_id", "sku"],
}
ROW_PAGE = {"view": STOCK_LEVELS.name, **PAGE}
PUBLISHED = {
    "topic": RECEIPTS.name,
    "partition": 2,
    "offset": 10413,
    "event_id": "S003-8412-R17",
    "published_at": "2026-03-02T10:41:07.212Z",
    "min_offset": f"{RECEIPTS.name}/2/10413",
}
WORLD_TIME = {
    "world_time": "2026-03-02T10:41:07.212Z",
    "world_ms": 1772448067212,
    "wall_ms": 1795266000000,
    "speed": 10.0,
    "state": "running",
}
PRICES_AS_OF = {"as_of": {"inputs": {PRICE_CHANGES.name: [824]}}}
PRICE_CHANGE = {
    "sku": "SKU-00417",
    "price_cents": 249,
    "effective_at": "2026-03-02T00:00:00.000Z",
    "event_id": "SKU-00417-price-2",
    "event_time": "2026-03-01T10:00:00.000Z",
    "published_at": "2026-03-01T10:00:00.000Z",
    "holds_from": "2026-03-02T00:00:00.000Z",
}
HELD = {**PRICE_CHANGE, "until": "2026-03-03T00:00:00.000Z"}
PRICE = {**HELD, "at": "2026-03-02T10:41:07.212Z"}
PRICE_PAGE = {"items": [HELD], "next": None, "at": PRICE["at"], **PRICES_AS_OF}
PRICE_HISTORY = {"sku": "SKU-00417", "items": [PRICE_CHANGE], "next": None, **PRICES_AS_OF}
PROMOTION_PAGE = {
    "sku": "SKU-00417",
    "items": [
        {
            **to_document(PROMOTIONS.examples[0]),
            "published_at": "2026-03-03T10:00:00.000Z",
            "holds_from": "2026-03-04T00:00:00.000Z",
        }
    ],
    "next": None,
    "as_of": {"inputs": {PROMOTIONS.name: [31]}},
}


ORDER_PAGE = {
    "items": [
        {
            **to_document(PURCHASE_ORDERS.examples[0]),
            "confirmation": to_document(CONFIRMATIONS.examples[0]),
        }
    ],
    "next": None,
    "as_of": {
        "inputs": {PURCHASE_ORDERS.name: [97, 88, 0, 102], CONFIRMATIONS.name: [95, 88, 0, 102]}
    },
}

POSITIONS = {
    "store_id": SHELF["store_id"],
    "sku": SHELF["sku"],
    "items": [
        {
            "review_at": "2026-03-03T00:00:00.000Z",
            "moved_units": -9,
            "position_units": 31,
            "ordered_units": 36,
            "reorder_point_units": 38,
            "order_up_to_units": 62,
            "measure": None,
            "final": True,
        }
    ],
    "orders_as_of": {"inputs": {PURCHASE_ORDERS.name: [97, 88, 0, 102]}},
    **DATES,
}


def render_row(table: Table) -> AnyJson:
    """A row of a view, as in an answer."""
    return table.to_json(table.to_stored(table.contract.examples[0])) | DATES


LAKE_AS_OF = {"as_of": {"inputs": {**INPUTS, RELEASES.name: [0, 0, 1, 0]}}}
PAST_SHELF = {**SHELF, "at": "2026-03-02T12:00:00.000Z", **LAKE_AS_OF}
MOVEMENT_PAGE = {
    "store_id": SHELF["store_id"],
    "sku": SHELF["sku"],
    "items": [
        {
            "topic": RELEASES.name,
            "partition": 2,
            "offset": 0,
            "event_id": "S003-8412-R18",
            "event_time": "2026-03-02T10:41:30.000Z",
            "published_at": "2026-03-02T13:40:00.000Z",
            "movement": "sold",
            "units_on_hand_change": -1,
            "units_in_transit_change": 0,
            "original": {"topic": RECEIPTS.name, "partition": 2, "offset": 10415},
        }
    ],
    "next": None,
    **LAKE_AS_OF,
}
STOCK_OUT_PAGE = {
    "store_id": SHELF["store_id"],
    "sku": SHELF["sku"],
    "items": [
        {
            "started_at": "2026-03-02T16:20:05.480Z",
            "ended_at": "2026-03-03T07:12:00.000Z",
            "known_at": "2026-03-03T07:12:00.000Z",
            "units_on_hand_min": 0,
            "lost_ms": 53514520,
        }
    ],
    "lost_ms": 53514520,
    "next": None,
    **LAKE_AS_OF,
}
_ALERT = render_row(Table(ALERTS))
_RECEIPT = RECEIPTS.examples[0]
ALERT_HISTORY = {
    "alert": _ALERT,
    "events": [
        {
            "topic": RECEIPTS.name,
            "event_id": _RECEIPT["event_id"],
            "partition": 2,
            "offset": 10412,
            "published_at": "2026-03-02T10:41:07.120Z",
            "event": to_document(_RECEIPT),
        }
    ],
    "as_of": {"inputs": {RECEIPTS.name: INPUTS[RECEIPTS.name]}},
}
_REJECTED = (_REJECTIONS := Table(QUARANTINE)).to_json(
    _REJECTIONS.to_stored(QUARANTINE.examples[0])
)
QUARANTINE_PAGE = {
    "items": [{k: v for k, v in _REJECTED.items() if k not in ("key", "value", "headers")}],
    "next": None,
    "counts": [{"topic": RECEIPTS.name, "reason": "late", "records": 1}],
    "as_of": {QUARANTINE.name: [0, 0, 1, 0]},
}
REJECTED = {
    **_REJECTED,
    "fields": {
        "event_id": "S003-8412-R18",
        "event_time": "2026-03-02T10:41:30.000Z",
        "store_id": "S003",
        "register_id": "S003-R1",
        "cashier_id": "S003-K02",
        "card_token": None,
        "customer_id": None,
        "lines": [{"sku": "SKU-00417", "units": 1, "unit_price_cents": 0}],
    },
    "rest": "",
    "fault": None,
    "remedy": "It may be released, once its event can no longer come in time.",
    "releasable": True,
}


BEST_SELLERS = {
    "store_id": "S003",
    "window_start": "2026-03-02T10:10:00.000Z",
    "window_end": "2026-03-02T11:10:00.000Z",
    "final": False,
    "items": [
        {
            "rank": 1,
            "sku": "SKU-00417",
            "units": 42,
            "revenue_cents": 10458,
            "units_on_time": 40,
            "revenue_cents_on_time": 9960,
        }
    ],
    **DATES,
}


def render_page(table: Table) -> AnyJson:
    """A page with a row of a view."""
    row = table.to_json(table.to_stored(table.contract.examples[0]))
    return {"view": table.view, "items": [row], "next": None, **DATES}


def answer(model: object, example: AnyJson, problems: Responses) -> AnyJson:
    """The declared answers of a route: model and example of the good one, and the problems."""
    return {"response_model": model, "responses": document_ok(example) | problems}


def document_ok(example: AnyJson) -> Responses:
    """The successful answer of a route, for its OpenAPI."""
    return {200: {"content": {JSON: {"example": example}}}}


def document_created(example: AnyJson) -> Responses:
    """The successful answer of a route that publishes, for its OpenAPI."""
    return {201: {"content": {JSON: {"example": example}}}}


SUBSCRIPTION = {
    "subscription_id": "9f31c0d2a4b5e6f7",
    "view": STOCK_LEVELS.name,
    "filters": ["store_id=S003", "units_on_hand<=5"],
    "receiver": "https://hooks.example.com:443",
    "generation": 1,
    "batch": 812,
    "from_beginning": False,
    "created_at": "2026-11-25T10:41:07.120Z",
    "created_by": "operator",
    "state": "active",
    "lag_records": 0,
    "waiting": 1,
    "waiting_since": "2026-11-25T10:52:00.000Z",
    "delivered": 77,
    "attempts": 2,
    "error": "Expected a status of 200 to 299, found 500.",
    "retry_at": "2026-11-25T10:52:04.120Z",
}
CREATED_SUBSCRIPTION = {
    **SUBSCRIPTION,
    "waiting": 0,
    "waiting_since": None,
    "delivered": 0,
    "attempts": 0,
    "error": None,
    "retry_at": None,
    "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
}
SUBSCRIPTIONS = {"subscriptions": [SUBSCRIPTION]}
DONE = {
    "command": "retail replay promote fraud --number 2",
    "said": "fraud: generation 2 is read by everyone since 10:41:07.212 (1 record)\n"
    "  go back       retail replay rollback fraud",
}
_ACTIONS = Table(ACTIONS)
AUDIT_PAGE = {
    "items": [_ACTIONS.to_json(_ACTIONS.to_stored(one)) for one in ACTIONS.examples],
    "next": None,
    "as_of": {"inputs": {ACTIONS.name: [4]}},
}
HISTORY = {
    "available": True,
    "reason": None,
}
DIFFERENCE: AnyJson = {
    "pipeline": "fraud",
    "before": 1,
    "after": 2,
    "computed_at": "2026-03-02T10:41:07.212Z",
    "difference": {
        "pipeline": "fraud",
        "before": "generation 1",
        "after": "generation 2",
        "at": "marker 812",
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
                "periods": [
                    {"begins": "2026-03-02T10:00:00", "added": 2, "removed": 0, "changed": 0}
                ],
                "largest": [
                    {
                        "key": {"rule": "card-velocity", "subject": "tok_9a31"},
                        "name": "card-velocity/tok_9a31",
                        "kind": "new",
                        "words": ["measured 4", "threshold 3"],
                        "before": {},
                        "after": {"measured": 4, "threshold": 3},
                        "cause": "card_sales_per_window_max 5 → 3",
                    }
                ],
            }
        ],
        "changes": {
            "thresholds": [{"name": "card_sales_per_window_max", "before": 5, "after": 3}],
            "files": ["pipelines/fraud/thresholds.py"],
        },
        "empty": False,
    },
}
