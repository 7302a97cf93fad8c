"""Browsers that look at the pages of a shop: the system's Chromium, without a window."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from infra.errors import UserError

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Expected Chromium, found none. Install it: sudo apt-get install chromium"
OPTIONS = (
    "--headless",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",  # without one it ends as soon as the page is loaded
)
STOP_SECONDS_MAX = 10.0


def find_chromium() -> str | None:
    """The program, if this machine has it."""
    return next((program for name in NAMES if (program := shutil.which(name))), None)


def require_chromium() -> str:
    """The program. Raises UserError."""
    if (program := find_chromium()) is None:
        raise UserError(MISSING)
    return program


def list_privileges() -> list[str]:
    """The options that Chromium needs to start as root, whom its sandbox refuses."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


@contextmanager
def open_browsers(addresses: Iterable[str]) -> Iterator[Sequence[psutil.Process]]:
    """A browser of its own on each page, until the block ends. Raises UserError."""
    program = require_chromium()
    with ExitStack() as ending:
        yield [ending.enter_context(_browse(program, address)) for address in addresses]


@contextmanager
def _browse(program: str, address: str) -> Iterator[psutil.Process]:
    # A renderer that is being killed may still write to its profile.
    with TemporaryDirectory(prefix="retail-browser-", ignore_cleanup_errors=True) as profile:
        with Path(profile, "log").open("wb") as log:
            command = [program, *OPTIONS, *list_privileges(), f"--user-data-dir={profile}", address]
            process = psutil.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            yield process
        finally:
            _kill(process)


def _kill(browser: psutil.Process) -> None:
    """Kill the browser and all that it has started: there is nothing to keep."""
    with suppress(psutil.NoSuchProcess):
        for one in (*browser.children(recursive=True), browser):
            with suppress(psutil.NoSuchProcess):
                one.kill()
    browser.wait(STOP_SECONDS_MAX)
