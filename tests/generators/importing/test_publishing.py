"""An import sends what is new, in order, and the clock never runs ahead of what is in the log."""

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from contracts import HEARTBEATS, RECEIPTS
from generators.importing.engine import open_scratch
from generators.importing.events import Issued, Refused
from generators.importing.publishing import HORIZON_MS, SLOT_MS, Imported, Run, Target, Watch
from generators.ticks import HOUR_MS, TICK_MS
from infra.kafka import Outgoing
from ops.control.world_clock import choose_beat_ms

BEGIN_MS = 1_000 * HOUR_MS
RECEIPT = RECEIPTS.examples[0]


class Log:
    """Records and beats in the order in which they came."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []
        self.stands: list[int] = []
        self.refused: list[Refused] = []

    def send(self, records: list[Outgoing]) -> None:
        self.entries += [(record.topic, record.timestamp_ms) for record in records]

    def beat(self, world_ms: int) -> None:
        self.entries.append((HEARTBEATS.name, world_ms))

    def stand(self, world_ms: int) -> None:
        self.stands.append(world_ms)

    @property
    def receipts(self) -> list[int]:
        return [time_ms for topic, time_ms in self.entries if topic == RECEIPTS.name]

    @property
    def beats(self) -> list[int]:
        return [time_ms for topic, time_ms in self.entries if topic == HEARTBEATS.name]


class Import:
    """Imports into one log, with ids that the log knows."""

    def __init__(self, engine: duckdb.DuckDBPyConnection) -> None:
        self.log = Log()
        self._engine = engine
        self._engine.execute("create table known (event_id varchar)")

    def know(self, *names: str) -> None:
        self._engine.executemany("insert into known values (?)", [[name] for name in names])

    def run(self, *events: Issued | Refused) -> Imported:
        target = Target(self.log.send, self.log.beat, self.log.stand)
        watch = Watch(lambda _: None, lambda _: None, self.log.refused.append)
        run = Run(self._engine, target, watch, BEGIN_MS)
        run.publish(events)
        return run.finish(None)


@pytest.fixture
def importing(tmp_path: Path) -> Iterator[Import]:
    with closing(open_scratch(tmp_path)) as engine:
        yield Import(engine)


def receipt(name: str, at_ms: int) -> Issued:
    return Issued(RECEIPTS, {**RECEIPT, "event_id": name, "event_time": at_ms}, "a.csv", 1)


def test_a_heartbeat_comes_after_all_that_was_published_before_it(importing: Import) -> None:
    events = [receipt(f"R{number}", BEGIN_MS + number * 7 * TICK_MS) for number in range(200)]
    importing.run(*events)
    assert importing.log.receipts == [event.at_ms for event in events]
    newest = 0
    for topic, at_ms in reversed(importing.log.entries):
        if topic == HEARTBEATS.name:
            newest = at_ms
        else:
            assert at_ms <= newest
    seen = BEGIN_MS
    for topic, at_ms in importing.log.entries:
        if topic == HEARTBEATS.name:
            seen = at_ms
        else:
            assert seen <= at_ms < seen + SLOT_MS


def test_a_silence_is_crossed_in_steps_that_outlast_the_horizon(importing: Import) -> None:
    importing.run(receipt("R1", BEGIN_MS), receipt("R2", BEGIN_MS + 1_000 * HOUR_MS))
    over_ms = BEGIN_MS + 1_000 * HOUR_MS
    beats = importing.log.beats[: importing.log.beats.index(over_ms) + 1]
    *before_last, beside, _ = beats
    assert beside == over_ms - HOUR_MS
    assert len(before_last) == 4
    assert before_last[-1] - BEGIN_MS > HORIZON_MS
    assert all(b - a <= HOUR_MS for a, b in pairwise(before_last))
    assert choose_beat_ms(beats) == over_ms, "who reads the last heartbeats believes the last one"


def test_the_clock_stands_after_the_last_minute(importing: Import) -> None:
    importing.run(receipt("R1", BEGIN_MS + 90_000))
    assert importing.log.stands[-1] == importing.log.beats[-1] == BEGIN_MS + 2 * TICK_MS


def test_what_the_log_holds_is_not_sent_again_and_the_clock_still_passes_it(
    importing: Import,
) -> None:
    importing.know("R1", "R2")
    imported = importing.run(receipt("R1", BEGIN_MS), receipt("R2", BEGIN_MS + TICK_MS))
    assert importing.log.receipts == []
    assert imported.in_log == 2
    assert importing.log.beats[-1] == BEGIN_MS + 2 * TICK_MS


def test_what_happened_before_the_worlds_time_comes_late_or_not_at_all(importing: Import) -> None:
    oldest = receipt("R2", BEGIN_MS - HORIZON_MS)
    beyond = receipt("R1", BEGIN_MS - HORIZON_MS - 1)
    imported = importing.run(beyond, oldest, receipt("R3", BEGIN_MS))
    assert importing.log.receipts == [BEGIN_MS, BEGIN_MS]
    assert imported.late == 1
    assert [refused.row for refused in importing.log.refused] == [1]
    assert "whose readers have forgotten" in importing.log.refused[0].reasons[0]


def test_what_a_contract_refuses_is_counted_by_reason(importing: Import) -> None:
    wrong = Issued(RECEIPTS, {**receipt("R1", BEGIN_MS).event, "lines": []}, "a.csv", 7)
    imported = importing.run(wrong, wrong, receipt("R2", BEGIN_MS))
    [(reason, count)] = imported.refused.items()
    assert (reason, count) == ("lines has a length of at least 1", 2)
    assert len(importing.log.receipts) == 1
    assert len(imported.examples[reason]) == 2
