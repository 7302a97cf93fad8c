"""The classes of Java that Spark is given."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.errors import UserError
from infra.jars.compiler import compile_classes
from infra.settings import Settings
from pipelines.engine.compiled import FUNCTIONS, ensure_class_jar
from pipelines.engine.tuning.options import LEAN_PLAN, STATE_STORE

pytestmark = [pytest.mark.thorough, pytest.mark.spark]


def test_every_class_is_compiled_once(tmp_path: Path) -> None:
    settings = Settings(jars_dir=tmp_path)
    jar = ensure_class_jar(settings)
    made = jar.stat().st_mtime_ns
    names = {name.removesuffix(".class").replace("/", ".") for name in ZipFile(jar).namelist()}
    assert {FUNCTIONS, LEAN_PLAN, STATE_STORE} <= names
    assert ensure_class_jar(settings) == jar
    assert jar.stat().st_mtime_ns == made


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("int sum = one + 1;", "one cannot be resolved"),
        ("java.util.List items = null;", "List is a raw type"),
    ],
)
def test_an_error_says_where_it_is_and_what_to_do(tmp_path: Path, line: str, message: str) -> None:
    source = tmp_path / "sources" / "Sum.java"
    source.parent.mkdir()
    source.write_text("class Sum {\n    {\n        " + line + "\n    }\n}\n")
    with pytest.raises(UserError, match=rf"{source}:3: .*{message}(.|\n)*Correct these lines"):
        compile_classes([source.parent], tmp_path / "jars", [])
    assert not list((tmp_path / "jars").glob("compiled-*"))
