"""What `make check` says of public functions that return frames."""

from pathlib import Path

import pytest

from tests.frames import find_all


@pytest.mark.parametrize(
    ("returns", "docstring", "silent"),
    [
        ("DataFrame", "", True),
        ("DataFrame", "All that there is.", True),
        ('"DataFrame"', "", True),
        ("sql.DataFrame", "", True),
        ("DataFrame", "A row per `sku`.", False),
        ("DataFrame", "Rows with COLUMNS.", False),
        ("DataFrame", "Rows with the columns of the view.", False),
    ],
)
def test_a_function_that_says_nothing_of_columns_is_named_with_its_place(
    tmp_path: Path, returns: str, docstring: str, silent: bool
) -> None:
    file = tmp_path / "transform.py"
    file.write_text(f'import os\n\n\ndef rows() -> {returns}:\n    """{docstring}"""\n')
    said = list(find_all(tmp_path))
    assert [line.startswith(f"{file}:4: rows should say") for line in said] == [True] * silent
