"""Writes a candidate's thresholds from the command line into its copy of the code."""

import re
from collections.abc import Iterable
from pathlib import Path

from infra.errors import UserError
from ops.generations.snapshot import Edits

NUMBER = r"^ +{name}: int = (?:\(\s*)?(?P<value>[\d_]+)(?=\)?\s*(?:#|$))"
"""A threshold that is a whole number, as it stands in the file, with or without brackets."""


def edit(root: Path, pipeline: str, settings: Iterable[str]) -> Edits:
    """The pipeline's thresholds.py with the values of NAME=VALUE; {} without any.

    Only thresholds that are whole numbers can be set. Raises UserError.
    """
    if not (given := list(settings)):
        return {}
    file = Path("pipelines") / pipeline / "thresholds.py"
    if not (root / file).exists():
        raise UserError(f"{pipeline} has no thresholds: expected {file}, found none.")
    text = (root / file).read_text()
    numbers = find_numbers(text)
    for setting in given:
        name, _, value = setting.partition("=")
        if name not in numbers:
            raise UserError(
                f"--set {name}: expected one of {', '.join(sorted(numbers))}, found {name}. "
                f"Other thresholds are changed in {file} itself."
            )
        if not re.fullmatch(r"[+-]?\d+", value):
            raise UserError(
                f"--set {setting}: expected NAME=VALUE with a whole number, found {value!r}."
            )
        [found] = re.finditer(NUMBER.format(name=name), text, re.MULTILINE)
        text = text[: found.start("value")] + str(int(value)) + text[found.end("value") :]
    return {file: text}


def find_numbers(text: str) -> dict[str, int]:
    """The values of the whole-number fields, by name."""
    found = re.finditer(NUMBER.format(name=r"(?P<name>\w+)"), text, re.MULTILINE)
    return {match["name"]: int(match["value"]) for match in found}
