"""The records of decisions: what each says of itself, and the index that they make."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
HEAD = re.compile(
    r"# (\d+)\. (.+)\n\n"
    r"Date: (\d{4}-\d{2}-\d{2}) · Status: (accepted|superseded by (?:\[\d+\]\(\S+\)))"
    r"(?: · (?:Amended by|Amends) \[.+\]\(\S+\))?\n\n"
)
FIRST = "| number | date | status | decision |\n|---|---|---|---|\n"


class Record(NamedTuple):
    """One decision, by the lines at its top."""

    file: str
    number: int
    title: str
    date: str
    status: str


def read(folder: Path) -> list[Record]:
    """All records of the folder, by number."""
    files = sorted(file for file in folder.glob("*.md") if file.name != "README.md")
    return [read_record(file) for file in files]


def read_record(file: Path) -> Record:
    named, head = NAME.fullmatch(file.name), HEAD.match(file.read_text())
    assert named, f"{file.name} should be NNNN-title.md"
    assert head, f"{file.name} should begin with number, title, date and status"
    number, title, date, status = head.groups()
    assert int(named[1]) == int(number), f"{file.name} names another number than its title"
    return Record(file.name, int(number), title, date, status)


def render_index(records: Iterable[Record]) -> str:
    rows = [
        f"| {one.number} | {one.date} | {one.status} | [{one.title}]({one.file}) |\n"
        for one in records
    ]
    return FIRST + "".join(rows)
