"""The offsets of partitions, while a broker does not answer."""

import signal
from pathlib import Path
from threading import Timer

import pytest

from contracts import HEARTBEATS
from infra.kafka import apply_topics, create_admin, is_answering, read_end_offsets
from infra.kafka.offsets import LED_SECONDS_MAX, REQUEST_SECONDS_MAX
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import start_broker
from tests.ports import free_port_base

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PAUSE_SECONDS = 1.2 * REQUEST_SECONDS_MAX
"""Longer than one question waits for its answer."""


def test_offsets_are_asked_for_again_while_no_broker_answers(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port_base=free_port_base())
    broker = start_broker(settings)
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", seconds_max=60)
        apply_topics(settings, {HEARTBEATS.name: HEARTBEATS})
        assert PAUSE_SECONDS < LED_SECONDS_MAX
        broker.send_signal(signal.SIGSTOP)
        going_on = Timer(PAUSE_SECONDS, broker.send_signal, [signal.SIGCONT])
        going_on.start()
        ends = read_end_offsets(create_admin(settings), [HEARTBEATS.name], patient=True)
        going_on.join()
        assert ends == {(HEARTBEATS.name, 0): 0}
    finally:
        broker.kill()
        broker.wait(30)
