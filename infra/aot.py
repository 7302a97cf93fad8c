"""Java's ahead-of-time caches: classes that a training run has loaded, linked and profiled.

With a cache Java starts in half the time: it finds classes loaded and linked, and knows which
methods to compile (JEP 483, 514 and 515). A cache belongs to one Java and one class path. With
another one, Java starts as if there were no cache.
"""

import hashlib
import os
from pathlib import Path

from infra import java

RECORD = "RETAIL_AOT_RECORD"
"""The variable that, in a training run, names the folder for the caches."""

QUIET = "-Xlog:aot*=off"
"""Java does not log that a cache does not fit: it starts without it, only slower."""


def build_options(jars_dir: Path, role: str, class_path: str) -> list[str]:
    """Java's options to use the role's cache, or to write it in a training run; else none."""
    if recording := os.environ.get(RECORD):
        return [
            f"-XX:AOTCacheOutput={Path(recording) / locate_cache(jars_dir, role, class_path).name}"
        ]
    file = locate_cache(jars_dir, role, class_path)
    return [f"-XX:AOTCache={file}", QUIET] if file.exists() else []


def locate_cache(jars_dir: Path, role: str, class_path: str) -> Path:
    """The file of the role's cache, which may not exist.

    The name differs by Java, class path, and the dates of its files.
    """
    made_of = "\0".join(
        [str(java.locate_java()), java.VERSION, *map(read_date, class_path.split(os.pathsep))]
    )
    return jars_dir / "aot" / f"{role}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.aot"


def read_date(path: str) -> str:
    return f"{path} {Path(path).stat().st_mtime_ns}"
