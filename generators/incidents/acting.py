"""Carries out plans with the units and tills that a shop has."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from generators.event import Event
from generators.incidents.deed import NOBODYS, Deed
from generators.shop import Shop
from generators.ticks import HOUR_MS

LOOKED_AT = 24  # shelves that an actor compares
HEADROOM = 3  # a shelf must hold more than so many times the wanted units
BOUGHT_BEFORE_MS_MAX = 40 * HOUR_MS  # the greatest age of an invented receipt
INVENTED_FROM = 500  # the real receipts of a store and minute have lower numbers


class Done(NamedTuple):
    """The result of a deed."""

    event: Event
    counted: int = 0  # in the unit of the rule


def buy(shop: Shop, deed: Deed, before: Event | None, draw: Random) -> Done | None:
    """Sell to the payer. None where the shelves are empty."""
    lines: list[Event] = []
    given_away_cents = most_packs = 0
    for number, shelf in enumerate(choose_shelves(shop, deed, before, draw)):
        pack = shop.shelves.packs_units[shelf]
        wanted = deed.units
        if deed.packs_hundredths:
            wanted = max(1, round(deed.packs_hundredths * pack / 100))
        units = shop.shelves.take(shelf, wanted)
        if not units:
            continue
        price = shop.shelves.prices_cents[shelf]
        paid = price * deed.percent // 100 if number < deed.reduced_lines else price
        given_away_cents += (price - paid) * units
        most_packs = max(most_packs, units * 100 // pack)
        lines.append(create_line(shop, shelf, units, paid))
    if not lines:
        return None
    event = shop.issue(deed.at_ms, deed.till, deed.payer, lines, deed.delay_ms)
    if deed.packs_hundredths:
        return Done(event, most_packs)
    return Done(event, given_away_cents if deed.reduced_lines else 1)


def give_back(shop: Shop, deed: Deed, receipt: Event | None, draw: Random) -> Done | None:
    """Refund. None where there is nothing to bring back."""
    if deed.receipt != NOBODYS and receipt is None:
        return None
    bought = receipt["lines"] if receipt else [create_line_worth(shop, deed, draw)]
    lines = []
    for one in bought:
        units = one["units"] * deed.percent // 100
        if units:
            shop.put_back(one["sku"], units, min(units, one["units"]) if deed.real else 0)
            lines.append({**one, "units": units})
    if not lines:
        return None
    named = invent_receipt(shop, deed, draw) if deed.invented else receipt
    card_token, _ = deed.payer
    event = shop.pay_back(deed.at_ms, deed.till, card_token, named, lines)
    if named is None:
        return Done(event, 1)
    return Done(event, sum_cents(lines) - (sum_cents(bought) if receipt and deed.real else 0))


def choose_shelves(shop: Shop, deed: Deed, before: Event | None, draw: Random) -> Sequence[int]:
    """A shelf for each line, none twice."""
    if before:
        return [shop.shelves.place[one["sku"]] for one in before["lines"]]
    return list(
        dict.fromkeys(
            choose(shop, deed.goods, deed.packs_hundredths, draw) for _ in range(deed.lines)
        )
    )


def choose(shop: Shop, goods: str, packs_hundredths: int, draw: Random) -> int:
    """A shelf chosen by demand, or the dearest or cheapest of some shelves that hold enough."""
    if goods == "usual":
        return shop.choose_shelf(draw.random())
    shelves = shop.shelves
    some = [int(draw.random() * len(shelves.skus)) for _ in range(LOOKED_AT)]
    enough = [
        shelf
        for shelf in some
        if shelves.units[shelf] * 100 > HEADROOM * packs_hundredths * shelves.packs_units[shelf]
    ]
    if not enough:
        return max(some, key=lambda shelf: shelves.units[shelf] / shelves.packs_units[shelf])
    best = max if goods == "dear" else min
    return best(enough, key=lambda shelf: shelves.prices_cents[shelf])


def create_line_worth(shop: Shop, deed: Deed, draw: Random) -> Event:
    """A line worth about so much money."""
    shelf = choose(shop, deed.goods, 0, draw)
    price = shop.shelves.prices_cents[shelf]
    return create_line(shop, shelf, max(1, round(deed.cents / price)), price)


def invent_receipt(shop: Shop, deed: Deed, draw: Random) -> Event:
    at_ms = deed.at_ms - HOUR_MS - int(draw.random() * (BOUGHT_BEFORE_MS_MAX - HOUR_MS))
    number = INVENTED_FROM + int(draw.random() * INVENTED_FROM)
    return {"event_id": shop.build_receipt_id(at_ms, number), "event_time": at_ms}


def create_line(shop: Shop, shelf: int, units: int, price_cents: int) -> Event:
    sku = shop.shelves.skus[shelf]
    return {"sku": sku, "units": units, "unit_price_cents": price_cents}


def sum_cents(lines: Sequence[Event]) -> int:
    """What the lines come to. The simulated world sells by the piece, so none is rounded."""
    return sum(int(one["units"] * one["unit_price_cents"]) for one in lines)
