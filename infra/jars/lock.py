"""Lock the jars anew: resolve the dependencies in the jgo.toml files and pin them by checksum."""

import re
from pathlib import Path

import pyspark
from jgo.env import EnvironmentBuilder, EnvironmentSpec, LockFile

# The lock format's staleness mark, which no public module of jgo exports.
from jgo.env._lockfile import compute_spec_hash
from jgo.maven import MavenContext

from infra.jars.sets import LOCK_FILE, NAMES, SPEC_FILE

BESIDE_SPARK = ("spark", "delta")
"""The sets that share a class path with Spark's own jars."""


def main() -> None:
    for name in NAMES:
        folder = Path(__file__).parent / name
        jars = lock(folder, without=list_shipped() if name in BESIDE_SPARK else frozenset())
        print(f"{folder / LOCK_FILE}: {jars} jars")


def lock(folder: Path, without: frozenset[str]) -> int:
    """Write the folder's lock file without the named artifacts. Returns its number of jars."""
    spec = EnvironmentSpec.load(folder / SPEC_FILE)
    context = MavenContext()
    asked = EnvironmentBuilder(context=context).spec_to_dependencies(spec)
    roots, others = context.resolver.resolve(asked)
    needed = [*roots, *(each for each in others if each.scope in ("compile", "runtime"))]
    kept = [each for each in needed if each.artifactId not in without]
    LockFile.from_resolved_dependencies(
        kept, environment_name=spec.name, spec_hash=compute_spec_hash(folder / SPEC_FILE)
    ).save(folder / LOCK_FILE)
    return len(kept)


def list_shipped() -> frozenset[str]:
    """The names of the artifacts that PySpark ships."""
    jars = Path(pyspark.__file__).parent / "jars"
    return frozenset(re.sub(r"-\d.*", "", jar.name) for jar in jars.glob("*.jar"))


if __name__ == "__main__":
    main()
