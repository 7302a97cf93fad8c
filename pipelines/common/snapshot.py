"""The code that a generation runs: copied when it is founded, and known by its digest."""

import ast
import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

from infra.errors import Trouble

CODE = {".py", ".yaml", ".json", ".toml", ".properties"}


class ChangedCode(Trouble):
    """The code is not the one that the checkpoint was written by."""

    def __init__(self, pipeline: str, generation: int) -> None:
        super().__init__(
            f"Generation {generation} of {pipeline} should run the code it was founded with, but "
            "that code was changed. Its checkpoint cannot be trusted to another. Undo the change; "
            f"to run new code from offset zero, the way will be: make replay PIPELINE={pipeline}"
        )


def take(root: Path, pipeline: str, target: Path) -> None:
    """Copy what the pipeline runs into a folder of its own, whole or not at all."""
    draft = target.with_name(f"{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)  # of an attempt that nobody was told of
    for file in snapshot_files(root, pipeline):
        copy = draft / file.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    draft.rename(target)


def snapshot_files(root: Path, pipeline: str) -> Iterator[Path]:
    """The pipeline's room, the shell, the contracts, and the parts of infra they import."""
    for room in (f"pipelines/{pipeline}", "pipelines/common", "contracts", "infra"):
        yield from code_files(root / room)
    yield root / "pipelines" / "__init__.py"


def code_digest(root: Path, pipeline: str) -> str:
    """What the code says, comments aside: SHA-256, hex, over the room, the shell, the contracts."""
    digest = hashlib.sha256()
    for room in (f"pipelines/{pipeline}", "pipelines/common", "contracts"):
        for file in code_files(root / room):
            digest.update(f"{file.relative_to(root)}\0{meaning(file)}\0".encode())
    return digest.hexdigest()


def drift(root: Path, pipeline: str, generation: int, founded_with: str) -> str | None:
    """What to tell a person when the code on disk says something else than the generation's."""
    if code_digest(root, pipeline) == founded_with:
        return None
    return (
        f"{pipeline}: generation {generation} runs its own snapshot; the code on disk differs. "
        "To see what it would change, from offset zero, the way will be: "
        f"make replay PIPELINE={pipeline}"
    )


def code_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in CODE)


def meaning(file: Path) -> str:
    """The file's content without what changes nothing: comments, docstrings, layout."""
    text = file.read_text()
    if file.suffix == ".py":
        return ast.dump(without_docstrings(ast.parse(text)))
    if file.suffix == ".yaml":
        return json.dumps(yaml.safe_load(text), sort_keys=True, default=str)
    return text


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
