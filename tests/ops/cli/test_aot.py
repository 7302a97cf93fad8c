"""A training run beside a shop ends with the shop, and leaves the caches of before as they were."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from infra.aot import RECORD
from infra.settings import Settings
from infra.supervisor.orphans import TRAINING_VARIABLE
from ops.cli import aot, down

SECONDS_MAX = 30.0

TRAINS = """
import sys
from ops.cli import aot
from ops.cli.main import main
from pathlib import Path
from tests.ops.cli.waiting import wait_for_signal

def run_shop(current, home, log, output):
    (home / "broker-1.aot").touch()
    print("trains", flush=True)
    wait_for_signal()

aot.is_there = lambda current: False
aot.run_shop = run_shop
sys.argv = ["retail", "aot"]
main()
"""
"""`retail aot`, with a shop that is never done."""


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    """The folder of the caches, with one in it."""
    folder = tmp_path / "jars" / "aot"
    folder.mkdir(parents=True)
    (folder / "broker-0.aot").touch()
    return folder


def test_down_ends_the_training_run_of_its_shop_and_the_old_caches_stay(
    current: Settings, caches: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TRAINS],
        env={
            **os.environ,
            "JARS_DIR": str(caches.parent),
            TRAINING_VARIABLE: str(current.data_dir),
        },
        stdout=subprocess.PIPE,
        text=True,
    ) as training:
        assert training.stdout is not None
        assert "trains" in training.stdout.readline()
        assert list(caches.glob(f"{aot.SCRATCH}*/*.aot"))
        assert down.stop(current)
        training.wait(SECONDS_MAX)  # its status is gone: `stop` has waited for it, too
    assert [file.name for file in caches.glob("*.aot")] == ["broker-0.aot"]
    assert list(caches.glob(f"{aot.SCRATCH}*")) == []
    assert not down.stop(current)


def test_a_training_run_takes_no_options_of_java_from_its_caller(
    current: Settings, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in aot.NOT_IN_TRAINING:
        monkeypatch.setenv(name, "-XX:TieredStopAtLevel=1")
    told = aot.build_training_environment(current, caches)
    assert told[RECORD] == str(caches)
    assert told["PATH"] == os.environ["PATH"]
    assert told.keys().isdisjoint(aot.NOT_IN_TRAINING)


def test_a_training_run_beside_a_shop_bears_the_name_of_its_data_folder(
    current: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, Any]] = []

    def start(_: list[str], **how: Any) -> SimpleNamespace:
        started.append(how)
        return SimpleNamespace(pid=0)  # no process

    monkeypatch.setattr(aot, "is_there", lambda _: False)
    monkeypatch.setattr(subprocess, "Popen", start)
    aot.make_beside(current)
    assert started[0]["env"][TRAINING_VARIABLE] == str(current.data_dir)


def test_new_caches_take_the_place_of_all_others_and_of_what_a_killed_run_left(
    current: Settings, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_shop(current: Settings, home: Path, log: Path, output: int) -> None:
        assert (caches / "broker-0.aot").exists()
        (home / "broker-1.aot").touch()

    (caches / f"{aot.SCRATCH}killed").mkdir()
    monkeypatch.setattr(aot, "run_shop", run_shop)
    assert aot.train(current, caches) == [caches / "broker-1.aot"]
    assert sorted(file.name for file in caches.iterdir()) == ["broker-1.aot", "training.log"]
