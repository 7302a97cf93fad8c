"""Fetches a set of jars into its folder: every one verified, or no folder at all.

A jar comes from this machine's Maven cache, else from a Maven repository. Maven's client is
imported only for that: it takes a fifth of a second, and mostly all jars are there.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from infra.errors import UserError
from infra.jars.sets import Jar, JarSet

DOWNLOADS_AT_ONCE_MAX = 6
ATTEMPTS_MAX = 3
REQUEST_SECONDS_MAX = 30


Progress = Callable[[int, int], object]


def fetch(
    jar_set: JarSet, folder: Path, progress: Progress = lambda done, total: None
) -> list[Path]:
    """The paths of the set's jars under the folder; fetches the set if a jar is missing or damaged.

    Raises UserError, and then leaves the folder untouched.
    """
    target = folder / jar_set.name
    if not is_whole(jar_set, target):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)  # until this process closes the file, or ends
            if not is_whole(jar_set, target):  # another process may have fetched it meanwhile
                replace(jar_set, target, progress)
    return [target / jar.file_name for jar in jar_set.jars]


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


def replace(jar_set: JarSet, target: Path, progress: Progress) -> None:
    """Build the folder in a scratch folder, then move it into place in one step."""
    draft_prefix = f".{jar_set.name}-"
    for abandoned in target.parent.glob(draft_prefix + "*"):
        shutil.rmtree(abandoned)
    with tempfile.TemporaryDirectory(prefix=draft_prefix, dir=target.parent) as scratch:
        draft = Path(scratch) / "jars"
        draft.mkdir()
        with ThreadPoolExecutor(DOWNLOADS_AT_ONCE_MAX) as pool:
            for done, _ in enumerate(pool.map(partial(obtain, draft=draft), jar_set.jars)):
                progress(done + 1, len(jar_set.jars))
        if target.exists():
            target.rename(Path(scratch) / "old")
        draft.rename(target)


def obtain(jar: Jar, draft: Path) -> None:
    """Put the jar into the draft folder, from the cache if its content is right."""
    place, reason = draft / jar.file_name, ""
    for attempt in range(ATTEMPTS_MAX):
        try:
            if is_genuine(jar, locate_cached(jar)):
                shutil.copyfile(locate_cached(jar), place)
            else:
                scratch = draft.parent / f"{jar.file_name}.{attempt}"
                shutil.move(download(jar, scratch), place)
            if is_genuine(jar, place):
                keep(jar, place)
                return
            reason = f"expected SHA-256 {jar.sha256}, found {compute_digest(place)}"
        except (OSError, RuntimeError) as error:  # the network, the disk, or no repository has it
            reason = f"{type(error).__name__}: {error}"
    raise UserError(
        f"The jar {jar} could not be fetched: {reason}\n"
        "Nothing half-written is kept. Check the network (a mirror is named in "
        "~/.config/jgo.conf, section [repositories]), then run the same command again."
    )


def locate_cached(jar: Jar) -> Path:
    """The jar's path in the Maven cache, where other builds may have put it."""
    from jgo.config import GlobalSettings

    return GlobalSettings.load().repo_cache / jar.repository_path


def download(jar: Jar, folder: Path) -> Path:
    """Download the jar to a path under the folder. Raises OSError and RuntimeError."""
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext

    context = MavenContext(
        repo_cache=folder,
        local_repos=[],
        remote_repos={"central": MAVEN_CENTRAL_URL, **GlobalSettings.load().repositories},
        timeout=REQUEST_SECONDS_MAX,
    )
    return context.project(jar.group, jar.artifact).at_version(jar.version).artifact().resolve()


def keep(jar: Jar, file: Path) -> None:
    """Put a verified jar into the Maven cache, whole or not at all, for the next build."""
    home = locate_cached(jar)
    if is_genuine(jar, home):
        return
    # The build goes on without a writable cache.
    with contextlib.suppress(OSError):
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=home.parent, delete=False) as draft:
            shutil.copyfile(file, draft.name)
        os.replace(draft.name, home)
