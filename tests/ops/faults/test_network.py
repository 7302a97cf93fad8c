"""What a cut line holds back, that everything arrives afterwards, and where none can be put."""

import socket
from collections.abc import Iterator
from contextlib import closing
from random import Random
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

import pytest

from infra.settings import HOST, Settings
from ops.faults import network
from ops.faults.fault import Scene
from ops.faults.network import Address, Line, find_free_port, refuse_network

PARTS = ("broker", "pipelines")
SILENCE_SECONDS = 0.3
ANSWER_SECONDS_MAX = 10.0


class Echo(StreamRequestHandler):
    def handle(self) -> None:
        while data := self.request.recv(65_536):
            self.request.sendall(data)


@pytest.fixture
def echo() -> Iterator[Address]:
    with ThreadingTCPServer((HOST, 0), Echo) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield HOST, server.server_address[1]
        server.shutdown()


@pytest.fixture
def near() -> Address:
    return HOST, find_free_port()


def call(address: Address) -> socket.socket:
    return socket.create_connection(address, ANSWER_SECONDS_MAX)


def receive(client: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size and (data := client.recv(65_536)):
        received += data
    return received


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SILENCE_SECONDS)
    try:
        return not client.recv(1)
    except TimeoutError:
        return True
    finally:
        client.settimeout(ANSWER_SECONDS_MAX)


def test_a_line_carries_both_ways_and_that_one_end_hangs_up(near: Address, echo: Address) -> None:
    sent = bytes(range(256)) * 4_000
    with Line(near, echo) as line, closing(call(near)) as client:
        Thread(target=client.sendall, args=(sent,), daemon=True).start()
        assert receive(client, len(sent)) == sent
        client.shutdown(socket.SHUT_WR)
        assert receive(client, 1) == b""
    assert line.bytes_carried >= len(sent)


def test_a_cut_line_holds_everything_back_until_it_is_whole(near: Address, echo: Address) -> None:
    with Line(near, echo) as line, closing(call(near)) as old:
        old.sendall(b"before")
        assert receive(old, 6) == b"before"
        with line.cut():
            new = call(near)
            old.sendall(b"old")
            new.sendall(b"new")
            assert is_silent(old)
            assert is_silent(new)
        with closing(new):
            assert (receive(old, 3), receive(new, 3)) == (b"old", b"new")


def refuse(*parts: str, **settings: Any) -> str:
    scene = Scene(Settings(**settings), dict.fromkeys(parts, 7), 0.1, Random(1))
    return refuse_network(scene) or ""


def test_where_no_line_can_be_put_between_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "broker does not run" in refuse("pipelines")
    assert "pipelines does not run" in refuse("broker")
    assert "with SECURE" in refuse(*PARTS, secure=True)
    assert "BROKER_ADDRESS" in refuse(*PARTS, broker_address="broker:9092")
    assert "LISTEN_HOST" in refuse(*PARTS, listen_host="0.0.0.0")
    monkeypatch.setattr(network, "FAR_HOST", "192.0.2.1")  # of documents: no machine has it
    assert "192.0.2.1" in refuse(*PARTS)
