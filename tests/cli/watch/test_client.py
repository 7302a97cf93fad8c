"""What an answer is that the terminal can use, and what it makes of others."""

from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from cli.watch.client import Client, Refused, Unreachable

BODIES = {
    "/good": (HTTPStatus.OK, b'{"units": 4}'),
    "/problem": (HTTPStatus.SERVICE_UNAVAILABLE, b'{"title": "Loading", "detail": "4 of 9 read"}'),
    "/page": (HTTPStatus.OK, b"<html>"),
    "/error": (HTTPStatus.BAD_GATEWAY, b"<html>"),
    "/list": (HTTPStatus.BAD_GATEWAY, b"[1]"),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = BODIES[self.path]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield Client(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()


def test_json_is_an_answer(client: Client) -> None:
    assert client.ask("/good") == {"units": 4}


@pytest.mark.parametrize(
    ("path", "words"),
    [("/problem", "Loading: 4 of 9 read"), ("/error", "Status 502"), ("/list", "Status 502")],
)
def test_a_problem_is_said_in_its_words(client: Client, path: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        client.ask(path)
    assert str(refused.value) == words


def test_what_is_no_json_is_no_api(client: Client) -> None:
    with pytest.raises(Unreachable):
        client.ask("/page")


def test_a_closed_port_is_nobody() -> None:
    with pytest.raises(Unreachable):
        Client("http://127.0.0.1:1").ask("/v1/clock")
