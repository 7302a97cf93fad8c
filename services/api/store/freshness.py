"""The age of an answer: it holds everything that the log held so long ago.

A thread regularly asks the log where its topics end. An answer holds everything that the log held
at such a moment if the inputs of its marker reach all ends observed then.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from infra.kafka import Offsets, Partition, UnknownTopic
from services.api.store.background import Background

PERIOD_SECONDS = 0.2
OBSERVATIONS_MAX = 3_000  # ten minutes; an older answer has no age, only the reason

WATCHED_SECONDS_MIN = 60.0
"""A record may be older than the watch, and may have waited for longer. A watch of this length or
longer counts as its wait."""

ReadEnds = Callable[[Iterable[str]], dict[Partition, int]]
"""Returns the ends of the topics. Raises UnknownTopic."""

Age = tuple[int | None, str | None]
"""Milliseconds, or why they are unknown."""


class Freshness(Background):
    """Recent moments, and the ends of the topics at each, oldest first."""

    def __init__(
        self,
        topics: Callable[[], Iterable[str]],
        ends: ReadEnds,
        moment: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__("freshness")
        self._topics = topics
        self._ask = ends
        self._moment = moment
        self._seen: list[tuple[float, Offsets]] = []

    def run_once(self) -> None:
        self.observe()
        self.clear_trouble()
        self.stopping.wait(PERIOD_SECONDS)

    def observe(self) -> None:
        """Observe the ends once."""
        topics = sorted(self._topics())
        if not topics:
            return
        # The moment before the question: the answer certainly holds what the log held then.
        asked = self._moment()
        ends = self._ask_known(topics)
        seen = self._seen
        before = seen[-1][1] if seen else {}
        if ends.keys() != before.keys() or any(
            ends[partition] < end for partition, end in before.items()
        ):
            seen = []  # other topics, or another log: earlier observations do not apply
        self._seen = [*seen[-OBSERVATIONS_MAX + 1 :], (asked, ends)]

    def _ask_known(self, topics: Sequence[str]) -> dict[Partition, int]:
        """The ends of those of the topics that there are: a marker may name others."""
        while topics:
            try:
                return self._ask(topics)
            except UnknownTopic as error:
                topics = [topic for topic in topics if topic != error.topic]
        return {}

    def get_latest_ends(self) -> Offsets:
        """The ends of the topics at the last observation."""
        seen = self._seen
        return seen[-1][1] if seen else {}

    def measure(self, inputs: Offsets) -> Age:
        """The age of an answer that holds the inputs up to these offsets."""
        seen = self._seen
        covered = _count_covered(seen, inputs)
        if covered:
            return round((self._moment() - seen[covered - 1][0]) * 1000), None
        if not seen:
            return None, "the log has not said yet where its topics end"
        watched = round(self._moment() - seen[0][0])
        return None, f"the log has been ahead of this answer for all of the {watched} s watched"

    def measure_wait(self, inputs: Offsets) -> float | None:
        """The seconds that the oldest record beyond these offsets has been in the log.

        The true value is never larger, and smaller by about PERIOD_SECONDS at most. None while the
        watch is too short to know.
        """
        seen = self._seen
        if not seen:
            return None
        covered = _count_covered(seen, inputs)
        seconds = self._moment() - seen[max(0, covered - 1)][0]
        return seconds if covered or seconds >= WATCHED_SECONDS_MIN else None


def _count_covered(seen: Sequence[tuple[float, Offsets]], inputs: Offsets) -> int:
    """The number of moments that an answer covers. Ends only grow: these moments come first."""
    topics = {topic for topic, _ in inputs}

    def is_beyond(observation: tuple[float, Offsets]) -> bool:
        ends = observation[1]
        if not inputs.keys() <= ends.keys():
            return True
        return any(
            end > inputs.get(partition, 0)
            for partition, end in ends.items()
            if partition[0] in topics
        )

    return bisect_right(seen, False, key=is_beyond)
