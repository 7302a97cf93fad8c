"""freshness_ms: the answer holds everything that the log held that long ago; and the rate."""

from collections.abc import Iterable

import pytest

from infra.kafka import Partition
from services.api.store.freshness import OBSERVATIONS_MAX, WATCHED_SECONDS_MIN, Freshness
from services.api.store.marker import Marker
from services.api.store.materializer import WINDOW_SECONDS, Rate

SALES: Partition = ("sales", 0)
CATALOG: Partition = ("catalog", 0)


class Watched:
    """A growing log, and a clock that moves only when a test moves it; in seconds."""

    def __init__(self) -> None:
        self.ends = {SALES: 0}
        self.now = 100.0
        self.freshness = Freshness(
            lambda: {topic for topic, _ in self.ends}, self._ask, lambda: self.now
        )

    def observe(self, end: int, seconds: float) -> None:
        self.ends[SALES] = end
        self.now = seconds
        self.freshness.observe()

    def _ask(self, topics: Iterable[str]) -> dict[Partition, int]:
        return {partition: end for partition, end in self.ends.items() if partition[0] in topics}


@pytest.fixture
def watched() -> Watched:
    return Watched()


# log      10 records      20 records      30 records
# seconds  100.0           100.2           100.4
GROWING = ((10, 100.0), (20, 100.2), (30, 100.4))
MADE_ANEW = ((10, 100.0), (3, 101.0))


@pytest.mark.parametrize(
    ("seen", "seconds", "ages_ms"),
    [
        (GROWING, 100.5, {30: 100, 29: 300, 10: 500}),
        (((10, 100.0), (10, 900.0)), 900.0, {10: 0}),
        (MADE_ANEW, 102.0, {3: 1_000, 2: None}),
    ],
    ids=["growing", "still", "made anew"],
)
def test_an_answer_is_as_old_as_the_newest_moment_that_it_holds(
    watched: Watched,
    seen: tuple[tuple[int, float], ...],
    seconds: float,
    ages_ms: dict[int, int | None],
) -> None:
    for end, moment in seen:
        watched.observe(end, moment)
    watched.now = seconds
    assert {held: watched.freshness.measure({SALES: held})[0] for held in ages_ms} == ages_ms


def test_the_moment_counts_from_before_the_question(watched: Watched) -> None:
    def ask_slowly(topics: Iterable[str]) -> dict[Partition, int]:
        watched.now += 3.0
        return {SALES: 5}

    freshness = Freshness(lambda: ["sales"], ask_slowly, lambda: watched.now)
    freshness.observe()
    assert freshness.measure({SALES: 5}) == (3000, None)


def test_an_unknown_age_says_why(watched: Watched) -> None:
    unasked = "the log has not said yet where its topics end"
    assert watched.freshness.measure({SALES: 9}) == (None, unasked)
    watched.observe(10, 100.0)
    watched.now = 107.0
    ahead = "the log has been ahead of this answer for all of the 7 s watched"
    assert watched.freshness.measure({SALES: 9}) == (None, ahead)


def test_a_topic_or_partition_that_is_new_leaves_the_age_unknown(watched: Watched) -> None:
    watched.observe(10, 100.0)
    assert watched.freshness.measure({SALES: 10, CATALOG: 0})[0] is None
    watched.ends[CATALOG] = 4
    watched.observe(10, 101.0)
    assert watched.freshness.measure({SALES: 10, CATALOG: 0})[0] is None
    watched.ends["sales", 1] = 1
    watched.observe(10, 102.0)
    assert watched.freshness.measure({SALES: 10})[0] is None


def test_the_moments_kept_are_limited(watched: Watched) -> None:
    for moment in range(OBSERVATIONS_MAX + 5):
        watched.observe(moment, float(moment))
    assert watched.freshness.measure({SALES: 4})[0] is None
    assert watched.freshness.measure({SALES: 5}) == ((OBSERVATIONS_MAX - 1) * 1000, None)


def test_a_record_has_waited_since_the_last_moment_without_it(watched: Watched) -> None:
    assert watched.freshness.measure_wait({SALES: 0}) is None
    for end, seconds in GROWING:
        watched.observe(end, seconds)
    watched.now = 101.0
    assert watched.freshness.measure_wait({SALES: 20}) == pytest.approx(0.8)
    assert watched.freshness.measure_wait({SALES: 10}) == pytest.approx(1.0)
    # What was there before the watch is known to have waited after a minute.
    watched.now = 100.0 + WATCHED_SECONDS_MIN - 0.1
    assert watched.freshness.measure_wait({SALES: 9}) is None
    watched.now = 100.0 + WATCHED_SECONDS_MIN
    assert watched.freshness.measure_wait({SALES: 9}) == WATCHED_SECONDS_MIN


def create_marker(read: int) -> Marker:
    """A marker that covers so many records."""
    return Marker("inventory", 1, 0, {("sales", 0): read}, {}, 0, 0)


def test_the_rate_is_what_was_read_since_the_oldest_marker_of_the_last_minute() -> None:
    now = 0.0
    rate = Rate(lambda: now)
    rate.add(create_marker(1_000))
    assert rate.measure_per_second() is None
    now = 10.0
    rate.add(create_marker(1_200))
    assert rate.measure_per_second() == 20.0
    now = 10.0 + WINDOW_SECONDS + 1
    assert rate.measure_per_second() == 0.0, "without markers for a minute nothing moves"
