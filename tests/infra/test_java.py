"""The Java that comes with the environment."""

import os
import subprocess

import pytest

from infra import java


def test_spark_s_home_leaves_out_the_module_that_this_java_lacks() -> None:
    launcher = java.ensure_java_home() / "bin" / "java"
    vectors = [str(launcher), "--add-modules=jdk.incubator.vector", "-version"]
    answer = subprocess.run(vectors, capture_output=True, text=True, check=True)
    assert java.VERSION in answer.stderr


def test_what_is_started_finds_this_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    java.use()
    assert os.environ["JAVA_HOME"] == str(java.ensure_java_home())
