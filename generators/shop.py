"""A store: what its tills and staff do, and the events that they record."""

from collections.abc import Mapping, Sequence

from contracts import ADJUSTMENTS, RECEIPTS, REFUNDS, SHIPMENTS
from generators.customers import Payer
from generators.delivery_queue import DeliveryQueue
from generators.demand import Arrival, Demand
from generators.event import Event
from generators.returns import Kind, Loss, Return, Returns, choose_counted, draw_losses
from generators.shelves import Shelves
from generators.stores import Store
from generators.supply import Shipment
from generators.ticks import START_MS, TICK_MS, TICKS_PER_HOUR, to_hour_of_day, to_tick_start_ms

SHIFTS_PER_DAY = 3
SHIFT_TICKS = 24 * TICKS_PER_HOUR // SHIFTS_PER_DAY


class Shop:
    def __init__(
        self, seed: int, store: Store, shelves: Shelves, demand: Demand, deliveries: DeliveryQueue
    ) -> None:
        self.store = store
        self.shelves = shelves
        self._seed = seed
        self.demand = demand
        self._deliveries = deliveries
        self._returns = Returns(seed, store.store_id)
        self._registers = [f"{store.store_id}-R{n + 1}" for n in range(store.registers)]
        staff = SHIFTS_PER_DAY * store.registers + 1  # one more: so cashiers change tills
        self._cashiers = [f"{store.store_id}-K{n + 1:02d}" for n in range(staff)]
        self._on_duty: list[str] = []  # by register
        self._arrivals: list[Arrival] = []  # of this hour, the next one last
        self._losses: list[Loss] = []  # of this hour, the next one last
        self._tick = 0
        self._written = 0  # events of this tick

    def open(self, ahead: Sequence[Sequence[int]]) -> None:
        """Fill the empty shelves before the first customer comes. `ahead`: appeal by day."""
        now_ms = to_tick_start_ms(0)
        for shelf, units in enumerate(
            self.shelves.compute_opening([*map(self._weigh_shelves, ahead)])
        ):
            self.shelves.put(shelf, units)
            event_id = f"{self.store.store_id}-opening-{self.shelves.skus[shelf]}"
            event = self._build_adjustment(event_id, shelf, units, "opening", now_ms)
            self._deliveries.post_once(ADJUSTMENTS, event)

    def begin_day(self, appeal: Sequence[int]) -> None:
        """`appeal`: for every product of the retailer, the factor of its popularity today."""
        wanted = self._weigh_shelves(appeal)
        self.demand.begin_day(wanted)
        self.shelves.begin_day(wanted)

    def set_lifts(self, lift_percent: Mapping[int, int]) -> None:
        """Set demand for some products, in percent of today's. Vans do not foresee it."""
        shelves = enumerate(self.store.assortment)
        self.demand.set_lifts(
            {shelf: lift_percent[number] for shelf, number in shelves if number in lift_percent}
        )

    def set_pace(self, pace: float, tick: int) -> None:
        """Set how many customers come from a tick on, relative to the usual number.

        With zero the shop is quiet: it sells nothing, takes nothing back and counts nothing. Vans
        still come.
        """
        if pace != self.demand.pace:
            self.demand.pace = pace
            if tick % TICKS_PER_HOUR:  # else this hour begins
                self._draw_visits(tick)

    @property
    def is_quiet(self) -> bool:
        return not self.demand.pace

    def begin_hour(self, hour: int) -> None:
        self._draw_visits(hour * TICKS_PER_HOUR)
        self._returns.begin_hour(hour)
        self._losses = draw_losses(self._seed, self.store, hour, self._arrivals[::-1])
        self._losses.reverse()

    def run_minute(self, tick: int) -> None:
        """Unload, refund, sell, then lose and count units."""
        self._begin(tick)
        start_ms = to_tick_start_ms(tick)
        end_ms = start_ms + TICK_MS
        store_id, skus = self.store.store_id, self.shelves.skus
        for shipment in self.shelves.supply.release_due(start_ms):
            event = shipment.record(store_id, skus, "dispatched", start_ms)
            self._deliveries.post(SHIPMENTS, event)
        for shipment in self.shelves.supply.unload_due(end_ms):
            self._unload(shipment)
        if not self.is_quiet:
            self._serve(tick, start_ms, end_ms)

    def _serve(self, tick: int, start_ms: int, end_ms: int) -> None:
        hour, minute = divmod(tick, TICKS_PER_HOUR)
        if self.store.is_open(to_hour_of_day(hour)):
            for brought in self._returns.take_due(end_ms):
                self._refund(brought, max(brought.at_ms, start_ms))
        arrivals = self._arrivals
        while arrivals and arrivals[-1].at_ms < end_ms:
            self._sell(arrivals.pop())
        while self._losses and self._losses[-1].minute <= minute:
            self._lose(self._losses.pop(), end_ms - 1)
        if minute == self.store.number % TICKS_PER_HOUR:
            self._count(choose_counted(len(self.shelves.skus), hour), end_ms - 1)

    @property
    def visits(self) -> int:
        """The number of visits in the rest of this hour."""
        return len(self._arrivals)

    def issue(
        self, at_ms: int, till: int, payer: Payer, lines: list[Event], delay_ms: int = 0
    ) -> Event:
        """Post a receipt for the goods taken. `delay_ms`: from the sale to its publication."""
        card_token, customer_id = payer
        receipt = {
            **self._build_till_event("R", at_ms, till, card_token),
            "customer_id": customer_id,
            "lines": lines,
        }
        if delay_ms:
            self._deliveries.post_late(RECEIPTS, receipt, delay_ms)
        else:
            self._deliveries.post(RECEIPTS, receipt)
        return receipt

    def pay_back(
        self,
        at_ms: int,
        till: int,
        card_token: str | None,
        receipt: Event | None,
        lines: list[Event],
    ) -> Event:
        """Post a refund, with a receipt (its id and time) or without one."""
        refund = {
            **self._build_till_event("B", at_ms, till, card_token),
            "receipt_event_id": receipt["event_id"] if receipt else None,
            "receipt_event_time": receipt["event_time"] if receipt else None,
            "lines": lines,
        }
        self._deliveries.post(REFUNDS, refund)
        return refund

    def put_back(self, sku: str, units: int, there: int) -> None:
        """Put back `there` of the refunded units; the others are missing without a record."""
        shelf = self.shelves.place[sku]
        if there:
            self.shelves.put(shelf, there)
        self.shelves.unrecorded[shelf] += units - there

    def build_receipt_id(self, at_ms: int, number: int) -> str:
        """The id of the receipt with that number, issued at that time."""
        return f"{self.store.store_id}-{(at_ms - START_MS) // TICK_MS}-R{number}"

    def _draw_visits(self, tick: int) -> None:
        self._arrivals = self.demand.draw_visits(tick)
        self._arrivals.reverse()

    def _weigh_shelves(self, appeal: Sequence[int]) -> list[int]:
        """Demand for each shelf, relative to the others."""
        store = self.store
        return [
            popularity * appeal[number]
            for number, popularity in zip(store.assortment, store.popularity, strict=True)
        ]

    def _begin(self, tick: int) -> None:
        self._tick = tick
        self._written = 0
        tills = len(self._registers)
        first = tick // SHIFT_TICKS * tills
        self._on_duty = [self._cashiers[(first + n) % len(self._cashiers)] for n in range(tills)]

    def _unload(self, shipment: Shipment) -> None:
        """Put a shipment on the shelves; order missing units again."""
        store_id, shelves = self.store.store_id, self.shelves
        for load in shipment.loads:
            shelves.put(load.shelf, load.received_units)
            shelves.order(load.shelf)
        event = shipment.record(store_id, shelves.skus, "received", shipment.arrives_ms)
        self._deliveries.post(SHIPMENTS, event)

    def _refund(self, brought: Return, at_ms: int) -> None:
        """Refund at the first till; put whole goods back, and write broken ones off."""
        shelf = self.shelves.place[brought.sku]
        self.shelves.put(shelf, brought.units)
        self.pay_back(at_ms, 0, brought.card_token, brought.receipt, [brought.line])
        if brought.broken:
            self.shelves.take(shelf, brought.units)
            self._adjust(shelf, -brought.units, "damage", at_ms)

    def _sell(self, arrival: Arrival) -> None:
        """Sell the basket as far as the shelves hold it; nothing found, no receipt."""
        at_ms, register, payer, wants = arrival
        shelves = self.shelves
        lines = [
            shelves.create_line(shelf, units, shelves.prices_cents[shelf])
            for want in wants
            for shelf in self.demand.lift(want)
            if (units := shelves.take(shelf, want.units))
        ]
        if lines:
            self._returns.consider(self.issue(at_ms, register, payer, lines))

    def _lose(self, loss: Loss, at_ms: int) -> None:
        units = self.shelves.take(loss.shelf, loss.units)
        if not units:
            return
        if loss.kind is Kind.UNSEEN:
            self.shelves.unrecorded[loss.shelf] += units
        else:
            self._adjust(loss.shelf, -units, loss.kind.value, at_ms)

    def _count(self, part: range, at_ms: int) -> None:
        """Adjust the book stock of these shelves by the unrecorded units; no goods move."""
        unrecorded = self.shelves.unrecorded
        for shelf in part:
            if unrecorded[shelf]:
                self._adjust(shelf, -unrecorded[shelf], "count", at_ms)
                unrecorded[shelf] = 0

    def _adjust(self, shelf: int, units: int, reason: str, at_ms: int) -> None:
        event = self._build_adjustment(self._create_event_id("A"), shelf, units, reason, at_ms)
        self._deliveries.post(ADJUSTMENTS, event)

    def _build_adjustment(
        self, event_id: str, shelf: int, units: int, reason: str, at_ms: int
    ) -> Event:
        return {
            "event_id": event_id,
            "event_time": at_ms,
            "store_id": self.store.store_id,
            "sku": self.shelves.skus[shelf],
            "units": units,
            "reason": reason,
        }

    def _build_till_event(self, kind: str, at_ms: int, till: int, card_token: str | None) -> Event:
        """The shared fields of a receipt and a refund, without the lines."""
        return {
            "event_id": self._create_event_id(kind),
            "event_time": at_ms,
            "store_id": self.store.store_id,
            "register_id": self._registers[till],
            "cashier_id": self._on_duty[till],
            "card_token": card_token,
        }

    def _create_event_id(self, kind: str) -> str:
        self._written += 1
        return f"{self.store.store_id}-{self._tick}-{kind}{self._written}"
