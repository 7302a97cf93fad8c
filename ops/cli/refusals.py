"""The file with all refusals of a command."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from infra.settings import REPORTS, Settings


class Refusals:
    """The refusals, a line of JSON each."""

    def __init__(self, file: Path, opened: TextIO) -> None:
        self.file = file
        self.count = 0
        self._opened = opened

    def add(self, refused: Mapping[str, Any]) -> None:
        self._opened.write(json.dumps(refused, ensure_ascii=False) + "\n")
        self.count += 1


@contextmanager
def report_refusals(settings: Settings, name: str) -> Iterator[Refusals]:
    """The report of this name, emptied; without a refusal there is no file."""
    target = settings.data_dir / REPORTS / f"{name}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8") as opened:
        refusals = Refusals(target, opened)
        try:
            yield refusals
        finally:
            if not refusals.count:
                target.unlink()
