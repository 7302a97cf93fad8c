"""A program in another language, or of another environment, that works on demand."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer

import psutil

from infra.logs import tail
from infra.processes import list_descendants

LOG_LINES_SHOWN = 8

ANSWER_SECONDS_MAX = 900.0
"""A million records took the slowest system 42 seconds."""


class Program:
    """It reads orders, a line each, and answers with lines."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self._process = process
        self._log = log

    def order(self, *words: object) -> None:
        print(*words, file=self._process.stdin, flush=True)

    def read_answer(self) -> str:
        """Its next line.

        Raises, with the end of its log, RuntimeError when it has ended, and TimeoutError when it
        has not answered in ANSWER_SECONDS_MAX: then it is killed.
        """
        assert self._process.stdout
        late = Event()

        def end() -> None:
            late.set()
            kill(self._process)

        timer = Timer(ANSWER_SECONDS_MAX, end)
        timer.start()
        try:
            if answer := self._process.stdout.readline():
                return answer
        finally:
            timer.cancel()
        shown = f"{self._log.name} ends with:\n{tail(self._log, LOG_LINES_SHOWN)}"
        if late.is_set():
            raise TimeoutError(
                f"It should answer within {ANSWER_SECONDS_MAX:g} s, but ran on. {shown}"
            )
        raise RuntimeError(f"It should answer, but ended. {shown}")


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
