import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from infra.processes import build_environment
from infra.settings import Settings
from infra.supervisor.parts import NotLocal, find_parts, kill, pause_process, refuse_elsewhere
from infra.wait import wait_until

PAUSE_FOR_EVER = """
import sys
from infra.supervisor.parts import pause_process
from threading import Event
with pause_process(int(sys.argv[1])):
    print("paused", flush=True)
    Event().wait()
"""


@pytest.fixture
def victim() -> Iterator[psutil.Process]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def await_state(victim: psutil.Process, stands: bool) -> None:
    what = f"the process {'stands still' if stands else 'goes on'}"
    wait_until(lambda: (victim.status() == psutil.STATUS_STOPPED) == stands, what)


def test_a_process_stands_still_until_the_block_ends_or_fails(victim: psutil.Process) -> None:
    with suppress(KeyboardInterrupt), pause_process(victim.pid):
        await_state(victim, stands=True)
        raise KeyboardInterrupt
    await_state(victim, stands=False)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_goes_on_when_who_paused_it_is_killed(
    victim: psutil.Process, how: signal.Signals, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PAUSE_FOR_EVER, str(victim.pid)],
        env=build_environment(Settings(data_dir=tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as pausing:
        assert pausing.stdout is not None
        assert pausing.stdout.readline() == b"paused\n"
        await_state(victim, stands=True)
        pausing.send_signal(how)
        pausing.wait(30)
    await_state(victim, stands=False)


def test_a_process_that_is_gone_cannot_be_paused_or_killed(victim: psutil.Process) -> None:
    with pause_process(victim.pid):
        kill(victim.pid)
    victim.wait(30)
    with pytest.raises(ProcessLookupError):
        kill(victim.pid)
    with pytest.raises(psutil.NoSuchProcess), pause_process(victim.pid):
        pass


@pytest.mark.parametrize(
    ("elsewhere", "named"),
    [
        ({"kafka_bootstrap_servers": "kafka.example:9092"}, "KAFKA_BOOTSTRAP_SERVERS"),
        ({"broker_voters": "1@a:1,2@b:1,3@c:1"}, "BROKER_VOTERS"),
        ({"api_address": "api.example:80"}, "API_ADDRESS"),
        ({"spark_master": "spark://spark.example:7077"}, "SPARK_MASTER"),
        ({}, "nothing runs on"),
    ],
)
def test_a_shop_that_is_not_here_has_no_parts_and_is_left_alone(
    elsewhere: dict[str, Any], named: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, **elsewhere)
    assert find_parts(settings) == {}
    with pytest.raises(NotLocal, match=named):
        refuse_elsewhere(settings)
