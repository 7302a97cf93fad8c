"""The bill of materials in CycloneDX: every Python package, jar and script, from the lock files.

`python -m infra.sbom` prints it. The hashes of a Python package, one per wheel, are in the lock
file that its component names. The jars that PySpark ships are part of its package.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from infra.jars.sets import NAMES, get_jar_set
from infra.settings import locate_root

VERSION = SchemaVersion.V1_6
LOCK_FILES = (
    "infra/requirements/retail.lock",
    "infra/requirements/installer.lock",
    "infra/requirements/linter.lock",
    "infra/requirements/flink.lock",
)
SCRIPTS = "services/api/pages"
"""The folder of the scripts that browsers load: this project's own, and those of others."""
PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
LOCKED_IN, SET = "retail:locked-in", "retail:jars"


def render() -> str:
    """The bill of materials as JSON."""
    return make_outputter(describe(), OutputFormat.JSON, VERSION).output_as_string(indent=1)


def describe() -> Bom:
    """The bill of the project, with every component that it locks or ships."""
    project = tomllib.loads((locate_root() / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    bom = Bom(components=(*list_packages(), *list_jars(), *list_scripts()))
    bom.metadata.component = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.APPLICATION,
        bom_ref=project["name"],
        description=project["description"],
    )
    bom.register_dependency(bom.metadata.component, bom.components)
    return bom


def list_packages() -> Iterator[Component]:
    """Every Python package, once per version."""
    places: dict[tuple[str, str], list[str]] = {}
    for lock in LOCK_FILES:
        for name, version in PINNED.findall((locate_root() / lock).read_text(encoding="utf-8")):
            places.setdefault((name, version), []).append(lock)
    for (name, version), locks in places.items():
        url = PackageURL("pypi", name=name, version=version)
        yield Component(
            name=name,
            version=version,
            type=ComponentType.LIBRARY,
            purl=url,
            bom_ref=url.to_string(),
            properties=[Property(name=LOCKED_IN, value=lock) for lock in locks],
        )


def list_jars() -> Iterator[Component]:
    """Every pinned jar, with its class paths."""
    sets: dict[str, list[str]] = {}
    jars = {str(jar): jar for name in NAMES for jar in get_jar_set(name).jars}
    for name in NAMES:
        for jar in get_jar_set(name).jars:
            sets.setdefault(str(jar), []).append(name)
    for key, jar in jars.items():
        url = PackageURL("maven", jar.group, jar.artifact, jar.version)
        yield Component(
            group=jar.group,
            name=jar.artifact,
            version=jar.version,
            type=ComponentType.LIBRARY,
            purl=url,
            bom_ref=url.to_string(),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=jar.sha256)],
            properties=[Property(name=SET, value=name) for name in sets[key]],
        )


def list_scripts() -> Iterator[Component]:
    """Every script of the pages."""
    for file in sorted((locate_root() / SCRIPTS).rglob("*.js")):
        path = file.relative_to(locate_root()).as_posix()
        yield Component(
            name=path,
            type=ComponentType.FILE,
            bom_ref=path,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_compute_digest(file))],
        )


def _compute_digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    print(render())
