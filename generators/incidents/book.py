"""The incidents that are planned, under way, or over."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any

from contracts import RECEIPTS, REFUNDS
from generators.chance import create_random
from generators.customers import Customers
from generators.event import Event
from generators.incidents.acting import buy, give_back
from generators.incidents.deed import Deed, Plan
from generators.incidents.scene import Scene
from generators.incidents.stories import STORIES, Stories
from generators.parameters import Parameters
from generators.shop import SHIFT_TICKS, Shop
from generators.stores import Store
from generators.ticks import HOUR_MS, TICK_MS, to_hour_of_day, to_hour_start_ms, to_tick_start_ms

FRAUD = "fraud"
LOOK_ALIKE = "look-alike"


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
                self._plan(
                    incident_id, planted_as, self._create_scene(shop.store, hour, draw), draw
                )

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

    def dump_state(self) -> dict[str, Any]:
        return {"ahead": self._ahead, "open": self._open}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._ahead = [
            (at_ms, incident_id, number, Deed(*deed)._replace(payer=tuple(deed[4])))
            for at_ms, incident_id, number, deed in state["ahead"]
        ]
        heapify(self._ahead)
        self._open = dict(state["open"])

    def _create_scene(self, store: Store, hour: int, draw: Random) -> Scene:
        starts_ms = to_hour_start_ms(hour) + int(draw.random() * HOUR_MS)
        shift_hours = SHIFT_TICKS * TICK_MS // HOUR_MS
        today = hour - to_hour_of_day(hour)
        until = min(today + store.closes_at_hour, (hour // shift_hours + 1) * shift_hours)
        return Scene(
            store, starts_ms, to_hour_start_ms(until) - 1, self._stores, self._customers, draw
        )

    def _plan(self, incident_id: str, planted_as: str, scene: Scene, draw: Random) -> None:
        rules = list(STORIES)
        rule = rules[int(draw.random() * len(rules))]
        tellable = select_stories(STORIES[rule], planted_as)
        story = tellable[int(draw.random() * len(tellable))]
        plan: Plan = story(scene)
        if not plan.deeds or not all(map(self._is_open, plan.deeds)):
            return
        self._open[incident_id] = {
            "rule": rule,
            "planted_as": planted_as,
            "story": story.__name__.replace("_", "-"),
            "strength": plan.strength,
            "left": len(plan.deeds),
            "events": [],
            "receipts": [None] * len(plan.deeds),
        }
        for number, deed in enumerate(plan.deeds):
            heappush(self._ahead, (deed.at_ms, incident_id, number, deed))

    def _is_open(self, deed: Deed) -> bool:
        return self._stores[deed.store].is_open(deed.at_ms // HOUR_MS % 24)

    def _carry_out(self, shop: Shop, incident_id: str, number: int, deed: Deed) -> None:
        """Carry out a deed as planned, unless the store lacks the goods."""
        incident = self._open[incident_id]
        incident["left"] -= 1
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
        for incident_id in [one for one, it in self._open.items() if not it["left"]]:
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


def select_stories(of_rule: Stories, planted_as: str) -> Sequence[Any]:
    return of_rule.frauds if planted_as == FRAUD else of_rule.look_alikes
