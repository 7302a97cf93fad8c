"""The command of an executor on Kubernetes; that Spark's backend takes it, its class says."""

import os
import subprocess
import sys
import zipfile

import pytest

from infra.errors import UserError
from infra.executor import BACKEND, OPTIONS, build_command, find_jars

TOLD = {
    **{name: f"a {name}" for name in OPTIONS.values()},
    "SPARK_EXECUTOR_MEMORY": "1024m",
    "SPARK_CLASSPATH": "/opt/retail/.jars/one.jar:/opt/retail/.jars/two.jar",
    **{f"SPARK_JAVA_OPT_{number}": f"-Dof={number}" for number in (10, 2, 0)},
}


def test_it_is_made_of_the_variables_that_spark_sets() -> None:
    java, *words = build_command(TOLD)
    assert os.access(java, os.X_OK)
    at = words.index(BACKEND)
    assert words[:5] == ["-Dof=0", "-Dof=2", "-Dof=10", "-Xms1024m", "-Xmx1024m"]
    assert words[5] == "-cp"
    assert words[6] == f"{TOLD['SPARK_CLASSPATH']}:{find_jars()}/*"
    told = dict(zip(words[at + 1 :: 2], words[at + 2 :: 2], strict=True))
    assert told == {option: f"a {name}" for option, name in OPTIONS.items()}


def test_spark_has_that_backend_with_these_options() -> None:
    [jar] = find_jars().glob("spark-kubernetes_*.jar")
    with zipfile.ZipFile(jar) as found:
        backend = found.read(f"{BACKEND.replace('.', '/')}$.class")
        constants = found.read("org/apache/spark/deploy/k8s/Constants$.class")
    assert [option for option in OPTIONS if option.encode() not in backend] == []
    variables = [*OPTIONS.values(), "SPARK_EXECUTOR_MEMORY", "SPARK_CLASSPATH", "SPARK_JAVA_OPT_"]
    assert [name for name in variables if name.encode() not in constants] == []


def test_what_spark_has_not_said_is_named() -> None:
    with pytest.raises(UserError, match="but SPARK_DRIVER_URL are not set"):
        build_command({**TOLD, "SPARK_DRIVER_URL": ""})


def test_elsewhere_the_command_says_what_it_is_for() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "infra.executor", "executor"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "for pods that Spark makes" in done.stderr
