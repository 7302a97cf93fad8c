"""A new topic or view as a valid file, or the next major version beside the present one."""

import re
from datetime import date
from pathlib import Path

from contracts.errors import BadContract
from contracts.loader import load
from contracts.shape import Contract
from contracts.syntax import render_fault

NAME = re.compile(r"(public|private)\.([a-z][a-z0-9-]*)\.([a-z][a-z0-9-]*)\.v([1-9][0-9]*)")
TEMPLATES = Path(__file__).parent / "templates"
FOLDERS = {"topic": "topics", "view": "views", "window": "views"}
"""By template: the folder of the new file."""


def create_contract(folder: Path, name: str, kind: str, sunset: date | None) -> tuple[Path, ...]:
    """Write the files; returns them. Raises BadContract."""
    match = NAME.fullmatch(name)
    if match is None:
        expected = "<public or private>.<domain>.<entity>.v<major>, lower case"
        raise _refuse(folder, "name", expected, name, "As public.sales.receipt.v1.")
    visibility, domain, entity, major = match[1], match[2], match[3], int(match[4])
    present = load(folder)
    file = folder / FOLDERS[kind] / domain / f"{entity}.v{major}.yaml"
    if name in present:
        raise _refuse(file, "name", "a new one", name, "Change the file that is there.")
    if major > 1:
        older = present.get(f"{visibility}.{domain}.{entity}.v{major - 1}")
        if older is None:
            raise _refuse(file, "name", f"v{major - 1} beside it", "none", "Begin with v1.")
        return _write_successor(folder, older, sunset)
    text = (TEMPLATES / f"{kind}.yaml").read_text(encoding="utf-8")
    for mark, value in {
        "NAME": name,
        "VISIBILITY": visibility,
        "DOMAIN": domain,
        "ENTITY": entity,
        "KEY": f"{entity.replace('-', '_')}_id",
    }.items():
        text = text.replace(mark, value)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return (file,)


def _refuse(place: Path, where: str, expected: str, found: str, advice: str) -> BadContract:
    return BadContract([f"{place}{render_fault(None, where, expected, found, advice)}"])


def _write_successor(folder: Path, older: Contract, sunset: date | None) -> tuple[Path, ...]:
    """Copy the older version under the next number, and give the older one its sunset."""
    source = folder / older.file
    if sunset is None and older.sunset is None:
        raise _refuse(
            source, "sunset", "a day until which it is kept up", "none", "Add --sunset YYYY-MM-DD."
        )
    following = older.major + 1
    name = f"{older.name.rpartition('.v')[0]}.v{following}"
    target = source.with_name(f"{older.entity}.v{following}.yaml")
    text = source.read_text(encoding="utf-8")
    target.write_text(
        text.replace(f"id: {older.name}\n", f"id: {name}\n", 1).replace(
            f"version: {older.version}\n", f"version: {following}.0.0\n", 1
        ),
        encoding="utf-8",
    )
    if sunset is not None:
        ends = f"customProperties:\n  - {{property: sunset, value: {sunset}}}\n"
        source.write_text(
            text.replace("status: active\n", "status: deprecated\n", 1).replace(
                "customProperties:\n", ends, 1
            ),
            encoding="utf-8",
        )
    return (target, source)
