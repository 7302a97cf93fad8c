"""Worlds that Hypothesis makes up: whatever happens to a log and to who reads it, each view is as
its oracle says.

A hundred steps, of all pipelines together, and the same ones in each run. A thousand others:
`WORLD_STEPS=1000 pytest tests/replay/test_worlds.py`. They are drawn anew. A sequence of steps
that fails is made shorter, printed, and kept in .hypothesis: the next such run begins with it.
"""

import sys
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pyspark.sql import SparkSession

from contracts import (
    ADJUSTMENTS,
    HEARTBEATS,
    RECEIPTS,
    RELEASES,
    SHIPMENTS,
    Row,
    decode,
    encode_key,
)
from contracts.measures import MEASURES
from contracts.times import EPOCH, MILLISECOND
from contracts.validation import RELEASABLE, VALIDATED, Rejection, identify, unwrap, validate
from infra.kafka import Record
from ops.generations.lifecycle import create_generation
from ops.generations.promotion import switch
from ops.generations.record import Generations, State
from pipelines.common.pipeline import Pipeline, list_pipelines
from pipelines.common.transform.lines import Lookups
from pipelines.engine.pace import MARGIN, find_horizon
from tests.pipelines.log import ask_oracle, create_lookups, load_pipeline
from tests.replay.reading import Reading
from tests.seeds import read_steps
from tests.timeline import APPLES, LEEDS, LONDON, MILK, WINE, YORK, Line, Timeline, parse_clock

STEPS_USUAL = 120
STEPS = read_steps()
STEPS_PER_PIPELINE = (STEPS or STEPS_USUAL) // len(list_pipelines())
STEPS_PER_WORLD_MAX = 40

SHRINKING_SECONDS = 600
"""Hypothesis makes a failing sequence shorter for five minutes, and runs what is left."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.spark,
    pytest.mark.timeout(SHRINKING_SECONDS + 5 * (STEPS or 0)),
]

MINUTES_AGO = (0, 0, 1, 30, 119, 120, 121, -4, -5, -6)
"""How long before its publication an event happened: up to the horizon and the skew, and beyond."""
WAITS_MINUTES = (1, 10, 45, 200, 1_000)
UNKNOWN = "SKU-NEW"
GARBLED = b"\x00garbled"
LONG_AGO = timedelta(days=30)
NEWS = 4
"""So many records are there to be read by a step that reads: starting Spark's query takes long."""

STATE_PARTITIONS = (1, 2, 8)
"""Of the third generation, the first and the second, and so on: a replay changes them."""

CENTS = st.sampled_from((0, 45, 100, 499, 500, 999))
BY_PIECE = st.tuples(st.sampled_from((MILK, WINE, UNKNOWN, APPLES)), st.integers(1, 9), CENTS)
BY_MEASURE = st.tuples(
    st.sampled_from((APPLES, APPLES, MILK, UNKNOWN)),
    st.sampled_from((1, 2, 350, 500, 1_500)),
    CENTS,
    st.sampled_from(MEASURES),
)
"""The measure may be another than that of the product."""
LINES = st.lists(BY_PIECE | BY_MEASURE, min_size=1, max_size=3)
AGO = st.sampled_from(MINUTES_AGO).map(lambda minutes: timedelta(minutes=minutes))
STORE = st.sampled_from((LEEDS, YORK, LONDON))
CUSTOMER = st.sampled_from((None, "C1", "C/2"))
CARD = st.sampled_from((None, "tok_1"))
CUTS = st.lists(st.floats(0, 1), max_size=2)

Lines = list[Line]


