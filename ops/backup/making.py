"""Making a backup of a running shop, and a shop of a backup."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from infra.clock import get_wall_ms
from infra.erasures import erase_again, locate_erasures, read_erasures
from infra.errors import UserError
from infra.identities import locate_lookup
from infra.scratch import lock_out_publishing
from infra.settings import Settings
from infra.supervisor import daemon
from infra.supervisor.parts import ENGINE, WORKER, find_parts, pause_process, refuse_elsewhere
from ops.backup.copying import Mirror, compute_digest
from ops.backup.manifest import Manifest, NoBackup, Position, read_manifest
from ops.generations.folders import locate_checkpoint
from ops.generations.record import Generation, read_promoted

PRIVATE = 0o700
UPDATES_RUNNING = 2
"""Updates of the copy while the shop runs. Each leaves less to copy during the pause."""
BROKER = "broker"
BELOW_OTHERS = frozenset({WORKER, ENGINE})


def make_backup(settings: Settings, target: Path) -> Manifest:
    """Copy the running shop at one moment, at which all of its processes are paused.

    The copy equals what kill -9 of all of them at that moment would leave behind.
    It waits until no load and no import publishes: their processes are none of the shop's. Raises
    NotLocal, StillPublishing, and UserError for a folder that is not empty, data that is elsewhere,
    or a process that ends meanwhile.
    """
    refuse_elsewhere(settings)
    _refuse_urls(settings)
    _refuse_full(target, "Name another folder.")
    if target.resolve().is_relative_to(settings.data_dir):
        raise UserError(
            f"The backup should lie outside {settings.data_dir}, or it would be lost with it. Name "
            "another folder."
        )
    promoted = read_promoted(settings)
    with create_private(), lock_out_publishing(settings.data_dir):
        return _make_backup(settings, target, promoted)


def _make_backup(settings: Settings, target: Path, promoted: Sequence[Generation]) -> Manifest:
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(PRIVATE)
    mirror = Mirror(settings.data_dir, target)
    for _ in range(UPDATES_RUNNING):
        mirror.update()
    with stand_still(settings):
        began, made_at_ms = time.monotonic(), get_wall_ms()
        mirror.update(last=True)
        pipelines = {
            generation.pipeline: locate_position(settings, generation) for generation in promoted
        }
        seconds = time.monotonic() - began
    copies = sorted(file for file in target.rglob("*") if file.is_file())
    manifest = Manifest(
        made_at_ms=made_at_ms,
        paused_seconds=round(seconds, 3),
        pipelines=pipelines,
        files={file.relative_to(target).as_posix(): compute_digest(file) for file in copies},
    )
    manifest.write(target)
    return manifest


@contextmanager
def create_private() -> Iterator[None]:
    """Let nobody else read or enter what this process creates in the block, from its birth on.

    A copied file has its own mode once it is whole.
    """
    before = os.umask(~PRIVATE & 0o777)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def stand_still(settings: Settings) -> Iterator[None]:
    """Pause every process of the shop until the block ends; raises UserError."""
    parts = find_parts(settings)
    with ExitStack() as stack:
        # The broker last: its log then holds every record that another part takes for acknowledged.
        for name in sorted(parts, key=lambda part: part == BROKER):
            if name not in BELOW_OTHERS:
                try:
                    _pause_tree(stack, parts[name])
                except psutil.NoSuchProcess as error:
                    raise UserError(
                        "Every process of the shop should stand still for a backup, but one "
                        "has ended meanwhile. Look: make status · then make a backup in another "
                        "folder."
                    ) from error
        yield


def _pause_tree(stack: ExitStack, pid: int) -> None:
    """Pause the process, then its children: it starts no others meanwhile."""
    stack.enter_context(pause_process(pid))
    for child in psutil.Process(pid).children():
        with suppress(psutil.NoSuchProcess):
            _pause_tree(stack, child.pid)


def locate_position(settings: Settings, generation: Generation) -> Position:
    """The position of its promoted generation, by its checkpoint."""
    checkpoint = locate_checkpoint(settings, generation)
    read = sum(checkpoint.read_committed().values())
    return Position(generation.number, checkpoint.find_newest_finished(), read)


@dataclass(frozen=True)
class Restored:
    """A data folder that was made of a backup."""

    manifest: Manifest
    erased: int | None
    """The number of customers that were erased again; None: there is no list of erasures, or no
    lookup."""
    knows: bool
    """Whether the folder has a lookup, which may know whom its shop has forgotten since."""


def restore(source: Path, settings: Settings, erasures: Path | None = None) -> Restored:
    """Make the data folder of the backup; `make up` then goes on where it was made.

    Whoever is in the list of erasures is erased again. Without a name, it is the list beside the
    data folder. The folder appears complete or not at all. Raises UserError, and
    FileNotFoundError for a list that is named.
    """
    manifest = read_manifest(source)
    manifest.refuse_elsewhere(source)
    home = settings.data_dir
    listed = erasures or locate_erasures(home)
    to_erase = read_erasures(listed) if erasures or listed.exists() else None
    if daemon.find_running(home) is not None:
        raise UserError(f"A shop runs on {home}. Name another folder in DATA_DIR.")
    _refuse_full(home, "Forget what it holds: make reset · or name another one in DATA_DIR.")
    draft = home.with_name(f"{home.name}.restoring")
    shutil.rmtree(draft, ignore_errors=True)
    with create_private():
        try:
            _copy_back(source, draft, manifest)
            knows = locate_lookup(draft).exists()
            erased = erase_again(draft, to_erase) if knows and to_erase is not None else None
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        if home.exists():
            home.rmdir()
        draft.rename(home)
    return Restored(manifest, erased, knows)


def _copy_back(source: Path, draft: Path, manifest: Manifest) -> None:
    """Copy every file of the backup, and check it. Raises NoBackup."""
    draft.mkdir(parents=True)
    for name, expected in manifest.files.items():
        target = draft / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target)
        shutil.copymode(source / name, target)
        if compute_digest(target) != expected:
            raise NoBackup(source, f"{name} is not as it was written")


def _refuse_urls(settings: Settings) -> None:
    if settings.store_url is not None:
        raise UserError(
            "A backup copies the data folder at one moment, but a part of this shop's data is "
            f"elsewhere: STORE_URL={settings.store_url}."
        )


def _refuse_full(folder: Path, remedy: str) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} should be empty, or not be there, but holds files. {remedy}")
