"""A service that is stuck in a call ends by itself, and says where it was."""

import signal
import subprocess
import sys

import pytest

LONG = 600.0
SHORT = 0.5


def start_stuck(still_seconds_max: float, grace_seconds: float) -> subprocess.Popen[str]:
    """A process of `tests.services.stuck`, once it is stuck."""
    begun = subprocess.Popen(
        [sys.executable, "-m", "tests.services.stuck", str(still_seconds_max), str(grace_seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert begun.stdout is not None
    assert begun.stdout.readline() == "stuck\n"
    return begun


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_a_service_that_is_stuck_ends_after_its_grace_or_when_it_is_still_for_too_long(
    number: int | None,
) -> None:
    stuck = start_stuck(LONG, SHORT) if number else start_stuck(SHORT, LONG)
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
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert asking.stdout is not None
    assert asking.stdout.readline() == "asking\n"
    asking.terminate()
    said, complaint = asking.communicate(timeout=60)
    assert (said, complaint, asking.returncode) == ("asked to stop\n", "", 0)
