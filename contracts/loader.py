"""From files to contracts: the loader checks all of them, and loads all or none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from open_data_contract_standard.model import OpenDataContractStandard, SchemaObject

from contracts import terms
from contracts.conditions import list_rules
from contracts.errors import BadContract, BadContracts
from contracts.fields import list_readings, read_fields
from contracts.odcs import CustomProperties, parse
from contracts.shape import Contract

FOLDERS: Mapping[str, Literal["topic", "view"]] = {"topics": "topic", "views": "view"}
FILE_NAME = re.compile(r"([a-z][a-z0-9-]*)\.v([1-9][0-9]*)\.yaml")
DOMAIN = re.compile(r"[a-z][a-z0-9-]*")
VISIBILITIES = ("public", "private")
SOURCES_MAX = 1_024
"""As many contracts, old versions included, are kept as they were read. These are some 110."""

KNOWN_PROPERTIES = "visibility, key, eventTime, partitions, topicConfig, readers, sunset"


class Place(NamedTuple):
    """The parts of a contract's name in its file's path."""

    kind: Literal["topic", "view"]
    domain: str
    entity: str
    major: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text, and the place that names its contract: equal ones hold the same contract."""

    at: Place
    text: str
    file: Path = field(compare=False)
    """Where a fault is."""


def load(folder: Path) -> Mapping[str, Contract]:
    """Every contract under topics/ and views/ of the folder, by name.

    Raises BadContract for a fault, and BadContracts, which names all, where several files have one.
    """
    files = [file for kind in FOLDERS for file in sorted((folder / kind).rglob("*"))]
    loaded: dict[str, Contract] = {}
    faults: list[BadContract] = []
    for file in filter(Path.is_file, files):
        try:
            one = load_file(folder, file)
        except BadContract as fault:
            faults.append(fault)
            continue
        if one.name in loaded:
            expected, advice = "a name of its own", "Rename one."
            faults.append(BadContract(file, "the contract", expected, one.name, advice))
        loaded[one.name] = one
    if faults:
        raise faults[0] if len(faults) == 1 else BadContracts(faults)
    return MappingProxyType(loaded)


def load_file(folder: Path, file: Path) -> Contract:
    """The contract in <topics or views>/<domain>/<entity>.v<major>.yaml under the folder."""
    return load_at(parse_place(folder, file), file)


def load_at(at: Place, file: Path) -> Contract:
    """The contract in the file, with the name that belongs to this place. Raises BadContract."""
    return _read_contract(Source(at, file.read_text(encoding="utf-8"), file))


@lru_cache(maxsize=SOURCES_MAX)
def _read_contract(source: Source) -> Contract:
    at, file = source.at, source.file
    document = parse(source.text, file)
    custom = CustomProperties(file, "the contract", document.customProperties)
    visibility = _read_visibility(file, custom)
    name = f"{visibility}.{at.domain}.{at.entity}.v{at.major}"
    sunset = terms.read_sunset(file, custom.take_optional("sunset", date))
    schema = _check_names(file, at, name, document, "deprecated" if sunset else "active")
    properties = list_readings(file, (), schema.properties)
    fields = read_fields(properties)
    terms.refuse_ambiguous_items(file, fields)
    rules = list_rules(file, properties, fields, schema.quality or ())
    key = terms.read_key(file, fields, rules, custom.take("key", list))
    event_time = terms.read_event_time(file, fields, custom.take_optional("eventTime", str))
    measured = terms.find_measurable(fields, key, event_time)
    spans = terms.read_spans(file, document.slaProperties or (), at.entity, measured)
    settings = terms.read_topic_settings(file, custom)
    readers = terms.read_readers(file, visibility, custom.take_optional("readers", list) or [])
    custom.refuse_others(KNOWN_PROPERTIES)
    valid, invalid = terms.read_examples(file, schema, fields, rules)
    return Contract(
        name=name,
        kind=at.kind,
        visibility=visibility,
        domain=at.domain,
        entity=at.entity,
        major=at.major,
        version=str(document.version),
        owner=_read_owner(file, document),
        description=_read_description(file, document),
        fields=fields,
        key=key,
        event_time=event_time,
        horizon=spans.get("horizon"),
        skew=spans.get("skew"),
        began=terms.find_time_in_key(fields, key),
        retention=spans.get("retention"),
        grace=spans.get("grace"),
        rules=rules,
        settings=settings,
        examples=valid,
        invalid_examples=invalid,
        readers=readers,
        sunset=sunset,
    )


def parse_place(folder: Path, file: Path) -> Place:
    """The place that the path under the folder names. Raises BadContract."""
    path = file.relative_to(folder)
    match = FILE_NAME.fullmatch(file.name)
    if len(path.parts) != 3 or not match or not DOMAIN.fullmatch(path.parts[1]):
        raise BadContract(
            file, "its path", "<domain>/<entity>.v<major>.yaml", path.as_posix(), "Move the file."
        )
    return Place(FOLDERS[path.parts[0]], path.parts[1], match[1], int(match[2]))


def _read_visibility(file: Path, custom: CustomProperties) -> str:
    visibility: str = custom.take("visibility", str)
    if visibility not in VISIBILITIES:
        raise BadContract(file, "visibility", " or ".join(VISIBILITIES), visibility, "Choose one.")
    return visibility


def _check_names(
    file: Path, place: Place, name: str, document: OpenDataContractStandard, status: str
) -> SchemaObject:
    """The contract's one schema. Raises BadContract where a name contradicts path or visibility."""
    schemas = document.schema_ or []
    if len(schemas) != 1:
        raise BadContract(file, "schema", "one object", len(schemas), "A topic has one.")
    schema = schemas[0]
    for where, expected, written in (
        ("id", name, document.id),
        ("name", place.entity, document.name),
        ("domain", place.domain, document.domain),
        ("version", f"{place.major}.x.y", document.version),
        ("schema's name", place.entity, schema.name),
        ("schema's physicalType", "topic", schema.physicalType),
        ("status", status, document.status),
    ):
        agreed = written == expected or (
            where == "version" and re.fullmatch(rf"{place.major}\.\d+\.\d+", str(written))
        )
        if not agreed:
            advice = "Names follow from the path and the visibility: mend this, or move the file."
            raise BadContract(file, where, expected, written, advice)
    return schema


def _read_owner(file: Path, document: OpenDataContractStandard) -> str:
    team = document.team
    if team is None or isinstance(team, list) or not team.name:
        raise BadContract(file, "team", "a name", "none", "Say who owns the contract.")
    return team.name


def _read_description(file: Path, document: OpenDataContractStandard) -> str:
    purpose = document.description.purpose if document.description else None
    if not (purpose or "").strip():
        raise BadContract(file, "description", "a purpose", "none", "Say what one record means.")
    return str(purpose).strip()
