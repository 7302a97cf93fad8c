"""The source of jars: this machine's Maven cache, else a Maven repository."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext

from infra.jars.fetch import NotObtained
from infra.jars.sets import Jar

REQUEST_SECONDS_MAX = 30


def locate_cached(jar: Jar) -> Path:
    """The jar's path in the Maven cache, where other builds may have put it."""
    return GlobalSettings.load().repo_cache / jar.repository_path


def download(jar: Jar, folder: Path) -> Path:
    """Download the jar to a path under the folder. Raises NotObtained."""
    context = MavenContext(
        repo_cache=folder,
        local_repos=[],
        remote_repos={"central": MAVEN_CENTRAL_URL, **GlobalSettings.load().repositories},
        timeout=REQUEST_SECONDS_MAX,
    )
    artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact()
    try:
        return artifact.resolve()
    except (OSError, RuntimeError) as error:  # the network, or no repository has it
        raise NotObtained(f"{type(error).__name__}: {error}") from error


def keep(jar: Jar, file: Path) -> None:
    """Put a verified jar into the Maven cache, whole or not at all, for the next build."""
    home = locate_cached(jar)
    # The build goes on without a writable cache.
    with contextlib.suppress(OSError):
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=home.parent, delete=False) as draft:
            shutil.copyfile(file, draft.name)
        os.replace(draft.name, home)
