"""A service says when it starts; stuck in a call it ends by itself, and says where it was."""

import signal
import subprocess
import sys
import threading

import pytest

from infra.clock import get_wall_ms
from infra.settings import Settings
from services.api.store.background import Background
from services.liveness import read_start_ms, report_start

LONG = 600.0
SHORT = 0.5


def start(said_first: str, *arguments: str) -> subprocess.Popen[str]:
    """Python with these arguments, once it has said its first line."""
    pipe = subprocess.PIPE
    begun = subprocess.Popen([sys.executable, *arguments], stdout=pipe, stderr=pipe, text=True)
    assert begun.stdout is not None
    assert begun.stdout.readline() == said_first
    return begun


STUCK = """
import sys
from threading import Lock
from services.process import Stop
def work():
    print("stuck", flush=True)
    lock = Lock()
    lock.acquire()
    lock.acquire()
stop = Stop(*map(float, sys.argv[1:]))
stop.listen()
work()
"""
"""No signal interrupts the call that it is stuck in. Its arguments are those of Stop."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_a_service_that_is_stuck_ends_after_its_grace_or_when_it_is_still_for_too_long(
    number: int | None,
) -> None:
    limits = map(str, (LONG, SHORT) if number else (SHORT, LONG))
    stuck = start("stuck\n", "-c", STUCK, *limits)
    if number:
        stuck.send_signal(number)
    _, said = stuck.communicate(timeout=60)
    assert stuck.returncode == 1
    assert "in work" in said


ASKING = f"""
import time
from services.process import Stop
stop = Stop({SHORT}, {LONG})
stop.listen()
began = time.monotonic()
while not stop.is_set():
    if began and time.monotonic() - began > {4 * SHORT}:
        print("asking", flush=True)
        began = None
    time.sleep({SHORT / 10})
print("asked to stop", flush=True)
"""


def test_a_service_that_asks_is_not_ended_and_stops_at_a_signal() -> None:
    asking = start("asking\n", "-c", ASKING)
    asking.terminate()
    said, complaint = asking.communicate(timeout=60)
    assert (said, complaint, asking.returncode) == ("asked to stop\n", "", 0)


@pytest.mark.e2e
def test_a_sign_says_when_a_service_last_came_up(kafka: Settings) -> None:
    for _ in range(2):
        before = get_wall_ms()
        report_start(kafka, "supplier")
        assert before <= read_start_ms(kafka, "supplier") <= get_wall_ms()
    report_start(kafka, "ordering")
    assert read_start_ms(kafka, "supplier") < read_start_ms(kafka, "ordering")


class Waiting(Background):
    """A thread that does not look whether it is to stop, as one that waits for a broker."""

    def __init__(self) -> None:
        super().__init__("waiting")
        self.released = threading.Event()

    def run_once(self) -> None:
        self.released.wait()


def test_nobody_waits_longer_for_a_thread_than_they_may() -> None:
    waiting = Waiting()
    waiting.start()
    waiting.stop()
    waiting.join(0.05)
    assert waiting.is_alive()
    waiting.released.set()
    waiting.join()
    assert not waiting.is_alive()
