"""The program against a real broker: killed, stopped and taken up again, the log is the world."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from contracts import CLOCKS, PRICE_CHANGES, decode, encode, encode_key
from generators.inputs import Journal
from generators.parameters import create_parameters
from generators.resume import Published, is_numbered, parse_published
from generators.ticks import START_MS, TICKS_PER_DAY, TICKS_PER_HOUR
from generators.world import TOPICS, World
from infra.clock import get_wall_ms
from infra.kafka import (
    Outgoing,
    Partition,
    create_admin,
    create_producer,
    read_between,
    read_end_offsets,
    read_to_end,
    send_all,
)
from infra.processes import build_environment
from infra.settings import SIMULATOR, Settings, locate_root
from infra.wait import wait_until
from ops.cli.health import PAUSED
from ops.cli.ready import find_readiness
from ops.control.load import Load, publish_load
from tests.generators.worlds import to_published
from tests.worlds import shrink_world

pytestmark = pytest.mark.e2e

SECONDS_MAX = 60.0
WORLD_NAMES = [topic.name for topic in TOPICS]


@pytest.fixture
def small(kafka: Settings) -> Settings:
    """An empty log, and a world that fills a day of it in a moment."""
    return shrink_world(kafka, 3, 60, 3.0, simulator_speed=600.0)


@contextmanager
def simulator(settings: Settings, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The program, running; ended at the latest with the block."""
    program = subprocess.Popen(
        [sys.executable, "-m", "generators.simulator", *options],
        cwd=locate_root(),
        env=build_environment(settings),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate(timeout=SECONDS_MAX)


def wait_for_records(client: AdminClient, count: int) -> None:
    wait_until(lambda: count_records(client) >= count, f"{count} records are in the log")


def count_records(client: AdminClient) -> int:
    return sum(read_end_offsets(client, WORLD_NAMES).values())


def publish_world(settings: Settings, ticks: int) -> dict[tuple[str, int], list[Published]]:
    """The same from the world itself, uncut, with what it heard."""
    parameters = create_parameters(settings)
    made, journal = World(parameters), Journal(settings.data_dir / SIMULATOR, parameters.render())
    records: dict[tuple[str, int], list[Published]] = {}
    for tick in range(ticks):
        for publication in made.tick(journal.list_heard(tick)):
            records.setdefault((publication.topic, publication.partition), []).append(
                to_published(publication)
            )
    return records


def read_log(settings: Settings) -> dict[Partition, list[Published]]:
    """Every record of the simulator, by partition and in order."""
    ends = read_end_offsets(create_admin(settings), WORLD_NAMES)
    records: dict[Partition, list[Published]] = {partition: [] for partition in ends}
    for message in read_between(settings, {}, ends):
        if is_numbered(message):
            place = message.topic() or "", message.partition() or 0
            records[place].append(parse_published(message))
    return records


def read_clock_row(settings: Settings) -> dict[str, Any]:
    (value,) = read_to_end(settings, CLOCKS.name).values()
    return dict(decode(value).value)


def test_killed_stopped_and_started_again_it_leaves_the_uncut_world(small: Settings) -> None:
    client = create_admin(small)
    backfill = ("--backfill-days", "2", "--stop-after-backfill")
    for sent in (300, 3_000, 9_000):
        with simulator(small, *backfill) as program:
            wait_for_records(client, sent)
            program.send_signal(signal.SIGKILL)
    with simulator(small, *backfill) as program:
        assert program.wait(timeout=SECONDS_MAX) == 0
    assert read_clock_row(small)["world_at"].timestamp() * 1000 == START_MS + 2 * 24 * 3_600_000
    assert read_clock_row(small)["state"] == "stopped"

    before = count_records(client)
    for lived in (200, 400):
        with simulator(small) as program:
            wait_for_records(client, before + lived)
            assert read_clock_row(small)["state"] == "running"
            program.send_signal(signal.SIGTERM)
            assert program.wait(timeout=SECONDS_MAX) == 0
        assert read_clock_row(small)["state"] == "stopped"

    uncut = publish_world(small, 2 * TICKS_PER_DAY + 6 * TICKS_PER_HOUR)
    for partition, records in read_log(small).items():
        assert records == uncut.get(partition, [])[: len(records)]
    with simulator(small.model_copy(update={"simulator_seed": 2})) as program:
        _, errors = program.communicate(timeout=SECONDS_MAX)
    assert program.returncode == 1
    assert "make reset" in errors


def test_killed_after_it_heard_a_price_and_a_load_it_leaves_the_world_that_heard_them(
    small: Settings,
) -> None:
    client = create_admin(small)
    price = {
        "event_id": "cut",
        "event_time": START_MS,
        "sku": "SKU-00000",
        "price_cents": 1,
        "effective_at": START_MS,
    }
    load = Load("turned", 12_000, 900_000, ["S001"], {"SKU-00001": 900})
    with simulator(small) as program:
        wait_for_records(client, count_records(client) + 200)
        key, value = encode_key(PRICE_CHANGES, price), encode(PRICE_CHANGES, price)
        record = Outgoing(PRICE_CHANGES.name, key, value, START_MS)
        send_all(create_producer(small), [record])
        publish_load(small, load, get_wall_ms())
        wait_until(lambda: read_clock_row(small)["speed_milli"] == 900_000, "time runs faster")
        wait_for_records(client, count_records(client) + 500)
        program.send_signal(signal.SIGKILL)
    before = count_records(client)
    with simulator(small) as program:
        wait_for_records(client, before + 500)
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=SECONDS_MAX) == 0
    uncut = publish_world(small, 4 * TICKS_PER_DAY)
    for partition, records in read_log(small).items():
        assert records == uncut.get(partition, [])[: len(records)]
    journal = Journal(small.data_dir / SIMULATOR, create_parameters(small).render())
    heard = [given for tick in range(4 * TICKS_PER_DAY) for given in journal.list_heard(tick)]
    assert {given[0] for given in heard} == {"cut", "turned"}


BALLAST_BYTES = 512 * 1024**2


def test_a_full_data_folder_makes_the_world_stand_until_there_is_room(small: Settings) -> None:
    full = small.model_copy(update={"simulator_disk_gib_max": 0.5})
    client, ballast = create_admin(full), full.data_dir / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, BALLAST_BYTES)
    before = count_records(client)
    began_at = get_wall_ms() // 1000
    with simulator(full):
        wait_until(
            lambda: (find_readiness(full, "simulator", began_at) or "").startswith(PAUSED),
            "the simulator says that it is paused",
        )
        assert read_clock_row(full)["state"] == "stopped"
        assert count_records(client) == before
        ballast.unlink()
        wait_for_records(client, before + 100)
        assert read_clock_row(full)["state"] == "running"


def test_a_second_simulator_of_the_same_folder_is_refused(small: Settings) -> None:
    before = read_to_end(small, CLOCKS.name)
    with simulator(small):
        wait_until(
            lambda: (
                read_to_end(small, CLOCKS.name) != before
                and read_clock_row(small)["state"] == "running"
            ),
            "the world runs",
        )
        with simulator(small) as second:
            _, errors = second.communicate(timeout=SECONDS_MAX)
    assert second.returncode == 1
    assert "One simulator at a time" in errors
