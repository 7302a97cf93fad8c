"""docs/settings.md, written from the settings: `python -m infra.settings_table`."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from infra.settings import Settings, locate_root

DOCUMENT = locate_root() / "docs" / "settings.md"

INTRODUCTION = """\
# Settings

`python -m infra.settings_table` writes this file from `infra/settings.py`. A test compares the two.

Each setting is an environment variable. It may also follow a verb: `make up SIMULATOR_STORES=3`.

`make up` writes every value that differs from its default into the data folder, so later commands
need not repeat it. Two settings are never written: the password, and the data folder itself. Give
`DATA_DIR` with each command. Another seed, size or rate makes another world: run `make reset`
first.

"""


class SettingLine(NamedTuple):
    """One row of the documented table."""

    name: str
    default: str
    meaning: str


def list_settings() -> Iterable[SettingLine]:
    """Every setting, in the order in which it is declared."""
    for name, field in Settings.model_fields.items():
        yield SettingLine(name.upper(), _render_default(field.default), field.description or "")


def render_table() -> str:
    """The settings as a Markdown table."""
    rows = [f"| `{line.name}` | {line.default} | {line.meaning} |" for line in list_settings()]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows]) + "\n"


def render_document() -> str:
    """The text of docs/settings.md."""
    return INTRODUCTION + render_table()


def _render_default(default: object) -> str:
    if default is None:
        return "unset"
    if isinstance(default, Path):
        return f"`{default.relative_to(locate_root())}`"
    if isinstance(default, float):
        return f"`{default:g}`"
    return f"`{default}`"


if __name__ == "__main__":
    DOCUMENT.write_text(render_document(), encoding="utf-8")
