"""Every bound that data or load can reach, read from its declaration.

Contracts declare the limits of their fields, horizons, skews and retentions; settings declare
theirs. In the code, each constant and each threshold whose name ends in MAX or MIN is a bound,
unless it limits a wait or the length of a display.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts import CONTRACTS, Contract
from contracts.projection import render_path
from contracts.shape import Rule
from contracts.times import render_span
from infra.settings import Settings, locate_root

LOOKED_AT = (
    "contracts/**/*.py",
    "ops/control/*.py",
    "infra/kafka/*.py",
    "generators/confirmations.py",
    "generators/log_end.py",
    "generators/rows.py",
    "pipelines/**/*.py",
    "services/**/*.py",
    "ops/generations/*.py",
    "ops/replay/*.py",
    "ops/verify/log.py",
    "ops/verify/tables.py",
)
"""The code that meets external input. It includes neither the simulator's draws nor the output of
commands.
"""

NAMED = re.compile(r"_(MAX|MIN)$", re.IGNORECASE)
WAITING = re.compile(r"(SECONDS|_MS)_(MAX|MIN)$")
SHOWING = re.compile(r"SHOWN|^(FOUND|SAMPLES?|FACETS|PERIODS)_")

SAYS: Mapping[str, Callable[[Any], str]] = {
    "minimum": "at least {}".format,
    "exclusiveMinimum": "more than {}".format,
    "minLength": "at least {} characters".format,
    "minItems": "at least {} items".format,
    "maximum": "at most {}".format,
    "exclusiveMaximum": "less than {}".format,
    "maxLength": "at most {} characters".format,
    "maxItems": "at most {} items".format,
    "maxBytes": "at most {} bytes".format,
    "pattern": "matches `{}`".format,
}
"""The kinds of rules that limit an amount, in words."""

TIMES = ("horizon", "skew", "grace", "retention")


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit and its declaration."""

    home: str
    """A contract, a file of code without its ending, or `settings`."""
    what: str
    """In a contract `lines[].units.maximum` or `horizon`; else the name of the declaration."""
    says: str
    meaning: str = ""
    """The comment of the declaration; empty if it has none."""

    @property
    def name(self) -> str:
        return f"{self.home}/{self.what}"


def list_bounds() -> tuple[Bound, ...]:
    """Every bound; names are unique."""
    return (*list_contract_bounds(), *list_code_bounds(), *list_setting_bounds())


def list_contract_bounds() -> Iterator[Bound]:
    for contract in CONTRACTS.values():
        for rule in list_limits(contract):
            what = f"{render_path(rule.path)}.{rule.kind}"
            yield Bound(
                contract.name, what, f"`{render_path(rule.path)}` {SAYS[rule.kind](rule.limit)}"
            )
        for time in TIMES:
            if (length := getattr(contract, time)) is not None:
                yield Bound(contract.name, time, f"{time} {render_span(length)}")


def list_limits(contract: Contract) -> list[Rule]:
    """The rules of a contract that limit an amount."""
    return [rule for rule in contract.rules if rule.kind in SAYS]


def list_code_bounds() -> Iterator[Bound]:
    for pattern in LOOKED_AT:
        for file in sorted(locate_root().glob(pattern)):
            home = file.relative_to(locate_root()).with_suffix("").as_posix()
            for what, value, meaning in _find_declared(file):
                if NAMED.search(what) and not (WAITING.search(what) or SHOWING.search(what)):
                    yield Bound(home, what, value, meaning)


def list_setting_bounds() -> Iterator[Bound]:
    for name, field in Settings.model_fields.items():
        limits = [says for each in field.metadata if (says := _describe_limit(each))]
        if limits:
            yield Bound("settings", name.upper(), ", ".join(limits), field.description or "")


def _describe_limit(metadata: object) -> str | None:
    """The limits in pydantic's metadata of a field."""
    for word, says in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "below")):
        if (limit := getattr(metadata, word, None)) is not None:
            return f"{says} {limit:g}"
    return None


def _find_declared(file: Path) -> Iterator[tuple[str, str, str]]:
    """The names that a file assigns outside functions, each with value and meaning."""
    text = file.read_text(encoding="utf-8")
    lines, module = text.splitlines(), ast.parse(text)
    classes = [one for one in module.body if isinstance(one, ast.ClassDef)]
    for body in (module.body, *(one.body for one in classes)):
        for number, node in enumerate(body):
            meaning = _read_meaning(lines, node, body[number + 1 : number + 2])
            for name, value in _find_assigned(node):
                if not isinstance(value, ast.Call) or "Field" not in ast.unparse(value.func):
                    yield name, ast.unparse(value), meaning


def _find_assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, of_it in zip(target.elts, value.elts, strict=True):
                if isinstance(each, ast.Name):
                    yield each.id, of_it


def _read_meaning(lines: list[str], node: ast.stmt, following: list[ast.stmt]) -> str:
    """The comment behind the declaration, or the string after it."""
    _, mark, comment = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")
    if mark:
        return comment
    for after in following:
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return " ".join(str(after.value.value).split())
    return ""
