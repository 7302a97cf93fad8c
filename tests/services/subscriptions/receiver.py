"""A receiver of web hooks on this machine, which answers as a test says."""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from hashlib import sha256
from hmac import compare_digest, digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from infra.settings import HOST
from infra.wait import wait_until

SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Hook:
    path: str
    headers: Message
    body: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.body)

    @property
    def match(self) -> tuple[str, bool]:
        """The row's key, and whether it matches."""
        return self.event["subject"], self.event["data"]["matches"]


class Receiver:
    """`answer` returns the status for the hook with this number, and may take its time."""

    def __init__(self) -> None:
        self.hooks: list[Hook] = []
        self.answer: Callable[[int], int] = lambda _: HTTPStatus.NO_CONTENT
        self.more = b""
        """The body of an answer; there is one with any status but 204."""
        self.port = 0
        """Any port that is free, and from then on the same."""
        self._server: ThreadingHTTPServer | None = None
        self.up()

    @property
    def place(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def address(self) -> str:
        return f"http://{self.place}/hooks"

    def up(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.hooks.append(Hook(self.path, self.headers, body))
                status = receiver.answer(len(receiver.hooks))
                self.send_response(status)
                self.send_header("Location", f"http://{receiver.place}/elsewhere")
                self.end_headers()
                self.wfile.write(receiver.more)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((HOST, self.port), Handler)
        self.port = int(self._server.server_port)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def down(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def await_hooks(self, number: int) -> list[Hook]:
        wait_until(
            lambda: len(self.hooks) >= number,
            f"{number} hooks, found {len(self.hooks)}",
            SECONDS_MAX,
        )
        return self.hooks

    def find_matching(self, known: Iterable[str] = ()) -> set[str]:
        """The keys of the rows that match, by what came, and a hook counts once by its id."""
        rows = set(known)
        came: set[str] = set()
        for one in self.hooks:
            key, matches = one.match
            if one.headers["webhook-id"] not in came:
                (rows.add if matches else rows.discard)(key)
            came.add(one.headers["webhook-id"])
        return rows

    def list_matches(self) -> list[tuple[str, bool]]:
        return [one.match for one in self.hooks]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.down()


def verify(hook: Hook, secret: str) -> bool:
    """As the documentation of Standard Webhooks says."""
    signed = b".".join(
        (
            hook.headers["webhook-id"].encode(),
            hook.headers["webhook-timestamp"].encode(),
            hook.body,
        )
    )
    key = b64decode(secret.removeprefix("whsec_"))
    expected = f"v1,{b64encode(digest(key, signed, sha256)).decode()}"
    return compare_digest(hook.headers["webhook-signature"], expected)
