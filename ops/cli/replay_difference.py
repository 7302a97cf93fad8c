"""A difference on the terminal: the largest changes first; and all of it as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts import CONTRACTS
from infra.reports import locate_reports, name_difference
from infra.settings import Settings
from ops.cli import screen
from ops.replay.compare import Changes, Compared
from ops.replay.difference import Difference, Facet, Sample

FIELDS_SHOWN = 4
FILES_SHOWN = 5
TEXT_SHOWN = 60
INDENT, WIDTH = 16, 80
BETWEEN = " · "


def show_difference(compared: Compared, report: Path | None) -> None:
    """Print the compared sides, the changes of each view, and the file with the rest."""
    facts = [f"{compared.pipeline} at {compared.position}", f"{compared.records:,} records"]
    if compared.empty:
        screen.step("difference", f"none: {compared.before} = {compared.after}")
        facts.append(f"{sum(view.before for view in compared.views):,} rows")
    else:
        screen.step("difference", f"{compared.before} → {compared.after}")
    screen.step("", BETWEEN.join(facts))
    show_items("code", list_changes(compared.changes))
    for view in () if compared.empty else compared.views:
        show_view(view)
    if report is not None:
        screen.step("report", screen.shorten(report))


def list_changes(changes: Changes | None) -> list[str]:
    """The thresholds and files that differ between the two versions of the code."""
    if changes is None:
        return []
    more = len(changes.files) - FILES_SHOWN
    rest = [f"and {more} more files"] if more > 0 else []
    return [*map(str, changes.thresholds), *changes.files[:FILES_SHOWN], *rest]


def show_view(view: Difference) -> None:
    name = CONTRACTS[view.view].entity
    if view.empty:
        screen.step(name, f"{view.before:,} rows, unchanged")
        return
    moves = f"+{view.added:,} −{view.removed:,}", f"changed {view.changed:,}"
    screen.step(name, BETWEEN.join((f"{view.before:,} → {view.after:,} rows", *moves)))
    facets = select_moved(view)
    for field in dict.fromkeys(facet.field for facet in facets):
        moved = (facet for facet in facets if facet.field == field)
        values = [render_step(facet.value, facet.before, facet.after) for facet in moved]
        show_items(f"by {field}", values)
    totals = [total for total in view.totals if total.before != total.after]
    show_items("total", [render_step(total.field, total.before, total.after) for total in totals])
    for sample in select_samples(view):
        fields = list_fields(sample)[:FIELDS_SHOWN]
        show_items(classify(sample), [render_key(sample)], fields)


def show_items(label: str, *groups: Sequence[str]) -> None:
    """The label, and beside it the items, line by line; each group begins on a line of its own."""
    for number, line in enumerate(line for items in groups for line in wrap(items)):
        screen.say(f"    {label if number == 0 else '':<{INDENT - 5}} {line}")


def wrap(items: Sequence[str]) -> list[str]:
    """The items on as few lines as possible; no item is broken."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}{BETWEEN}{item}" if lines else item
        if lines and len(longer) <= WIDTH - INDENT:
            lines[-1] = longer
        else:
            lines.append(item)
    return lines


def render_step(name: str, before: int, after: int) -> str:
    return f"{name} {before:,} → {after:,}"


def select_moved(view: Difference) -> list[Facet]:
    """The values whose numbers of rows changed; of each field, the largest changes first."""
    facets = [facet for facet in view.facets if facet.before != facet.after]
    return sorted(facets, key=lambda facet: -abs(facet.after - facet.before))


def select_samples(view: Difference) -> list[Sample]:
    """The largest row of each kind, a new one first."""
    first = {classify(sample): sample for sample in reversed(view.largest)}
    return [first[kind] for kind in KINDS if kind in first]


KINDS = ("new", "gone", "changed")


def classify(sample: Sample) -> str:
    """Whether the row is new, removed or changed."""
    if not sample.before:
        return "new"
    return "changed" if sample.after else "gone"


def render_key(sample: Sample) -> str:
    return "/".join(render_text(value) for value in sample.key.values())


def list_fields(sample: Sample) -> list[str]:
    """The fields with information: the changed ones, or all of a new or removed row."""
    before, after = sample.before, sample.after
    if before and after:
        names = [name for name in after if name != "version"] or list(after)
        return [
            f"{name} {render_text(before[name])} → {render_text(after[name])}" for name in names
        ]
    return [
        f"{name} {render_text(value)}"
        for name, value in (after or before).items()
        if value and name != "version" and not isinstance(value, datetime | list)
    ]


def write_document(settings: Settings, compared: Compared) -> Path:
    """Write the document into the data folder, for the API's page; returns the file."""
    name = name_difference(compared.pipeline, compared.before, compared.after)
    file = locate_reports(settings) / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(render_document(compared), default=str, indent=1))
    return file


def render_document(compared: Compared) -> dict[str, Any]:
    """The document for programs; each differing row also as the terminal's line."""
    document = {**asdict(compared), "empty": compared.empty}
    for view, rendered in zip(compared.views, document["views"], strict=True):
        rendered["largest"] = [
            {
                **asdict(sample),
                "name": render_key(sample),
                "kind": classify(sample),
                "words": list_fields(sample),
            }
            for sample in view.largest
        ]
    return document


def render_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, list):
        return f"{len(value)} entries"
    word = f"{value:,}" if type(value) is int else str(value)
    return screen.cut(word, TEXT_SHOWN)
