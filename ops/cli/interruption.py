"""The end of a command before its time: by Ctrl-C, by a signal, by a terminal that closes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ops.cli import screen

INTERRUPTED = 128 + signal.SIGINT
"""The exit code of an interrupted command, as shells have it."""


def interrupt_when_ended() -> None:
    """Let what ends this process interrupt it, as Ctrl-C does, so that a command tidies up.

    A paused process goes on then, and a folder of its own is gone. Under `nohup` a terminal that
    closes still ends nothing.
    """
    for what in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(what) is signal.SIG_DFL:
            signal.signal(what, signal.default_int_handler)


@contextmanager
def say_if_interrupted(text: str) -> Iterator[None]:
    """If the block is interrupted, say this of what goes on without the command, and end it."""
    try:
        yield
    except KeyboardInterrupt:
        screen.say(f"\n  {text}")
        raise typer.Exit(INTERRUPTED) from None
