"""The file with all refusals of a command, a line of JSON each."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from infra.reports import locate_reports
from infra.settings import Settings


@contextmanager
def report_refusals(settings: Settings, name: str) -> Iterator[TextIO]:
    """The report of this name, emptied; without a refusal there is no file."""
    file = locate_reports(settings) / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as report:
        try:
            yield report
        finally:
            if not report.tell():
                file.unlink()


def write_refusal(report: TextIO, refused: Mapping[str, Any]) -> None:
    report.write(json.dumps(refused, ensure_ascii=False) + "\n")
