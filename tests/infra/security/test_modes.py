"""In a secure shop, whatever a process writes is its user's alone, from its birth on."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.processes import build_environment
from infra.settings import Settings, locate_root
from ops.backup.copying import compute_digest
from ops.backup.manifest import Manifest

WRITES = """
import sqlite3, subprocess
from infra.settings import read_settings, remember
settings = read_settings()
remember(settings)
(settings.data_dir / "logs").mkdir()
(settings.data_dir / "logs" / "api.log").touch()
database = sqlite3.connect(settings.data_dir / "views.sqlite")
database.execute("pragma journal_mode = wal")
database.execute("create table one (a)")
subprocess.run(["touch", settings.data_dir / "of a child"], check=True)
modes = {file.name: oct(file.stat().st_mode) for file in settings.data_dir.iterdir()}
assert len(modes) == 6, modes
assert {mode[-2:] for mode in modes.values()} == {"00"}, modes
"""

COMPUTES = """
import os
from infra.settings import read_settings
from pipelines.engine.session import start_session
settings = read_settings()
spark = start_session(settings, "test")
(settings.data_dir / "in").mkdir()
(settings.data_dir / "in" / "a.txt").write_text("a")
lines = spark.readStream.text(str(settings.data_dir / "in"))
query = lines.groupBy("value").count().writeStream.outputMode("update").format("noop")
checkpoint = str(settings.data_dir / "checkpoint")
query.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
java = spark.sparkContext._jvm
network = java.org.apache.spark.network
conf = java.org.apache.spark.SparkConf().set("spark.authenticate", "false")
plain = network.netty.SparkTransportConf.fromSparkConf
context = network.TransportContext(
    plain(conf, "rpc", 1, java.scala.Option.apply(None), java.scala.Option.apply(None)),
    network.server.NoOpRpcHandler(),
)
port = int(spark.conf.get("spark.driver.port"))
stranger = context.createClientFactory().createClient("127.0.0.1", port)
try:
    stranger.sendRpcSync(java.java.nio.ByteBuffer.wrap(b"let me in"), 10_000)
except Exception as error:
    print("refused:", error)
spark.stop()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A data folder that was there before, and that everybody may enter."""
    before = os.umask(0o022)
    (tmp_path / "data").mkdir()
    yield tmp_path / "data"
    os.umask(before)


def run(home: Path, program: str) -> str:
    """What the program prints as a process of a secure shop."""
    command = [sys.executable, "-c", program]
    env = build_environment(Settings(data_dir=home, secure=True, spark_driver_memory="700m"))
    done = subprocess.run(
        command, env=env, cwd=locate_root(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_files_databases_and_folders_are_the_owners_alone(home: Path) -> None:
    run(home, WRITES)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.spark
def test_checkpoints_are_the_owners_alone_and_a_stranger_does_not_reach_spark(home: Path) -> None:
    printed = run(home, COMPUTES)
    every = [*(home / "checkpoint").rglob("*"), *(home / "spark").rglob("*")]
    assert any(file.name == "0" and file.parent.name == "commits" for file in every)
    assert [file for file in every if file.stat().st_mode & 0o077] == []
    assert "refused:" in printed
    assert "SaslMessage" in printed or "authentication" in printed.lower()


def test_a_restored_shop_is_the_owners_alone(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "backup"
    (source / "security").mkdir(parents=True)
    key = source / "security" / "authority-key.pem"
    key.write_text("a key")
    key.chmod(0o600)
    files = {"security/authority-key.pem": compute_digest(key)}
    Manifest(made_at_ms=0, paused_seconds=0.0, pipelines={}, files=files).write(source)
    command = [sys.executable, "-m", "ops.cli.main", "backup", "restore", str(source)]
    env = build_environment(Settings(data_dir=home))
    subprocess.run(command, env=env, cwd=locate_root(), check=True)
    made = (home, *home.rglob("*"))
    assert len(made) == 3
    assert [file for file in made if file.stat().st_mode & 0o077] == []
