import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from infra.lock import LockHeld
from ops.generations import lease

HOLDER = """
import sys
from pathlib import Path
from ops.generations import lease
held = lease.take(Path(sys.argv[1]))
lease.record_engine(held, int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


Process = subprocess.Popen[str]


def run(*command: str) -> Process:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def end(process: Process) -> None:
    process.kill()
    process.wait()


@pytest.fixture
def engine() -> Iterator[Process]:
    """A process in place of a driver's Java."""
    yield (process := run(sys.executable, "-c", "import sys; sys.stdin.read()"))
    end(process)


@pytest.fixture
def driver(tmp_path: Path, engine: Process) -> Iterator[Process]:
    """Another process, which holds the lease of the folder."""
    process = run(sys.executable, "-c", HOLDER, str(tmp_path), str(engine.pid))
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    end(process)


@pytest.mark.usefixtures("driver")
def test_a_second_process_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    with pytest.raises(LockHeld, match=f"may run {tmp_path}, and another one does"):
        lease.take(tmp_path)


@pytest.mark.parametrize("step_seconds", [0, 3_600, -0.01])
def test_the_engine_of_a_dead_driver_is_ended_before_the_next_writes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: Process,
    driver: Process,
    step_seconds: float,
) -> None:
    began = psutil.Process.create_time
    monkeypatch.setattr(
        psutil.Process, "create_time", lambda process: began(process) + step_seconds
    )
    monkeypatch.setattr(lease, "GRACE_SECONDS", 0.2)
    end(driver)
    with lease.take(tmp_path):
        assert not psutil.pid_exists(engine.pid)


def test_a_number_given_to_another_process_is_left_alone(tmp_path: Path, engine: Process) -> None:
    (tmp_path / "lease.json").write_text(f'{{"pid": {engine.pid}, "started": 1.0}}')
    with lease.take(tmp_path):
        assert engine.poll() is None
