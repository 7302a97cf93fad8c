"""What moved by moment, and the units of everything at the last moment that was answered."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import Generic, TypeVar

DAY_MS = 86_400_000
KEPT_MS = DAY_MS
"""How long moves that are answered may still be corrected. A later correction needs all rows."""

Key = TypeVar("Key", bound=Hashable)


class Moves(Generic[Key]):
    """The rows of one generation about what moved, in milliseconds since 1970.

    Until the last midnight before `answered_ms`, days say what moved; after it, shorter intervals.
    """

    def __init__(self, answered_ms: int) -> None:
        self.answered_ms = answered_ms
        self.is_outdated = False
        """Whether a row corrects what is forgotten: then only all rows give the units."""
        self.units: Counter[Key] = Counter()
        self._begins_ms = answered_ms - answered_ms % DAY_MS
        self._forgotten_ms = 0
        self._moved: dict[int, dict[Key, int]] = defaultdict(dict)  # by the interval's end
        self._keys: dict[Key, Key] = {}  # each once: a day has half a million rows

    def take_day(self, ends_ms: int, key: Key, units: int) -> None:
        """Take the newest row of a day."""
        if ends_ms <= self._begins_ms:
            self._move(ends_ms, key, units)

    def take(self, ends_ms: int, key: Key, units: int) -> None:
        """Take the newest row of a shorter interval."""
        if ends_ms > self._begins_ms:
            self._move(ends_ms, key, units)

    def list_due(self, until_ms: int) -> Iterator[int]:
        """The ends of unanswered intervals until this moment in which something moved."""
        return (ends_ms for ends_ms in self._moved if self.answered_ms < ends_ms <= until_ms)

    def add(self, ends_ms: int) -> Mapping[Key, int]:
        """Add what moved in an interval to the units, and return it."""
        moved = self._moved.get(ends_ms, {})
        self.units.update(moved)
        return moved

    def forget(self) -> None:
        """Forget what moved so long ago that hardly any row corrects it. Every row was taken."""
        self._forgotten_ms = max(self._forgotten_ms, self.answered_ms - KEPT_MS)
        for ends_ms in [each for each in self._moved if each <= self._forgotten_ms]:
            del self._moved[ends_ms]

    def _move(self, ends_ms: int, key: Key, units: int) -> None:
        if ends_ms <= self._forgotten_ms:
            self.is_outdated = True
        elif ends_ms <= self.answered_ms:
            self.units[key] += units - self._moved[ends_ms].get(key, 0)
        self._moved[ends_ms][self._keys.setdefault(key, key)] = units
