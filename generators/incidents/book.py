"""The incidents that are planned, under way, or over, and how a shop carries them out."""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from random import Random
from typing import Any, NamedTuple

from contracts import RECEIPTS, REFUNDS
from generators.chance import create_random
from generators.customers import Customers
from generators.event import Event
from generators.incidents import bulk, refund_rate, refunds, sweethearting, travel, velocity
from generators.incidents.scene import NOBODYS, Deed, Scene, Stories
from generators.parameters import Parameters
from generators.shop import SHIFT_TICKS, Shop
from generators.stores import Store
from generators.ticks import HOUR_MS, TICK_MS, to_hour_of_day, to_hour_start_ms, to_tick_start_ms

FRAUD = "fraud"
LOOK_ALIKE = "look-alike"

STORIES: Mapping[str, Stories] = {
    "card-velocity": velocity.STORIES,
    "impossible-travel": travel.STORIES,
    "sweethearting": sweethearting.STORIES,
    "refund-without-receipt": refunds.STORIES,
    "refund-rate": refund_rate.STORIES,
    "bulk-purchase": bulk.STORIES,
}
"""By the rule that they test."""

LOOKED_AT = 24  # shelves that an actor compares
HEADROOM = 3  # a shelf must hold more than so many times the wanted units
BOUGHT_BEFORE_MS_MAX = 40 * HOUR_MS  # the greatest age of an invented receipt
INVENTED_FROM = 500  # the real receipts of a store and minute have lower numbers


