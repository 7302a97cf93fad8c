"""The process manager of a data folder: started once, found again by later commands."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from infra.errors import UserError
from infra.logs import tail
from infra.supervisor.manager import Manager, find_answering
from infra.supervisor.orphans import HOME_VARIABLE
from infra.wait import wait_for

CONFIG = Path(__file__).with_name("supervisord.conf")
ANSWER_SECONDS_MAX = 15
SOCKET_FILE = "supervisor.sock"


def find_running(home: Path) -> Manager | None:
    """The manager of the data folder, if it runs."""
    try:
        folder = _locate_note(home).read_text()
    except FileNotFoundError:
        return None
    return find_answering(str(Path(folder, SOCKET_FILE)))


def start(home: Path, config: Path = CONFIG) -> Manager:
    """Start a manager for the data folder, with every component stopped. Raises UserError.

    The caller ensures that no manager runs.
    """
    clear(home)
    (home / "logs").mkdir(parents=True, exist_ok=True)
    (home / "run").mkdir(exist_ok=True)
    # A socket's path has a hundred characters at most, and the data folder's may be longer.
    folder = tempfile.mkdtemp(prefix="retail-", dir="/tmp")
    _locate_note(home).write_text(folder)
    socket = str(Path(folder, SOCKET_FILE))
    output = home / "logs" / "supervisord.out"
    with output.open("wb") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "supervisor.supervisord", "-c", str(config)],
            cwd=home,
            env=_build_environment(home, socket),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it outlives this command and its terminal
        )
    wait_for(
        lambda: process.poll() is not None or find_answering(socket) is not None, ANSWER_SECONDS_MAX
    )
    manager = find_answering(socket)
    if manager is None:
        process.kill()
        raise UserError(
            f"The process manager should answer within {ANSWER_SECONDS_MAX} s, but does not. "
            f"The end of {output}:\n{tail(output)}"
        )
    return manager


def clear(home: Path) -> None:
    """Remove the files of a manager that has ended."""
    note = _locate_note(home)
    if note.exists():
        shutil.rmtree(note.read_text(), ignore_errors=True)
        note.unlink()


def _locate_note(home: Path) -> Path:
    """The file with the path of the socket's folder."""
    return home / "run" / "socket-folder"


def _build_environment(home: Path, socket: str) -> dict[str, str]:
    return {
        **os.environ,
        HOME_VARIABLE: str(home),
        "DATA_DIR": str(home),
        "RETAIL_SOCKET": socket,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONUNBUFFERED": "1",
        # By default, glibc keeps what is free in eight pools per core.
        "MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", "2"),
    }
