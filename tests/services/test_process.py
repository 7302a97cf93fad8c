"""A service that is stuck in a call ends by itself, and says where it was."""

import signal
import subprocess
import sys

import pytest

LONG = 600.0
SHORT = 0.5


def start(said_first: str, *arguments: str) -> subprocess.Popen[str]:
    """Python with these arguments, once it has said its first line."""
    pipe = subprocess.PIPE
    begun = subprocess.Popen([sys.executable, *arguments], stdout=pipe, stderr=pipe, text=True)
    assert begun.stdout is not None
    assert begun.stdout.readline() == said_first
    return begun


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_a_service_that_is_stuck_ends_after_its_grace_or_when_it_is_still_for_too_long(
    number: int | None,
) -> None:
    limits = map(str, (LONG, SHORT) if number else (SHORT, LONG))
    stuck = start("stuck\n", "-m", "tests.services.stuck", *limits)
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
