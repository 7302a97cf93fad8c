import re
from pathlib import Path

import pytest

from infra.broker.storage import choose_cluster_id, format_once
from infra.errors import UserError
from infra.security.passwords import FIRST_USERS, draw_password
from infra.settings import Settings

MADE = "for id; do :; done; mkdir log.new; echo cluster.id=$id >log.new/meta.properties"
"""A script in place of the storage tool, whose last argument is the cluster's id."""
VOTERS = "1@a:9093,2@b:9093"


def format_by(script: str, settings: Settings, folder: Path) -> None:
    """Format the folder with a script in place of Java, which is given the tool's arguments."""
    command = settings.data_dir / "java"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    folder.mkdir(exist_ok=True)
    format_once(settings, folder, [str(command)])


def test_only_brokers_of_one_cluster_have_the_same_id(settings: Settings, tmp_path: Path) -> None:
    voting = {"broker_voters": VOTERS, "broker_address": "a:9094"}
    for name, changes in [("alone", {}), ("other", {}), ("one of two", voting)]:
        format_by(MADE, settings.model_copy(update=changes), tmp_path / name)
    alone, other, one_of_two = (
        (tmp_path / name / "log" / "meta.properties").read_text()
        for name in ("alone", "other", "one of two")
    )
    assert alone != other
    assert all(re.fullmatch(r"cluster\.id=R[\w-]{21}\n", each) for each in (alone, one_of_two))
    assert one_of_two == f"cluster.id={choose_cluster_id(VOTERS)}\n"
    assert choose_cluster_id(VOTERS) != choose_cluster_id("1@a:9093,2@c:9093")


FAILS = "mkdir log.new; touch log.new/half; echo No space left on device >&2; exit 1"


def test_a_failure_leaves_no_log_is_said_and_begun_anew(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"No space left(.|\n)*make doctor"):
        format_by(FAILS, settings, tmp_path)
    assert not (tmp_path / "log").exists()
    assert (tmp_path / "log.new" / "half").exists()
    format_by(MADE, settings, tmp_path)
    assert not (tmp_path / "log.new").exists()
    assert [file.name for file in (tmp_path / "log").iterdir()] == ["meta.properties"]
    format_by("exit 1", settings, tmp_path)  # never again


LOOKS = 'mkdir log.new; touch log.new/meta.properties; echo "$@" >arguments; cat "${2#@}" >users'
"""A script in place of the storage tool, which keeps what it was told, and what a file told it."""


def test_the_first_users_are_told_in_a_file_and_in_no_argument(
    settings: Settings, tmp_path: Path
) -> None:
    secure = settings.model_copy(update={"secure": True})
    passwords = [draw_password(secure, user) for user in FIRST_USERS]
    format_by(LOOKS, secure, tmp_path)
    told = (tmp_path / "users").read_text()
    assert all(f"password={password}]" in told for password in passwords)
    assert told.splitlines()[:3] == ["format", "--config", "format.properties"]
    arguments = (tmp_path / "arguments").read_text()
    assert not any(password in arguments for password in passwords)
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"java", "security", "arguments", "users", "log"}


def test_a_log_has_its_users_from_its_beginning_or_none(settings: Settings, tmp_path: Path) -> None:
    secure = settings.model_copy(update={"secure": True})
    for user in FIRST_USERS:
        draw_password(secure, user)
    for name, own, script in (("plain", settings, MADE), ("secured", secure, LOOKS)):
        format_by(script, own, tmp_path / name)
        format_by("exit 1", own, tmp_path / name)
    with pytest.raises(UserError, match=r"SECURE=on, but was with SECURE=off"):
        format_once(secure, tmp_path / "plain", ["exit"])
    with pytest.raises(UserError, match=r"SECURE=off, but was with SECURE=on"):
        format_once(settings, tmp_path / "secured", ["exit"])
