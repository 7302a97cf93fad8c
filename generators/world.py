"""The world: a function of its parameters, minute by minute."""

from collections.abc import Iterable, Sequence
from typing import Any

from contracts import (
    ADJUSTMENTS,
    HEARTBEATS,
    INCIDENTS,
    LEDGER,
    PRICE_CHANGES,
    PRODUCTS,
    PROMOTIONS,
    RECEIPTS,
    REFUNDS,
    SHIPMENTS,
    STORES,
    Contract,
)
from contracts.times import MILLISECOND
from generators.customers import CASH_SHARE, Customers
from generators.delivery_queue import DeliveryQueue
from generators.demand import SEASONS, Demand, compute_season_percent, compute_visits_per_hour
from generators.event import Counts, Event, Numbering, Publication
from generators.incidents.book import Incidents
from generators.ledger import Page
from generators.parameters import Parameters, to_receipts_per_minute
from generators.prices import Prices, PriceSet
from generators.products import create_products, draw_overstocked
from generators.promotions import Promotions
from generators.shelves import AHEAD_DAYS, Shelves
from generators.shop import Shop
from generators.stores import create_stores
from generators.supply import Confirmed
from generators.ticks import HOURS_PER_WEEK, TICKS_PER_DAY, TICKS_PER_HOUR, to_day, to_tick_start_ms
from ops.control.load import Load
from ops.control.world_clock import WORLD

