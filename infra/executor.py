"""Run an executor that Spark requests from Kubernetes: `python -m infra.executor executor`.

Spark sets variables and adds the argument; Java then replaces this process.
"""

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from infra import java
from infra.errors import UserError

BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
OPTIONS: Mapping[str, str] = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}
"""The options of the backend, and the variable with each value."""
MEMORY, CLASS_PATH = "SPARK_EXECUTOR_MEMORY", "SPARK_CLASSPATH"
JAVA_OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")


def build_command(variables: Mapping[str, str]) -> list[str]:
    """The command of the executor. Raises UserError with the variables that are not set."""
    if missing := [name for name in (MEMORY, *OPTIONS.values()) if not variables.get(name)]:
        raise UserError(
            f"Spark should say in variables what to run, but {', '.join(missing)} are not set. "
            "This command is for pods that Spark makes: docs/kubernetes.md"
        )
    numbered = {
        int(found[1]): value
        for name, value in variables.items()
        if (found := JAVA_OPTION.fullmatch(name))
    }
    class_path = [variables.get(CLASS_PATH, ""), str(find_jars() / "*")]
    told = [word for option, name in OPTIONS.items() for word in (option, variables[name])]
    return [
        str(java.ensure_java_home() / "bin" / "java"),
        *(numbered[number] for number in sorted(numbered)),
        f"-Xms{variables[MEMORY]}",
        f"-Xmx{variables[MEMORY]}",
        "-cp",
        os.pathsep.join(filter(None, class_path)),
        BACKEND,
        *told,
    ]


def find_jars() -> Path:
    """The folder of the jars that PySpark ships."""
    spark = find_spec("pyspark")
    assert spark is not None, "it is a locked package"
    assert spark.origin is not None, "it has an __init__.py"
    return Path(spark.origin).parent / "jars"


if __name__ == "__main__":
    try:
        words = build_command(os.environ)
    except UserError as error:
        sys.exit(str(error))
    os.execv(words[0], words)
