"""The broker's folder, formatted once, by Kafka's storage tool."""

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from infra.broker.properties import LOG_DIR, render_server_properties
from infra.errors import UserError
from infra.processes import capture
from infra.security.files import replace
from infra.security.passwords import FIRST_USERS, MECHANISM, read_password
from infra.settings import Settings

DRAFT_DIR = "log.new"
SECURED = "secured"
"""A file in the log of a broker that had users at its first start."""
FORMAT_SECONDS_MAX = 180


def format_once(settings: Settings, folder: Path, java_command: list[str]) -> None:
    """Give the broker an empty log, unless it has one. Raises UserError.

    It formats a folder beside the final one and moves it there, so an interrupted attempt leaves
    nothing behind.
    """
    refuse_other_profile(folder, settings.secure)
    if (folder / LOG_DIR).exists():
        return
    shutil.rmtree(folder / DRAFT_DIR, ignore_errors=True)
    run_tool(settings, folder, java_command)
    if settings.secure:
        (folder / DRAFT_DIR / SECURED).touch()
    (folder / DRAFT_DIR).rename(folder / LOG_DIR)


def refuse_other_profile(folder: Path, secure: bool) -> None:
    """Raise UserError where the broker's folder has a log of another value of SECURE."""
    log = folder / LOG_DIR
    if log.exists() and (log / SECURED).exists() != secure:
        wanted, found = ("on", "off") if secure else ("off", "on")
        raise UserError(
            f"{log} should be one that was begun with SECURE={wanted}, but was with "
            f"SECURE={found}: a log has its users from its beginning, or none. Keep to "
            f"SECURE={found}, name another folder in DATA_DIR, or forget this one: make reset"
        )


def run_tool(settings: Settings, folder: Path, java_command: list[str]) -> None:
    """Let Kafka format the draft in the folder. Raises UserError."""
    config, users = folder / "format.properties", folder / "format.users"
    replace(config, render_server_properties(settings, DRAFT_DIR))
    words = ["format", "--config", config.name]
    words += [] if settings.broker_voters else ["--standalone"]
    words += ["--cluster-id", choose_cluster_id(settings.broker_voters)]
    if settings.secure:
        # Every user of the machine sees a process's arguments, so the tool reads these from a file.
        passwords = {user: read_password(settings, user) for user in FIRST_USERS}
        for user, password in passwords.items():
            words += ["--add-scram", f"{MECHANISM}=[name={user},password={password}]"]
        replace(users, "\n".join(words))
        words = [f"@{users.name}"]
    try:
        command = [*java_command, "kafka.tools.StorageTool", *words]
        answer = capture(command, FORMAT_SECONDS_MAX, folder)
    except subprocess.TimeoutExpired as late:
        raise UserError(
            f"Kafka should format the broker's folder {folder} within {FORMAT_SECONDS_MAX} s, but "
            "did not: the machine may be busy. Start it again: make up"
        ) from late
    finally:
        users.unlink(missing_ok=True)
        config.unlink()
    if answer.returncode != 0:
        output = (answer.stdout + answer.stderr).strip()
        raise UserError(
            f"The broker's folder {folder} could not be formatted. Kafka says:\n{output}\n"
            "Is the disk full? See: make doctor"
        )


def choose_cluster_id(voters: str | None) -> str:
    """An id in Kafka's format: a new one, or the one that all of these voters compute.

    The leading letter keeps it from looking like an option.
    """
    drawn = hashlib.sha256(voters.encode()).digest()[:16] if voters else os.urandom(16)
    return "R" + base64.urlsafe_b64encode(drawn).decode().rstrip("=")[1:]
