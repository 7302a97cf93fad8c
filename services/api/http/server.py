"""Serves the app: a listening socket, and connections with a time limit for each step of a client.

An open connection costs a file and some memory, but no thread. The limits end it, and
`connections_max` limits the number of open ones.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from services.api.http.problems import respond
from services.api.problem import Problem, Unavailable
from services.api.turns import run_server

KEEP_ALIVE_SECONDS = 30
SHUTDOWN_SECONDS_MAX = 5
NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
"""Of every answer: a browser takes it for nothing but what its Content-Type says."""

CONNECTIONS_MAX = 512
"""Connections that are open at once, by default. Each needs an open file."""
HEADER_BYTES_MAX = 16_384
"""Of the head of a request that has not arrived whole. A whole one is at most what asyncio reads at
once, 256 KiB."""
HEAD_SECONDS_MAX = 10.0  # for the first line and the headers of a request, from its first byte
UNREAD_SECONDS_MAX = 30.0  # a client that takes nothing for so long is gone
MAY_ANSWER = (h11.IDLE, h11.SEND_RESPONSE)
"""The states of a connection before an answer begins."""


class Connection(H11Protocol):
    """A connection that ends when its client sends no request, or does not read its answer."""

    connections_max: int
    """The number of open connections; the server answers one more with a problem and closes it."""

    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            self._refuse(
                Unavailable(
                    "Too many connections",
                    f"Expected at most {self.connections_max} connections at once, found more. "
                    "Close some.",
                )
            )
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # No request has come yet: uvicorn has no cycle then, whatever its annotation says.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._await_head()
        else:
            self._stop_head_timer()

    def on_response_complete(self) -> None:
        self._stop_head_timer()
        super().on_response_complete()
        self._await_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_unread_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_unread_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with a problem. uvicorn calls this; its own answer is plain text."""
        self._refuse(
            Problem(
                HTTPStatus.BAD_REQUEST,
                "Not HTTP",
                "Expected an HTTP request with one Host and a head of at most "
                f"{HEADER_BYTES_MAX} bytes, found none. Ask with an HTTP client.",
            )
        )

    def _await_head(self) -> None:
        if self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(HEAD_SECONDS_MAX, self._end_head)

    def _end_head(self) -> None:
        self._refuse(
            Problem(
                HTTPStatus.REQUEST_TIMEOUT,
                "Request not received",
                f"Expected the head of a request within {HEAD_SECONDS_MAX:g} s, found less. "
                "Send it in one piece.",
            )
        )

    def _await_reading(self) -> None:
        unread_bytes = self.transport.get_write_buffer_size()
        if unread_bytes and self._unread_timer is None:
            self._unread_timer = self.loop.call_later(
                UNREAD_SECONDS_MAX, self._end_unread, unread_bytes
            )

    def _end_unread(self, unread_bytes: int) -> None:
        self._unread_timer = None
        if 0 < self.transport.get_write_buffer_size() < unread_bytes:
            self._await_reading()
        elif self.transport.get_write_buffer_size():
            self.transport.abort()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _refuse(self, problem: Problem) -> None:
        """Answer with the problem, if there is no answer yet, and close the connection."""
        if self.conn.our_state in MAY_ANSWER and not self.transport.is_closing():
            answer = respond(problem, "")
            head = h11.Response(
                status_code=answer.status_code,
                headers=[
                    *self.server_state.default_headers,
                    *answer.raw_headers,
                    (b"connection", b"close"),
                ],
                reason=problem.status.phrase.encode(),
            )
            for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._await_reading()


class Server(uvicorn.Server):
    """A server that ends the app's streams at shutdown, and so does not wait for their readers."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)


@dataclass(frozen=True)
class Listening:
    """A server with its bound port."""

    server: uvicorn.Server
    socket: socket.socket
    context: ssl.SSLContext | None = None
    """Of TLS; a certificate that is loaded into it is that of new connections."""

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def run(self) -> None:
        """Answer until a signal or `server.should_exit` stops it."""
        run_server(self.server.serve([self.socket]))


def listen(
    app: FastAPI,
    host: str,
    port: int,
    certificate: Path | None = None,
    connections_max: int = CONNECTIONS_MAX,
) -> Listening:
    """Bind the port at that address, or exit with a message; port 0 means any free one.

    It binds the port first, so that a second API on the same data never opens the database.
    `certificate`: a file with the key and the certificate for TLS; None means plain HTTP.
    """
    limited = type("Limited", (Connection,), {"connections_max": connections_max})
    context = None if certificate is None else create_context(certificate)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=limited,
        h11_max_incomplete_event_size=HEADER_BYTES_MAX,
        log_config=None,
        access_log=False,
        server_header=False,
        headers=[NO_SNIFFING],
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS_MAX,
        ssl_context_factory=None if context is None else lambda *_: context,
    )
    listener = config.bind_socket()
    # Connections inherit it. Without it, a body waits 40 ms until the client acknowledges the head:
    # asyncio sets the option only on sockets that it creates itself.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Listening(Server(config, app.state.end_streams), listener, context)


def create_context(certificate: Path) -> ssl.SSLContext:
    """TLS 1.2 or newer, with the key and the certificate of the file."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate)
    return context