MOVING = (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)  # their events move book stock
TOPICS = (PRODUCTS, STORES, PRICE_CHANGES, PROMOTIONS, *MOVING, LEDGER, INCIDENTS, HEARTBEATS)
Input = Confirmed | PriceSet | Load
"""What the world hears from outside."""
HORIZONS_MS = {topic.name: topic.horizon // MILLISECOND for topic in MOVING if topic.horizon}


class World:
    """Stores, shelves and people; each tick gives the records of one world minute, in order."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.products = create_products(parameters.seed, parameters.products)
        self._stores = create_stores(parameters.seed, parameters.stores, self.products)
        self._place = {product.sku: number for number, product in enumerate(self.products)}
        self._promotions = Promotions(parameters.seed, len(self.products))
        self._prices = Prices(parameters.seed, self.products, self._promotions)
        self._deliveries = DeliveryQueue(parameters, HORIZONS_MS)
        self._numbering = Numbering({topic.name: topic.settings.partitions for topic in TOPICS})
        customers = Customers(
            parameters.seed,
            parameters.stores,
            parameters.receipts_per_minute * TICKS_PER_DAY * (1 - CASH_SHARE),
        )
        self._shops = self._open_shops(parameters, customers)
        self._incidents = Incidents(parameters, self._stores, customers)
        self._day = -1  # the day that has begun
        self.load = Load()
        self.next_tick = 0

    def tick(self, inputs: Sequence[Input] = ()) -> list[Publication]:
        """The publications of the next minute, oldest first.

        Ledger pages follow the events, then the incidents that are over, then a heartbeat.

        `inputs` are read at the beginning of the tick.
        """
        tick = self.next_tick
        end_ms = to_tick_start_ms(tick + 1)
        hour, minute = divmod(tick, TICKS_PER_HOUR)
        for given in inputs:
            self._hear(given)
        if to_day(hour) != self._day:
            self._begin_day(to_day(hour))
        self._set_prices(to_tick_start_ms(tick))
        if tick == 0:
            self._begin()
        if minute == 0:
            self._begin_hour(hour)
        for shop in self._shops:
            shop.run_minute(tick)
        self._incidents.act(self._shops, tick)
        publications = self._publish(tick, end_ms)
        self.next_tick = tick + 1
        return publications

    @property
    def counts(self) -> Counts:
        """The number of records so far, by topic and partition."""
        return self._numbering.counts

    @property
    def store_ids(self) -> tuple[str, ...]:
        return tuple(store.store_id for store in self._stores)

    def count_units(self, store_id: str) -> dict[str, int]:
        """The physical units on the shelves of a store, by sku."""
        shelves = next(shop.shelves for shop in self._shops if shop.store.store_id == store_id)
        return dict(zip(shelves.skus, shelves.units, strict=True))

    def count_missed(self, store_id: str) -> dict[str, int]:
        """Wanted units that a store did not have, by sku, since the world began."""
        shelves = next(shop.shelves for shop in self._shops if shop.store.store_id == store_id)
        return dict(zip(shelves.skus, shelves.missed, strict=True))

    def _hear(self, given: Input) -> None:
        if isinstance(given, PriceSet):
            self._prices.hear(given)
        elif isinstance(given, Load):
            self._set_load(given)
        else:
            self._plan(given)

    def _set_load(self, load: Load) -> None:
        """Set how many customers come from the next tick on, where and for what.

        What this world does not have is ignored. The number of customers by name stays: with more
        receipts, each comes more often.
        """
        self.load = load
        if self._day >= 0:
            self._set_lifts()
        pace = 1.0
        if load.receipts_milli is not None:
            usual = self._parameters.receipts_per_minute
            pace = to_receipts_per_minute(load.receipts_milli / 1000) / usual
        for shop in self._shops:
            is_quiet = shop.store.store_id in load.quiet_stores
            shop.set_pace(0.0 if is_quiet else pace, self.next_tick)

    def _plan(self, order: Confirmed) -> None:
        """Plan the delivery of an order; one without a shelf in this world is ignored."""
        for shop in self._shops:
            shelf = shop.shelves.place.get(order.sku)
            if shop.store.store_id == order.store_id and shelf is not None:
                shop.shelves.supply.plan(shelf, order)

    def _open_shops(self, parameters: Parameters, customers: Customers) -> list[Shop]:
        weeks = compute_visits_per_hour(self._stores, parameters.receipts_per_minute)
        overstocked = draw_overstocked(
            parameters.seed, parameters.products, parameters.overstock_share
        )
        return [
            Shop(
                parameters.seed,
                store,
                Shelves(
                    parameters.seed,
                    store,
                    self.products,
                    sum(week) * 24 / HOURS_PER_WEEK,
                    parameters.refill,
                    overstocked,
                ),
                Demand(parameters.seed, store, customers, week),
                self._deliveries,
            )
            for store, week in zip(self._stores, weeks, strict=True)
        ]

    def _begin(self) -> None:
        """Announce products, prices, plans and stores, an hour before, and fill the shelves."""
        self._announce(PRODUCTS, (product.introduce() for product in self.products))
        self._announce(PRICE_CHANGES, self._prices.introduce())
        self._announce(PROMOTIONS, self._prices.introduce_plans())
        self._announce(STORES, (store.introduce() for store in self._stores))
        ahead = [self._compute_appeal(number) for number in range(AHEAD_DAYS)]
        for shop in self._shops:
            shop.open(ahead)

    def _begin_day(self, today: int) -> None:
        appeal = self._compute_appeal(today)
        for shop in self._shops:
            shop.begin_day(appeal)
        self._day = today
        self._set_lifts()

    def _set_prices(self, now_ms: int) -> None:
        """Set the prices that hold from this minute on, and demand with them."""
        if self._prices.take_effect(now_ms):
            for shop in self._shops:
                shop.shelves.price(self._prices.cents)
            self._set_lifts()

    def _set_lifts(self) -> None:
        lifts = self._prices.list_lifts(self._day)
        for sku, percent in self.load.hits.items():
            if sku in self._place:
                number = self._place[sku]
                lifts[number] = lifts.get(number, 100) * percent // 100
        for shop in self._shops:
            shop.set_lifts(lifts)

    def _compute_appeal(self, number: int) -> list[int]:
        """The factor of every product's popularity on the world's n-th day."""
        promoted = self._promotions.list_running(number)
        season = {category: compute_season_percent(category, number) for category in SEASONS}
        return [
            season[product.category] * (promoted[n].lift_percent if n in promoted else 100)
            for n, product in enumerate(self.products)
        ]

    def _begin_hour(self, hour: int) -> None:
        self._deliveries.begin_hour(hour)
        self._announce(PRICE_CHANGES, self._prices.decide(hour))
        self._announce(PROMOTIONS, self._prices.plan(hour))
        for shop in self._shops:
            shop.begin_hour(hour)
            self._incidents.begin_hour(hour, shop)

    def _announce(self, topic: Contract, facts: Iterable[Event]) -> None:
        for fact in facts:
            self._deliveries.post_once(topic, fact)

    def _publish(self, tick: int, end_ms: int) -> list[Publication]:
        pages = {store.store_id: Page() for store in self._stores}
        number = self._numbering.number
        publications = []
        for record in self._deliveries.take_due(end_ms):
            published_ms, _, topic, key, event, dirt = record
            publications.append(number(published_ms, topic, key, event, dirt))
            if key in pages:
                pages[key].note(record)
        # All pages are closed over the same positions, before the first of them is numbered.
        closed = [self._close(shop, pages[shop.store.store_id], tick) for shop in self._shops]
        publications += [
            number(end_ms, LEDGER.name, page["store_id"], page) for page in closed if page
        ]
        publications += [
            number(end_ms, INCIDENTS.name, incident["incident_id"], incident)
            for incident in self._incidents.take_finished()
        ]
        beat = {"event_id": f"beat-{tick}", "event_time": end_ms, "world": WORLD}
        publications.append(number(end_ms, HEARTBEATS.name, WORLD, beat))
        return publications

    def _close(self, shop: Shop, page: Page, tick: int) -> dict[str, Any] | None:
        store_id, shelves = shop.store.store_id, shop.shelves
        physical, shelves.moved = shelves.moved, {}
        positions = {
            topic.name: self._numbering.count_records(topic.name, store_id) for topic in MOVING
        }
        return page.close(store_id, tick, to_tick_start_ms(tick + 1), physical, positions)
