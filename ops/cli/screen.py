"""What a person sees of the commands: steps, progress, tables, questions, the end by Ctrl-C."""

import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.status import Status

from infra.errors import UserError

INTERRUPTED = 128 + signal.SIGINT
"""The exit code of an interrupted command, as shells have it."""

console = Console(highlight=False, soft_wrap=True)

NAME_WIDTH = 13
TEXT_WIDTH = 50
BAR_WIDTH = 20
# The second column of a table of components.
STATE_STYLES = {
    "failed": "red",
    "restarting": "red",
    "starting": "yellow",
    "paused": "yellow",
    "stopped": "dim",
}


def step(name: str, text: str, seconds: float | None = None) -> None:
    """Print the line of a finished step."""
    took = "" if seconds is None else f"{seconds:>5.0f} s"
    console.print(f"  {name:<{NAME_WIDTH}} {text:<{TEXT_WIDTH}} {took}".rstrip(), markup=False)


def say(text: str) -> None:
    console.print(text, markup=False)


class Wait:
    """The progress line of a long task; silent without a terminal."""

    def __init__(self, status: Status | None) -> None:
        self._status = status
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def show(self, name: str, text: str) -> None:
        if self._status is not None:
            self._status.update(f"{name:<{NAME_WIDTH - 2}} {text}  {self.seconds:.0f} s")


@contextmanager
def show_waiting(name: str, text: str) -> Iterator[Wait]:
    """Show a spinner on a terminal, until the block ends."""
    if not console.is_terminal:
        yield Wait(None)
        return
    with console.status("") as status:
        wait = Wait(status)
        wait.show(name, text)
        yield wait


def render_bar(done: int, total: int) -> str:
    filled = BAR_WIDTH * done // total if total else BAR_WIDTH
    return "█" * filled + "░" * (BAR_WIDTH - filled)


def print_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print columns as wide as needed; nothing is folded, so that a path can be copied."""
    cells = [heads, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        style = "bold" if row is heads else STATE_STYLES.get("".join(row[1:2]), "")
        console.print(f"  {'   '.join(padded)}".rstrip(), style=style, markup=False)


def ask(question: str, without_terminal: str) -> bool:
    """The answer to a question. Raises UserError with the text where nobody can answer."""
    if not sys.stdin.isatty():
        raise UserError(without_terminal)
    return typer.confirm(question)


@contextmanager
def say_if_interrupted(text: str) -> Iterator[None]:
    """If the block is interrupted, say this of what goes on without the command, and end it."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n  {text}")
        raise typer.Exit(INTERRUPTED) from None


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def cut(text: str, characters_max: int) -> str:
    """The text, or its beginning where it is longer."""
    return text if len(text) <= characters_max else f"{text[:characters_max]}…"


def shorten(path: Path) -> str:
    """The path relative to the working directory, if it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
