"""A program in another language, or of another environment, that works on demand.

One that hangs ends with the part of the bench that runs it.
"""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from infra.logs import tail
from infra.processes import list_descendants

LOG_LINES_SHOWN = 8


class Program:
    """It reads orders, a line each, and answers with lines."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self._process = process
        self._log = log

    def order(self, *words: object) -> None:
        print(*words, file=self._process.stdin, flush=True)

    def read_answer(self) -> str:
        """Its next line. Raises RuntimeError, with the end of its log, when it has ended."""
        assert self._process.stdout
        if answer := self._process.stdout.readline():
            return answer
        shown = tail(self._log, LOG_LINES_SHOWN)
        raise RuntimeError(f"It should answer, but ended. {self._log.name} ends with:\n{shown}")


@contextmanager
def run_program(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """The program, until the block ends; then it is killed. What it prints else is in the log."""
    with (
        log.open("ab") as printed,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            text=True,
        ) as process,
    ):
        try:
            yield Program(process, log)
        finally:
            kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill the program and every process below it."""
    below = list_descendants(process.pid)
    process.kill()
    for each in below:
        with suppress(psutil.NoSuchProcess):
            each.kill()
