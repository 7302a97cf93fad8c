"""The snapshot: the copy of the code that a generation runs, and its digest. The creation of the
generation makes it.
"""

import ast
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ops.generations.record import Generation

ROOMS = ("contracts", "infra", "ops/control", "ops/generations", "pipelines")
"""The folders that a generation's copy of the code holds."""

CODE = {".py", ".sql", ".yaml", ".json", ".toml", ".properties", ".java"}

LOCKS = (
    Path("infra") / "requirements" / "retail.lock",
    Path("infra") / "jars" / "spark" / "jgo.lock.toml",
)

UNHASHED = frozenset({"process.py", "requests.py", "throttle.py"})
"""Files of the engine that decide when a batch runs, and its share of the machine. No answer
depends on them."""

FILES_KEPT = 512
"""More files than the code of all pipelines has, of which a process keeps what is significant."""

PROSE = frozenset({"description", "examples", "invalidExamples", "team"})
"""The parts of a contract that are for people only."""

Edits = Mapping[Path, str]
"""Path from the repository's root → the file's text in the copy, in place of the one on disk."""

NONE: Edits = MappingProxyType({})


def take(root: Path, target: Path, edits: Edits = NONE) -> None:
    """Copy the code of pipelines into a folder, whole or not at all."""
    draft = target.with_name(f"{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)  # of an interrupted attempt
    # All rooms, with what they share: generations of the same code can share a process.
    files = [file for room in ROOMS for file in list_code_files(root / room)]
    for file in (root / "ops" / "__init__.py", *files):
        copy = draft / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    for file, text in edits.items():
        (draft / file).write_text(text)
    draft.rename(target)


def compute_code_digest(root: Path, pipeline: str) -> str:
    """SHA-256, hex, over all code that can change an answer, without comments.

    That is the pipeline's room, the declaration, the flow, the transforms, the engine but for its
    tuning and UNHASHED, the loader of contracts, and the contracts that the room uses. It omits the
    code of `generations`, which decides which generation runs and which one is served: no answer
    depends on it.
    """
    digest = hashlib.sha256()
    for file in sorted(list_hashed_files(root, pipeline)):
        significant = extract_significant(file.suffix, file.read_text())
        digest.update(f"{file.relative_to(root)}\0{significant}\0".encode())
    return digest.hexdigest()


def list_hashed_files(root: Path, pipeline: str) -> Iterator[Path]:
    common = root / "pipelines" / "common"
    yield common / "pipeline.py"
    yield common / "flow.py"
    for room in (root / "pipelines" / pipeline, common / "transform"):
        yield from list_code_files(room)
    engine = root / "pipelines" / "engine"
    for file in list_code_files(engine):
        if file.name not in UNHASHED and not file.is_relative_to(engine / "tuning"):
            yield file
    yield from (root / "contracts").glob("*.py")
    declared = root / "contracts" / "consumers" / f"{pipeline}.yaml"
    if declared.exists():
        yield declared
        uses = load_yaml(declared.read_text())
        for name in {*uses["reads"], *uses.get("writes", ())}:
            _, domain, entity = name.split(".", 2)
            yield from (root / "contracts").glob(f"*/{domain}/{entity}.yaml")


def compute_libraries_digest(root: Path) -> str:
    """SHA-256, hex, over the locks of the packages and jars that the code runs with."""
    digest = hashlib.sha256()
    for lock in LOCKS:
        digest.update((root / lock).read_bytes())
    return digest.hexdigest()


def describe_drift(root: Path, generation: Generation) -> str | None:
    """A message if code or libraries on disk differ from those of the generation's creation.

    The generation runs its own code, but with the one set of packages and jars on disk. The second
    line of the message says what to do. None: nothing differs.
    """
    name, number = generation.pipeline, generation.number
    if compute_code_digest(root, name) != generation.code_digest:
        why = "runs its own snapshot; the code on disk differs"
    elif generation.libraries not in (None, compute_libraries_digest(root)):
        why = "was created with other packages or jars than it runs with"
    else:
        return None
    return (
        f"{name}: generation {number} {why}.\n"
        f"See what would change, from offset zero: make replay PIPELINE={name}"
    )


def list_code_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in CODE)


@lru_cache(maxsize=FILES_KEPT)
def extract_significant(suffix: str, text: str) -> str:
    """The text without comments, docstrings and layout, which change no answer.

    Pipelines and their generations share most files.
    """
    if suffix == ".py":
        return ast.dump(remove_docstrings(ast.parse(text)))
    if suffix == ".yaml":
        return json.dumps(remove_prose(load_yaml(text)), sort_keys=True, default=str)
    return text


def load_yaml(text: str) -> Any:
    """As `yaml.safe_load`, but by its parser in C."""
    return yaml.load(text, yaml.CSafeLoader)


def remove_prose(part: Any) -> Any:
    """A part of a contract without PROSE."""
    if isinstance(part, dict):
        return {name: remove_prose(each) for name, each in part.items() if name not in PROSE}
    if isinstance(part, list):
        return [
            remove_prose(each)
            for each in part
            if not (isinstance(each, dict) and each.get("property") in PROSE)
        ]
    return part


def remove_docstrings(module: ast.Module) -> ast.Module:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not is_text(part)] or [ast.Pass()]
    return module


def is_text(part: ast.stmt) -> bool:
    constant = part.value if isinstance(part, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)