class Incidents:
    """Plans incidents by the hour, carries them out by the minute, reports each once it is over."""

    def __init__(
        self, parameters: Parameters, stores: Sequence[Store], customers: Customers
    ) -> None:
        self._seed = parameters.seed
        self._rates = {FRAUD: parameters.fraud_rate, LOOK_ALIKE: parameters.look_alike_rate}
        self._stores = stores
        self._customers = customers
        self._ahead: list[tuple[int, str, int, Deed]] = []  # a heap: time, incident, number, deed
        self._open: dict[str, dict[str, Any]] = {}
        self._over: list[Event] = []

    def begin_hour(self, hour: int, shop: Shop) -> None:
        """Plan the incidents that begin in the store in this hour, in proportion to the visits."""
        if not shop.store.is_open(to_hour_of_day(hour)):
            return
        draw = create_random(self._seed, shop.store.store_id, hour, "incidents")
        number = 0
        for planted_as, rate in self._rates.items():
            for _ in range(int(shop.visits * rate + draw.random())):
                number += 1
                incident_id = f"I-{hour}-{shop.store.store_id}-{number}"
                self._plan(incident_id, planted_as, self._create_scene(shop.store, hour, draw))

    def act(self, shops: Sequence[Shop], tick: int) -> None:
        """Carry out the deeds that are due in this minute."""
        end_ms = to_tick_start_ms(tick + 1)
        while self._ahead and self._ahead[0][0] < end_ms:
            _, incident_id, number, deed = heappop(self._ahead)
            self._carry_out(shops[deed.store], incident_id, number, deed)
        self._close(end_ms)

    def take_finished(self) -> list[Event]:
        """Remove and return the incidents that are over."""
        over, self._over = self._over, []
        return over

    def _create_scene(self, store: Store, hour: int, draw: Random) -> Scene:
        starts_ms = to_hour_start_ms(hour) + int(draw.random() * HOUR_MS)
        shift_hours = SHIFT_TICKS * TICK_MS // HOUR_MS
        today = hour - to_hour_of_day(hour)
        until = min(today + store.closes_at_hour, (hour // shift_hours + 1) * shift_hours)
        return Scene(
            store, starts_ms, to_hour_start_ms(until) - 1, self._stores, self._customers, draw
        )

    def _plan(self, incident_id: str, planted_as: str, scene: Scene) -> None:
        random = scene.draw.random
        rule = list(STORIES)[int(random() * len(STORIES))]
        stories = STORIES[rule].frauds if planted_as == FRAUD else STORIES[rule].look_alikes
        story = stories[int(random() * len(stories))]
        deeds = list(story(scene))
        if not deeds or not all(map(self._is_open, deeds)):
            return
        self._open[incident_id] = {
            "rule": rule,
            "planted_as": planted_as,
            "story": story.__name__.replace("_", "-"),
            "strength": scene.strength,
            "left": len(deeds),
            "events": [],
            "receipts": [None] * len(deeds),
        }
        for number, deed in enumerate(deeds):
            heappush(self._ahead, (deed.at_ms, incident_id, number, deed))

    def _is_open(self, deed: Deed) -> bool:
        return self._stores[deed.store].is_open(deed.at_ms // HOUR_MS % 24)

    def _carry_out(self, shop: Shop, incident_id: str, number: int, deed: Deed) -> None:
        """Carry out a deed as planned, unless the store is quiet or lacks the goods."""
        incident = self._open[incident_id]
        incident["left"] -= 1
        if shop.is_quiet:
            return
        receipts = incident["receipts"]
        before = receipts[deed.receipt] if deed.receipt >= 0 else None
        draw = create_random(self._seed, incident_id, number, "deed")
        buys = deed.does == "buy"
        done = (buy if buys else give_back)(shop, deed, before, draw)
        if done is None:
            return
        event = done.event
        if buys:
            receipts[number] = {key: event[key] for key in ("event_id", "event_time", "lines")}
        incident["strength"] += done.counted if deed.counts else 0
        topic = RECEIPTS.name if buys else REFUNDS.name
        incident["events"].append(
            {"topic": topic, "event_id": event["event_id"], "event_time": event["event_time"]}
        )

    def _close(self, now_ms: int) -> None:
        """Report the incidents that are over.

        Drops an incident of which at most half of the deeds were possible, and a fraud that harmed
        nobody.
        """
        for incident_id in [name for name, it in self._open.items() if not it["left"]]:
            incident = self._open.pop(incident_id)
            harmless = incident["planted_as"] == FRAUD and not incident["strength"]
            if 2 * len(incident["events"]) > len(incident["receipts"]) and not harmless:
                reported = ("rule", "planted_as", "story", "strength", "events")
                self._over.append(
                    {
                        "incident_id": incident_id,
                        "world_at": now_ms,
                        **{name: incident[name] for name in reported},
                    }
                )


class Done(NamedTuple):
    """The result of a deed."""

    event: Event
    counted: int = 0  # in the unit of the rule


def buy(shop: Shop, deed: Deed, before: Event | None, draw: Random) -> Done | None:
    """Sell to the payer. None where the shelves are empty."""
    lines: list[Event] = []
    given_away_cents = most_packs = 0
    if before:
        shelves = [shop.shelves.place[line["sku"]] for line in before["lines"]]
    else:  # none twice
        some = (choose(shop, deed.goods, deed.packs_hundredths, draw) for _ in range(deed.lines))
        shelves = list(dict.fromkeys(some))
    for number, shelf in enumerate(shelves):
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
        lines.append(shop.shelves.create_line(shelf, units, paid))
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
    for line in bought:
        units = line["units"] * deed.percent // 100
        if units:
            shop.put_back(line["sku"], units, min(units, line["units"]) if deed.real else 0)
            lines.append({**line, "units": units})
    if not lines:
        return None
    named = invent_receipt(shop, deed, draw) if deed.invented else receipt
    card_token, _ = deed.payer
    event = shop.pay_back(deed.at_ms, deed.till, card_token, named, lines)
    if named is None:
        return Done(event, 1)
    return Done(event, sum_cents(lines) - (sum_cents(bought) if receipt and deed.real else 0))


def choose(shop: Shop, goods: str, packs_hundredths: int, draw: Random) -> int:
    """A shelf chosen by demand, or the dearest or cheapest of some shelves that hold enough."""
    if goods == "usual":
        return shop.demand.choose_shelf(draw.random())
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
    return shop.shelves.create_line(shelf, max(1, round(deed.cents / max(1, price))), price)


def invent_receipt(shop: Shop, deed: Deed, draw: Random) -> Event:
    at_ms = deed.at_ms - HOUR_MS - int(draw.random() * (BOUGHT_BEFORE_MS_MAX - HOUR_MS))
    number = INVENTED_FROM + int(draw.random() * INVENTED_FROM)
    return {"event_id": shop.build_receipt_id(at_ms, number), "event_time": at_ms}


def sum_cents(lines: Sequence[Event]) -> int:
    """What the lines come to. The simulated world sells by the piece, so none is rounded."""
    return sum(int(line["units"] * line["unit_price_cents"]) for line in lines)
