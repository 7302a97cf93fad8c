"""A service that is stuck in a call ends by itself, and says where it was."""

import subprocess
import sys

SHORT, LONGER = 0.5, 3.0
STUCK = f"""
from threading import Lock
from services.process import Stop

def work():
    lock = Lock()
    lock.acquire()
    lock.acquire()

Stop({SHORT}).listen()
work()
"""
ASKING = f"""
import time
from services.process import Stop
stop = Stop({LONGER})
stop.listen()
began = time.monotonic()
while not stop.is_set():
    if began and time.monotonic() - began > {LONGER + 1}:
        print("asking", flush=True)
        began = None
    time.sleep({SHORT / 10})
print("asked to stop", flush=True)
"""


def start(program: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_service_that_is_still_for_too_long_ends_and_says_where_it_was() -> None:
    stuck = start(STUCK)
    _, said = stuck.communicate(timeout=60)
    assert stuck.returncode == 1
    assert "in work" in said


def test_a_service_that_asks_is_not_ended_and_stops_at_a_signal() -> None:
    asking = start(ASKING)
    assert asking.stdout is not None
    assert asking.stdout.readline() == "asking\n"
    asking.terminate()
    said, complaint = asking.communicate(timeout=60)
    assert (said, complaint, asking.returncode) == ("asked to stop\n", "", 0)
