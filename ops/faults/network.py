"""The network between Kafka and the pipelines, as a line that can be cut: a TCP proxy."""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Self

from infra.errors import UserError
from infra.ports import free
from infra.settings import HOST, Settings
from infra.supervisor.parts import PIPELINES, restart_component
from infra.wait import wait_for
from ops.faults.actions import remember_settings, require
from ops.faults.fault import Scene
from ops.faults.healing import heal

FAR_HOST = "127.0.0.2"
"""Another address of this machine, at which the broker says that it is found. Linux has it."""
PREPARED_SECONDS_MAX = 120.0
BACK_SECONDS_MAX = 240.0
"""How long the shop may take to be well without the line."""

Address = tuple[str, int]

CHUNK_BYTES = 65_536
CONNECTIONS_MAX = 512
"""A client beyond them is hung up on."""
STOP_SECONDS_MAX = 10.0


class Line:
    """Carries every connection to an address on to another one, as long as the block lasts."""

    def __init__(self, listen: Address, to: Address) -> None:
        self.bytes_carried = 0
        self.address, self._to = listen, to
        self._loop = asyncio.new_event_loop()
        self._whole = asyncio.Event()
        self._whole.set()
        self._carrying: set[asyncio.Task[None]] = set()
        self._thread = Thread(target=self._loop.run_forever, name="line", daemon=True)

    def __enter__(self) -> Self:
        """Raises OSError where the address cannot be listened on."""
        self._thread.start()
        starting = asyncio.start_server(self._accept, *self.address)
        try:
            self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        except OSError:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result(STOP_SECONDS_MAX)
        self._end()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Carry no byte in the block, as a cut network: no connection ends, and none is refused.

        Afterwards everything that was sent meanwhile arrives.
        """
        self._loop.call_soon_threadsafe(self._whole.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._whole.set)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._carrying) >= CONNECTIONS_MAX:
            writer.close()
            return
        self._carrying.add(task)
        try:
            with closing(writer), suppress(OSError, asyncio.CancelledError):
                await self._connect(reader, writer)
        finally:
            self._carrying.discard(task)

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        await self._whole.wait()
        far_reader, far_writer = await asyncio.open_connection(*self._to)
        with closing(far_writer):
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        while chunk := await reader.read(CHUNK_BYTES):
            await self._whole.wait()
            writer.write(chunk)
            await writer.drain()
            self.bytes_carried += len(chunk)
        writer.write_eof()

    async def _hang_up(self) -> None:
        self._server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS_MAX)
        self._loop.close()


def refuse_network(scene: Scene) -> str | None:
    """Why no line can be put between Kafka and the pipelines; None: it can."""
    if missing := require("broker")(scene) or require(PIPELINES)(scene):
        return missing
    if scene.settings.listen_host != HOST:
        return (
            "LISTEN_HOST is not that of this machine alone, and the line's address would be taken"
        )
    if scene.settings.secure:
        return "with SECURE Kafka is found at the address of its certificate alone"
    if scene.settings.broker_address is not None:
        return "BROKER_ADDRESS names the second address of Kafka, which the line would take"
    try:
        find_free_port(FAR_HOST)
    except OSError:
        return f"this machine has no second address {FAR_HOST}"
    return None


@contextmanager
def put_line_between(scene: Scene) -> Iterator[Scene]:
    """In the block the pipelines reach Kafka by a line alone. Raises UserError.

    Kafka starts again with a second address, at which the line is, and the pipelines with that
    address. Nobody else uses it. Afterwards both start again as before.
    """
    settings = scene.settings
    port = find_free_port()
    try:
        with Line((FAR_HOST, port), (HOST, port)) as line:
            connect(settings, line, port)
            yield replace(scene, cut=line.cut)
    finally:
        restart_component(settings, "broker")
        restart_component(settings, PIPELINES)
    heal(settings, scene.parts, BACK_SECONDS_MAX)


def connect(settings: Settings, line: Line, port: int) -> None:
    """Return once the pipelines talk to Kafka by the line. Raises UserError."""
    address = f"{FAR_HOST}:{port}"
    with remember_settings(
        settings.data_dir, broker_address=address, kafka_bootstrap_servers=address
    ):
        restart_component(settings, "broker")
        await_effect(lambda: not free(port), f"Kafka listens on port {port}")
        restart_component(settings, PIPELINES)
        await_effect(lambda: line.bytes_carried > 0, "the pipelines reach Kafka by the line")


def await_effect(has_come: Callable[[], bool], what: str) -> None:
    if not wait_for(has_come, PREPARED_SECONDS_MAX):
        raise UserError(f"Within {PREPARED_SECONDS_MAX:g} s it should be that {what}. It is not.")


def cut_network(scene: Scene) -> str:
    assert scene.cut is not None, "it was prepared"
    with scene.cut():
        Event().wait(scene.pause_seconds)
    return f"carried nothing between broker and pipelines for {scene.pause_seconds:g} s"


def find_free_port(host: str = HOST) -> int:
    """A port that is free at the address. Raises OSError where this machine has no such address."""
    with closing(socket.socket()) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
