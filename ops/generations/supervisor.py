"""The supervisor of the workers: one process per copy of the code, as the control topic says."""

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

from contracts.schemas import NEWER_LOCK, find_newest_lock
from infra.errors import UserError
from infra.lock import LockHeld, is_locked, lock_folder
from infra.processes import WORKER
from infra.settings import Settings, locate_root
from ops.generations import snapshot
from ops.generations.folders import find_end, is_lost, locate_code, locate_home
from ops.generations.lifecycle import Control, invalidate, load_generations, prune_generation
from ops.generations.promotion import complete_source, create_candidate, find_prefix_ends
from ops.generations.record import CANDIDATE, Generation, Name, State
from pipelines.common.pipeline import load

log = logging.getLogger("pipeline")

LOOK_SECONDS = 1.0
STEADY_SECONDS = 45.0
"""A process that lived so long had started well: its end begins a new row of failures."""
FAILURES_MAX = 5
STOP_SECONDS_MAX = 6
GATHER_SECONDS = 10.0
"""How long a replay that the supervisor began waits for others: what ends one pipeline, such as a
record with an old timestamp, ends its neighbours a batch later, and one Java replays them all.
"""
HANDOVER_SECONDS_MAX = 5.0
"""How long the previous supervisor may take to end."""


@dataclass
class Child:
    """A worker process, and the generations that it runs."""

    process: "subprocess.Popen[bytes]"
    generations: Sequence[Generation]
    started: float = field(default_factory=time.monotonic)

    @property
    def names(self) -> frozenset[Name]:
        return frozenset(generation.name for generation in self.generations)


class Supervisor:
    """Keeps a worker running for every generation that should run."""

    def __init__(self, settings: Settings, pipelines: Sequence[str]) -> None:
        self._settings = settings
        self._pipelines = pipelines
        self._control = Control(settings)
        self._children: list[Child] = []
        self._failures: Counter[Name] = Counter()
        self._not_before: dict[Name, float] = {}
        self._irreplaceable: set[str] = set()
        """The pipelines whose replay was refused: another attempt would be, too."""

    def run(self) -> None:
        """Supervise until no generation can run. Raises UserError."""
        pause = Event()
        while wanted := self.find_wanted():
            self.reap(wanted)
            busy = {name for child in self._children for name in child.names}
            now = time.monotonic()
            missing = [
                generation
                for name, generation in wanted.items()
                if name not in busy and self._not_before.get(name, now) <= now
            ]
            for code, generations in group_by_code(self._settings, missing).items():
                self._children.append(spawn(self._settings, code, generations))
            pause.wait(LOOK_SECONDS)

    def terminate(self) -> None:
        """Terminate every worker, and wait until it has ended."""
        for child in self._children:
            child.process.terminate()
        for child in self._children:
            try:
                child.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                child.process.kill()

    def find_wanted(self) -> dict[Name, Generation]:
        """The generations that should run and can: a lost one has no code or no checkpoint.

        One that has ended is replaced by a replay.
        """
        running = self._list_running()
        looked = [(generation, find_end(self._settings, generation)) for generation in running]
        ended = [(generation, why) for generation, why in looked if why is not None]
        if ended:
            self._replace_ended(ended)
            running = self._list_running()
        busy = {name for child in self._children for name in child.names}
        left = {generation.name for generation, _ in ended}
        return {
            generation.name: generation
            for generation in running
            if generation.name not in left
            and (generation.name in busy or not is_lost(self._settings, generation))
        }

    def _list_running(self) -> Sequence[Generation]:
        by_pipeline = self._control.read()
        wanted = (by_pipeline[name] for name in self._pipelines if name in by_pipeline)
        return [generation for generations in wanted for generation in generations.running]

    def _replace_ended(self, ended: Sequence[tuple[Generation, str]]) -> None:
        """Replay what is promoted. A candidate is invalid, and gives way to another one."""
        for generation, why in ended:
            if generation.state in CANDIDATE:
                invalidate(self._settings, generation, why)
        for generation, _ in ended:
            if generation.state is State.PROMOTED:
                self._replace(generation.pipeline)

    def _replace(self, name: str) -> None:
        """Replay the pipeline, unless it is being replayed, or that was refused."""
        before = self._control.read().get(name)
        if before is None or before.candidate or name in self._irreplaceable:
            return
        try:
            generations = ensure_generation(self._settings, name)
        except UserError as error:
            self._irreplaceable.add(name)
            log.error("%s is not replayed by itself: %s", name, error)
            return
        self._gather(generation.name for generation in generations if generation.state in CANDIDATE)

    def _gather(self, begun: Iterable[Name]) -> None:
        """Let these replays and those that wait already begin together, a while from now."""
        now = time.monotonic()
        waiting = [name for name, moment in self._not_before.items() if moment > now]
        unfailed = [name for name in waiting if not self._failures[name]]
        self._not_before.update(dict.fromkeys([*unfailed, *begun], now + GATHER_SECONDS))

    def reap(self, wanted: dict[Name, Generation]) -> None:
        """Remove the workers that have ended and note their failures. Raises UserError."""
        for child in [child for child in self._children if child.process.poll() is not None]:
            self._children.remove(child)
            left = [wanted[name] for name in child.names if name in wanted]
            if left:
                self._note_failure(child, left)

    def _note_failure(self, child: Child, left: Sequence[Generation]) -> None:
        """Allow another attempt, a second later each time. FAILURES_MAX of them invalidate a
        generation; for a promoted one they raise UserError.
        """
        now = time.monotonic()
        names = sorted(generation.name for generation in left)
        steady = now - child.started >= STEADY_SECONDS
        for name in names:
            self._failures[name] = 1 if steady else self._failures[name] + 1
            self._not_before[name] = now + self._failures[name]
        log.error("the process of %s has ended: %s", names, child.process.returncode)
        failed = {name for name in names if self._failures[name] >= FAILURES_MAX}
        given_up = [generation for generation in left if generation.name in failed]
        if any(generation.state is State.PROMOTED for generation in given_up):
            listed = ", ".join(f"{pipeline} g{number}" for pipeline, number in names)
            raise UserError(
                f"{listed} ended {FAILURES_MAX} times in a row within {STEADY_SECONDS:g} s of its "
                "start. The reason is in its log: make logs COMPONENT=pipelines"
            )
        why = f"its process ended {FAILURES_MAX} times in a row"
        for generation in given_up:
            invalidate(self._settings, generation, why)


