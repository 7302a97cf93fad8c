"""Run the pinned uv with this machine's package index: `python -m infra.installer WORDS`."""

import subprocess
import sys

from infra.environment import INSTALLER
from infra.installer import Broken
from infra.installer.install import ensure_installer


def main(words: list[str]) -> int:
    """The exit code of uv."""
    uv = ensure_installer(INSTALLER)
    return subprocess.run(uv.command(*words), env=uv.environment(), check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Broken as broken:
        sys.exit(str(broken))
