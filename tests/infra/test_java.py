import os
import subprocess

import pytest

from infra import java


def test_what_is_started_finds_this_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    java.use()
    launcher = f"{os.environ['JAVA_HOME']}/bin/java"
    vectors = [launcher, "--add-modules=jdk.incubator.vector", "-version"]
    answer = subprocess.run(vectors, capture_output=True, text=True, check=True)
    assert java.VERSION in answer.stderr
