import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infra.settings import locate_root
from ops.cli.screen import INTERRUPTED

SECONDS_MAX = 30.0
SAID = "It goes on: make status"

WAITS = f"""
import signal
import sys
from pathlib import Path
from threading import Event
from ops.cli import status
from ops.cli.main import main
from ops.cli.screen import say_if_interrupted

def wait() -> None:
    folder = Path("at work")
    folder.mkdir()
    try:
        with say_if_interrupted("{SAID}"):
            print(signal.getsignal(signal.SIGHUP), flush=True)
            while True:
                Event().wait(0.05)
    finally:
        folder.rmdir()

status.logs = wait
sys.argv = ["retail", "logs"]
main()
"""
"""A command that waits for ever, and removes its folder in the end.

It wakes up again and again: Python runs a handler between two instructions, so one wait without an
end would not see a signal that comes after the instruction before.
"""


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_tidies_up(tmp_path: Path, ended_by: signal.Signals) -> None:
    with start_waiting(tmp_path) as command:
        assert command.stdout is not None
        command.stdout.readline()
        assert (tmp_path / "at work").exists()
        command.send_signal(ended_by)
        said, complaint = command.communicate(timeout=SECONDS_MAX)
    assert not (tmp_path / "at work").exists()
    assert (said.split("\n"), complaint) == (["", f"  {SAID}", ""], "")
    assert command.returncode == INTERRUPTED


def test_a_terminal_that_closes_does_not_end_a_command_under_nohup(tmp_path: Path) -> None:
    with start_waiting(tmp_path, "nohup") as command:
        assert command.stdout is not None
        assert command.stdout.readline() == f"{signal.SIG_IGN}\n"
        command.terminate()


def start_waiting(folder: Path, *prefix: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        ["env", "--default-signal=HUP,INT", *prefix, sys.executable, "-c", WAITS],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(locate_root())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
