"""A program that runs on is killed, and its log says what its Java did."""

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from infra.java import locate_java
from infra.processes import find_engines
from infra.wait import wait_until
from tests.ending import DidNotEnd, await_end

SECONDS_MAX = 60.0
JARS = Path(pyspark.__file__).parent / "jars" / "*"


def test_its_status_is_returned(tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    assert await_end(program, tmp_path / "log", SECONDS_MAX) == 3


def test_one_that_runs_on_is_killed_and_its_log_says_what_java_did(tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = [str(locate_java()), "-cp", str(JARS), "py4j.GatewayServer", "0"]
    with log.open("wb") as output:
        program = subprocess.Popen(
            [sys.executable, "-c", f"import subprocess; subprocess.run({server!r})"],
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
    wait_until(lambda: log.read_text().endswith("\n"), "the server prints its port", SECONDS_MAX)
    [engine] = find_engines(program.pid)
    with pytest.raises(DidNotEnd, match=r"ran on(?s:.*)py4j\.GatewayServer\.run"):
        await_end(program, log, seconds_max=0.1)
    assert program.returncode == -9
    engine.wait(SECONDS_MAX)  # it has ended, or TimeoutExpired is raised
