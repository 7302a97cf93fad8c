"""Rows in which two answers differ: the key, and both values of each field that differs."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts import Contract
from infra.settings import Settings
from ops.cli import screen
from ops.verify.inventory import Row
from ops.verify.verdict import Comparison

ROWS_SHOWN_MAX = 20
TEXT_WIDTH = 60
FIELD_WIDTH = 24


def render(one: Comparison) -> Iterator[str]:
    """The first differing rows, a line for each field."""
    for live, oracle in one.differing[:ROWS_SHOWN_MAX]:
        yield f"    {render_key(one.view, live or oracle or {})}"
        if live is None or oracle is None:
            yield f"      only {'the oracle has it' if live is None else 'live has it'}"
            continue
        for name in live.keys() | oracle.keys():
            if live.get(name) != oracle.get(name):
                values = (
                    f"live {render_text(live.get(name))}   oracle {render_text(oracle.get(name))}"
                )
                yield f"      {name:<{FIELD_WIDTH}} {values}"
    if (more := len(one.differing) - ROWS_SHOWN_MAX) > 0:
        yield f"    and {more:,} more rows"


def write(settings: Settings, pipeline: str, views: tuple[Comparison, ...]) -> Path:
    """Write every differing row of these views to a file of JSON lines, and return its path."""
    folder = settings.data_dir / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"verify-{pipeline}.jsonl"
    with file.open("w") as lines:
        for one in views:
            for live, oracle in one.differing:
                row = {"view": one.view.name, "live": live, "oracle": oracle}
                lines.write(json.dumps(row, default=str, ensure_ascii=False) + "\n")
    return file


def render_key(view: Contract, row: Row) -> str:
    return "/".join(render_text(row[name]) for name in view.key)


def render_text(value: Any) -> str:
    """The value on one line, shortened where it is long."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, list | dict):
        value = json.dumps(value, default=str, ensure_ascii=False)
    return screen.cut(str(value), TEXT_WIDTH)
