"""The Java that the broker and Spark run on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from infra.errors import Trouble

JAVA_MIN = 17
ANSWER_SECONDS_MAX = 20
INSTALL = (
    "sudo apt-get install openjdk-17-jre-headless (Debian, Ubuntu), "
    "sudo dnf install java-21-openjdk-headless (Fedora), brew install openjdk@17 (macOS)"
)


class NoJava(Trouble):
    """No Java is installed, or none that can be found."""

    def __init__(self) -> None:
        super().__init__(
            f"Java {JAVA_MIN} or newer is needed, none was found in JAVA_HOME or PATH. "
            f"Install it: {INSTALL}"
        )


def java() -> Path:
    """The java command, looked up as Spark does; raises NoJava."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if found is None:
        raise NoJava
    return Path(found)


def major(command: Path) -> int:
    """The major version that the command reports; 0 if it reports none."""
    try:
        answer = subprocess.run(
            [command, "-version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return parsed(answer.stderr)


def parsed(banner: str) -> int:
    """The major version in Java's banner: 17 for "17.0.15", 8 for "1.8.0_392"."""
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found.group(1)) if found else 0
