"""The project's own Java, compiled at its first use, by the compiler that the lock file pins."""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from zipfile import ZipFile

from infra.errors import UserError
from infra.jars.fetch import fetch
from infra.jars.sets import get_jar_set
from infra.java import locate_java

OPTIONS = (
    "-17",
    "-proc:none",
    "-encoding",
    "UTF-8",
    "-warn:raw,unchecked,suppress",
    "-failOnWarning",
    "-Xemacs",  # a message begins with its file and line
)


def compile_classes(folders: Iterable[Path], jars_dir: Path, class_path: Sequence[Path]) -> Path:
    """The jar with the classes of the folders' sources, compiled if it is missing.

    `class_path`: the jars that they need. Raises UserError.
    """
    files = sorted(file for folder in folders for file in folder.glob("*.java"))
    [compiler] = fetch(get_jar_set("compiler"), jars_dir)
    jar = jars_dir / f"compiled-{compute_digest(files, [compiler, *class_path])[:16]}.jar"
    if not jar.exists():
        with tempfile.TemporaryDirectory(prefix=".compiled-", dir=jars_dir) as scratch:
            classes, draft = Path(scratch) / "classes", Path(scratch) / jar.name
            run_compiler(compiler, files, class_path, classes)
            with ZipFile(draft, "w") as packed:
                for file in sorted(classes.rglob("*.class")):
                    packed.write(file, file.relative_to(classes))
            draft.replace(jar)  # another process may have been faster, with the same content
    return jar


def compute_digest(files: Iterable[Path], jars: Iterable[Path]) -> str:
    """SHA-256, hex, over the sources and the names of the jars, which have their versions."""
    parts = [*(file.read_bytes() for file in files), *(jar.name.encode() for jar in jars)]
    return hashlib.sha256(
        b"\0".join([*parts, *(option.encode() for option in OPTIONS)])
    ).hexdigest()


def run_compiler(
    compiler: Path, files: Iterable[Path], class_path: Iterable[Path], classes: Path
) -> None:
    """Compile the sources into the folder. Raises UserError."""
    java = [str(locate_java()), "-XX:TieredStopAtLevel=1", "-jar", str(compiler)]
    given = ["-cp", os.pathsep.join(map(str, class_path)), "-d", str(classes), *map(str, files)]
    done = subprocess.run([*java, *OPTIONS, *given], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        messages = (done.stderr or done.stdout).strip()
        raise UserError(
            f"The project's Java should compile, but does not:\n{messages}\n"
            "Correct these lines, then run the same command again."
        )
