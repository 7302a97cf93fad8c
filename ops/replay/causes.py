"""Finds why a row differs, as far as the two versions of the code and the row show it.

The two versions of the code show which thresholds and files differ. A rule is a function of the
pipeline that has its name. It reads the thresholds that its body names, or the bodies of the
functions that it calls. A row's version shows whether it counts other events than before.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ops.generations.snapshot import ROOMS
from ops.replay.difference import Difference, Sample
from ops.replay.thresholds import find_numbers

FILES_MAX = 20
"""The number of files that are named; a larger change is another version."""


@dataclass(frozen=True)
class Setting:
    """A threshold, before and after; None: it does not exist, or is no whole number."""

    name: str
    before: int | None
    after: int | None

    def __str__(self) -> str:
        return f"{self.name} {_spell(self.before)} → {_spell(self.after)}"


@dataclass(frozen=True)
class Changes:
    """The differences between two copies of a pipeline's code."""

    thresholds: tuple[Setting, ...] = ()
    files: tuple[str, ...] = ()
    """Paths from the repository's root, at most FILES_MAX."""
    reads: Mapping[str, frozenset[str]] | None = None
    """Per function of the pipeline, the names that it and the functions it calls read."""

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        thresholds = [asdict(one) for one in self.thresholds]
        return {"thresholds": thresholds, "files": list(self.files)}

    def find_thresholds(self, rule: str) -> list[Setting]:
        """The changed thresholds that the rule reads."""
        names = (self.reads or {}).get(rule.replace("-", "_"), frozenset())
        return [one for one in self.thresholds if one.name in names]


def find_changes(before: Path, after: Path, pipeline: str) -> Changes | None:
    """The differences between two copies of the code, in files that this pipeline may run.

    None if one of them is not on this machine.
    """
    if not (before.is_dir() and after.is_dir()):
        return None
    names = {*_list_files(before, pipeline), *_list_files(after, pipeline)}
    files = sorted(name for name in names if _read(before / name) != _read(after / name))
    return Changes(
        thresholds=tuple(_compare_thresholds(before, after, pipeline)),
        files=tuple(files[:FILES_MAX]),
        reads=_find_reads(after / "pipelines" / pipeline),
    )


def explain(difference: Difference, changes: Changes | None) -> Difference:
    """The difference, with the known cause of each sample."""
    known = changes or Changes()
    largest = tuple(replace(one, cause=find_cause(one, known)) for one in difference.largest)
    return replace(difference, largest=largest)


def find_cause(sample: Sample, changes: Changes) -> str | None:
    """The cause of the difference: a threshold of the row's rule, other events, or other logic."""
    causes = [str(one) for one in changes.find_thresholds(str(sample.key.get("rule", "")))]
    if sample.before and sample.after:
        # A row's version is the number of events that it counts; the sample has what differs.
        now, before = sample.after.get("version"), sample.before.get("version")
        same = "counts as many events as before"
        causes.append(same if now is None else f"counts {now:,} events, {before:,} before")
    return "; ".join(causes) or None


def _compare_thresholds(before: Path, after: Path, pipeline: str) -> Iterator[Setting]:
    old, new = (_read_thresholds(code, pipeline) for code in (before, after))
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield Setting(name, old.get(name), new.get(name))


def _read_thresholds(code: Path, pipeline: str) -> Mapping[str, int]:
    text = _read(code / "pipelines" / pipeline / "thresholds.py")
    return {} if text is None else find_numbers(text.decode())


def _list_files(code: Path, pipeline: str) -> Iterator[str]:
    """The modules and contracts, without those of other pipelines."""
    mine = {"common", "engine", pipeline}
    for room in ROOMS:
        for file in (code / room).rglob("*"):
            name = file.relative_to(code)
            own = room != "pipelines" or len(name.parts) == 2 or name.parts[1] in mine
            if file.suffix in {".py", ".yaml", ".sql"} and own:
                yield name.as_posix()


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _find_reads(folder: Path) -> Mapping[str, frozenset[str]]:
    functions = {
        node.name: node
        for file in sorted(folder.glob("*.py"))
        for node in ast.parse(file.read_bytes()).body
        if isinstance(node, ast.FunctionDef)
    }
    return {name: frozenset(_follow(name, functions, set())) for name in functions}


def _follow(name: str, functions: Mapping[str, ast.FunctionDef], seen: set[str]) -> Iterator[str]:
    """The attributes that a function reads, and those that the functions it calls read."""
    seen.add(name)
    for node in ast.walk(functions[name]):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
            yield from _follow(node.id, functions, seen)


def _spell(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"
