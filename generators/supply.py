"""Refills: a van comes to every store every few hours with what its shelves were short of."""

from collections import deque
from typing import NamedTuple

from generators.ticks import HOUR_MS, START_MS, TICK_MS

VAN_EVERY_MS = 4 * HOUR_MS
PACKING_MS = 2 * HOUR_MS  # what is ordered later than this before a van goes with the next one
STAGGER_MS = 17 * TICK_MS  # the same van does not stand at two doors


class Delivery(NamedTuple):
    """Goods at a store's door. Times are whole world minutes."""

    at_ms: int
    shelf: int
    units: int


class Vans:
    """What is on its way to one store."""

    def __init__(self, store: int) -> None:
        self._phase_ms = START_MS + store * STAGGER_MS % VAN_EVERY_MS
        self._underway: deque[Delivery] = deque()  # vans do not overtake: first ordered, first here
        self._awaited: set[int] = set()

    def awaits(self, shelf: int) -> bool:
        return shelf in self._awaited

    def order(self, shelf: int, units: int, now_ms: int) -> None:
        vans_before = (now_ms + PACKING_MS - self._phase_ms) // VAN_EVERY_MS
        at_ms = self._phase_ms + (vans_before + 1) * VAN_EVERY_MS
        self._underway.append(Delivery(at_ms, shelf, units))
        self._awaited.add(shelf)

    def arriving(self, until_ms: int) -> list[Delivery]:
        """Unload what has come by then."""
        here = []
        while self._underway and self._underway[0].at_ms < until_ms:
            here.append(self._underway.popleft())
        self._awaited.difference_update(delivery.shelf for delivery in here)
        return here

    def state(self) -> list[Delivery]:
        return list(self._underway)

    def restore(self, state: list[list[int]]) -> None:
        self._underway = deque(Delivery(*delivery) for delivery in state)
        self._awaited = {delivery.shelf for delivery in self._underway}
