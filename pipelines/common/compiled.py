"""The one class of Java that Spark is given, compiled where it is not yet.

By Janino, which Spark brings to compile what it generates: a JDK is not needed. `python -m
pipelines.common.compiled` compiles ahead, for an image whose folders nobody may write to later.
"""

import hashlib
import tempfile
from pathlib import Path

import pyspark
from pyspark.java_gateway import launch_gateway

from infra.settings import Settings, settings

SOURCE = Path(__file__).parent / "java" / "AmortizedEviction.java"
STATE_STORE = "retail.state.AmortizedEviction"
"""The state store of every query."""
BATCHES_PER_WALK = "spark.sql.streaming.stateStore.batchesPerWalk"
"""The option that says in one batch of how many it looks for what can be freed."""


def classes(where: Settings) -> Path:
    """The folder with the compiled class, for Java's class path."""
    made_of = SOURCE.read_bytes() + pyspark.__version__.encode()
    folder = where.jars_dir / f"compiled-{hashlib.sha256(made_of).hexdigest()[:16]}"
    if not folder.exists():
        where.jars_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".compiled-", dir=where.jars_dir) as scratch:
            draft = Path(scratch) / "classes"
            compile_into(draft)
            if not folder.exists():  # another process may have been quicker
                draft.rename(folder)
    return folder


def compile_into(folder: Path) -> None:
    """Compile in a Java of its own: a session's class path is fixed when it starts."""
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    try:
        java = gateway.jvm
        compiler = java.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(java.Thread.currentThread().getContextClassLoader())
        compiler.cook(SOURCE.read_text())
        for name, content in dict(compiler.getBytecodes()).items():
            file = folder / f"{name.replace('.', '/')}.class"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    finally:
        gateway.proc.kill()
        gateway.proc.wait()


if __name__ == "__main__":
    classes(settings())
