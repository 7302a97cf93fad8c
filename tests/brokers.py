"""Brokers for tests, each with its own data and ports."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contracts import CONTRACTS
from infra.kafka import answers, apply_topics
from infra.settings import Settings
from tests.ports import free_port_base
from tests.processes import environment
from tests.waiting import wait_until


@contextmanager
def broker(folder: Path) -> Iterator[Settings]:
    """Settings under which a broker answers, with every topic of the contracts, all empty."""
    where = Settings(data_dir=folder, port_base=free_port_base())
    process = start_broker(where)
    try:
        wait_until(lambda: answers(where), "the broker answers", seconds_max=60)
        apply_topics(where, CONTRACTS)
        yield where
    finally:
        process.kill()
        process.wait(30)


def start_broker(where: Settings) -> "subprocess.Popen[bytes]":
    with (where.data_dir / "broker.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "infra.broker"], env=environment(where), stdout=log, stderr=log
        )
