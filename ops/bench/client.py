"""A minimal HTTP client, since it shares the machine with the program that it measures.

It expects this API's answers: HTTP/1.1, a Content-Length, connections that stay open.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.settings import HOST, Settings

ANSWER_SECONDS_MAX = 15.0
CONNECTIONS_MAX = 128
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Answer:
    status: int
    """0: no answer came in time."""
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Client:
    def __init__(self, settings: Settings) -> None:
        self._host = f"{HOST}:{settings.api_port}"
        self._port = settings.api_port
        self._idle: list[Connection] = []
        self._room = asyncio.Semaphore(CONNECTIONS_MAX)

    async def get(self, path: str) -> Answer:
        return await self._ask(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    async def post(self, path: str, document: Mapping[str, Any]) -> Answer:
        body = json.dumps(document).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return await self._ask(head.encode() + body)

    async def _ask(self, request: bytes) -> Answer:
        async with self._room:
            try:
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    connection = await self._connect()
                    answer = await _exchange(connection, request)
            except (OSError, EOFError, TimeoutError):
                return Answer(0, b"")
            self._idle.append(connection)
            return answer

    async def _connect(self) -> Connection:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof():
                return reader, writer
            writer.close()  # the API closes idle connections
        return await asyncio.open_connection(HOST, self._port)


async def _exchange(connection: Connection, request: bytes) -> Answer:
    reader, writer = connection
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    assert length is not None, "every answer of this API has a length"
    body = await reader.readexactly(int(length[1]))
    return Answer(int(head.split(maxsplit=2)[1]), body)
