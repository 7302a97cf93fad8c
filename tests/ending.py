"""The end of a program: awaited, and explained where it does not come."""

import contextlib
import signal
import subprocess
from pathlib import Path

import psutil

from infra.processes import find_engines
from infra.wait import wait_for
from ops.bench.program import kill

STACKS_SECONDS_MAX = 10.0
"""How long Java may take to write what its threads do."""
LAST_OF_STACKS = b"JNI global refs"


class DidNotEnd(AssertionError):
    """A program should have ended by itself."""


def await_end(program: "subprocess.Popen[bytes]", log: Path, seconds_max: float) -> int:
    """The program's status.

    Raises DidNotEnd with its log if it still runs after `seconds_max`: it and every process below
    it are killed after each Java process has written there what its threads do.
    """
    try:
        return program.wait(seconds_max)
    except subprocess.TimeoutExpired:
        engines = find_engines(program.pid)
        before = count_stacks(log)
        for engine in engines:
            with contextlib.suppress(psutil.NoSuchProcess):
                engine.send_signal(signal.SIGQUIT)
        wait_for(lambda: count_stacks(log) >= before + len(engines), STACKS_SECONDS_MAX)
        kill(program)
        program.wait()
        raise DidNotEnd(
            f"It should end within {seconds_max:g} s, but it ran on. Its log:\n"
            + log.read_text(errors="replace")
        ) from None


def count_stacks(log: Path) -> int:
    """How often a Java process has written what its threads do, to the end."""
    return log.read_bytes().count(LAST_OF_STACKS)
