"""docs/settings.md, written from the settings: `python -m infra.settings_table`."""

from pathlib import Path

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


def render_document() -> str:
    """The text of docs/settings.md: every setting, in the order in which it is declared."""
    rows = [
        f"| `{name.upper()}` | {_render_default(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    head = ["| variable | default | meaning |", "|---|---|---|"]
    return INTRODUCTION + "\n".join([*head, *rows, ""])


def _render_default(default: object) -> str:
    if default is None:
        return "unset"
    if isinstance(default, Path):
        return f"`{default.relative_to(locate_root())}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


if __name__ == "__main__":
    DOCUMENT.write_text(render_document(), encoding="utf-8")
