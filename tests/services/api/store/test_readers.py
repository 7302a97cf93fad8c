"""Several APIs on one log: a generation is promoted when all that are alive have loaded it."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts import READERS, encode, encode_key
from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.kafka import send
from infra.settings import Settings
from infra.wait import wait_until
from ops.replay import readers
from ops.replay.readers import ALIVE_SECONDS, await_loaded, find_alive
from services.api.app import create_sources
from tests.brokers import get_producer
from tests.services.broker import KafkaLog
from tests.services.serving import serving
from tests.services.writing import Writing, promote

pytestmark = pytest.mark.e2e

REPLICAS = 3
FIRST, SECOND = ("inventory", 1), ("inventory", 2)


def test_all_replicas_are_waited_for_until_one_is_dead(
    kafka: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = KafkaLog(kafka)
    first, second = Writing(log, 1), Writing(log, 2)
    for writing in (first, second):
        writing.row(1, "A", writing.generation)
    first.mark()
    promote(log, first, second)
    log.flush()
    with ExitStack() as running:
        apis = [
            running.enter_context(serving(create_sources(create_replica(kafka, tmp_path, number))))
            for number in range(REPLICAS)
        ]
        await_loaded(kafka, FIRST, served=True)
        wait_until(lambda: len(find_alive(kafka)) == REPLICAS, "each says that it is there")
        monkeypatch.setattr(readers, "SWITCH_SECONDS_MAX", 0.5)
        with pytest.raises(UserError, match=rf"loaded generation 2 .*:{kafka.port_base + 2}"):
            await_loaded(kafka, SECOND)
        second.mark()
        log.flush()
        monkeypatch.setattr(readers, "SWITCH_SECONDS_MAX", 30.0)
        await_loaded(kafka, SECOND)
        promote(log, second, first)
        log.flush()
        await_loaded(kafka, SECOND, served=True)
        for api in apis:
            assert api.json("/v1/stock/S001/A")["as_of"]["generation"] == 2

        monkeypatch.setattr(readers, "SWITCH_SECONDS_MAX", 0.5)
        say(kafka, "api of a starting one", get_wall_ms())
        with pytest.raises(UserError, match="but not all have: api of a starting one"):
            await_loaded(kafka, SECOND, served=True)
        say(kafka, "api of a starting one", get_wall_ms() - round(ALIVE_SECONDS * 1000))
        await_loaded(kafka, SECOND, served=True)
    assert [loaded[SECOND] for loaded in find_alive(kafka).values()] == REPLICAS * [True]


def create_replica(kafka: Settings, folder: Path, number: int) -> Settings:
    changes = {
        "kafka_bootstrap_servers": kafka.bootstrap_servers,
        "port_base": kafka.port_base + number,
        "data_dir": folder / str(number),
    }
    return kafka.model_copy(update=changes)


def say(kafka: Settings, name: str, at_ms: int) -> None:
    """A reader that has loaded nothing says so."""
    row = {"reader": name, "loaded": [], "written_at": at_ms}
    send(get_producer(kafka), READERS.name, encode_key(READERS, row), encode(READERS, row))
