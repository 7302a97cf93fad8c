"""The processes that run generations: one for each copy of the code, as the control topic asks."""

import logging
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from contracts.schemas import NEWER_LOCK, newest_lock
from infra.errors import Trouble
from infra.lock import held, is_held
from infra.settings import Settings
from pipelines.common import snapshot
from pipelines.common.control import Control
from pipelines.common.generation import Generation, State, home, invalidate
from pipelines.common.promotion import lost

log = logging.getLogger("pipeline")

LOOK_SECONDS = 1.0
STEADY_SECONDS = 45.0
"""A process that lived so long had come up: what ended it is not what ended the ones before."""
FAILURES_MAX = 5
STOP_SECONDS_MAX = 6
TURN_SECONDS_MAX = 5.0
"""How long the crew before may take to be gone."""

Name = tuple[str, int]
"""Pipeline and number."""


class SecondCrew(Trouble):
    """Another crew looks after the pipeline."""

    def __init__(self, pipeline: str) -> None:
        super().__init__(
            f"One crew should look after {pipeline}, but another one does already. See which: "
            "make status"
        )


class KeepsFailing(Trouble):
    """A promoted generation cannot be kept running."""

    def __init__(self, names: Iterable[Name]) -> None:
        spelled = ", ".join(f"{pipeline} g{number}" for pipeline, number in names)
        super().__init__(
            f"{spelled} ended {FAILURES_MAX} times in a row within {STEADY_SECONDS:g} s of its "
            "start. Why stands above: make logs COMPONENT=pipelines"
        )


@dataclass
class Child:
    """A process, and the generations that it runs."""

    process: "subprocess.Popen[bytes]"
    generations: Sequence[Generation]
    started: float = field(default_factory=time.monotonic)

    @property
    def names(self) -> frozenset[Name]:
        return frozenset(map(name_of, self.generations))


class Crew:
    """Keeps a process at work for every generation that is to run."""

    def __init__(self, where: Settings, pipelines: Sequence[str]) -> None:
        self._where = where
        self._pipelines = pipelines
        self._control = Control(where)
        self._children: list[Child] = []
        self._failures: Counter[Name] = Counter()
        self._not_before: dict[Name, float] = {}

    def work(self) -> None:
        """Go on until there is nothing that could run; raises KeepsFailing."""
        pause = Event()
        while wanted := self.wanted():
            self.bury(wanted)
            busy = {name for child in self._children for name in child.names}
            now = time.monotonic()
            missing = [
                one
                for name, one in wanted.items()
                if name not in busy and self._not_before.get(name, now) <= now
            ]
            for code, generations in by_code(self._where, missing).items():
                self._children.append(hire(self._where, code, generations))
            pause.wait(LOOK_SECONDS)

    def dismiss(self) -> None:
        """End every process, and see it end."""
        for child in self._children:
            child.process.terminate()
        for child in self._children:
            try:
                child.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                child.process.kill()

    def wanted(self) -> dict[Name, Generation]:
        """What is to run, and can: the code and the checkpoint of a lost one are gone."""
        known = self._control.look()
        running = [one for name in self._pipelines if name in known for one in known[name].running]
        busy = {name for child in self._children for name in child.names}
        return {
            name_of(one): one
            for one in running
            if name_of(one) in busy or not lost(self._where, one)
        }

    def bury(self, wanted: dict[Name, Generation]) -> None:
        """Take note of the processes that have ended."""
        for child in [one for one in self._children if one.process.poll() is not None]:
            self._children.remove(child)
            left = [wanted[name] for name in child.names if name in wanted]
            if left:
                self._failed(child, left)

    def _failed(self, child: Child, left: Sequence[Generation]) -> None:
        """Let it be tried again, a little later each time, unless it was tried too often."""
        now = time.monotonic()
        names = sorted(map(name_of, left))
        steady = now - child.started >= STEADY_SECONDS
        for name in names:
            self._failures[name] = 1 if steady else self._failures[name] + 1
            self._not_before[name] = now + self._failures[name]
        log.error("the process of %s has ended: %s", names, child.process.returncode)
        given_up = [one for one in left if self._failures[name_of(one)] >= FAILURES_MAX]
        if any(one.state is State.PROMOTED for one in given_up):
            raise KeepsFailing(names)
        for one in given_up:
            invalidate(self._where, one, f"its process ended {FAILURES_MAX} times in a row")


def place(where: Settings, pipeline: str) -> Path:
    """The folder that the pipeline's crew holds as long as it is at work."""
    return home(where, pipeline) / "crew"


@contextmanager
def at_work(where: Settings, pipelines: Iterable[str]) -> Iterator[None]:
    """Be the only crew of these pipelines; raises SecondCrew."""
    with ExitStack() as places:
        for name in pipelines:
            places.enter_context(held(place(where, name), SecondCrew(name), TURN_SECONDS_MAX))
        yield


def is_at_work(where: Settings, pipeline: str) -> bool:
    return is_held(place(where, pipeline))


def name_of(generation: Generation) -> Name:
    return generation.pipeline, generation.number


def hire(where: Settings, code: Path, generations: Sequence[Generation]) -> Child:
    """Start a process that runs the generations from this copy of the code.

    It holds the other end of its input, and so ends when this process does, however it ends.
    """
    named = [f"{one.pipeline}/{one.number}" for one in generations]
    command = [sys.executable, "-m", "pipelines.common.run", *named]
    process = subprocess.Popen(
        command, cwd=code, env=environment(where, code), stdin=subprocess.PIPE
    )
    return Child(process, generations)


def by_code(where: Settings, running: Iterable[Generation]) -> dict[Path, list[Generation]]:
    """Which generations can run from which copy of the code."""
    groups: dict[Path, list[Generation]] = {}
    for one in running:
        home = next((code for code in groups if runs_from(one, code)), one.code(where))
        groups.setdefault(home, []).append(one)
    return groups


def runs_from(generation: Generation, code: Path) -> bool:
    return snapshot.code_digest(code, generation.pipeline) == generation.code_digest


def environment(where: Settings, code: Path) -> dict[str, str]:
    """What a process that runs this copy of the code has to know."""
    return {
        **os.environ,
        "PYTHONPATH": str(code),
        NEWER_LOCK: str(newest_lock()),  # the code's own knows nothing of newer writers
        "DATA_DIR": str(where.data_dir),
        "JARS_DIR": str(where.jars_dir),
    }
