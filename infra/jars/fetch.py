"""Fetches a set of jars into its folder: every one verified, or no folder at all."""

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Protocol

from infra.errors import UserError
from infra.jars.sets import Jar, JarSet

DOWNLOADS_AT_ONCE_MAX = 6
ATTEMPTS_MAX = 3

Progress = Callable[[int, int], None]


class NotObtained(Exception):
    """The source did not provide a jar."""


class Source(Protocol):
    """A source of jars."""

    def locate_cached(self, jar: Jar) -> Path: ...

    def download(self, jar: Jar, folder: Path) -> Path:
        """Download the jar to a path under the folder. Raises NotObtained."""

    def keep(self, jar: Jar, file: Path) -> None: ...


def ignore_progress(done: int, total: int) -> None:
    """Show no progress."""


def fetch(
    jar_set: JarSet,
    folder: Path,
    progress: Progress = ignore_progress,
    source: Source | None = None,
) -> list[Path]:
    """The paths of the set's jars under the folder; fetches the set if a jar is missing or damaged.

    `source`: None: Maven.
    Raises UserError, and then leaves the folder untouched.
    """
    target = folder / jar_set.name
    if not is_whole(jar_set, target):
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            if not is_whole(jar_set, target):  # another process may have fetched it meanwhile
                replace(jar_set, target, progress, source or import_maven())
    return [target / jar.file_name for jar in jar_set.jars]


def import_maven() -> Source:
    """Maven as a source. Its client takes a fifth of a second, and mostly all jars are there."""
    from infra.jars import maven

    return maven


def is_whole(jar_set: JarSet, target: Path) -> bool:
    """Whether the folder holds exactly the set, each jar with the pinned content."""
    if not target.is_dir():
        return False
    names = {jar.file_name for jar in jar_set.jars}
    found = {file.name for file in target.iterdir()}
    return names == found and all(is_genuine(jar, target / jar.file_name) for jar in jar_set.jars)


def is_genuine(jar: Jar, file: Path) -> bool:
    return compute_digest(file) == jar.sha256


def compute_digest(file: Path) -> str:
    """SHA-256 of the file; empty if there is none."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return ""


def replace(jar_set: JarSet, target: Path, progress: Progress, source: Source) -> None:
    """Build the folder in a scratch folder, then move it into place in one step."""
    draft_prefix = f".{jar_set.name}-"
    for abandoned in target.parent.glob(draft_prefix + "*"):
        shutil.rmtree(abandoned)
    with tempfile.TemporaryDirectory(prefix=draft_prefix, dir=target.parent) as scratch:
        draft = Path(scratch) / "jars"
        draft.mkdir()
        collect(jar_set, draft, progress, source)
        if target.exists():
            target.rename(Path(scratch) / "old")
        draft.rename(target)


def collect(jar_set: JarSet, draft: Path, progress: Progress, source: Source) -> None:
    total = len(jar_set.jars)
    progress(0, total)
    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE_MAX) as pool:
        work = [pool.submit(obtain, jar, draft, source) for jar in jar_set.jars]
        try:
            for done, finished in enumerate(as_completed(work), start=1):
                finished.result()
                progress(done, total)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def obtain(jar: Jar, draft: Path, source: Source) -> None:
    """Put the jar into the draft folder, from the cache if its content is right."""
    reason = ""
    for attempt in range(ATTEMPTS_MAX):
        try:
            reason = try_source(jar, draft, source, draft.parent / f"{jar.file_name}.{attempt}")
        except (NotObtained, OSError) as error:
            reason = str(error)
        if not reason:
            return
    raise UserError(
        f"The jar {jar} could not be fetched: {reason}\n"
        "Nothing half-written is kept. Check the network (a mirror is named in "
        "~/.config/jgo.conf, section [repositories]), then run the same command again."
    )


def try_source(jar: Jar, draft: Path, source: Source, scratch: Path) -> str:
    """Try once. Returns the fault of the download; empty if there is none."""
    place = draft / jar.file_name
    cached = source.locate_cached(jar)
    if is_genuine(jar, cached):
        shutil.copyfile(cached, place)
    else:
        shutil.move(source.download(jar, scratch), place)
        if is_genuine(jar, place):
            source.keep(jar, place)
    return (
        ""
        if is_genuine(jar, place)
        else f"expected SHA-256 {jar.sha256}, found {compute_digest(place)}"
    )


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let one process at a time change the folder; the kernel releases the lock when it ends."""
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
