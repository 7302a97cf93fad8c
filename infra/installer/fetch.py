"""Fetch the installer that its lock pins: whole, or not at all."""

import hashlib
import os
import zipfile
from pathlib import Path

from infra.installer import ROOT, pip
from infra.installer.progress import show_progress

LOCK = ROOT / "infra/requirements/installer.lock"
BINARY = ".data/scripts/uv"  # where a wheel keeps a program


def fetch(folder: Path, scratch: Path) -> Path:
    """The pinned uv under the folder, downloaded if it is not there. Raises Broken.

    The scratch folder is on the same disk, so that one rename puts the program into place.
    """
    place = folder / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12] / "uv"
    if not place.exists():
        show_progress("downloading the installer")
        program = unpack(download(scratch), scratch)
        place.parent.mkdir(exist_ok=True)
        os.replace(program, place)
    return place


def download(scratch: Path) -> Path:
    """The wheel for this machine, verified by pip."""
    to = scratch / "wheel"
    which = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(LOCK)]
    pip.run(["download", "--quiet", "--dest", str(to), *which], scratch)
    (wheel,) = to.iterdir()
    return wheel


def unpack(wheel: Path, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (one for one in packed.namelist() if one.endswith(BINARY))
        program = Path(packed.extract(name, scratch))
    program.chmod(0o755)
    return program
