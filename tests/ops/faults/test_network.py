import socket
from contextlib import closing
from random import Random
from typing import Any

import pytest

from infra.settings import HOST, Settings
from ops.faults import network
from ops.faults.fault import Scene
from ops.faults.line import Line
from ops.faults.network import (
    cut_network,
    find_free_port,
    is_listening,
    refuse_network,
)

PARTS = {"broker": 7, "pipelines": 8}


def scene(parts: dict[str, int] | None = None, **settings: Any) -> Scene:
    return Scene(Settings(**settings), PARTS if parts is None else parts, 0.1, Random(1))


@pytest.mark.parametrize(
    ("parts", "settings", "why"),
    [
        ({"pipelines": 8}, {}, "broker does not run"),
        ({"broker": 7}, {}, "pipelines does not run"),
        (PARTS, {"secure": True}, "with SECURE"),
        (PARTS, {"broker_address": "broker:9092"}, "BROKER_ADDRESS"),
        (PARTS, {"listen_host": "0.0.0.0"}, "LISTEN_HOST"),
    ],
)
def test_where_no_line_can_be_put_between_it_is_said_why(
    parts: dict[str, int], settings: dict[str, Any], why: str
) -> None:
    assert why in (refuse_network(scene(parts, **settings)) or "")


def test_a_machine_without_a_second_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "FAR_HOST", "192.0.2.1")  # of documents: no machine has it
    assert "192.0.2.1" in (refuse_network(scene()) or "")


def test_it_is_seen_whether_something_listens() -> None:
    with closing(socket.socket()) as server:
        server.bind((HOST, 0))
        port = server.getsockname()[1]
        assert not is_listening(port)
        server.listen()
        assert is_listening(port)


def test_the_network_is_whole_again_after_the_cut() -> None:
    with (
        closing(socket.create_server((HOST, 0))) as server,
        Line((HOST, find_free_port()), (HOST, server.getsockname()[1])) as line,
        closing(socket.create_connection(line.address)) as client,
    ):
        prepared = Scene(Settings(), PARTS, 0.1, Random(1), line)
        assert "0.1 s" in cut_network(prepared)
        client.sendall(b"a")
        there, _ = server.accept()
        with closing(there):
            assert there.recv(1) == b"a"
