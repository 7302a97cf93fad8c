"""Serves the app: a listening socket, and uvicorn with its limits."""

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from services.api.http.connections import limit_connections
from services.api.turns import run_server

KEEP_ALIVE_SECONDS = 30
SHUTDOWN_SECONDS_MAX = 5
NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
"""Of every answer: a browser takes it for nothing but what its Content-Type says."""


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
    app: FastAPI, host: str, port: int, connections_max: int, certificate: Path | None = None
) -> Listening:
    """Bind the port at that address, or exit with a message; port 0 means any free one.

    It binds the port first, so that a second API on the same data never opens the database.
    `certificate`: a file with the key and the certificate for TLS; None means plain HTTP.
    """
    context = None if certificate is None else create_context(certificate)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=limit_connections(connections_max),
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
