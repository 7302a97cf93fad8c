"""A wait that ends with a signal, and with one that comes right before it, too."""

from threading import Event
from typing import NoReturn

AWAKE_SECONDS = 0.05


def wait_for_signal() -> NoReturn:
    """Wait until a handler raises.

    It wakes up again and again: Python runs a handler between two instructions, so one wait without
    an end would not see a signal that comes after the instruction before.
    """
    while True:
        Event().wait(AWAKE_SECONDS)
