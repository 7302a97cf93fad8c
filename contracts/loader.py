"""Loads contracts: names a fault of every file that has one, and loads all or none."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from open_data_contract_standard.model import OpenDataContractStandard, SchemaObject

from contracts import terms
from contracts.errors import BadContract, Location, read_all
from contracts.fields import list_readings, list_rules, read_fields
from contracts.odcs import CustomProperties, parse
from contracts.shape import Contract
from contracts.syntax import locate_fault, read_text

FOLDERS: Mapping[str, Literal["topic", "view"]] = {"topics": "topic", "views": "view"}
FILE_NAME = re.compile(r"([a-z][a-z0-9-]*)\.v([1-9][0-9]*)\.yaml")
DOMAIN = re.compile(r"[a-z][a-z0-9-]*")
VISIBILITIES = ("public", "private")
SOURCES_MAX = 1_024
"""As many contracts, old versions included, are kept as they were read. These are some 110."""

KNOWN_PROPERTIES = (
    "visibility",
    "key",
    "eventTime",
    "partitions",
    "topicConfig",
    "readers",
    "sunset",
)


class Place(NamedTuple):
    """The parts of a contract's name in its file's path."""

    kind: Literal["topic", "view"]
    domain: str
    entity: str
    major: int


def load(folder: Path) -> Mapping[str, Contract]:
    """Every contract under topics/ and views/ of the folder, by name. Raises BadContracts."""
    files = [file for kind in FOLDERS for file in sorted((folder / kind).rglob("*"))]
    contracts: dict[str, Contract] = {}

    def read(file: Path) -> None:
        one = load_at(parse_place(folder, file), file)
        if contracts.setdefault(one.name, one) is not one:
            with locate_fault(file, ""):
                raise BadContract("the contract", "a name of its own", one.name, "Rename one.")

    read_all(partial(read, file) for file in files if file.is_file())
    return MappingProxyType(contracts)


def load_at(at: Place, file: Path) -> Contract:
    """The contract in the file, with the name that belongs to this place. Raises BadContract."""
    text = read_text(file)
    with locate_fault(file, text):
        return _read_contract(at, text)


@lru_cache(maxsize=SOURCES_MAX)
def _read_contract(at: Place, text: str) -> Contract:
    document = parse(text)
    custom = CustomProperties("the contract", document.customProperties)
    visibility: str = custom.take("visibility", str)
    if visibility not in VISIBILITIES:
        raise BadContract("visibility", " or ".join(VISIBILITIES), visibility, "Choose one.")
    name = f"{visibility}.{at.domain}.{at.entity}.v{at.major}"
    sunset = _read_sunset(custom)
    schema = _get_schema(document)
    _check_names(at, name, document, schema, "deprecated" if sunset else "active")
    readings = list_readings(schema.properties, ("schema", 0))
    fields = read_fields(readings)
    if not fields:
        raise BadContract("schema", "properties", "none", "Name its fields.")
    terms.refuse_ambiguous_items(fields)
    rules = list_rules(readings, fields, schema.quality or ())
    key = terms.read_key(fields, rules, custom)
    event_time = terms.read_event_time(fields, custom)
    measured = terms.find_measurable(fields, key, event_time)
    spans = terms.read_spans(document.slaProperties or (), at.entity, measured)
    settings = terms.read_topic_settings(custom)
    readers = terms.read_readers(visibility, custom)
    custom.refuse_others(*KNOWN_PROPERTIES)
    valid, invalid = terms.read_examples(schema, fields, rules)
    return Contract(
        name=name,
        kind=at.kind,
        visibility=visibility,
        domain=at.domain,
        entity=at.entity,
        major=at.major,
        version=str(document.version),
        owner=_read_owner(document),
        description=_read_description(document),
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
        expected = "<domain>/<entity>.v<major>.yaml"
        with locate_fault(file, ""):
            raise BadContract("its path", expected, path.as_posix(), "Move the file.")
    return Place(FOLDERS[path.parts[0]], path.parts[1], match[1], int(match[2]))


def _get_schema(document: OpenDataContractStandard) -> SchemaObject:
    schemas = document.schema_ or []
    if len(schemas) != 1:
        raise BadContract("schema", "one object", len(schemas), "A topic has one.")
    return schemas[0]


def _check_names(
    place: Place, name: str, document: OpenDataContractStandard, schema: SchemaObject, status: str
) -> None:
    """Raise BadContract for a name that contradicts the path or the visibility."""
    version = str(document.version)
    numbered = re.fullmatch(rf"{place.major}\.\d+\.\d+", version)
    of_schema: Location = ("schema", 0)
    for where, expected, written, at in (
        ("id", name, document.id, ("id",)),
        ("name", place.entity, document.name, ("name",)),
        ("domain", place.domain, document.domain, ("domain",)),
        ("version", version if numbered else f"{place.major}.x.y", version, ("version",)),
        ("schema's name", place.entity, schema.name, of_schema),
        ("schema's physicalType", "topic", schema.physicalType, of_schema),
        ("status", status, document.status, ("status",)),
    ):
        if written != expected:
            advice = "Names follow from the path and the visibility: mend this, or move the file."
            raise BadContract(where, expected, written, advice, at)


def _read_sunset(custom: CustomProperties) -> date | None:
    """The last day on which a contract with a successor is supported. Raises BadContract."""
    sunset: date | None = custom.take_optional("sunset", date)
    if isinstance(sunset, datetime):
        raise BadContract("sunset", "a day, as 2027-03-31", sunset, "Leave out the time.")
    return sunset


def _read_owner(document: OpenDataContractStandard) -> str:
    team = document.team
    if team is None or isinstance(team, list) or not team.name:
        raise BadContract("team", "a name", "none", "Say who owns the contract.")
    return team.name


def _read_description(document: OpenDataContractStandard) -> str:
    purpose = document.description.purpose if document.description else None
    if not (purpose or "").strip():
        raise BadContract("description", "a purpose", "none", "Say what one record means.")
    return str(purpose).strip()
