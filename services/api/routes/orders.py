"""GET /v1/orders: the purchase orders of shelves, and the supplier's confirmations.

GET /v1/positions: the inventory position of a shelf at each review, and the ordered units. It sums
as the gate does: the moved units in the proposals, and the units that were ordered before.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from contracts import CONFIRMATIONS, PROPOSALS, PURCHASE_ORDERS, build_model
from services.api.http.answers import Dated, TopicsAsOf, TopicsPage, date, date_by_offsets
from services.api.http.parameters import FromStore, IdFilter, PageQuery, Sku, StoreId
from services.api.http.read_your_writes import ViewParameters, await_snapshots
from services.api.http.router import ITEM_PROBLEMS, Router
from services.api.problem import NotFound
from services.api.routes.views import TABLES
from services.api.store.finality import Finality
from services.api.store.marker import group_by_topic
from services.api.store.mirror import read_offsets
from services.api.store.mirrored import CONFIRMED, ORDER_ID, ORDERS
from services.api.store.snapshots import Snapshot, Snapshots
from services.api.store.store import Store
from services.api.store.tables import AnyJson, Document, Stored

TABLE = TABLES[PROPOSALS.name]
DAY_MS = 24 * 60 * 60 * 1000
ROWS = f"{TABLE.select} where sku = ? and store_id = ? order by review_at"
FIRST_REVIEW = f"select min(review_at) from {TABLE.name}"
ORDERED = (
    f"select review_at - review_at % {DAY_MS} as review, sum(units) from {ORDERS.table.name} "
    "where store_id = ? and sku = ? group by review order by review"
)
UNIT: AnyJson = {"unit": "units"}

router = Router(tags=["orders"])


class OrdersQuery(PageQuery):
    store_id: IdFilter = Field(None, description="only those of this store")
    sku: IdFilter = Field(None, description="only those of this product")


class Order(build_model(PURCHASE_ORDERS)):  # type: ignore[misc]  # made at run time
    """What was ordered for a shelf, in answer to one minute."""

    confirmation: build_model(CONFIRMATIONS) | None = Field(  # type: ignore[valid-type]  # made at run time
        description="what the supplier answered; null: nothing yet"
    )


class OrderPage(TopicsPage):
    items: list[Order] = Field(description="the newest first")


class ReviewPosition(build_model(PROPOSALS)):  # type: ignore[misc]  # made at run time
    """A shelf at one review, as it was proposed for."""

    position_units: int | None = Field(
        description="on the shelf and on order when the review began; null: what moved before the "
        "oldest row that the view keeps is not known here",
        json_schema_extra=UNIT,
    )
    ordered_units: int = Field(
        description="ordered from this review until the next", json_schema_extra=UNIT
    )
    final: bool = Field(description="whether nothing can change what moved")


class Positions(Dated):
    """The reviews of a shelf."""

    store_id: str
    sku: str
    items: list[ReviewPosition] = Field(description="one a day, the first review first")
    orders_as_of: TopicsAsOf = Field(description="which orders have been read")


@router.get(
    "/v1/orders",
    summary="Purchase orders with the supplier's answers, the newest first, in pages",
    description="Orders exist where they fill the shelves (`SIMULATOR_REFILL=orders`), "
    "whenever a position crosses its reorder point.",
    response_model=OrderPage,
)
def list_orders(store: FromStore, query: Annotated[OrdersQuery, Query()]) -> JSONResponse:
    # Read orders first, so that the answer has the order of every confirmation.
    page, ordered = query.read_newest(store, "orders", ORDERS)
    with store.open(CONFIRMED) as connection:
        items = _join_confirmations(connection, page.items)
        confirmed = read_offsets(connection, CONFIRMATIONS.name)
    as_of = date_by_offsets({**ordered, **confirmed})
    return JSONResponse({"items": items, "next": page.next, **as_of})


@router.get(
    "/v1/positions/{store_id}/{sku}",
    summary="The inventory position of a shelf at each review, beside its levels and orders",
    description="From the proposals of the promoted generation and the purchase orders: the "
    "position at a review is the sum of all that moved before it, and of what was ordered.",
    response_model=Positions,
    responses=ITEM_PROBLEMS,
)
async def list_positions(
    store: FromStore, store_id: StoreId, sku: Sku, query: ViewParameters
) -> JSONResponse:
    snapshots = await await_snapshots(store, TABLE.view, query)
    return JSONResponse(await run_in_threadpool(_build, store, snapshots, store_id, sku))


def _join_confirmations(connection: sqlite3.Connection, orders: Sequence[Stored]) -> list[Document]:
    """Each order with the supplier's confirmation; None before there is one."""
    id_index = ORDERS.table.columns.index(ORDER_ID)
    items: list[Document] = []
    for order in orders:
        row = connection.execute(CONFIRMED.table.select_one, (order[id_index],)).fetchone()
        confirmation = None if row is None else CONFIRMED.table.to_json(row)
        items.append({**ORDERS.table.to_json(order), "confirmation": confirmation})
    return items


def _build(store: Store, snapshots: Snapshots, store_id: str, sku: str) -> Document:
    # Read the view first: an order of a review follows the rows of the review.
    with snapshots.open() as snapshot:
        rows = snapshot.select(ROWS, (sku, store_id)).fetchall()
        is_whole = _has_every_review(snapshot)
    if not rows:
        raise NotFound(
            "No review of the shelf",
            f"Expected a shelf that a review has proposed for, found none of {store_id}/{sku}. "
            f"List the proposals there are with GET /v1/views/{TABLE.view}/rows.",
        )
    with store.open(ORDERS) as connection:
        ordered = dict(connection.execute(ORDERED, (store_id, sku)).fetchall())
        inputs = group_by_topic(read_offsets(connection, PURCHASE_ORDERS.name))
    finality = Finality(store, TABLE, snapshot.marker)
    items = [
        {**item, **finality.to_json(row)}
        for row, item in zip(rows, _accumulate_positions(rows, ordered, is_whole), strict=True)
    ]
    return {
        "store_id": store_id,
        "sku": sku,
        "items": items,
        "orders_as_of": {"inputs": inputs},
        **date(store, snapshot.marker),
    }


def _has_every_review(snapshot: Snapshot) -> bool:
    """Whether the view still holds its first review, so that its rows hold every movement.

    There is one review per day. If the first row is less than a day younger than the oldest time
    that the view keeps, it may have dropped older rows.
    """
    oldest_ms = snapshot.find_oldest_ms(TABLE)
    [first_ms] = snapshot.select(FIRST_REVIEW).fetchone()
    return oldest_ms is None or first_ms is None or first_ms >= oldest_ms + DAY_MS


def _accumulate_positions(
    rows: Sequence[Stored], ordered: Mapping[int, int], is_whole: bool
) -> Iterator[Document]:
    """Each review with its opening position.

    `rows` are in the order of reviews; `ordered` has the units that were ordered from a review
    until the next one, by review in epoch ms.
    """
    review, moved = (TABLE.columns.index(name) for name in ("review_at", "moved_units"))
    moved_units = 0
    for row in rows:
        moved_units += row[moved]
        earlier = sum(units for review_ms, units in ordered.items() if review_ms < row[review])
        yield {
            **TABLE.to_json(row),
            "position_units": moved_units + earlier if is_whole else None,
            "ordered_units": ordered.get(row[review], 0),
        }
