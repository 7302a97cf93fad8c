"""A whole API on a port of its own, over a log in memory or in Kafka."""

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from ssl import create_default_context
from typing import Any

import httpx
from confluent_kafka import Producer

from infra.folder import Folder
from infra.kafka import Outgoing
from infra.lake import Folders
from infra.security.certificates import ensure_certificate
from infra.security.files import locate_authority
from infra.settings import HOST, Settings
from infra.wait import wait_for
from services.api import openapi
from services.api.app import build_store, create_app
from services.api.commands import Commands
from services.api.http.parameters import Sources
from services.api.http.server import CONNECTIONS_MAX, listen
from services.api.lake.tables import Lake
from services.api.store.audit import Audit
from services.api.store.publisher import Publisher, Stored
from services.api.store.store import Store
from tests.services.memory import MemoryLog
from tests.services.writing import promote_fraud

OPENAPI: dict[str, Any] = json.loads(openapi.FILE.read_text())
"""The committed document."""
SECONDS_MAX = 20.0
TOKEN = "a token of a test"
ANYBODY = create_default_context()
"""Whom a client trusts that is told nothing; made once: it reads all authorities."""
POLL_SECONDS = 0.005
# The log is in memory: no broker takes the publications, and the client need not log that.
NO_BROKER: dict[str, str | int | float | bool] = {"message.timeout.ms": 100, "log_level": 3}


def find_failures(records: Iterable[logging.LogRecord]) -> list[str]:
    """What the program logged as its error."""
    return [each.getMessage() for each in records if each.levelno >= logging.ERROR]


def check_problem(answer: httpx.Response, status: int, title: str, *words: str) -> None:
    """The answer is a problem with this status and title, and with these words in its detail."""
    assert (answer.status_code, answer.json().get("title")) == (status, title), answer.text
    assert all(word in answer.json()["detail"] for word in words), answer.text


def create_sources(log: MemoryLog, folder: Path) -> Sources:
    store = create_store(log, folder)
    return Sources(
        store=store,
        lake=Lake(Folders(Folder(str(folder / "lake")))),
        reports=folder / "reports",
        commands=Commands(("echo",), lambda: TOKEN),
        audit=Audit(partial(write, log), store.find_world_ms),
    )


async def write(log: MemoryLog, record: Outgoing) -> Stored:
    """Append what the API itself writes; there is no broker to acknowledge it."""
    end = log.publish((record.topic, 0), record.key, record.value, record.timestamp_ms)
    return Stored(0, end - 1)


def create_store(log: MemoryLog, folder: Path) -> Store:
    publisher = Publisher(lambda: Producer(NO_BROKER))
    return build_store(folder, log.open, log.ends, publisher, "api at a test", lambda _: None)


class Answers:
    """The API as a client sees it."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    @property
    def address(self) -> str:
        return str(self._client.base_url)

    def get(self, path: str, **parameters: str | int) -> httpx.Response:
        return self._client.get(path, params=parameters or None)

    def stream(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        return self._client.stream("GET", path, headers=headers)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._client.request(method, path, **options)

    def json(self, path: str, **parameters: str | int) -> Any:
        answer = self.get(path, **parameters)
        assert answer.status_code == HTTPStatus.OK, answer.text
        return answer.json()

    def eventually(self, path: str, holds: Callable[[Any], bool]) -> Any:
        """The first good answer that holds what is waited for."""
        seen: list[httpx.Response] = []

        def is_held() -> bool:
            seen[:] = [self.get(path)]
            return seen[0].status_code == HTTPStatus.OK and holds(seen[0].json())

        assert wait_for(is_held, SECONDS_MAX, POLL_SECONDS), seen[0].text
        return seen[0].json()

    def await_items(self, path: str, count: int) -> Any:
        """The list, once it has so many items."""
        return self.eventually(path, lambda page: len(page["items"]) == count)

    def await_read(self, path: str, topic: str, records: int) -> "Answers":
        """Itself, once the answer holds so many records of the topic."""
        self.eventually(path, lambda page: sum(page["as_of"]["inputs"].get(topic, ())) == records)
        return self

    def until(self, holds: Callable[[], bool]) -> None:
        assert wait_for(holds, SECONDS_MAX, POLL_SECONDS)

    def ready(self, batch: int = 0, pipeline: str = "inventory") -> "Answers":
        """Itself, once the views of the pipeline are at this batch or beyond."""

        def is_there(answer: Any) -> bool:
            return any(
                each["as_of"]["batch"] >= batch
                for each in answer["pipelines"]
                if each["pipeline"] == pipeline and "as_of" in each
            )

        self.eventually("/v1/pipelines", is_there)
        return self


def serving_commands(
    log: MemoryLog, folder: Path, program: str, audit: Audit | None = None
) -> AbstractContextManager["Answers"]:
    """An API whose commands are this Python program, with two generations of fraud."""
    promote_fraud(log)
    sources = create_sources(log, folder)
    run = Commands((sys.executable, "-c", program), lambda: TOKEN)
    return serving(replace(sources, commands=run, audit=audit or sources.audit))


@contextmanager
def serving(
    sources: Sources, connections_max: int = CONNECTIONS_MAX, secured: Settings | None = None
) -> Iterator[Answers]:
    """`secured`: whose certificate it has for TLS; None: it answers in the clear."""
    certificate = None if secured is None else ensure_certificate(secured, "api")
    trusted = (
        ANYBODY if secured is None else create_default_context(cafile=locate_authority(secured))
    )
    listening = listen(create_app(sources), HOST, 0, certificate, connections_max)
    server = listening.server
    thread = threading.Thread(target=listening.run, daemon=True)
    thread.start()
    assert wait_for(lambda: server.started, SECONDS_MAX, POLL_SECONDS)
    address = f"{'http' if secured is None else 'https'}://{HOST}:{listening.port}"
    try:
        with httpx.Client(base_url=address, timeout=SECONDS_MAX, verify=trusted) as client:
            yield Answers(client)
    finally:
        server.should_exit = True
        thread.join()
        listening.socket.close()
