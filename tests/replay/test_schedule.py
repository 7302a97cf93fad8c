"""A log is played so that facts come as late as they may; an event finds those of its moment."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from contracts import PRODUCTS, RECEIPTS, Row, get_contract
from contracts.validation import Rejection, validate
from generators.ticks import HOUR_MS
from pipelines.common.pipeline import Dimension
from pipelines.engine.dimensions import DimensionVersion, to_version
from tests.replay.log import Entry, draw_log
from tests.replay.schedule import Schedule, interleave
from tests.seeds import create_random

SCHEDULE = Schedule("facts come late", chunks=1, kills=0, lead_ms=HOUR_MS, burst_max=50)

COSTS = Dimension(PRODUCTS, "effective_at", {"unit_cost_cents": "unit_cost_cents"})

Known = Callable[[int, Entry, Row], DimensionVersion]
"""What a fact says: of its place, record and event."""


def with_notice(place: int, entry: Entry, event: Row) -> DimensionVersion:
    return to_version(COSTS, 0, place, entry.published_ms, event)


def without_notice(place: int, entry: Entry, event: Row) -> DimensionVersion:
    return with_notice(place, entry, event)._replace(since_ms=event["effective_at"])


def test_an_event_finds_the_facts_of_its_moment_whatever_comes_after_it() -> None:
    chance = create_random("facts")
    topics = {PRODUCTS.name, RECEIPTS.name}
    log = [entry for entry in draw_log(chance) if entry.at[0] in topics]
    played = interleave(log, SCHEDULE, chance)
    assert not mistaken(played, with_notice)
    assert mistaken(played, without_notice), "the drawn log exposes a reader without notice"


def mistaken(played: Sequence[Entry], known: Known) -> int:
    """The number of lines whose cost by earlier versions differs from that by all versions."""
    accepted = [(place, entry, validated(entry)) for place, entry in enumerate(played)]
    events = [(place, entry, event) for place, entry, event in accepted if event is not None]
    facts = defaultdict(list)
    for place, entry, event in events:
        if entry.at[0] == PRODUCTS.name:
            facts[event["sku"]].append(known(place, entry, event))
    wrong = 0
    for place, entry, event in events:
        if entry.at[0] == RECEIPTS.name:
            for line in event["lines"]:
                valid = [one for one in facts[line["sku"]] if one.since_ms <= event["event_time"]]
                before = [one for one in valid if one.offset < place]
                wrong += max(valid, default=None) != max(before, default=None)
    return wrong


def validated(entry: Entry) -> Row | None:
    """What is accepted of it."""
    verdict = validate(get_contract(entry.at[0]), entry.key, entry.value, entry.published_ms)
    return None if isinstance(verdict, Rejection) else verdict
