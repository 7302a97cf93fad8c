"""A difference on the terminal: short, the largest first, and where the rest is."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts import CONTRACTS
from infra.cli import screen
from infra.cli.replay.compare import Compared
from infra.cli.replay.difference import Difference, Facet, Sample

SAMPLES_SHOWN = 3
FIELDS_SHOWN = 4
TEXT_SHOWN = 60


def show_difference(compared: Compared, report: Path | None) -> None:
    if compared.empty:
        rows = sum(view.before for view in compared.views)
        screen.step(
            "difference",
            f"none at {compared.at}: {compared.pipeline}, {compared.before} = {compared.after}, "
            f"{rows:,} rows, {compared.records:,} records",
        )
    else:
        screen.step("difference", f"at {compared.at}, {compared.before} → {compared.after}")
        for view in compared.views:
            show_view(view)
    if report is not None:
        screen.step("report", screen.short(report))


def show_view(view: Difference) -> None:
    name = CONTRACTS[view.view].entity
    if view.empty:
        screen.say(f"    {name:<12} {view.before:,} rows, unchanged")
        return
    screen.say(
        f"    {name:<12} {view.before:,} → {view.after:,} rows   +{view.added:,} −{view.removed:,}"
        f"   changed {view.changed:,}"
    )
    for facet in moved(view):
        screen.say(f"      {facet.field} {facet.value}: {facet.before:,} → {facet.after:,}")
    for total in view.totals:
        if total.before != total.after:
            screen.say(f"      {total.field}: {total.before:,} → {total.after:,}")
    for sample in view.largest[:SAMPLES_SHOWN]:
        screen.say(f"      {told(sample)}")


def moved(view: Difference) -> list[Facet]:
    """The values of which there are more now, or fewer."""
    return [facet for facet in view.facets if facet.before != facet.after]


def told(sample: Sample) -> str:
    """A row that differs, on one line."""
    key = "/".join(text(value) for value in sample.key.values())
    if not sample.before:
        return f"new      {key}  {fields(sample.after)}"
    if not sample.after:
        return f"gone     {key}  {fields(sample.before)}"
    changes = [
        f"{name} {text(sample.before[name])} → {text(sample.after[name])}"
        for name in list(sample.after)[:FIELDS_SHOWN]
    ]
    return f"changed  {key}  {', '.join(changes)}"


def fields(values: Mapping[str, Any]) -> str:
    """The first fields that say something."""
    said = {name: value for name, value in values.items() if value not in (None, [], 0)}
    return ", ".join(f"{name} {text(value)}" for name, value in list(said.items())[:FIELDS_SHOWN])


def text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, list):
        return f"{len(value)} entries"
    spelled = f"{value:,}" if type(value) is int else str(value)
    return spelled if len(spelled) <= TEXT_SHOWN else f"{spelled[:TEXT_SHOWN]}…"
