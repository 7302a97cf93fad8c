"""The differences between two versions of a contract, and whom each may harm."""

import json
from collections.abc import Iterator
from functools import lru_cache

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import Schema, parse

from contracts.evolution import rules, terms
from contracts.evolution.change import LOG, NONE, READERS, WRITERS, Change
from contracts.mapping import build_avro_projection, build_avro_schema
from contracts.projection import Path, list_fields, list_leaves, project_fields, render_path
from contracts.shape import Contract, Field

INTEGERS = {"int", "long"}
SCHEMAS_MAX = 4_096
PAIRS_MAX = 16_384
"""Of readers and writers: one check of this repository compares some 2,100."""


def find_changes(old: Contract, new: Contract) -> Iterator[Change]:
    """Every difference that is not only in words."""
    before, after = dict(list_fields(old.fields)), dict(list_fields(new.fields))
    for path, field in before.items():
        if path in after:
            yield from _compare_field(path, old, new, field, after[path])
        elif path[:-1] in after or len(path) == 1:  # what lay in it went with it
            yield _describe_removal(path, old, new, field)
    for path, field in after.items():
        if path not in before and (path[:-1] in before or len(path) == 1):
            yield _compare_added(path, old, new, field)
    if list(after) != list(before) and after.keys() == before.keys():
        yield Change("fields", "in another order")
    yield from rules.find_changes(old, new, before.keys() & after.keys())
    yield from terms.find_changes(old, new)


def _describe_removal(path: Path, old: Contract, new: Contract, field: Field) -> Change:
    why = _explain_unreadable(old, path, new) or "who reads it finds nothing"
    kind = ", ".join(filter(None, (field.type, field.unit)))
    return Change(render_path(path), f"removed ({kind})", READERS, why, "keep the field", path)


def _compare_added(path: Path, old: Contract, new: Contract, field: Field) -> Change:
    why = _explain_unreadable(new, path, old)
    kind = f"{'required' if field.required else 'optional'} {field.type}"
    if why is None:
        return Change(render_path(path), f"added ({kind})")
    return Change(render_path(path), f"added ({kind})", LOG, why, "make it optional", path)


def _compare_field(
    path: Path, old: Contract, new: Contract, before: Field, after: Field
) -> Iterator[Change]:
    if before == after:
        return
    place = render_path(path)
    forward, backward = _explain_unreadable(old, path, new), _explain_unreadable(new, path, old)
    harms = (READERS if forward else NONE) | (LOG if backward else NONE)
    why = forward or backward or ""
    if before.type != after.type:
        if not {before.type, after.type} <= INTEGERS:
            harms, why = harms | READERS, why or "the value means something else"
        yield Change(
            place, f"{before.type} → {after.type}", harms, why, f"keep {before.type}", path
        )
    elif before.required != after.required:
        was, is_ = ("required" if field.required else "optional" for field in (before, after))
        harms = harms or (WRITERS if after.required else READERS)
        yield Change(place, f"{was} → {is_}", harms, why, f"keep it {was}", path)
    elif before.item != after.item:
        text = f"an item is called {before.item} → {after.item}"
        yield Change(place, text, harms, why, f"keep {before.item}", path)
    if (before.personal is None) != (after.personal is None):
        yield Change(place, "no longer personal" if before.personal else "now personal")
    yield from _compare_per(place, path, before, after)
    if before.unit != after.unit:
        yield Change(
            place,
            f"{before.unit or 'no unit'} → {after.unit or 'no unit'}",
            READERS,
            f"the same number means something else to who counts in {before.unit or 'nothing'}",
            f"keep {before.unit or 'it without a unit'} and add a field beside it",
            path,
            meaning=True,
        )


def _compare_per(place: str, path: Path, before: Field, after: Field) -> Iterator[Change]:
    """What a number is per. Records without that field say what they said; who reads both is named
    in contracts/consumers: see contracts/evolution/contradictions.py.
    """
    if before.per is None and after.per is not None:
        yield Change(place, f"now per {after.per}, where that is given")
    elif before.per != after.per:
        yield Change(
            place,
            f"per {before.per} → {f'per {after.per}' if after.per else 'per piece always'}",
            READERS,
            f"the same number means something else to who takes it per {before.per}",
            f"keep it per {before.per}",
            path,
            meaning=True,
        )


def _explain_unreadable(reader: Contract, path: Path, writer: Contract) -> str | None:
    """Why a reader's field cannot be read from the writer's records, by Avro's own library."""
    leaf = next(leaf for leaf, _ in list_leaves(reader.fields) if leaf[: len(path)] == path)
    of_field = build_avro_projection(reader, project_fields(reader.fields, [leaf]))
    schemas = of_field, build_avro_schema(writer)
    return _compare_schemas(*(json.dumps(schema, sort_keys=True) for schema in schemas))


@lru_cache(maxsize=PAIRS_MAX)
def _compare_schemas(reader: str, writer: str) -> str | None:
    checker = ReaderWriterCompatibilityChecker()
    result = checker.get_compatibility(_parse_schema(reader), _parse_schema(writer))
    if result.compatibility is SchemaCompatibilityType.compatible:
        return None
    return "Avro: " + "; ".join(sorted(result.messages) or ["it cannot be read"])


@lru_cache(maxsize=SCHEMAS_MAX)
def _parse_schema(text: str) -> Schema:
    return parse(text)
