"""A public function that returns a frame says in its docstring which columns the frame has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.settings import root

FILES = sorted((root() / "pipelines").rglob("*.py"))
COLUMNS = re.compile(r"`\w+`|\bcolumns?\b|\bfields\b|\b[A-Z]{4,}\b")
"""A column by its name, all of them in words, or the constant that lists them."""


def find_silent(source: str) -> Iterator[str]:
    """The public functions that return a frame and say nothing of its columns."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and node.returns is not None
            and ast.unparse(node.returns) == "DataFrame"
            and not COLUMNS.search(ast.get_docstring(node) or "")
        ):
            yield node.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(root())))
def test_a_function_that_returns_a_frame_names_its_columns(file: Path) -> None:
    assert list(find_silent(file.read_text())) == []


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("", ["rows"]),
        ("All that there is.", ["rows"]),
        ("A row per `sku`.", []),
        ("Rows with COLUMNS.", []),
        ("Rows with the columns of the view.", []),
    ],
)
def test_a_function_that_says_nothing_of_columns_is_found(docstring: str, found: list[str]) -> None:
    body = f'    """{docstring}"""' if docstring else "    return frame"
    assert list(find_silent(f"def rows() -> DataFrame:\n{body}\n")) == found
