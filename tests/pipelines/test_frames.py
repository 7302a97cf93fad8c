"""A public function that returns a frame says in its docstring which columns the frame has."""

from pathlib import Path

import pytest

from infra.settings import locate_root
from tests.frames import find_all, find_silent


def test_every_function_that_returns_a_frame_names_its_columns() -> None:
    assert list(find_all(locate_root() / "pipelines")) == []


@pytest.mark.parametrize(
    ("docstring", "functions"),
    [
        ("", [(1, "rows")]),
        ("All that there is.", [(1, "rows")]),
        ("A row per `sku`.", []),
        ("Rows with COLUMNS.", []),
        ("Rows with the columns of the view.", []),
    ],
)
def test_a_function_that_says_nothing_of_columns_is_found(
    docstring: str, functions: list[tuple[int, str]]
) -> None:
    body = f'    """{docstring}"""' if docstring else "    return frame"
    assert list(find_silent(f"def rows() -> DataFrame:\n{body}\n")) == functions


@pytest.mark.parametrize("written", ["DataFrame", '"DataFrame"', "sql.DataFrame"])
def test_a_frame_is_one_however_its_type_is_written(written: str) -> None:
    assert list(find_silent(f"def rows() -> {written}: ...\n")) == [(1, "rows")]


def test_a_silent_function_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "transform.py"
    file.write_text("import os\n\n\ndef rows() -> DataFrame: ...\n")
    [line] = find_all(tmp_path)
    assert line.startswith(f"{file}:4: rows should say")
