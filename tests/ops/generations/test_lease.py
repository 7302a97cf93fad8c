import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from infra.lock import LockHeld
from ops.generations import lease

SLEEPER = [sys.executable, "-c", "import sys; sys.stdin.read()"]
HOLDER = """
import sys
from pathlib import Path
from ops.generations import lease
held = lease.take(Path(sys.argv[1]))
lease.record_engine(held, int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


def run(*command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_second_process_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    java = run(*SLEEPER)
    first = run(sys.executable, "-c", HOLDER, str(tmp_path), str(java.pid))
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(LockHeld, match=f"may run {tmp_path}, and another one does"):
            lease.take(tmp_path)
    finally:
        for process in (first, java):
            process.kill()
            process.wait()


@pytest.mark.parametrize("step_seconds", [0, 3_600, -0.01])
def test_the_engine_of_a_dead_driver_is_ended_before_the_next_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step_seconds: float
) -> None:
    began = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda one: began(one) + step_seconds)
    monkeypatch.setattr(lease, "GRACE_SECONDS", 0.2)
    engine = run(*SLEEPER)
    driver = run(sys.executable, "-c", HOLDER, str(tmp_path), str(engine.pid))
    assert driver.stdout is not None
    assert driver.stdout.readline() == "held\n"
    driver.kill()
    driver.wait()
    with lease.take(tmp_path):
        assert not psutil.pid_exists(engine.pid)


def test_a_number_given_to_another_process_is_left_alone(tmp_path: Path) -> None:
    other = run(*SLEEPER)
    try:
        (tmp_path / "lease.json").write_text(f'{{"pid": {other.pid}, "started": 1.0}}')
        with lease.take(tmp_path):
            assert other.poll() is None
    finally:
        other.kill()
        other.wait()
