"""Writes a candidate's thresholds from the command line into its copy of the code."""

import ast
from collections.abc import Iterable
from pathlib import Path

from infra.errors import UserError
from ops.generations.snapshot import Edits


def edit(root: Path, pipeline: str, settings: Iterable[str]) -> Edits:
    """The pipeline's thresholds.py with the values of NAME=VALUE; {} without any.

    Only thresholds that are whole numbers can be set. Raises UserError.
    """
    wanted = dict(parse(one) for one in settings)
    if not wanted:
        return {}
    file = Path("pipelines") / pipeline / "thresholds.py"
    if not (root / file).exists():
        raise UserError(f"{pipeline} has no thresholds: expected {file}, found none.")
    text = (root / file).read_text()
    known = find_numbers(ast.parse(text))
    for name in wanted.keys() - known.keys():
        raise UserError(
            f"--set {name}: expected one of {', '.join(sorted(known))}, found {name}. "
            f"Other thresholds are changed in {file} itself."
        )
    lines = text.splitlines(keepends=True)
    for name, value in wanted.items():
        at = known[name]
        line = lines[at.lineno - 1].encode()
        end = at.end_col_offset or at.col_offset
        changed = line[: at.col_offset] + str(value).encode() + line[end:]
        lines[at.lineno - 1] = changed.decode()
    return {file: "".join(lines)}


def parse(setting: str) -> tuple[str, int]:
    name, _, value = setting.partition("=")
    try:
        return name, int(value)
    except ValueError as error:
        raise UserError(
            f"--set {setting}: expected NAME=VALUE with a whole number, found {value!r}."
        ) from error


def find_numbers(module: ast.Module) -> dict[str, ast.Constant]:
    """The values of the whole-number fields, by name."""
    return {
        part.target.id: part.value
        for declared in module.body
        if isinstance(declared, ast.ClassDef)
        for part in declared.body
        if isinstance(part, ast.AnnAssign)
        and isinstance(part.target, ast.Name)
        and isinstance(part.value, ast.Constant)
        and type(part.value.value) is int
    }
