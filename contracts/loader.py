"""From files to contracts: the loader names the faults of every file, and loads all or none."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from contracts import examples, terms
from contracts.errors import BadContract
from contracts.odcs import OPTIONS, Document, Property, parse_typed
from contracts.rules import describe_rule
from contracts.shape import Contract, Field, Limit, Personal, Rule, TopicSettings
from contracts.syntax import explain, read_model, read_text, render_fault

FOLDERS: Mapping[str, Literal["topic", "view"]] = {"topics": "topic", "views": "view"}
FILE_NAME = re.compile(r"([a-z][a-z0-9-]*)\.v([1-9][0-9]*)\.yaml")
DOMAIN = re.compile(r"[a-z][a-z0-9-]*")
SOURCES_MAX = 1_024
"""As many contracts, old versions included, are kept as they were read. These are some 110."""


class Place(NamedTuple):
    """The parts of a contract's name in its file's path."""

    kind: Literal["topic", "view"]
    domain: str
    entity: str
    major: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files of a folder hold."""

    contracts: Mapping[str, Contract]
    """Those of which at most the examples are not understood."""
    faults: tuple[str, ...]


def load(folder: Path) -> Mapping[str, Contract]:
    """Every contract under topics/ and views/ of the folder, by name. Raises BadContract."""
    loaded = load_all(folder)
    if loaded.faults:
        raise BadContract(loaded.faults)
    return loaded.contracts


def load_all(folder: Path) -> Loaded:
    """The contracts and the faults of a folder, each as many as there are."""
    files = [file for kind in FOLDERS for file in sorted((folder / kind).rglob("*"))]
    contracts: dict[str, Contract] = {}
    faults: list[str] = []
    for file in filter(Path.is_file, files):
        try:
            contract, found = read_file(parse_place(folder, file), file)
        except BadContract as bad:
            contract, found = None, bad.faults
        faults += found
        if contract is not None and contract.name in contracts:
            faults.append(_explain_whole(file, "a name of its own", contract.name, "Rename one."))
        elif contract is not None:
            contracts[contract.name] = contract
    return Loaded(MappingProxyType(contracts), tuple(faults))


def read_file(place: Place, file: Path) -> tuple[Contract | None, tuple[str, ...]]:
    """The contract in the file, with the name that belongs to this place; and its faults.

    None: more than its examples is at fault. Raises BadContract where it is no text.
    """
    contract, faults = _read(place, read_text(file))
    return contract, tuple(f"{file}{fault}" for fault in faults)


def parse_place(folder: Path, file: Path) -> Place:
    """The place that the path under the folder names. Raises BadContract."""
    path = file.relative_to(folder)
    match = FILE_NAME.fullmatch(file.name)
    if len(path.parts) != 3 or not match or not DOMAIN.fullmatch(path.parts[1]):
        expected = "a path <domain>/<entity>.v<major>.yaml"
        raise BadContract([_explain_whole(file, expected, path.as_posix(), "Move the file.")])
    return Place(FOLDERS[path.parts[0]], path.parts[1], match[1], int(match[2]))


def _explain_whole(file: Path, expected: str, found: str, advice: str) -> str:
    return f"{file}{render_fault(None, 'the contract', expected, found, advice)}"


@lru_cache(maxsize=SOURCES_MAX)
def _read(place: Place, text: str) -> tuple[Contract | None, tuple[str, ...]]:
    document, syntax_faults = read_model(Document, text)
    if document is None:
        return None, tuple(syntax_faults)
    contract = _build(place, document)
    if faults := tuple(explain(text, *fault) for fault in terms.find_faults(contract, document)):
        return None, faults
    valid, invalid, found = examples.read(contract, document.schemas[0].customProperties)
    faults = tuple(explain(text, *fault) for fault in found)
    return replace(contract, examples=valid, invalid_examples=invalid), faults


def _build(place: Place, document: Document) -> Contract:
    """The contract without examples, as the file says it."""
    [schema], custom = document.schemas, document.customProperties
    fields = tuple(_build_field(name, each) for name, each in schema.properties.items())
    spans = {name: promise.length for name, promise in document.slaProperties.items()}
    times = {field.name for field in fields if field.type == "timestamp"}
    row_rules = (
        Rule(name, kind, (check.implementation.field,), limit, check.description)
        for name, check in schema.quality.items()
        for kind, limit in check.implementation.limits
    )
    return Contract(
        name=f"{custom.visibility}.{place.domain}.{place.entity}.v{place.major}",
        kind=place.kind,
        visibility=custom.visibility,
        domain=place.domain,
        entity=place.entity,
        major=place.major,
        version=document.version,
        owner=document.team.name,
        description=document.description.purpose,
        fields=fields,
        key=tuple(custom.key),
        event_time=custom.eventTime,
        horizon=spans.get("horizon"),
        skew=spans.get("skew"),
        began=next((name for name in custom.key if name in times), None),
        retention=spans.get("retention"),
        grace=spans.get("grace"),
        rules=(*_list_rules(schema.properties), *row_rules),
        settings=TopicSettings(
            custom.partitions,
            MappingProxyType({str(name): value for name, value in custom.topicConfig.items()}),
        ),
        examples=(),
        invalid_examples=(),
        readers=tuple(custom.readers),
        sunset=custom.sunset,
    )


def _build_field(name: str, source: Property) -> Field:
    custom, item = source.customProperties, source.items
    inner = item.properties.items() if item else ()
    return Field(
        name=name,
        type=source.type,
        required=source.required,
        description=source.description,
        unit=custom.unit,
        per=custom.per,
        examples=tuple(parse_typed(source.type, example) for example in source.examples),
        item=item.name if item else None,
        item_description=item.description if item else None,
        fields=tuple(_build_field(*each) for each in inner),
        personal=Personal(custom.purpose, custom.retention) if source.classification else None,
    )


def _list_rules(
    properties: Mapping[str, Property], parents: tuple[str, ...] = ()
) -> Iterator[Rule]:
    """The rules of the fields, those of an array before those of its items."""
    for name, source in properties.items():
        path = (*parents, name)
        limits: list[tuple[str, Limit]] = [("required", None)] if source.required else []
        for option, limit in source.logicalTypeOptions.items():
            limits.append((OPTIONS[source.type][option], limit))
        limits += [("validValues", tuple(each.arguments.validValues)) for each in source.quality]
        for kind, limit in limits:
            yield Rule(describe_rule(path, kind, limit), kind, path, limit)
        if source.items:
            yield from _list_rules(source.items.properties, path)
