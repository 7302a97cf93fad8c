"""What the tests of fraud rules share."""

from datetime import timedelta

from contracts import ALERTS, build_model
from ops.verify.tables import Row
from ops.verify.timeline import LEEDS, LONDON, Timeline, parse_clock

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
CARD = "tok_1"


def sell_often(
    shop: Timeline, times: int, apart: timedelta, begin: str = "10:41", card: str = CARD
) -> list[str]:
    """Sales on one card from `begin` on, each so long after the one before; returns their ids."""
    return [shop.sell(parse_clock(begin) + n * apart, card=card) for n in range(times)]


def travel(shop: Timeline, duration: timedelta) -> None:
    """One card buys in Leeds at 10:00, and in London so much later."""
    shop.sell(parse_clock("10:00"), card=CARD, store=LEEDS)
    shop.sell(parse_clock("10:00") + duration, card=CARD, store=LONDON)


def only(rows: list[Row]) -> Row:
    (row,) = rows
    build_model(ALERTS).model_validate(row)
    return row
