"""pip, which every Python has or brings: it fetches the installer and lists its own settings."""

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

from infra.installer import Broken

TAIL_LINES = 12


def build_command(scratch: Path) -> list[str]:
    """The command of pip: this Python's own, else the one that it brings, in the scratch folder.

    Raises Broken if Python brings none.
    """
    python = Path(sys.executable)
    if importlib.util.find_spec("pip") is None:
        check_modules()
        python = scratch / "pip" / "bin" / "python"
        if not python.exists():
            venv.EnvBuilder(with_pip=True, symlinks=True).create(scratch / "pip")
    return [str(python), "-m", "pip"]


def check_modules() -> None:
    """Raise Broken if Python lacks ensurepip: Debian and Ubuntu ship it without that and pip."""
    try:
        import ensurepip  # noqa: F401
    except ImportError as error:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise Broken(
            f"Python {version} ({sys.executable}) cannot install anything: "
            "it has no pip, and its module ensurepip is missing.\n"
            f"Install it: sudo apt-get install python{version}-venv"
        ) from error


def run(words: list[str], scratch: Path) -> str:
    """The output of pip. Raises Broken with its end if pip fails."""
    # It installs nothing, so it may run outside an environment despite PIP_REQUIRE_VIRTUALENV.
    environment = {**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"}
    done = subprocess.run(
        [*build_command(scratch), *words, "--disable-pip-version-check", "--no-input"],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise explain_failure("pip", (done.stdout + done.stderr).splitlines()[-TAIL_LINES:])
    return done.stdout


def explain_failure(who: str, tail: list[str]) -> Broken:
    """The message for an installation that failed."""
    return Broken(
        f"The environment could not be installed: {who} says\n  "
        + "\n  ".join(tail)
        + "\nNothing half-made is used. Check the network, then run the same command again."
    )
