"""Java's ahead-of-time caches: what a training run has loaded, linked and profiled.

With one Java starts in half the time, since it need not look for a class, link it or find out which
methods are worth compiling (JEP 483, 514 and 515). A cache holds for one Java and one class path;
with another, Java starts as if there were none.
"""

import hashlib
import os
from pathlib import Path

from infra import java

RECORD = "RETAIL_AOT_RECORD"
"""The environment variable that says, in a training run, into which folder caches are written."""

QUIET = "-Xlog:aot*=off"
"""Without a word where a cache does not fit: Java starts, only slower."""


def options(jars_dir: Path, role: str, class_path: str) -> list[str]:
    """Java's options: use the role's cache, write it, or none where there is no cache."""
    if recording := os.environ.get(RECORD):
        return [f"-XX:AOTCacheOutput={Path(recording) / cache(jars_dir, role, class_path).name}"]
    file = cache(jars_dir, role, class_path)
    return [f"-XX:AOTCache={file}", QUIET] if file.exists() else []


def cache(jars_dir: Path, role: str, class_path: str) -> Path:
    """The file of the role's cache, whether it is there or not.

    Another Java, another class path, or other files under the same names: another cache.
    """
    made_of = "\0".join(
        [str(java.java()), java.VERSION, *map(read_date, class_path.split(os.pathsep))]
    )
    return jars_dir / "aot" / f"{role}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.aot"


def read_date(path: str) -> str:
    return f"{path} {Path(path).stat().st_mtime_ns}"
