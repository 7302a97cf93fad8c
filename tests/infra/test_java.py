"""Which Java there is."""

from pathlib import Path

import pytest

from infra import java


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ("Error: could not create the virtual machine", 0),
    ],
)
def test_the_major_version_is_read_from_the_banner(banner: str, version: int) -> None:
    assert java.parsed(banner) == version


def test_no_java_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(java.NoJava, match=r"Java 17 or newer.*apt-get install openjdk-17"):
        java.java()


def test_java_home_comes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "java"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.java() == command
