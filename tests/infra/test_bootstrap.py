import ast
from pathlib import Path

from infra import bootstrap


def test_an_old_python_can_parse_it() -> None:
    for file in (bootstrap.__file__, Path(bootstrap.__file__).with_name("__init__.py")):
        ast.parse(Path(file).read_text(), feature_version=(3, 4))


def test_an_old_python_is_told_what_is_needed_and_what_to_do() -> None:
    message = bootstrap.explain_old_python((3, 9, 2), "/usr/bin/python3")
    assert "3.11 or newer is needed" in message
    assert "/usr/bin/python3 is 3.9.2" in message
    assert "make up PYTHON=python3.11" in message
