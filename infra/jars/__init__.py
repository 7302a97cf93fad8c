"""The jars of the broker and of Spark: pinned, verified, in two separate folders.

Their Kafka clients differ in version, so the two class paths never meet.
"""

import os
from pathlib import Path

from infra.jars.fetch import fetch
from infra.jars.sets import jar_set
from infra.settings import settings


def spark_jars() -> list[Path]:
    """What Spark needs beside its own jars, fetched where it is missing."""
    return fetch(jar_set("spark"), settings().jars_dir)


def broker_classpath() -> str:
    """The class path of the broker, fetched where it is missing."""
    return os.pathsep.join(str(jar) for jar in fetch(jar_set("broker"), settings().jars_dir))
