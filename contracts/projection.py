"""Parts of a contract: selected fields, and values that hold no others."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from contracts.shape import Contract, Field, Row

Path = tuple[str, ...]
"""A field, and the arrays that it lies in: ("lines", "units")."""


def render_path(path: Path) -> str:
    """("lines", "units") → lines[].units"""
    return "[].".join(path)


def parse_path(text: str) -> Path:
    """lines[].units → ("lines", "units")"""
    return tuple(text.split("[]."))


def list_fields(fields: Sequence[Field], parents: Path = ()) -> Iterator[tuple[Path, Field]]:
    """Every field, each array before the fields of its items."""
    for field in fields:
        path = (*parents, field.name)
        yield path, field
        yield from list_fields(field.fields, path)


def list_leaves(fields: Sequence[Field]) -> Iterator[tuple[Path, Field]]:
    """The fields that hold a value; an array stands for the fields of its items."""
    return ((path, field) for path, field in list_fields(fields) if not field.fields)


def project_fields(fields: Sequence[Field], paths: Collection[Path]) -> tuple[Field, ...]:
    """The fields on these paths, in the contract's order, and the arrays that they lie in."""
    projected = []
    for field in fields:
        inner = [path[1:] for path in paths if path[0] == field.name]
        if field.fields and any(inner):
            projected.append(
                replace(field, fields=project_fields(field.fields, [p for p in inner if p]))
            )
        elif inner and not field.fields:
            projected.append(field)
    return tuple(projected)


def create_pruner(
    contract: Contract, paths: Collection[Path]
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function that removes all other fields from a value."""
    if {path for path, _ in list_leaves(contract.fields)} <= set(paths):
        return lambda value: value
    kept = project_fields(contract.fields, paths)
    return lambda value: _prune(kept, value)


def _prune(fields: Sequence[Field], value: Row) -> dict[str, Any]:
    return {
        field.name: [_prune(field.fields, item) for item in value[field.name] or ()]
        if field.fields
        else value[field.name]
        for field in fields
    }
