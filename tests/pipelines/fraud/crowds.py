"""For each rule, events that contribute a stated number of signals to one key.

What they say is drawn: some of it trips the rule and some does not, published early or late.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from random import Random

from tests.timeline import LEEDS, LONDON, MILK, WINE, YORK, Timeline, parse_clock

Crowd = Callable[[Timeline, Random, str, int], None]
"""Adds the events: whom they are about, and how many signals they contribute."""

Line = tuple[str, int, int]


def crowd_velocity(shop: Timeline, chance: Random, card: str, size: int) -> None:
    for _ in range(size):
        happened = draw_moment(chance, parse_clock("10:00"), minutes=59)
        shop.sell(happened, card=card, published=draw_publication(chance, happened))


def crowd_travel(shop: Timeline, chance: Random, card: str, size: int) -> None:
    stores = (LEEDS, LEEDS, LEEDS, YORK, LONDON)
    for _ in range(size):
        happened = draw_moment(chance, parse_clock("8:00"), minutes=12 * 60)
        sold_in = chance.choice(stores)
        shop.sell(happened, card=card, store=sold_in, published=draw_publication(chance, happened))


def crowd_sweethearting(shop: Timeline, chance: Random, cashier: str, size: int) -> None:
    for lines in split_lines(chance, size, lambda: (WINE, 1, chance.choice((0, 490, 499)))):
        happened = draw_moment(chance, parse_clock("8:00"), minutes=7 * 60)
        shop.sell(happened, *lines, cashier=cashier, published=draw_publication(chance, happened))


def crowd_unbacked(shop: Timeline, chance: Random, receipt: str, size: int) -> None:
    """The receipt is there for most of it, and has two lines."""
    issued = parse_clock("9:00")
    sold = ((WINE, 3, 1_000), (MILK, 20, 100))
    shop.sell(issued, *sold, event_id=receipt, published=draw_publication(chance, issued))
    some = ((WINE, 1, 300), (MILK, 2, 100), (WINE, 2, 1_000))
    for lines in split_lines(chance, size - len(sold), lambda: chance.choice(some)):
        happened = draw_moment(chance, parse_clock("9:01"), minutes=10)
        published = draw_publication(chance, happened)
        shop.refund(happened, *lines, receipt=receipt, issued=issued, published=published)


def crowd_refund_rate(shop: Timeline, chance: Random, cashier: str, size: int) -> None:
    """Each refund is one signal, however many lines it has."""
    for number in range(size):
        happened = draw_moment(chance, parse_clock("8:00"), minutes=7 * 60)
        named = chance.random() < 0.5
        shop.refund(
            happened,
            *[(WINE, 1, chance.choice((100, 200))) for _ in range(chance.randint(1, 3))],
            receipt=f"{cashier}-{number}" if named else None,
            issued=parse_clock("8:00") if named else None,
            card=chance.choice((None, "tok_1", "tok_2")),
            cashier=cashier,
            published=draw_publication(chance, happened),
        )


def crowd_bulk(shop: Timeline, chance: Random, card: str, size: int) -> None:
    some = ((WINE, 6, 1_000), (MILK, 10, 100), (MILK, 12, 100))
    for lines in split_lines(chance, size, lambda: chance.choice(some)):
        happened = draw_moment(chance, parse_clock("8:00"), minutes=12 * 60)
        shop.sell(happened, *lines, card=card, published=draw_publication(chance, happened))


CROWDS: Mapping[str, Crowd] = {
    "card-velocity": crowd_velocity,
    "impossible-travel": crowd_travel,
    "sweethearting": crowd_sweethearting,
    "refund-without-receipt": crowd_unbacked,
    "refund-rate": crowd_refund_rate,
    "bulk-purchase": crowd_bulk,
}
"""By rule."""


def draw_moment(chance: Random, begins: datetime, minutes: int) -> datetime:
    return begins + timedelta(milliseconds=chance.randrange(minutes * 60_000))


def draw_publication(chance: Random, happened: datetime) -> datetime:
    """When it is published: many at the same moment, and some before others that happened first."""
    full_hour = happened.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return chance.choice((happened, full_hour))


def split_lines(chance: Random, lines: int, line: Callable[[], Line]) -> Iterator[list[Line]]:
    """So many lines, on events of one to three."""
    while lines > 0:
        taken = min(lines, chance.randint(1, 3))
        lines -= taken
        yield [line() for _ in range(taken)]
