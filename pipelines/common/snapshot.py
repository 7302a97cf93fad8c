"""The code that a generation runs: copied when it is founded, and known by its digest."""

import ast
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from infra.errors import Trouble

CODE = {".py", ".sql", ".yaml", ".json", ".toml", ".properties", ".java"}

LOCKS = (Path("requirements.lock"), Path("infra") / "jars" / "spark" / "jgo.lock.toml")

PROSE = frozenset({"description", "examples", "invalidExamples", "team"})
"""What a contract says to people only."""

Edits = Mapping[Path, str]
"""File, from the root of the repository → its text in the copy, instead of the one on disk."""

NONE: Edits = MappingProxyType({})


class ChangedCode(Trouble):
    """The code is not the one that the checkpoint was written by."""

    def __init__(self, pipeline: str, generation: int) -> None:
        super().__init__(
            f"Generation {generation} of {pipeline} should run the code it was founded with, but "
            "that code was changed. Its checkpoint cannot be trusted to another. Undo the change; "
            f"to run new code from offset zero: make replay PIPELINE={pipeline}"
        )


def take(root: Path, target: Path, edits: Edits = NONE) -> None:
    """Copy what pipelines run into a folder of its own, whole or not at all."""
    draft = target.with_name(f"{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)  # of an attempt that nobody was told of
    for file in snapshot_files(root):
        copy = draft / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    for file, text in edits.items():
        (draft / file).write_text(text)
    draft.rename(target)


def snapshot_files(root: Path) -> Iterator[Path]:
    """The rooms, the shell, the contracts, and the parts of infra they import.

    All rooms: generations that were founded with the same code can share a process.
    """
    for room in ("pipelines", "contracts", "infra"):
        yield from code_files(root / room)


def code_digest(root: Path, pipeline: str) -> str:
    """What the code says, comments aside: SHA-256, hex, over all that can change an answer.

    That is the room, the shell, what loads contracts, and the contracts that the room uses.
    """
    digest = hashlib.sha256()
    for file in sorted(meant(root, pipeline)):
        digest.update(f"{file.relative_to(root)}\0{meaning(file)}\0".encode())
    return digest.hexdigest()


def meant(root: Path, pipeline: str) -> Iterator[Path]:
    for room in (f"pipelines/{pipeline}", "pipelines/common"):
        yield from code_files(root / room)
    yield from (root / "contracts").glob("*.py")
    declared = root / "contracts" / "consumers" / f"{pipeline}.yaml"
    if declared.exists():
        yield declared
        uses = yaml.safe_load(declared.read_text())
        for name in {*uses["reads"], *uses.get("writes", ())}:
            _, domain, entity = name.split(".", 2)
            yield from (root / "contracts").glob(f"*/{domain}/{entity}.yaml")


def libraries_digest(root: Path) -> str:
    """The packages and jars that the code runs with: SHA-256, hex, over what pins them."""
    digest = hashlib.sha256()
    for lock in LOCKS:
        digest.update((root / lock).read_bytes())
    return digest.hexdigest()


def drift(
    root: Path, pipeline: str, generation: int, founded_with: str, libraries: str | None
) -> str | None:
    """What to tell a person when what is on disk is not what the generation was founded with.

    It runs its own code; but of packages and jars there is one set, which it now runs with. What to
    do stands on a line of its own.
    """
    if code_digest(root, pipeline) != founded_with:
        told = "runs its own snapshot; the code on disk differs"
    elif libraries not in (None, libraries_digest(root)):
        told = "was founded with other packages or jars than it runs with"
    else:
        return None
    return (
        f"{pipeline}: generation {generation} {told}.\n"
        f"See what would change, from offset zero: make replay PIPELINE={pipeline}"
    )


def code_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in CODE)


def meaning(file: Path) -> str:
    """The file's content without what changes nothing: comments, docstrings, layout."""
    text = file.read_text()
    if file.suffix == ".py":
        return ast.dump(without_docstrings(ast.parse(text)))
    if file.suffix == ".yaml":
        return json.dumps(without_prose(yaml.safe_load(text)), sort_keys=True, default=str)
    return text


def without_prose(part: Any) -> Any:
    """A contract's part without what it says to people only."""
    if isinstance(part, dict):
        return {name: without_prose(each) for name, each in part.items() if name not in PROSE}
    if isinstance(part, list):
        return [
            without_prose(each)
            for each in part
            if not (isinstance(each, dict) and each.get("property") in PROSE)
        ]
    return part


def without_docstrings(module: ast.Module) -> ast.Module:
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not is_text(part)] or [ast.Pass()]
    return module


def is_text(part: ast.stmt) -> bool:
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )
