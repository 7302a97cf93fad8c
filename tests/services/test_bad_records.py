"""Each reader meets each kind of bad record, and applies the good one that follows."""

from pathlib import Path

import pytest
from confluent_kafka import Producer

from contracts import (
    CLOCKS,
    GENERATIONS,
    HEARTBEATS,
    MARKERS,
    PURCHASE_ORDERS,
    READERS,
    Contract,
    get_contract,
)
from contracts.times import to_epoch_ms
from infra.settings import Settings
from infra.wait import wait_until
from ops.control.world_clock import read_clock
from ops.generations.marker import read_markers
from ops.generations.record import Generations, read_generations
from ops.replay.readers import find_alive
from services.api.store.control import Control
from services.api.store.mirror import Layout, Mirror
from services.api.store.mirrored import MIRRORED
from services.supplier import read_order
from tests.bad_records import create_message, get_good, list_bad
from tests.services.at_work import running
from tests.services.memory import MemoryLog

PUBLISHED_MS = 1_772_438_400_000


def publish_bad(log: MemoryLog, contract: Contract) -> None:
    for key, value in (*list_bad(contract).values(), (b"\xff no key", None)):
        log.publish((contract.name, 0), key or b"", value, PUBLISHED_MS)


def publish_good(log: MemoryLog, contract: Contract) -> None:
    """The contract's example, in time."""
    row = contract.examples[0]
    happened = row[contract.event_time] if contract.event_time else None
    log.put(contract, row, published_ms=to_epoch_ms(happened) if happened else PUBLISHED_MS)


@pytest.mark.parametrize("layout", MIRRORED, ids=lambda layout: layout.topic)
def test_a_mirror_goes_on(log: MemoryLog, tmp_path: Path, layout: Layout) -> None:
    publish_bad(log, get_contract(layout.topic))
    publish_good(log, get_contract(layout.topic))
    with running(Mirror(layout, tmp_path / "mirror.sqlite", log.open)) as mirror:
        wait_until(lambda: mirror._loaded and mirror.trouble is None, "it is loaded")
        with mirror.open() as connection:
            rows = connection.execute(f"select count(*) from {layout.table.name}")
            assert rows.fetchone() == (1,)


def test_the_control_topics_are_followed_on(log: MemoryLog) -> None:
    seen: list[Generations] = []
    with running(Control(log.open, seen.append)) as control:
        for contract in (GENERATIONS, MARKERS, CLOCKS, HEARTBEATS):
            publish_bad(log, contract)
            publish_good(log, contract)
        wait_until(lambda: any(each.members for each in seen), "the generations are known")
        wait_until(lambda: len(control.markers) == 1, "the marker is known")
        wait_until(lambda: bool(control.world and control.world.beat_ms), "the beat is known")
        assert control.trouble is None


def test_a_bad_record_does_not_hide_the_good_one_before_it(log: MemoryLog) -> None:
    """Compaction would keep it for a while, under the same key."""
    seen: list[Generations] = []
    for publish in (publish_good, publish_bad):
        publish(log, CLOCKS)
        publish(log, GENERATIONS)
    with running(Control(log.open, seen.append)) as control:
        wait_until(lambda: control.world is not None, "the clock is known")
        assert [each.pipeline for each in seen if each.members] == ["inventory"]


def test_the_supplier_takes_good_orders_alone() -> None:
    for what, bad in list_bad(PURCHASE_ORDERS).items():
        assert read_order(create_message(PURCHASE_ORDERS, bad)) is None, what
    never = get_good(PURCHASE_ORDERS, ordered_at=253_402_300_799_000)
    assert read_order(create_message(PURCHASE_ORDERS, never)) is None
    good = create_message(PURCHASE_ORDERS, get_good(PURCHASE_ORDERS))
    assert read_order(good) is not None


SECONDS_MAX = 60


def publish(kafka: Settings, contract: Contract) -> None:
    """Bad records, a good one, and bad ones again, with a client that is not ours."""
    client = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    bad = list(list_bad(contract).values())
    for key, value in (*bad, get_good(contract), *bad):
        client.produce(contract.name, key=key or b"none", value=value)
    assert client.flush(SECONDS_MAX) == 0


@pytest.mark.e2e
def test_control_records_are_read_past_the_bad_ones(kafka: Settings) -> None:
    for contract in (GENERATIONS, MARKERS, CLOCKS, READERS):
        publish(kafka, contract)
    assert read_generations(kafka)["inventory"].members
    assert ("inventory", 1) in read_markers(kafka)
    assert read_clock(kafka) is not None
    assert find_alive(kafka) == {}  # it was alive long ago
