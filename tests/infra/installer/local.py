"""An index of one's own: a wheel or two in a folder or behind HTTP, and pip set up for it alone."""

import base64
import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


def forget_settings(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Hide the settings of pip and uv in the environment, and use caches of the test's own."""
    for name in os.environ:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # of the files, pip reads none then
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "cache"))


def write_wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A package of version 1, which any Python takes."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-1.dist-info"
    members = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{hash_file(text)},{len(text)}\n" for path, text in members.items())
    file = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as packed:
        for path, text in {**members, f"{about}/RECORD": f"{record}{about}/RECORD,,\n"}.items():
            packed.writestr(path, text)
    return file


def hash_file(text: str) -> str:
    raw = hashlib.sha256(text.encode()).digest()
    return f"sha256={base64.urlsafe_b64encode(raw).rstrip(b'=').decode()}"


def write_lock(file: Path, *wheels: Path, sha256: str = "") -> Path:
    """A lock file that pins the wheels by their hashes, or by another one."""
    lines = []
    for one in wheels:
        pinned = sha256 or hashlib.sha256(one.read_bytes()).hexdigest()
        lines.append(f"{one.name.split('-')[0]}==1 \\\n    --hash=sha256:{pinned}\n")
    file.write_text("".join(lines))
    return file


class Served(SimpleHTTPRequestHandler):
    """Answers with files, and keeps what it was asked for."""

    def __init__(self, asked: list[str], *arguments: Any, **named: Any) -> None:
        self.asked = asked
        super().__init__(*arguments, **named)

    def log_message(self, *arguments: Any) -> None:
        self.asked.append(self.path)


@contextmanager
def serving(folder: Path, *wheels: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of an index of wheels under the folder, and what it was asked for so far."""
    for one in wheels:
        page = folder / "simple" / one.name.split("-")[0] / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<a href="/{one.relative_to(folder)}">{one.name}</a>')
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Served, asked, directory=str(folder)))
    threading.Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple", asked
    finally:
        server.shutdown()
        server.server_close()
