"""The broker's folder, formatted once."""

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from infra.broker.properties import LOG_DIR, server_properties
from infra.errors import Trouble
from infra.settings import Settings

DRAFT_DIR = "log.new"
FORMAT_SECONDS_MAX = 60


class NotFormatted(Trouble):
    """Kafka's storage tool refused."""

    def __init__(self, folder: Path, output: str) -> None:
        super().__init__(
            f"The broker's folder {folder} could not be formatted. Kafka says:\n{output.strip()}\n"
            "Is the disk full? See: make doctor"
        )


def format_once(settings: Settings, folder: Path, java: list[str]) -> None:
    """Give the broker an empty log, unless it has one; raises NotFormatted.

    Formatted beside its place and moved there, so that an interrupted attempt leaves nothing.
    """
    if (folder / LOG_DIR).exists():
        return
    shutil.rmtree(folder / DRAFT_DIR, ignore_errors=True)
    config = folder / "format.properties"
    config.write_text(server_properties(settings, DRAFT_DIR))
    tool = ["kafka.tools.StorageTool", "format", "--config", config.name]
    alone = [] if settings.broker_voters else ["--standalone"]
    answer = subprocess.run(
        [*java, *tool, *alone, "--cluster-id", cluster_id(settings.broker_voters)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=FORMAT_SECONDS_MAX,
    )
    if answer.returncode != 0:
        raise NotFormatted(folder, answer.stdout + answer.stderr)
    config.unlink()
    (folder / DRAFT_DIR).rename(folder / LOG_DIR)


def cluster_id(voters: str | None) -> str:
    """An id in Kafka's spelling: a new one, or the one that all of these voters come to.

    The leading letter keeps it from looking like an option.
    """
    drawn = hashlib.sha256(voters.encode()).digest()[:16] if voters else os.urandom(16)
    return "R" + base64.urlsafe_b64encode(drawn).decode().rstrip("=")[1:]
