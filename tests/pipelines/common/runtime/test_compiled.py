"""The classes of Java that Spark is given."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.settings import Settings
from pipelines.common.runtime.compiled import FUNCTIONS, LEAN_PLAN, STATE_STORE, ensure_class_jar

pytestmark = pytest.mark.spark


def test_every_class_is_compiled_once(tmp_path: Path) -> None:
    settings = Settings(jars_dir=tmp_path)
    jar = ensure_class_jar(settings)
    made = jar.stat().st_mtime_ns
    names = {name.removesuffix(".class").replace("/", ".") for name in ZipFile(jar).namelist()}
    assert {FUNCTIONS, LEAN_PLAN, STATE_STORE} <= names
    assert ensure_class_jar(settings) == jar
    assert jar.stat().st_mtime_ns == made