class Worlds(RuleBasedStateMachine):
    """A log, the generations that read it, and the oracle."""

    spark: SparkSession
    pipeline: Pipeline
    lookups: Lookups
    worlds = 0
    """In how many something happened."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._shop = create_shop()
        self._now = parse_clock("8:00")
        self._generations = Generations(self.pipeline.name)
        self._readings: dict[int, Reading] = {}
        self._released: dict[tuple[str, str], datetime] = {}
        """By topic and event id: when it was first."""

    @initialize()
    def begin(self) -> None:
        self._create(State.PROMOTED, self._live_memory)

    @rule(lines=LINES, ago=AGO, store=STORE, customer=CUSTOMER, card=CARD)
    def sell(
        self, lines: Lines, ago: timedelta, store: str, customer: str | None, card: str | None
    ) -> None:
        self._shop.sell(
            self._now - ago, *lines, store=store, customer=customer, card=card, published=self._now
        )

    @rule(lines=LINES, ago=AGO, card=CARD, which=st.integers(0, 10**6) | st.none())
    def take_back(self, lines: Lines, ago: timedelta, card: str | None, which: int | None) -> None:
        """Goods of an earlier receipt, or without one."""
        sold = list_sold(self._log())
        receipt = sold[which % len(sold)] if sold and which is not None else {}
        self._shop.refund(
            self._now - ago,
            *lines,
            receipt=receipt.get("event_id"),
            issued=receipt.get("event_time"),
            card=card,
            published=self._now,
        )

    @rule(lines=LINES, ago=AGO, store=STORE, received=st.booleans(), ordered=st.booleans())
    def ship(self, lines: Lines, ago: timedelta, store: str, received: bool, ordered: bool) -> None:
        self._shop.put(
            SHIPMENTS,
            self._now - ago,
            self._now,
            store_id=store,
            status="received" if received else "dispatched",
            purchase_order_id="PO" if ordered else None,
            lines=[
                {"sku": sku, "dispatched_units": 10, "received_units": units if received else 0}
                for sku, units, *_ in lines
            ],
        )

    @rule(
        sku=st.sampled_from((MILK, UNKNOWN)),
        units=st.integers(-9, 9).filter(bool),
        ago=AGO,
        opens=st.booleans(),
    )
    def adjust(self, sku: str, units: int, ago: timedelta, opens: bool) -> None:
        reason = "opening" if opens else "count"
        said = {"store_id": LEEDS, "sku": sku, "units": units, "reason": reason}
        self._shop.put(ADJUSTMENTS, self._now - ago, self._now, **said)

    @precondition(lambda self: bool(self._moved()))
    @rule(which=st.integers(0, 10**6))
    def duplicate(self, which: int) -> None:
        """A record comes once more, as it was."""
        moved = self._moved()
        self._append(moved[which % len(moved)])

    @precondition(lambda self: bool(self._moved()))
    @rule(which=st.integers(0, 10**6))
    def garble(self, which: int) -> None:
        moved = self._moved()
        self._append(replace(moved[which % len(moved)], value=GARBLED))

    @precondition(lambda self: bool(self._rejected()))
    @rule(which=st.integers(0, 10**6))
    def release(self, which: int) -> None:
        """What was late or ahead is released, perhaps once more within an hour."""
        rejected = self._rejected()
        record = rejected[which % len(rejected)]
        event = decode(record.value).value
        self._released.setdefault((record.topic, event["event_id"]), self._now)
        self._shop.put(
            RELEASES,
            self._now,
            record_key=(record.key or b"").decode(),
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            original_event_id=event["event_id"],
            original_event_time=event["event_time"],
            value=record.value,
        )

    @rule(minutes=st.sampled_from(WAITS_MINUTES))
    def wait(self, minutes: int) -> None:
        """The world goes on, and says that all before is in the log."""
        self._now += timedelta(minutes=minutes)
        self._shop.put(HEARTBEATS, self._now, world="world")

    @precondition(lambda self: self._promoted.count_unread(self._log()) >= NEWS)
    @rule(cuts=CUTS)
    def read(self, cuts: list[float]) -> None:
        """The promoted generation reads, in batches cut anywhere."""
        self._read(self._promoted, cuts)

    @precondition(lambda self: self._promoted.count_unread(self._log()) >= NEWS)
    @rule(dies=st.sampled_from(("before", "after")))
    def kill(self, dies: str) -> None:
        """It dies before it has written a batch, or when it has and Spark does not know yet."""
        self._read(self._promoted, dies=dies)

    @precondition(lambda self: self._generations.candidate is None and len(self._moved()) >= NEWS)
    @rule(cuts=CUTS)
    def replay(self, cuts: list[float]) -> None:
        """A candidate reads everything from the first record on."""
        number = self._create(State.CATCHING_UP, LONG_AGO)
        self._read(self._readings[number], cuts)
        self._generations = self._generations.to(State.READY, number)

    @precondition(lambda self: self._generations.candidate is not None)
    @rule()
    def promote(self) -> None:
        """From then on the candidate reads live, with a shorter memory."""
        candidate = self._generations.candidate
        assert candidate is not None
        self._generations = switch(self._generations, candidate.number)
        self._promoted.memory = self._live_memory

    def teardown(self) -> None:
        """Whatever the steps were, what is left is read."""
        try:
            if self._readings and sys.exc_info()[0] is None:  # else a step has failed
                self._read(self._promoted)
                type(self).worlds += bool(self._moved())
        finally:
            self._folder.cleanup()

    def _log(self) -> list[Record]:
        """All records, each with its place in its topic."""
        places: Counter[str] = Counter()
        found = []
        for record in self._shop.records:
            found.append(replace(record, offset=places[record.topic]))
            places[record.topic] += 1
        return found

    @property
    def _live_memory(self) -> timedelta:
        return find_horizon(self.pipeline.reads) + MARGIN

    @property
    def _promoted(self) -> Reading:
        promoted = self._generations.promoted
        assert promoted is not None, "one is promoted from the beginning on"
        return self._readings[promoted.number]

    def _create(self, state: State, memory: timedelta) -> int:
        number = self._generations.newest + 1
        partitions = STATE_PARTITIONS[number % len(STATE_PARTITIONS)]
        made = create_generation(self.pipeline, number, state, "code", state_partitions=partitions)
        self._generations = self._generations.plus(made)
        folder = Path(self._folder.name) / f"g{number}"
        self._readings[number] = Reading(
            self.spark, self.pipeline, made, self.lookups, folder, memory
        )
        return number

    def _read(
        self, reading: Reading, cuts: list[float] | None = None, dies: str | None = None
    ) -> None:
        """The generation reads to the log's end: each of its views is as the oracle says."""
        log = self._log()
        reading.take(log, cuts or ())
        reading.read(dies)
        asked = ask_oracle(self.pipeline, log)
        expected = asked.compute_views()
        for view in self.pipeline.writes:
            assert reading.rows(view) == {encode_key(view, row): row for row in expected[view.name]}
        books = {
            partition: (book.applied, book.quarantined)
            for partition, book in asked.count_books().items()
        }
        assert reading.books() == books

    def _moved(self) -> list[Record]:
        return [record for record in self._log() if record.topic in RELEASABLE]

    def _rejected(self) -> list[Record]:
        """What can be released: not what is garbled, and not what was released long ago, which
        services/quarantine/release.py refuses.
        """
        wrong = [record for record in self._moved() if isinstance(accept(record), Rejection)]
        return [record for record in wrong if record.value != GARBLED and not self._is_gone(record)]

    def _is_gone(self, record: Record) -> bool:
        identity = record.topic, decode(record.value).value["event_id"]
        return self._now - self._released.get(identity, self._now) > timedelta(hours=1)

    def _append(self, record: Record) -> None:
        now_ms = (self._now - EPOCH) // MILLISECOND
        self._shop.records.append(replace(record, published_ms=now_ms))


