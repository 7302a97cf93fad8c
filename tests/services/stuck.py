"""A program whose work is stuck in a call that no signal interrupts.

Its arguments: how many seconds it may be still, and its seconds of grace.
"""

import sys
from threading import Lock

from services.process import Stop


def work() -> None:
    print("stuck", flush=True)
    lock = Lock()
    lock.acquire()
    lock.acquire()


if __name__ == "__main__":
    stop = Stop(*map(float, sys.argv[1:3]))
    stop.listen()
    work()
