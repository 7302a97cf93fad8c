"""The README's example and the guide for clients, followed with a broker and an API.

Something counts in the place of Spark.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from contracts import ADJUSTMENTS, RECEIPTS, decode
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.log import read
from services.api.app import create_sources
from services.api.http import read_your_writes as reaching
from tests.guide import README, Reader, find_imports, read_blocks, read_client
from tests.services.broker import KafkaLog
from tests.services.serving import Answers, serving
from tests.services.world import announce
from tests.services.writing import Writing, promote

pytestmark = pytest.mark.thorough

TOPICS = (ADJUSTMENTS.name, RECEIPTS.name)
LOOK_SECONDS = 0.1


def test_the_client_needs_nothing_of_this_repository() -> None:
    [a_client] = read_blocks()["python"]
    standard = {"json", "time", "urllib", "uuid"}
    assert find_imports(a_client) == standard | {"confluent_kafka"}


class Counting:
    """Counts the units of MINE, as the pipeline would; each copy of an event once."""

    def __init__(self, settings: Settings, log: KafkaLog) -> None:
        self.stop = threading.Event()
        self._settings = settings
        self._log = log
        self._inventory = Writing(log)
        promote(log, self._inventory)
        self._inventory.mark()
        log.flush()

    def run(self) -> None:
        while not self.stop.wait(LOOK_SECONDS):
            ends = read_end_offsets(create_admin(self._settings), TOPICS)
            if ends != self._inventory.read:
                self._count(ends)

    def _count(self, ends: dict[tuple[str, int], int]) -> None:
        events: dict[tuple[str, str], int] = {}
        for record in read(self._settings, ends):
            event = decode(record.value).value
            lines = event.get("lines", [])
            units = event.get("units", 0) - sum(line["units"] for line in lines)
            events.setdefault((record.topic, event["event_id"]), units)
        self._inventory.row(1, "MINE", sum(events.values()), version=len(events))
        self._inventory.read.update(ends)
        self._inventory.mark()
        self._log.flush()


@contextmanager
def counting(settings: Settings) -> Iterator[None]:
    log = KafkaLog(settings)
    announce(log)
    pipeline = Counting(settings, log)
    thread = threading.Thread(target=pipeline.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        pipeline.stop.set()
        thread.join()


@pytest.mark.e2e
def test_whoever_follows_the_guide_reads_what_they_wrote(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = tmp_path / "reader"
    reading.mkdir()
    settings = kafka.model_copy(update={"data_dir": tmp_path / "data"})
    with counting(settings), serving(create_sources(settings)) as api:
        api.ready()
        port = int(api.address.rpartition(":")[2])
        # The API has a port of its own here; the broker is where it was.
        places = {"port_base": port, "kafka_bootstrap_servers": kafka.bootstrap_servers}
        reader = Reader(settings.model_copy(update=places), reading)
        [first_example] = read_blocks(README)["sh"]
        [one_event, a_file] = read_blocks()["sh"]
        a_client = read_client(kafka)
        assert '"units_on_hand":10,' in reader.shell(first_example)
        assert '"min_offset":"public.inventory.adjustment.v1/' in reader.shell(one_event)
        await_units(api, 10)
        assert reader.shell(a_file).count('"min_offset":') == 3
        await_units(api, 4)
        assert reader.python(a_client) == "2 left of MINE in S001\n"
        reader.shell(one_event)
        monkeypatch.setattr(reaching, "REACH_SECONDS_MAX", 0.0)  # the client has to ask again
        assert reader.python(a_client) == "0 left of MINE in S001\n"


def await_units(api: Answers, expected: int) -> None:
    api.until(
        lambda: (
            (answer := api.get("/v1/stock/S001/MINE")).is_success
            and answer.json()["units_on_hand"] == expected
        )
    )
