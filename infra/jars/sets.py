"""The sets of jars in the lock files, one per program."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from infra.errors import UserError

Name = Literal["broker", "spark", "delta", "streams", "flink", "compiler"]
NAMES: tuple[Name, ...] = get_args(Name)

SPEC_FILE = "jgo.toml"
LOCK_FILE = "jgo.lock.toml"


@dataclass(frozen=True)
class Jar:
    """A file of a Maven repository, with its pinned content."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def repository_path(self) -> Path:
        """Its path in every Maven repository."""
        return Path(*self.group.split("."), self.artifact, self.version, self.file_name)

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"


@dataclass(frozen=True)
class JarSet:
    """The jars of one class path."""

    name: str
    jars: tuple[Jar, ...]


def get_jar_set(name: Name) -> JarSet:
    """The set of this name. Raises UserError."""
    return load(Path(__file__).parent / name)


def load(folder: Path) -> JarSet:
    """The set that the folder's lock file pins. Raises UserError."""
    lock = folder / LOCK_FILE
    jars = []
    for locked in tomllib.loads(lock.read_text())["dependencies"]:
        if "sha256" not in locked:
            raise UserError(
                f"{lock} names {locked['artifactId']} without a SHA-256. "
                "Lock it anew: python -m infra.jars.lock"
            )
        jars.append(
            Jar(locked["groupId"], locked["artifactId"], locked["version"], locked["sha256"])
        )
    return JarSet(folder.name, tuple(jars))
