"""The records of decisions, and the table that lists them."""

import re
from pathlib import Path

NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
HEAD = re.compile(r"# (\d+)\. (.+)\n\n\*\*Context\.\*\* ")
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", re.MULTILINE)

Entry = tuple[int, str, str]
"""Number, title and file of a decision."""


def read_records(folder: Path) -> list[Entry]:
    """An entry for each record of the folder, by number."""
    return [read_record(file) for file in sorted(folder.glob("*.md")) if file.name != "README.md"]


def read_record(file: Path) -> Entry:
    named, head = NAME.fullmatch(file.name), HEAD.match(file.read_text())
    assert named, f"{file.name} should be NNNN-title.md"
    assert head, f"{file.name} should begin with number, title and context"
    number, title = head.groups()
    assert int(named[1]) == int(number), f"{file.name} names another number than its title"
    return int(number), title, file.name


def read_index(index: str) -> list[Entry]:
    """The rows of the table, as they stand."""
    return [(int(number), title, file) for number, title, file in ROW.findall(index)]
