"""Releases in the oracle's eyes: counted once, at the time of the original; the rest is listed."""

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from contracts import ADJUSTMENTS, RECEIPTS, RELEASES, encode, encode_key
from contracts.times import to_epoch_ms
from infra.kafka import Partition, create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify import verdict
from ops.verify.inventory import Oracle, Row
from ops.verify.log import read
from ops.verify.verdict import compare_listing
from services.quarantine.follower import follow
from tests.services.quarantine.publishing import HOUR_MS, Place, publish, put

pytestmark = pytest.mark.e2e

HAPPENED = RECEIPTS.examples[0]["event_time"]
READ = (RECEIPTS.name, ADJUSTMENTS.name, RELEASES.name)


def sell(kafka: Settings, identity: str, sku: str, after_ms: int = 0, **fields: Any) -> Place:
    line = {"sku": sku, "units": 2, "unit_price_cents": 100}
    return publish(kafka, RECEIPTS, after_ms, event_id=identity, lines=[line], **fields)


def release(kafka: Settings, identity: str, sku: str, number: int = 0, **changed: Any) -> Place:
    """A release of such a sale; number tells several of them apart."""
    line = {"sku": sku, "units": 2, "unit_price_cents": 100}
    original = {**RECEIPTS.examples[0], "event_id": identity, "lines": [line]}
    event = {
        **RELEASES.examples[0],
        "event_id": f"released/{identity}/{number}",
        "original_event_id": identity,
        "value": encode(RECEIPTS, original),
        **changed,
    }
    at_ms = to_epoch_ms(event["event_time"])
    return put(kafka, RELEASES, encode_key(RELEASES, event), encode(RELEASES, event), at_ms)


def create_oracle(kafka: Settings) -> Oracle:
    ends = read_end_offsets(create_admin(kafka), READ)
    return Oracle(read(kafka, ends), ends)


def find_shelf(oracle: Oracle, sku: str) -> Row | None:
    return next((row for row in oracle.compute_view() if row["sku"] == sku), None)


def count_releases(oracle: Oracle) -> tuple[int, int, int]:
    """Releases applied, counted before, and quarantined."""
    books = [
        book for partition, book in oracle.count_books().items() if partition[0] == RELEASES.name
    ]
    assert all(b.read == b.applied + b.duplicate + b.quarantined for b in books)
    return (
        sum(book.applied for book in books),
        sum(book.duplicate for book in books),
        sum(book.quarantined for book in books),
    )


def test_a_released_sale_counts_once_and_at_its_own_time(kafka: Settings) -> None:
    sell(kafka, "late-one", "A", 3 * HOUR_MS)
    assert find_shelf(create_oracle(kafka), "A") is None
    before = count_releases(create_oracle(kafka))
    for number in range(3):
        release(kafka, "late-one", "A", number)
    oracle = create_oracle(kafka)
    row = find_shelf(oracle, "A")
    assert row is not None
    assert (row["units_sold"], row["version"]) == (2, 1)
    assert row["last_event_time"] == HAPPENED
    assert count_releases(oracle) == (before[0] + 1, before[1] + 2, before[2])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"topic": "public.pricing.price-change.v1"}, "unreleasable"),
        ({"value": b"noise"}, "unreleasable"),
        ({"record_key": "S004"}, "unreleasable"),
        ({"original_event_id": "another"}, "unreleasable"),
        ({"because": ""}, "because has a length of at least 1"),
    ],
    ids=str,
)
def test_a_release_that_does_not_hold_together_counts_nothing(
    kafka: Settings, changed: dict[str, Any], reason: str
) -> None:
    place = release(kafka, "never", "B", **changed)
    oracle = create_oracle(kafka)
    assert find_shelf(oracle, "B") is None
    assert oracle.rejected[place] == (reason,)


def test_the_reason_of_every_rejection_is_seen(kafka: Settings) -> None:
    wanted = {
        sell(kafka, "r1", "C", 3 * HOUR_MS): ("late",),
        sell(kafka, "r2", "C", -HOUR_MS): ("future",),
        sell(kafka, "r3", "C", record_key=b"S009"): ("wrong-key",),
        sell(kafka, "r4", "C", register_id="", record_key=b"S009"): ("wrong-key",),
        sell(kafka, "r5", "C", register_id=""): ("register_id has a length of at least 1",),
        put(kafka, RECEIPTS, b"S003", b"noise", to_epoch_ms(HAPPENED)): ("undecodable",),
    }
    rejected = create_oracle(kafka).rejected
    assert {place: rejected[place] for place in wanted} == wanted


@pytest.fixture
def quarantining(kafka: Settings) -> Iterator[None]:
    stop = Event()
    running = Thread(target=follow, args=(kafka, stop))
    running.start()
    yield
    stop.set()
    running.join(30)


def test_the_quarantine_lists_what_the_oracle_rejects(kafka: Settings, quarantining: None) -> None:
    sell(kafka, "q1", "D", 3 * HOUR_MS)
    listing = compare_listing(kafka, create_oracle(kafka))
    assert listing.complete
    assert listing.listed == listing.rejected > 0


def test_at_any_offsets_it_lists_what_is_below_them(kafka: Settings, quarantining: None) -> None:
    half: dict[Partition, int] = {
        partition: end // 2
        for partition, end in read_end_offsets(create_admin(kafka), READ).items()
    }
    listing = compare_listing(kafka, Oracle(read(kafka, half), half))
    assert listing.complete
    assert 0 < listing.rejected < compare_listing(kafka, create_oracle(kafka)).rejected


def test_a_quarantine_that_lags_is_said_and_not_taken_for_wrong(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sell(kafka, "q2", "D", 3 * HOUR_MS)
    monkeypatch.setattr(verdict, "CAUGHT_UP_SECONDS_MAX", 0.1)
    listing = compare_listing(kafka, create_oracle(kafka))
    assert listing.behind == 1
    assert (listing.agrees, listing.complete) == (True, False)


def test_what_is_missing_or_too_much_or_called_otherwise_is_found(
    kafka: Settings, quarantining: None
) -> None:
    oracle = create_oracle(kafka)
    first, second, *_ = sorted(oracle.rejected)
    assert compare_listing(kafka, oracle).complete
    oracle.rejected.pop(first)
    oracle.rejected[second] = ("another reason",)
    oracle.rejected[RECEIPTS.name, 0, 10_000] = ("late",)
    listing = compare_listing(kafka, oracle)
    assert not listing.agrees
    assert len(listing.differences) == 3
