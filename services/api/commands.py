"""Runs a command of `retail` for a client, and answers with the command's own output.

The command is a separate process. It loads the modules that it needs, such as Spark's, and so
leaves the process that answers readers unchanged.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock

from infra.settings import OPERATOR
from services.api.problem import Problem, Unavailable

SECONDS_MAX = 900.0  # a difference is a batch over the whole log
SAID_CHARACTERS_MAX = 4_000
LONG = (("replay", "start"), ("replay", "diff"), ("forget", "customer"))
"""The commands that read the whole log. The others take seconds, and do not wait for one."""


class CommandBusy(Unavailable):
    """Another command of the kind, long or short, runs."""

    def __init__(self) -> None:
        super().__init__(
            "Another command runs",
            "Expected to run the command alone, but another one of its kind is at work. Try again "
            "once it is done.",
        )


@dataclass(frozen=True)
class Commands:
    """Runs one long and one short command at a time, for clients with the token."""

    program: Sequence[str]
    """The beginning of the command line."""
    read_token: Callable[[], str]
    _slots: Mapping[bool, Lock] = field(default_factory=lambda: {True: Lock(), False: Lock()})
    """Held while a command runs, by whether it is long."""

    def run(self, *arguments: str, before: Callable[[], None] | None = None) -> str:
        """Run a command and return its output. Raises CommandBusy and Problem.

        It calls `before` when no other command of its kind runs; `before` may refuse by raising.
        """
        slot = self._slots[arguments[:2] in LONG]
        if not slot.acquire(blocking=False):
            raise CommandBusy
        try:
            if before is not None:
                before()
            done = subprocess.run(
                [*self.program, *arguments],
                env={**os.environ, "KAFKA_SERVICE": OPERATOR},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Problem(
                HTTPStatus.GATEWAY_TIMEOUT,
                "Command too slow",
                f"Expected the command to end within {SECONDS_MAX:g} s, but it did not, and was "
                "ended. Look how far it came: make status.",
            ) from error
        finally:
            slot.release()
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-SAID_CHARACTERS_MAX:]
            raise Problem(HTTPStatus.CONFLICT, "Command refused", said)
        return done.stdout.strip()[-SAID_CHARACTERS_MAX:]
