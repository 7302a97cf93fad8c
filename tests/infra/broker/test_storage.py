"""Formatting, once and whole."""

from pathlib import Path

import pytest

from infra.broker.storage import NotFormatted, cluster_id, format_once
from infra.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


def storage_tool(tmp_path: Path, script: str) -> list[str]:
    """A command in place of Java; it is given the storage tool's arguments."""
    command = tmp_path / "java"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return [str(command)]


def test_an_empty_folder_is_formatted(settings: Settings, tmp_path: Path) -> None:
    format_once(settings, tmp_path, storage_tool(tmp_path, "mkdir log.new"))
    assert (tmp_path / "log").is_dir()
    assert not (tmp_path / "log.new").exists()


def test_a_log_that_is_there_is_never_formatted(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    format_once(settings, tmp_path, storage_tool(tmp_path, "exit 1"))


def test_a_failure_leaves_no_log_and_says_what_kafka_said(
    settings: Settings, tmp_path: Path
) -> None:
    tool = storage_tool(tmp_path, "mkdir log.new; echo No space left on device >&2; exit 1")
    with pytest.raises(NotFormatted, match=r"No space left(.|\n)*make doctor"):
        format_once(settings, tmp_path, tool)
    assert not (tmp_path / "log").exists()


def test_an_interrupted_attempt_is_begun_anew(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "log.new").mkdir()
    (tmp_path / "log.new" / "meta.properties").write_text("half")
    format_once(settings, tmp_path, storage_tool(tmp_path, "mkdir log.new"))
    assert list((tmp_path / "log").iterdir()) == []


def test_every_cluster_has_its_own_id_in_kafkas_spelling() -> None:
    assert cluster_id(None) != cluster_id(None)
    assert len(cluster_id(None)) == 22


def test_brokers_with_the_same_voters_are_one_cluster() -> None:
    assert cluster_id("1@a:9093,2@b:9093") == cluster_id("1@a:9093,2@b:9093")
    assert cluster_id("1@a:9093,2@b:9093") != cluster_id("1@a:9093,2@c:9093")
    assert len(cluster_id("1@a:9093,2@b:9093")) == 22