def create_shop() -> Timeline:
    """A shop that sells by the piece and by the kilogram."""
    shop = Timeline()
    shop.introduce_apples()
    return shop


def accept(record: Record) -> Row | Rejection:
    place = record.published_ms, record.partition
    return validate(VALIDATED[record.topic], record.key, record.value, *place)


def list_sold(log: Iterable[Record]) -> list[Row]:
    """The accepted receipts and the released ones, each once."""
    sold: dict[tuple[object, ...], Row] = {}
    for record in log:
        event = accept(record) if record.topic in (RECEIPTS.name, RELEASES.name) else None
        if record.topic == RELEASES.name and event and not isinstance(event, Rejection):
            event = unwrap(event) if event["topic"] == RECEIPTS.name else None
        if event and not isinstance(event, Rejection):
            sold.setdefault((record.topic, *identify(RECEIPTS, event)), event)
    return list(sold.values())


@pytest.mark.parametrize("name", list_pipelines())
def test_each_view_of_a_made_up_world_is_as_its_oracle_says(name: str, spark: SparkSession) -> None:
    declared = load_pipeline(name)

    class Of(Worlds):
        pipeline = declared
        lookups = create_lookups(spark, declared.dimensions, create_shop().records)

    Of.spark = spark
    steps_per_world = min(STEPS_PER_PIPELINE, STEPS_PER_WORLD_MAX)
    run_state_machine_as_test(
        Of if STEPS else seed(zlib.crc32(name.encode()))(Of),
        settings=settings(
            # In the first worlds that Hypothesis tries, two or three, nothing happens.
            max_examples=3 + STEPS_PER_PIPELINE // steps_per_world,
            stateful_step_count=steps_per_world,
            derandomize=STEPS is None,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Of.worlds > 0
