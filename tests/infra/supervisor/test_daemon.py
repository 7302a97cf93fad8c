"""The process manager for real, with small programs in place of the components."""

import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from xmlrpc.client import Fault

import psutil
import pytest
from supervisor.xmlrpc import Faults

from infra.errors import UserError
from infra.logs import tail
from infra.supervisor import daemon, orphans
from infra.supervisor.manager import Manager, read_restarts
from infra.wait import wait_for

PROGRAMS = Path(__file__).with_name("programs.conf")
SECONDS_MAX = 20


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose name is everything that names should not be."""
    folder = tmp_path / "a folder, 100% odd ;#" / ("long" * 30)
    folder.mkdir(parents=True)
    yield folder
    orphans.stop(folder)
    daemon.clear(folder)


@pytest.fixture
def manager(home: Path) -> Manager:
    return daemon.start(home, PROGRAMS)


def await_pid(manager: Manager, name: str) -> int:
    """The process of a program that runs."""
    assert wait_for(lambda: manager.find_process(name).state == "RUNNING", SECONDS_MAX)
    return manager.find_process(name).pid


def test_a_manager_is_found_again(home: Path, manager: Manager) -> None:
    manager_found = daemon.find_running(home)
    assert manager_found is not None
    assert manager_found.read_pid() == manager.read_pid()


def test_a_killed_component_is_started_again_and_the_history_says_so(
    home: Path, manager: Manager
) -> None:
    manager.start("steady")
    first = await_pid(manager, "steady")
    psutil.Process(first).kill()
    assert wait_for(lambda: manager.find_process("steady").pid not in (0, first), SECONDS_MAX)
    history = read_restarts(tail(home / "logs" / "supervisord.log", 100))["steady"]
    assert (history.count, history.last) == (1, "terminated by SIGKILL")


def test_a_component_that_only_crashes_is_given_up_and_its_log_says_why(
    home: Path, manager: Manager
) -> None:
    manager.start("broken")
    assert wait_for(lambda: manager.find_process("broken").state == "FATAL", SECONDS_MAX)
    assert "no such topic" in tail(home / "logs" / "broken.log")


@pytest.mark.parametrize(("code", "raised"), [(Faults.SPAWN_ERROR, False), (Faults.BAD_NAME, True)])
def test_a_component_that_ends_before_the_manager_answers_is_left_to_its_state(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, code: int, raised: bool
) -> None:
    def refuse(name: str, wait: bool) -> None:
        raise Fault(code, name)

    monkeypatch.setattr(manager, "_rpc", SimpleNamespace(startProcess=refuse))
    with pytest.raises(Fault) if raised else nullcontext():
        manager.start("broken")


def test_stopping_leaves_no_process(home: Path, manager: Manager) -> None:
    manager.start("steady")
    steady = await_pid(manager, "steady")
    manager.stop({"steady"}, SECONDS_MAX)
    assert not psutil.pid_exists(steady)
    assert manager.find_process("steady").state == "STOPPED"


def test_orphans_of_a_killed_manager_are_found_and_stopped(home: Path, manager: Manager) -> None:
    manager.start("steady")
    steady = await_pid(manager, "steady")
    killed = psutil.Process(manager.read_pid())
    killed.send_signal(signal.SIGKILL)
    assert wait_for(lambda: daemon.find_running(home) is None, SECONDS_MAX)
    assert steady in [process.pid for process in orphans.find(home)]
    assert orphans.stop(home) >= 1
    assert orphans.find(home) == []


def test_a_new_manager_starts_after_a_killed_one(home: Path, manager: Manager) -> None:
    psutil.Process(manager.read_pid()).kill()
    orphans.stop(home)
    again = daemon.start(home, PROGRAMS)
    again.start("steady")
    assert await_pid(again, "steady")


def test_another_folders_processes_are_not_ours(home: Path, manager: Manager) -> None:
    assert orphans.find(home.parent) == []


def test_a_manager_that_does_not_come_up_says_why(home: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("[supervisord]\nnodaemon = true\nloglevel = loud\n")
    with pytest.raises(UserError, match="loud"):
        daemon.start(home, wrong)


def test_what_a_manager_leaves_is_cleared_with_the_folder_of_its_socket(
    home: Path, manager: Manager
) -> None:
    note = home / "run" / "socket-folder"
    folder = Path(note.read_text())
    assert folder.is_dir()
    orphans.stop(home)
    daemon.clear(home)
    assert not folder.exists()
    assert not note.exists()
    daemon.clear(home)
