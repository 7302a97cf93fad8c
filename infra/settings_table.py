"""The settings as a table, for the README."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from infra.settings import Settings, root


class SettingLine(NamedTuple):
    """One row of the documented table."""

    name: str
    default: str
    meaning: str


def lines() -> Iterable[SettingLine]:
    """Every setting, in the order in which it is declared."""
    for name, field in Settings.model_fields.items():
        yield SettingLine(name.upper(), _shown(field.default), field.description or "")


def table() -> str:
    """The settings as the Markdown table of the README."""
    rows = [f"| `{line.name}` | {line.default} | {line.meaning} |" for line in lines()]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows]) + "\n"


def _shown(default: object) -> str:
    if default is None:
        return "unset"
    if isinstance(default, Path):
        return f"`{default.relative_to(root())}`"
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{default}`"
