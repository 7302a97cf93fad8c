"""Run the broker in place of this process, so that signals reach it."""

import os
import sys
from pathlib import Path

from infra.broker.properties import render_server_properties
from infra.broker.storage import format_once
from infra.errors import UserError
from infra.jars import fetch_jars
from infra.java import TRIM_NATIVE, locate_java
from infra.security.files import replace
from infra.settings import read_settings

MEMORY = ("-Xms128m", "-Xmx256m", "-XX:+UseSerialGC", TRIM_NATIVE)


def main() -> None:
    current = read_settings()
    folder = current.broker_dir
    folder.mkdir(parents=True, exist_ok=True)
    log_config = Path(__file__).with_name("log4j2.properties").as_uri()
    command = [
        str(locate_java()),
        *MEMORY,
        "-XX:+ExitOnOutOfMemoryError",  # the process manager starts it again
        f"-Dlog4j2.configurationFile={log_config}",
        "-cp",
        os.pathsep.join(map(str, fetch_jars("broker"))),
    ]
    if current.secure:
        # Its import takes longer than the rest together.
        from infra.security.certificates import ensure_keys

        ensure_keys(current)
    format_once(current, folder, command)
    config = folder / "server.properties"
    replace(config, render_server_properties(current))
    os.chdir(folder)
    os.execv(command[0], [*command, "kafka.Kafka", config.name])


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
