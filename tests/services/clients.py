"""Clients of an API: a reader of the event stream, and one that sends bytes as they are."""

import json
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from contracts import STOCK_LEVELS
from tests.services.serving import SECONDS_MAX, Answers

STREAM = f"/v1/stream?view={STOCK_LEVELS.name}"


@dataclass(frozen=True)
class Told:
    kind: str
    id: str | None
    data: Any

    def units(self) -> dict[str, int]:
        return {row["sku"]: row["units_on_hand"] for row in self.data["rows"]}


@contextmanager
def following(
    api: Answers, last_event_id: str | None = None, path: str = STREAM
) -> Iterator[Iterator[Told]]:
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    with api.stream(path, headers) as answer:
        assert answer.is_success, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield parse_events(answer.iter_lines())


def parse_events(lines: Iterable[str]) -> Iterator[Told]:
    """The events; comments and what is not part of one are passed over."""
    members: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if name:
            members[name] = value
        elif line == "":
            if "event" in members:
                yield Told(members["event"], members.get("id"), json.loads(members["data"]))
            members = {}


CHUNK_BYTES = 65_536


@contextmanager
def connecting(api: Answers, receive_bytes: int | None = None) -> Iterator[socket.socket]:
    """A connection to the API; `receive_bytes` is how much the system takes before it is read."""
    address = urlsplit(api.address)
    with socket.socket() as connection:
        if receive_bytes is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        connection.settimeout(SECONDS_MAX)
        connection.connect((address.hostname, address.port))
        yield connection


def read_to_end(connection: socket.socket) -> bytes:
    """Everything that is sent until the connection is closed, or reset."""
    received = b""
    with suppress(ConnectionResetError):
        while chunk := connection.recv(CHUNK_BYTES):
            received += chunk
    return received


def exchange(api: Answers, request: bytes) -> bytes:
    """The answer to these bytes, after which the API has to close the connection."""
    with connecting(api) as connection:
        connection.sendall(request)
        return read_to_end(connection)


def read_status(answer: bytes) -> int:
    """The status in the first line."""
    return int(answer.split(maxsplit=2)[1])
