"""The process manager for real, with small programs in place of the components."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock
from xmlrpc.client import Fault

import psutil
import pytest
from supervisor.xmlrpc import Faults

from infra.errors import UserError
from infra.logs import tail
from infra.supervisor import daemon, orphans
from infra.supervisor.manager import Manager, Restarts, read_restarts
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
    assert wait_for(lambda: manager.find_process(name).state == "RUNNING", SECONDS_MAX)
    return manager.find_process(name).pid


def test_a_killed_component_runs_again_until_it_is_stopped(home: Path, manager: Manager) -> None:
    found = daemon.find_running(home)
    assert found is not None
    assert found.read_pid() == manager.read_pid()
    assert orphans.find(home.parent) == [], "another folder's processes are not ours"
    manager.start("steady")
    first = await_pid(manager, "steady")
    psutil.Process(first).kill()
    assert wait_for(lambda: manager.find_process("steady").pid not in (0, first), SECONDS_MAX)
    history = read_restarts(tail(home / "logs" / "supervisord.log", 100))["steady"]
    assert (history.count, history.last) == (1, "terminated by SIGKILL")
    second = await_pid(manager, "steady")
    manager.stop({"steady"}, SECONDS_MAX)
    assert not psutil.pid_exists(second)
    assert manager.find_process("steady").state == "STOPPED"


def test_a_component_that_only_crashes_is_given_up_and_said(home: Path, manager: Manager) -> None:
    manager.start("broken")
    assert wait_for(lambda: manager.find_process("broken").state == "FATAL", SECONDS_MAX)
    assert "no such topic" in tail(home / "logs" / "broken.log")


def test_a_component_may_end_at_once(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [Fault(code, "broken") for code in (Faults.SPAWN_ERROR, Faults.BAD_NAME)]
    monkeypatch.setattr(manager, "_rpc", Mock(startProcess=Mock(side_effect=faults)))
    manager.start("broken")
    with pytest.raises(Fault):
        manager.start("broken")


def test_what_a_killed_manager_leaves_is_stopped_and_cleared(home: Path, manager: Manager) -> None:
    manager.start("steady")
    steady = await_pid(manager, "steady")
    psutil.Process(manager.read_pid()).kill()
    assert wait_for(lambda: daemon.find_running(home) is None, SECONDS_MAX)
    assert steady in [process.pid for process in orphans.find(home)]
    assert orphans.stop(home) >= 1
    assert orphans.find(home) == []
    note = home / "run" / "socket-folder"
    folder = Path(note.read_text())
    assert folder.is_dir()
    again = daemon.start(home, PROGRAMS)
    assert not folder.exists()
    again.start("steady")
    assert await_pid(again, "steady")
    orphans.stop(home)
    daemon.clear(home)
    assert not note.exists()
    daemon.clear(home)


def test_a_manager_that_does_not_come_up_says_why(home: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("[supervisord]\nnodaemon = true\nloglevel = loud\n")
    with pytest.raises(UserError, match="loud"):
        daemon.start(home, wrong)


LOG = """\
10:00:00 INFO supervisord started with pid 1
10:00:00 INFO spawned: 'api' with pid 2
10:00:09 INFO exited: api (exit status 1; not expected)
10:00:10 INFO supervisord started with pid 11
10:00:11 INFO spawned: 'broker' with pid 12
10:00:12 INFO spawned: 'api' with pid 13
10:00:30 INFO exited: api (terminated by SIGKILL; not expected)
10:00:31 INFO spawned: 'api' with pid 14
10:00:40 INFO exited: api (exit status 0; expected)
10:00:41 INFO spawned: 'api' with pid 15
10:00:50 INFO stopped: broker (terminated by SIGTERM)
10:00:51 INFO spawned: 'broker' with pid 16
"""


def test_restarts_are_counted_since_the_managers_last_start_without_those_by_a_person() -> None:
    assert read_restarts(LOG) == {"api": Restarts(2, "exit status 0")}
