"""The project's own Java, compiled on first use by the Janino that Spark ships, without a JDK."""

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark
from py4j.java_gateway import JavaGateway  # type: ignore[import-untyped]
from pyspark.java_gateway import launch_gateway

from infra import java


def compile_classes(sources: Path, jars_dir: Path, beside: Sequence[Path] = ()) -> Path:
    """The jar with the classes of the folder's sources, for Java's class path.

    `beside`: the jars that they need beyond those that Spark ships. The result is a jar because
    Java's ahead-of-time cache (`infra/aot.py`) refuses folders.
    """
    files = sorted(sources.glob("*.java"))
    jar = jars_dir / f"compiled-{compute_digest(files, beside)[:16]}.jar"
    if not jar.exists():
        jars_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".compiled-", dir=jars_dir) as scratch:
            draft = Path(scratch) / jar.name
            compile_into(draft, files, beside)
            draft.replace(jar)  # another process may have been faster, with the same content
    return jar


def compute_digest(files: Iterable[Path], beside: Iterable[Path]) -> str:
    """SHA-256, hex, over the sources and the names of the jars, which have their versions."""
    parts = [file.read_bytes() for file in files] + [pyspark.__version__.encode()]
    return hashlib.sha256(b"".join(parts + [jar.name.encode() for jar in beside])).hexdigest()


def compile_into(jar: Path, files: Sequence[Path], beside: Iterable[Path]) -> None:
    """Compile in a separate Java process: a session fixes its class path when it starts."""
    java.use()
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    classes = jar.with_suffix("")
    classes.mkdir()
    try:
        compile_with(gateway, files, beside, classes)
    finally:
        gateway.proc.kill()
        gateway.proc.wait()
    with ZipFile(jar, "w") as packed:
        for file in sorted(classes.rglob("*.class")):
            packed.write(file, file.relative_to(classes))


def compile_with(
    gateway: JavaGateway, files: Iterable[Path], beside: Iterable[Path], classes: Path
) -> None:
    jvm = gateway.jvm
    urls = [jvm.java.io.File(str(jar)).toURI().toURL() for jar in beside]
    shipped = jvm.Thread.currentThread().getContextClassLoader()
    loader = jvm.java.net.URLClassLoader(create_array(gateway, jvm.java.net.URL, urls), shipped)
    compiler = jvm.org.codehaus.janino.Compiler()
    compiler.setIClassLoader(jvm.org.codehaus.janino.ClassLoaderIClassLoader(loader))
    compiler.setDestinationDirectory(jvm.java.io.File(str(classes)), False)
    sources = [jvm.java.io.File(str(file)) for file in files]
    compiler.compile(create_array(gateway, jvm.java.io.File, sources))


def create_array(gateway: JavaGateway, kind: Any, items: Sequence[Any]) -> Any:
    """A Java array of that class."""
    made = gateway.new_array(kind, len(items))
    for place, item in enumerate(items):
        made[place] = item
    return made
