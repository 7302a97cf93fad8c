"""retail aot: Java's ahead-of-time caches, from a training run, so that later starts are fast."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra import kafka
from infra.aot import RECORD, locate_cache
from infra.errors import UserError
from infra.jars import fetch_broker_classpath
from infra.ports import free_port_base
from infra.processes import build_environment
from infra.settings import Settings, read_settings
from infra.supervisor import orphans
from infra.wait import wait_for
from ops.cli import screen, topics
from ops.cli.exclusive import lock_home
from pipelines.engine.process import NICENESS_MAX, share_cores
from pipelines.engine.session import build_class_path, list_own_jars

BROKER_SECONDS_MAX = 60.0
PIPELINES_SECONDS_MAX = 600.0
WRITE_SECONDS_MAX = 180.0
"""How long Java may take to write its cache after it is told to end."""
MIB = 1024**2
SCRATCH = ".training-"
"""How the folder begins in which a training run works."""
NOT_IN_TRAINING = (
    "KAFKA_BOOTSTRAP_SERVERS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
)
"""The variables that a training run does not take from its caller."""


def aot() -> None:
    """Make Java's ahead-of-time caches: the broker and Spark start in half the time with them."""
    current = read_settings()
    folder = current.jars_dir / "aot"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        lock_home(folder, "making Java's caches in"),
        screen.show_waiting("aot", "training") as wait,
    ):
        try:
            made = [] if is_there(current) else train(current, folder)
        except subprocess.TimeoutExpired as late:
            raise UserError(
                f"A training run of Java should end within {late.timeout:g} s, but did not: the "
                "machine may be busy. Without the caches all works, and starts more slowly."
            ) from late
    size = sum(file.stat().st_size for file in folder.glob("*.aot")) / MIB
    screen.step("aot", f"{len(made)} caches made, {size:.0f} MB in all", wait.seconds)


def make_beside(current: Settings) -> None:
    """Make the missing caches in a process of the lowest priority, until `end_beside` ends it."""
    if is_there(current):
        return
    with (current.logs_dir / "aot.log").open("wb") as log:
        training = subprocess.Popen(
            ["nice", "-n", str(NICENESS_MAX), sys.executable, "-m", "ops.cli.main", "aot"],
            env={
                **os.environ,
                "JARS_DIR": str(current.jars_dir),
                orphans.TRAINING_VARIABLE: str(current.data_dir),
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    share_cores(training.pid, NICENESS_MAX)
    screen.step("aot", "building Java's caches in the background, once: later starts are faster")


def end_beside(current: Settings) -> bool:
    """End the training run beside the shop of the data folder; returns whether there was one.

    The caches that were there before it stay.
    """
    return orphans.stop(current.data_dir, orphans.TRAINING_VARIABLE) > 0


def is_there(current: Settings) -> bool:
    """Whether the broker's and Spark's caches are there."""
    roles = {"broker": fetch_broker_classpath(), "spark": build_class_path(list_own_jars(current))}
    return all(locate_cache(current.jars_dir, role, path).exists() for role, path in roles.items())


def train(current: Settings, folder: Path) -> list[Path]:
    """Run a small shop and stop it, so that its JVMs write their caches; returns the files.

    The caches replace those of before once all of them are written.
    """
    for left in folder.glob(f"{SCRATCH}*"):
        shutil.rmtree(left)  # of a run that was killed: this one is alone in the folder
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
        home = Path(scratch)
        log = home.parent / "training.log"
        with log.open("wb") as output:
            run_shop(current, home, log, output.fileno())
        made = [file.replace(folder / file.name) for file in sorted(home.glob("*.aot"))]
        for stale in set(folder.glob("*.aot")).difference(made):
            stale.unlink()
        return made


def run_shop(current: Settings, home: Path, log: Path, output: int) -> None:
    """Run a broker, a simulator, and pipelines for some batches; raises UserError."""
    own = Settings(
        data_dir=home / "data",
        jars_dir=current.jars_dir,
        port_base=free_port_base(),
        kafka_bootstrap_servers=None,
        secure=False,
        spark_driver_memory=current.spark_driver_memory,
    )
    own.data_dir.mkdir()
    told = build_training_environment(own, home)
    with run_program("infra.broker", told, output, WRITE_SECONDS_MAX):
        if not wait_for(lambda: kafka.is_answering(own), BROKER_SECONDS_MAX):
            raise UserError(f"The broker did not answer in a training run of Java. See: {log}")
        topics.apply(own)
        with run_program("generators.simulator", told, output, BROKER_SECONDS_MAX):
            pipelines = subprocess.run(
                [sys.executable, "-m", "pipelines.training"],
                env=told,
                stdout=output,
                stderr=output,
                check=False,
                timeout=PIPELINES_SECONDS_MAX,
            )
    if pipelines.returncode != 0:
        raise UserError(
            f"The pipelines did not finish their batches in a training run of Java. See: {log}"
        )


def build_training_environment(own: Settings, home: Path) -> dict[str, str]:
    """The environment of a shop whose JVMs write their caches into `home`.

    Java gets no options from it. A cache has the compilers' profiles, and what they lack a later
    Java never makes up for: trained without its second compiler, it does without that in what it
    knows from the training.
    """
    told = {**build_environment(own), RECORD: str(home)}
    return {name: value for name, value in told.items() if name not in NOT_IN_TRAINING}


@contextmanager
def run_program(
    module: str, told: Mapping[str, str], output: int, seconds_max: float
) -> Iterator[None]:
    """The module as a process, until the block ends and the process has ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", module], env=told, stdout=output, stderr=output
    )
    try:
        yield
        process.terminate()
        process.wait(seconds_max)
    finally:
        process.kill()
        process.wait()
