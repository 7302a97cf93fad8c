"""A guide, as a reader follows it: block by block, in a folder of their own."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from infra.processes import build_environment
from infra.settings import Settings, locate_root
from ops.cli.experiments import localize

README = locate_root() / "README.md"
GUIDE = locate_root() / "services" / "api" / "README.md"
"""For clients that write."""
FENCED = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 600


class Reader:
    """A user with a terminal, a Python of their own, and `retail` on the path."""

    def __init__(self, shop: Settings, folder: Path, code: Path | None = None) -> None:
        """Code: the copy of the project that `retail` is of."""
        self._folder = folder
        self._shop = shop
        self._environment = {
            "PATH": f"{install_commands(shop, folder, code)}:{os.environ['PATH']}",
            "HOME": str(folder),
        }
        if shop.secure:
            self.shell("retail security token curl operator my-curl")
            self._environment["CURL_HOME"] = str(folder / "my-curl")

    def shell(self, block: str) -> str:
        return self._run(["bash", "-euo", "pipefail", "-c", localize(self._shop, block)])

    def python(self, block: str) -> str:
        script = self._folder / "sell.py"
        script.write_text(localize(self._shop, block))
        return self._run([sys.executable, str(script)])

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def install_commands(shop: Settings, folder: Path, code: Path | None) -> Path:
    """A folder with `retail` in it, which alone knows where the project is."""
    made = folder / "bin"
    made.mkdir()
    own = {"PYTHONPATH", *(name.upper() for name in Settings.model_fields)}
    variables = build_environment(shop, code).items()
    lines = [f"export {name}='{value}'" for name, value in variables if name in own]
    start = f"exec '{sys.executable}' -m ops.cli.main \"$@\""
    (made / "retail").write_text("\n".join(["#!/bin/sh", *lines, start, ""]))
    (made / "retail").chmod(0o755)
    return made


def read_blocks(guide: Path = GUIDE) -> Mapping[str, list[str]]:
    """The guide's blocks of code, by language; as far to the left as their fences stand."""
    blocks: dict[str, list[str]] = {}
    for language, block in FENCED.findall(guide.read_text()):
        blocks.setdefault(language, []).append(dedent(block))
    return blocks


def read_client(shop: Settings) -> str:
    """The guide's client of one's own; in a secure shop with the guide's lines for such a one."""
    blocks = read_blocks()
    [client], [lines] = blocks["python"], blocks["py"]
    if not shop.secure:
        return client
    begins = ("API, KAFKA = ", "REGISTRY = ")
    addresses = [line for line in client.splitlines(keepends=True) if line.startswith(begins)]
    assert len(addresses) == len(begins)
    folder = 'Path("data")'
    assert folder in lines
    return client.replace(
        "".join(addresses), lines.replace(folder, f"Path({str(shop.data_dir)!r})")
    )


def find_imports(script: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}
