"""A public function that returns a frame says in its docstring which columns the frame has.

`python -m tests.frames`, a part of `make check`, names those that do not.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from infra.settings import locate_root

COLUMNS = re.compile(r"`\w+`|\bcolumns?\b|\bfields\b|\b[A-Z]{4,}\b")
"""A column by its name, all of them in words, or the constant that lists them."""


def find_silent(source: str) -> Iterator[tuple[int, str]]:
    """The line and the name of each public function that returns a frame and is silent on its
    columns.
    """
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and node.returns is not None
            and ast.unparse(node.returns).strip("'\"").rpartition(".")[2] == "DataFrame"
            and not COLUMNS.search(ast.get_docstring(node) or "")
        ):
            yield node.lineno, node.name


def find_all(folder: Path) -> Iterator[str]:
    """Those of all files below the folder, as a person is told of them."""
    for file in sorted(folder.rglob("*.py")):
        for line, name in find_silent(file.read_text(encoding="utf-8")):
            yield (
                f"{file}:{line}: {name} should say in its docstring which columns its frame has. "
                "Name one in backquotes, or say `columns`, or name the constant that lists them."
            )


if __name__ == "__main__":
    if silent := list(find_all(locate_root() / "pipelines")):
        sys.exit("\n".join(silent))