def locate_lock(settings: Settings, pipeline: str) -> Path:
    """The folder that the pipeline's supervisor keeps locked while it runs."""
    return locate_home(settings, pipeline) / "supervisor"


@contextmanager
def supervise(settings: Settings, pipelines: Iterable[str]) -> Iterator[None]:
    """Be the only supervisor of these pipelines in the block. Raises LockHeld."""
    with ExitStack() as locks:
        for name in pipelines:
            held = LockHeld("supervisor", f"run {name}")
            lock = lock_folder(locate_lock(settings, name), held, HANDOVER_SECONDS_MAX)
            locks.enter_context(lock)
        yield


def is_supervised(settings: Settings, pipeline: str) -> bool:
    return is_locked(locate_lock(settings, pipeline))


def spawn(settings: Settings, code: Path, generations: Sequence[Generation]) -> Child:
    """Start a worker that runs the generations from this copy of the code.

    This process holds the other end of the worker's input, so the worker ends when it does.
    """
    named = [f"{generation.pipeline}/{generation.number}" for generation in generations]
    command = [sys.executable, "-m", WORKER, *named]
    process = subprocess.Popen(
        command, cwd=code, env=build_environment(settings, code), stdin=subprocess.PIPE
    )
    return Child(process, generations)


def group_by_code(
    settings: Settings, running: Iterable[Generation]
) -> dict[Path, list[Generation]]:
    """The generations, by the copy of the code from which they can run."""
    groups: dict[Path, list[Generation]] = {}
    for generation in running:
        same = (
            code
            for code in groups
            if snapshot.compute_code_digest(code, generation.pipeline) == generation.code_digest
        )
        groups.setdefault(next(same, locate_code(settings, generation)), []).append(generation)
    return groups


def build_environment(settings: Settings, code: Path) -> dict[str, str]:
    """The environment of a process that runs this copy of the code."""
    return {
        **os.environ,
        "PYTHONPATH": str(code),
        NEWER_LOCK: str(find_newest_lock()),  # the copy's own lock file lacks newer schemas
        "DATA_DIR": str(settings.data_dir),
        "JARS_DIR": str(settings.jars_dir),
    }


def ensure_generation(settings: Settings, name: str) -> tuple[Generation, ...]:
    """The pipeline's generations. Creates one if none can continue.

    Readers keep the promoted one's rows until the new one, with as many state partitions, has
    caught up and takes its place. If the log no longer begins at zero, the new one begins in the
    archive, without asking. Raises as `find_prefix_ends`, `create_candidate` and `prune_generation`
    do.
    """
    generations = load_generations(settings, name)
    promoted = generations.promoted
    if promoted is not None and is_lost(settings, promoted) and generations.candidate is None:
        log.error("generation %d of %s cannot continue: it is replayed", promoted.number, name)
    elif generations.members:
        return generations.members
    for generation in generations.members:
        # Nobody can go back to it.
        if generation.state is State.RETIRED and is_lost(settings, generation):
            prune_generation(settings, generation)
    pipeline = load(name)
    create_candidate(
        settings,
        pipeline,
        locate_root(),
        find_prefix_ends(settings, pipeline, complete_source(settings, pipeline)),
        state_partitions=promoted.state_partitions if promoted else None,
    )
    return load_generations(settings, name).members
