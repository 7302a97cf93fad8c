"""How purchase orders and the supplier's answers are kept, and what is asked of them."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Contract
from services.api.copying import of_rows
from services.api.tables import Stored, Table

ID = "purchase_order_id"
NEWEST_FIRST = ("review_at", ID)
ORDERED = Table(PURCHASE_ORDERS, key=(ID,))
CONFIRMED = Table(CONFIRMATIONS, key=(ID,))

# Whatever is said of an order a second time changes nothing.
ORDERS = of_rows(
    ORDERED,
    "ignore",
    f"create index newest on {ORDERED.name} ({', '.join(NEWEST_FIRST)})",
    f"create index shelves on {ORDERED.name} (store_id, sku, {', '.join(NEWEST_FIRST)})",
)
ANSWERS = of_rows(CONFIRMED, "ignore")
TOPICS: Sequence[Contract] = (PURCHASE_ORDERS, CONFIRMATIONS)


def orders(
    connection: sqlite3.Connection,
    of: Mapping[str, str],
    before: tuple[int, str],
    limit: int,
) -> list[Stored]:
    """So many orders before this review and id, the newest first.

    Of: what they are of, by the names of columns.
    """
    conditions = [*(f"{name} = ?" for name in of), f"({', '.join(NEWEST_FIRST)}) < (?, ?)"]
    sql = (
        f"{ORDERED.select} where {' and '.join(conditions)} "
        f"order by {', '.join(f'{name} desc' for name in NEWEST_FIRST)} limit ?"
    )
    return connection.execute(sql, (*of.values(), *before, limit)).fetchall()


def answer(connection: sqlite3.Connection, order_id: str) -> dict[str, Any] | None:
    """What the supplier said to an order; None before it did."""
    found = connection.execute(CONFIRMED.select_one, (order_id,)).fetchone()
    return None if found is None else CONFIRMED.shown(found)
