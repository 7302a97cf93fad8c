"""From files to contracts: the loader finds every fault of all of them, and loads all or none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from open_data_contract_standard.model import OpenDataContractStandard, SchemaObject

from contracts import terms
from contracts.conditions import list_rules
from contracts.errors import BadContract, BadContracts, Faults, Location, Part
from contracts.fields import list_readings, read_fields
from contracts.odcs import CustomProperties, parse
from contracts.shape import Contract
from contracts.syntax import read_text, set_lines

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


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text, and the place that names its contract: equal ones hold the same contract."""

    place: Place
    text: str
    file: Path = field(compare=False)
    """Where a fault is."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A contract as far as it is understood."""

    contract: Contract
    missing: frozenset[Part]
    """What is not: it has a value that means nothing."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files of a folder hold."""

    contracts: Mapping[str, Contract]
    partial: Mapping[str, Partial | None]
    """By file: contracts with a fault; None for one of which nothing is understood."""
    faults: tuple[BadContract, ...]


def load(folder: Path) -> Mapping[str, Contract]:
    """Every contract under topics/ and views/ of the folder, by name. Raises BadContracts."""
    loaded = load_all(folder)
    if loaded.faults:
        raise BadContracts(loaded.faults)
    return loaded.contracts


def load_all(folder: Path) -> Loaded:
    """The contracts and the faults of a folder, each as many as there are."""
    files = [file for kind in FOLDERS for file in sorted((folder / kind).rglob("*"))]
    contracts: dict[str, Contract] = {}
    partial: dict[str, Partial | None] = {}
    faults: list[BadContract] = []
    for file in filter(Path.is_file, files):
        try:
            contract = load_at(parse_place(folder, file), file)
            if contract.name in contracts:
                expected, advice = "a name of its own", "Rename one."
                raise BadContract(file, "the contract", expected, contract.name, advice)
            contracts[contract.name] = contract
        except BadContract as fault:
            faults += fault.faults
            partial[file.relative_to(folder).as_posix()] = fault.partial
    return Loaded(MappingProxyType(contracts), partial, tuple(faults))


def load_at(place: Place, file: Path) -> Contract:
    """The contract in the file, with the name that belongs to this place. Raises BadContract."""
    text = read_text(file)
    try:
        return _read_contract(Source(place, text, file))
    except BadContract as fault:
        set_lines(text, fault.faults)
        raise BadContracts(fault.faults, fault.partial) from fault


@lru_cache(maxsize=SOURCES_MAX)
def _read_contract(source: Source) -> Contract:
    place, file, faults = source.place, source.file, Faults()
    try:
        contract = _read_parts(place, file, parse(source.text, file, faults), faults)
    except BadContract as fault:  # of something without which there is no contract
        raise BadContracts([*faults.found, *fault.faults]) from fault
    faults.refuse(Partial(contract, frozenset(faults.missing)))
    return contract


def _read_parts(
    place: Place, file: Path, document: OpenDataContractStandard, faults: Faults
) -> Contract:
    custom = CustomProperties(file, "the contract", document.customProperties, faults)
    visibility = _read_visibility(file, custom)
    name = f"{visibility}.{place.domain}.{place.entity}.v{place.major}"
    sunset = faults.attempt("sunset", None, _read_sunset, file, custom)
    schema = _get_schema(file, document)
    _check_names(file, place, name, document, "deprecated" if sunset else "active", faults)
    readings = list_readings(file, schema.properties, faults, ("schema", 0))
    fields = read_fields(readings, faults)
    if not fields:
        raise BadContract(file, "schema", "properties", "none", "Name its fields.")
    terms.refuse_ambiguous_items(file, fields, faults)
    rules = list_rules(file, readings, fields, schema.quality or (), faults)
    key = terms.read_key(file, fields, rules, custom, faults)
    event_time = faults.attempt("event_time", None, terms.read_event_time, file, fields, custom)
    measured = terms.find_measurable(fields, key, event_time)
    spans = terms.read_spans(file, document.slaProperties or (), place.entity, measured, faults)
    settings = terms.read_topic_settings(file, custom, faults)
    readers: tuple[str, ...] = faults.attempt(
        "readers", (), terms.read_readers, file, visibility, custom
    )
    with faults.collect():
        custom.refuse_others(*KNOWN_PROPERTIES)
    valid, invalid = terms.read_examples(file, schema, fields, rules, faults)
    return Contract(
        name=name,
        kind=place.kind,
        visibility=visibility,
        domain=place.domain,
        entity=place.entity,
        major=place.major,
        version=str(document.version),
        owner=faults.attempt("owner", "", _read_owner, file, document),
        description=faults.attempt("description", "", _read_description, file, document),
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


def _get_schema(file: Path, document: OpenDataContractStandard) -> SchemaObject:
    schemas = document.schema_ or []
    if len(schemas) != 1:
        raise BadContract(file, "schema", "one object", len(schemas), "A topic has one.")
    return schemas[0]


def _check_names(
    file: Path,
    place: Place,
    name: str,
    document: OpenDataContractStandard,
    status: str,
    faults: Faults,
) -> None:
    """Collect the names that contradict the path or the visibility."""
    schema, version = _get_schema(file, document), str(document.version)
    numbered = re.fullmatch(rf"{place.major}\.\d+\.\d+", version)
    of_schema: Location = ("schema", 0)
    for where, expected, written, location in (
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
            faults.add(BadContract(file, where, expected, written, advice, location))


def _read_sunset(file: Path, custom: CustomProperties) -> date | None:
    """The last day on which a contract with a successor is supported. Raises BadContract."""
    sunset: date | None = custom.take_optional("sunset", date)
    if isinstance(sunset, datetime):
        raise BadContract(file, "sunset", "a day, as 2027-03-31", sunset, "Leave out the time.")
    return sunset


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
