"""The broker's folder, formatted once.

Kafka's storage tool is a separate Java process. The folders of brokers that run alone differ only
in an id. So the tool formats one, beside the jars, and each broker copies it. `python -m
infra.broker.storage` formats it ahead, for an image whose folders are read-only later.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from infra.broker.properties import LOG_DIR, render_server_properties
from infra.errors import UserError
from infra.jars import fetch_broker_classpath
from infra.jars.fetch import lock_folder
from infra.jars.sets import get_jar_set
from infra.java import locate_java
from infra.processes import capture
from infra.security.files import replace
from infra.security.passwords import FIRST_USERS, MECHANISM, read_password
from infra.settings import HOST, Settings, read_settings

DRAFT_DIR = "log.new"
SECURED = "secured"
"""A file in the log of a broker that had users at its first start."""
FORMAT_SECONDS_MAX = 180
CLUSTER_ID = re.compile(r"^(cluster\.id=).*$", re.MULTILINE)


def format_once(settings: Settings, folder: Path, java_command: list[str]) -> None:
    """Give the broker an empty log, unless it has one. Raises UserError.

    It formats a folder beside the final one and moves it there, so an interrupted attempt leaves
    nothing behind.
    """
    refuse_other_profile(folder, settings.secure)
    if (folder / LOG_DIR).exists():
        return
    shutil.rmtree(folder / DRAFT_DIR, ignore_errors=True)
    if settings.secure:
        run_tool(settings, folder, java_command)
        (folder / DRAFT_DIR / SECURED).touch()
    elif settings.broker_voters:
        run_tool(settings, folder, java_command)
    else:
        shutil.copytree(prepare_template(settings, java_command), folder / DRAFT_DIR)
        rename_cluster(folder / DRAFT_DIR)
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


def prepare_template(settings: Settings, java_command: list[str]) -> Path:
    """The folder of an empty log for a broker alone, with this version of Kafka.

    The log does not depend on the broker's address: a quorum of one finds itself at any. Raises
    UserError.
    """
    port_base = Settings.model_fields["port_base"].default
    usual = {"port_base": port_base, "listen_host": HOST, "broker_address": None}
    anywhere = settings.model_copy(update=usual)
    made_of = f"{get_jar_set('broker')}{render_server_properties(anywhere, DRAFT_DIR)}".encode()
    made = settings.jars_dir / f"formatted-{hashlib.sha256(made_of).hexdigest()[:16]}"
    if not made.exists():
        with (
            lock_folder(settings.jars_dir),
            tempfile.TemporaryDirectory(dir=settings.jars_dir) as scratch,
        ):
            if not made.exists():  # another process may have made it meanwhile
                run_tool(anywhere, Path(scratch), java_command)
                let_read(Path(scratch) / DRAFT_DIR)
                (Path(scratch) / DRAFT_DIR).rename(made)
    return made


def let_read(folder: Path) -> None:
    """Let everybody read the folder: in an image root makes it, and another user copies it."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def rename_cluster(log: Path) -> None:
    """Give the copied folder its own cluster id."""
    meta = log / "meta.properties"
    meta.write_text(CLUSTER_ID.sub(rf"\g<1>{choose_cluster_id(None)}", meta.read_text()))


def run_tool(settings: Settings, folder: Path, java_command: list[str]) -> None:
    """Let Kafka format the draft in the folder. Raises UserError."""
    config, users = folder / "format.properties", folder / "format.users"
    replace(config, render_server_properties(settings, DRAFT_DIR))
    words = ["format", "--config", config.name]
    words += [] if settings.broker_voters else ["--standalone"]
    words += ["--cluster-id", choose_cluster_id(settings.broker_voters)]
    if settings.secure:
        # Every user of the machine sees a process's arguments, so the tool reads these from a file.
        replace(users, "\n".join([*words, *list_users(settings)]))
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


def list_users(settings: Settings) -> Iterator[str]:
    """The storage tool's arguments for the users that exist before the first start."""
    for user in FIRST_USERS:
        yield "--add-scram"
        yield f"{MECHANISM}=[name={user},password={read_password(settings, user)}]"


def choose_cluster_id(voters: str | None) -> str:
    """An id in Kafka's format: a new one, or the one that all of these voters compute.

    The leading letter keeps it from looking like an option.
    """
    drawn = hashlib.sha256(voters.encode()).digest()[:16] if voters else os.urandom(16)
    return "R" + base64.urlsafe_b64encode(drawn).decode().rstrip("=")[1:]


if __name__ == "__main__":
    prepare_template(read_settings(), [str(locate_java()), "-cp", fetch_broker_classpath()])
