"""A client that sends bytes as they are, which no HTTP library would."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.services.serving import SECONDS_MAX, Answers

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
