"""A small world of what a contract just lets through, and of what it just does not.

One card, cashier, customer and shelf with more events in one millisecond than rules look at; the
most lines of the most units at the highest price, until sums are near 64 bits and beyond them;
measures, with halves of a cent that decide whether a sum is beyond them; texts of every plane of
Unicode, as long as they may be; and events late and ahead to the millisecond.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from contracts import ADJUSTMENTS, HEARTBEATS, PRODUCTS, RECEIPTS, REFUNDS, SHIPMENTS, Contract
from contracts.times import MILLISECOND
from pipelines.fraud.thresholds import Thresholds
from tests.replay.log import Entry
from tests.timeline import (
    BEFORE,
    LEEDS,
    LONDON,
    MILK,
    WINE,
    YORK,
    Line,
    Timeline,
    build_lines,
    parse_clock,
)

CROWD = 2 * Thresholds().signals_max + 1
LINES_MAX, UNITS_MAX, CENTS_MAX = 2_000, 1_000_000, 2**31 - 1
INT_MIN = -(2**31)
MOST = ((MILK, UNITS_MAX, CENTS_MAX),) * LINES_MAX
"""The lines of a receipt of the largest size. Three come to more than 64 bits have room for."""
LONG_MAX = 2**63 - 1
HALF: Line = (MILK, 1, 500, "litre")
"""It comes to half a cent, so to one. Of milk, whose cost is that of a piece."""
FLOUR, ROPE = "SKU-FLOUR", "SKU-ROPE"
MEASURED = (1, 2, 3, 499, 500, 501, 999, 1_000, 1_001, UNITS_MAX)
"""Units of a line with a measure."""
GOLD = "SKU-GOLD"
"""What it costs, and what it should be sold for, is the most that there can be."""

PLANES = (
    "\x01'\"\\%\n",
    "e\u0301\u00e9",
    "\u202e\u05d0\ufeff",
    "\ue000\uffff",
    "\U00010348",
    "\U00020000",
    "\U000e0001",
    "\U0010ffff",
)
"""Texts that some program orders, cuts, folds or escapes in another way than the next one."""

EDGES = (-MILLISECOND, timedelta(), MILLISECOND)
MOVED = (RECEIPTS, REFUNDS, ADJUSTMENTS, SHIPMENTS)


def build_hostile_log() -> list[Entry]:
    """The records in the order of their publication, with a heartbeat after every ten minutes."""
    shop = Timeline()
    crowd(shop)
    largest(shop)
    beyond(shop)
    measures(shop)
    planes(shop)
    edges(shop)
    for minutes in range(0, 1_000, 10):
        moment = parse_clock("8:00") + timedelta(minutes=minutes)
        shop.put(HEARTBEATS, moment, world="world")
    return order(shop)


def order(shop: Timeline) -> list[Entry]:
    """The events in the order of their publication, each heartbeat behind those of its time."""
    entries = []
    for record in shop.records:
        key, value = record.key or b"", record.value or b""
        entries.append(Entry((record.topic, record.partition), key, value, record.published_ms))
    return sorted(
        entries, key=lambda entry: (entry.published_ms, entry.partition[0] == HEARTBEATS.name)
    )


def crowd(shop: Timeline) -> None:
    """All of it in one millisecond; the refunds are for one receipt, which is there."""
    moment = parse_clock("10:00:30")
    sold = shop.sell(moment, (WINE, 1, 1_000), card="tok_1", customer="C1", cashier="HOT")
    for _ in range(CROWD):
        shop.sell(moment, (WINE, 1, 10), card="tok_1", customer="C1", cashier="HOT")
        shop.refund(moment, (WINE, 1, 1_000), receipt=sold, issued=moment, cashier="HOT")


def largest(shop: Timeline) -> None:
    """Two receipts in one minute: one more like them, and a sum has 65 bits. Three refunds of one
    of them: what is paid back for it has.
    """
    moment = parse_clock("11:00:30")
    sold = shop.sell(moment, *MOST, store=YORK, customer="C-MOST", cashier="MOST")
    shop.sell(moment, *MOST, store=YORK, customer="C-MOST", cashier="MOST")
    for number in range(3):
        again = parse_clock("11:10") + timedelta(minutes=number)
        shop.refund(again, *MOST, receipt=sold, issued=moment, cashier="MOST")
    shop.sell(
        parse_clock("11:20"), *[(WINE, UNITS_MAX, 0)] * LINES_MAX, store=LONDON, cashier="MOST"
    )
    shop.sell(parse_clock("11:21"), (WINE, 1, 0), store=LONDON, cashier="MOST")
    for number, units in enumerate((INT_MIN, CENTS_MAX, INT_MIN, -1, 1)):
        happened = parse_clock("11:30") + timedelta(minutes=number)
        shop.put(ADJUSTMENTS, happened, store_id=YORK, sku=MILK, units=units, reason="count")


def beyond(shop: Timeline) -> None:
    """Sums of 64 bits, and of one cent more.

    Each has a minute, a customer and a cashier of its own. What is given away, and what a product
    costs more than it is sold for, are as large. The last cent of two is half a cent, rounded up.
    """
    halves: list[tuple[Line, ...]] = [(), (), (HALF,), (HALF,)]
    for number, (above, half) in enumerate(zip((0, 1, 0, 1), halves, strict=True)):
        moment = parse_clock("16:00:30") + timedelta(hours=number)
        who = {"customer": f"C-{number}", "cashier": f"EDGE-{number}"}
        left = LONG_MAX + above - 2 * sum_cents(MOST) - len(half)
        for lines in (MOST, MOST, (*create_lines(left), *half)):
            shop.sell(moment, *lines, store=YORK, **who)
    # After the grace: all of the minute is beyond 64 bits, and what was on time is not.
    moment, late = parse_clock("20:00:30"), parse_clock("20:40")
    for published in (moment, late, late):
        shop.sell(moment, *MOST, store=LEEDS, customer="C-LATE", published=published)
    shop.set_price(GOLD, CENTS_MAX, BEFORE)
    shop.put(
        PRODUCTS,
        BEFORE,
        effective_at=BEFORE,
        sku=GOLD,
        pack_size_units=1,
        unit_cost_cents=CENTS_MAX,
    )
    for _ in range(3):
        given = [(GOLD, UNITS_MAX, 0)] * LINES_MAX
        shop.sell(parse_clock("21:00:30"), *given, store=LONDON, customer="C-GOLD", cashier="GIVES")


def measures(shop: Timeline) -> None:
    """Products and lines that agree on a measure or do not, at every bound, and measures that are
    none. The lines of one sku are rounded each by itself.
    """
    shop.introduce(FLOUR, pack_size_units=25_000, measure="kilogram", unit_cost_cents=CENTS_MAX)
    shop.introduce(ROPE, pack_size_units=1, measure="metre", unit_cost_cents=500)
    shop.introduce(ROPE, event_id="no-measure", unit_cost_cents=1, measure="yard")
    for sku, cents in ((FLOUR, CENTS_MAX), (ROPE, 1_001)):
        shop.set_price(sku, cents, BEFORE)
    amounts = [(units, cents) for units in MEASURED for cents in (0, 499, 500, 501, CENTS_MAX)]
    for number, measure in enumerate(("kilogram", "litre", "metre", "yard", "Kilogram", "")):
        moment = parse_clock("13:00:30") + timedelta(minutes=number)
        who = {"customer": "C-SCALES", "cashier": f"SCALES-{number}"}
        for sku in (FLOUR, ROPE, MILK, "SKU-NEW"):
            lines: list[Line] = [(sku, units, cents, measure) for units, cents in amounts]
            sold = shop.sell(moment, *lines, (sku, 1, 500), **who)
            shop.sell(moment, *lines, cashier=f"SCALES-{number}", card=f"tok-{number}")
            shop.refund(moment, *lines, *lines, receipt=sold, issued=moment, cashier="SCALES")
    heaviest: Line = (FLOUR, UNITS_MAX, CENTS_MAX, "kilogram")
    shop.sell(parse_clock("13:30"), *[heaviest] * LINES_MAX, customer="C-SCALES", cashier="HEAVY")
    shop.sell(parse_clock("13:31"), *[HALF] * LINES_MAX, customer="C-SCALES", cashier="HEAVY")


def create_lines(cents: int) -> list[Line]:
    """Lines that come to so many cents, as few as there can be."""
    dear, rest = divmod(cents, UNITS_MAX * CENTS_MAX)
    price, left = divmod(rest, UNITS_MAX)
    lines: list[Line] = [*[(MILK, UNITS_MAX, CENTS_MAX)] * dear, (MILK, UNITS_MAX, price)]
    return [*lines, (MILK, 1, left)]


def sum_cents(lines: Iterable[tuple[str, int, int]]) -> int:
    return sum(units * price for _, units, price in lines)


def planes(shop: Timeline) -> None:
    """Everything that may be a text is one, of 64 characters; one moment, so that ids decide."""
    moment = parse_clock("12:00:30")
    for number, plane in enumerate((*PLANES, "".join(PLANES))):
        text = (plane * 64)[:64]
        for copy in range(7):
            shop.sell(
                moment,
                (text, 1, 1_000),
                (MILK, 7, 5),
                event_id=f"{copy}{text}"[:64],
                store=LEEDS if copy else text,
                card=text,
                customer=text,
                cashier=text,
                register_id=text,
            )
        shop.refund(
            moment + timedelta(minutes=number),
            (text, 1, 100_000),
            event_id=text,
            receipt=f"0{text}"[:64],
            issued=moment,
            card=text,
            cashier=text,
        )


def edges(shop: Timeline) -> None:
    """Of each topic events as late and as far ahead as may be, a little less, a little more."""
    moment = parse_clock("14:00")
    for topic in MOVED:
        for delay in delays(topic):
            shop.put(topic, moment - delay, moment, **about(topic))


def delays(topic: Contract) -> Iterator[timedelta]:
    horizon, skew = topic.horizon or timedelta(), topic.skew or timedelta()
    for edge in EDGES:
        yield horizon + edge
        yield -skew - edge
    yield 10 * horizon
    yield -10 * skew


def about(topic: Contract) -> dict[str, Any]:
    """A shelf that is known, and what moves on it."""
    if topic is ADJUSTMENTS:
        return {"store_id": LEEDS, "sku": MILK}
    if topic is SHIPMENTS:
        lines = [{"sku": MILK, "dispatched_units": 100_000, "received_units": 100_000}]
        return {"store_id": LEEDS, "lines": lines}
    return {"store_id": LEEDS, "lines": build_lines(((MILK, 2, 100),))}
