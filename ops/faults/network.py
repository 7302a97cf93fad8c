"""The network between Kafka and the pipelines, as a line that can be cut."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Event

from infra.settings import HOST, Settings
from infra.supervisor.parts import PIPELINES, find_parts, restart_component
from infra.wait import wait_for
from ops.faults.fault import Ineffective, Scene
from ops.faults.files import remember_settings
from ops.faults.healing import Patient, find_lacking, take_aim
from ops.faults.line import Line

NAME = "network-cut"
FAR_HOST = "127.0.0.2"
"""Another address of this machine, at which the broker says that it is found. Linux has it."""
CONNECT_SECONDS_MAX = 1.0
PREPARED_SECONDS_MAX = 120.0
BACK_SECONDS_MAX = 240.0
"""How long the shop may take to be well without the line."""


def refuse_network(scene: Scene) -> str | None:
    """Why no line can be put between Kafka and the pipelines; None: it can."""
    for part in ("broker", PIPELINES):
        if part not in scene.parts:
            return f"{part} does not run in this shop"
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
    """In the block the pipelines reach Kafka by a line alone. Raises Ineffective.

    Kafka starts again with a second address, at which the line is, and the pipelines with that
    address. Nobody else uses it. Afterwards both start again as before.
    """
    settings = scene.settings
    port = find_free_port()
    try:
        with Line((FAR_HOST, port), (HOST, port)) as line:
            connect(settings, line, port)
            yield replace(scene, line=line)
    finally:
        restart_component(settings, "broker")
        restart_component(settings, PIPELINES)
    back = Patient(
        lambda: take_aim(settings, scene.parts),
        lambda aim: find_lacking(settings, lambda: find_parts(settings), aim),
    )
    wait_for(back.is_well, BACK_SECONDS_MAX)


def connect(settings: Settings, line: Line, port: int) -> None:
    """Return once the pipelines talk to Kafka by the line. Raises Ineffective."""
    address = f"{FAR_HOST}:{port}"
    with remember_settings(
        settings.data_dir, broker_address=address, kafka_bootstrap_servers=address
    ):
        restart_component(settings, "broker")
        await_effect(lambda: is_listening(port), f"Kafka listens on port {port}")
        restart_component(settings, PIPELINES)
        await_effect(lambda: line.bytes_carried > 0, "the pipelines reach Kafka by the line")


def await_effect(has_come: Callable[[], bool], what: str) -> None:
    if not wait_for(has_come, PREPARED_SECONDS_MAX):
        raise Ineffective(NAME, what, PREPARED_SECONDS_MAX)


def cut_network(scene: Scene) -> str:
    assert scene.line is not None, "it was prepared"
    with scene.line.cut():
        Event().wait(scene.pause_seconds)
    return f"carried nothing between broker and pipelines for {scene.pause_seconds:g} s"


def find_free_port(host: str = HOST) -> int:
    """A port that is free at the address. Raises OSError where this machine has no such address."""
    with closing(socket.socket()) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), CONNECT_SECONDS_MAX).close()
    except OSError:
        return False
    return True
