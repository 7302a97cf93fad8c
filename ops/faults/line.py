"""A line between two addresses that can be cut: a TCP proxy in a thread of this process."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread
from typing import Self

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
