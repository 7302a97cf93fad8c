"""Reading a file of the Open Data Contract Standard, strictly.

The standard has more keys than these contracts use. Others are errors here, so that every line of a
contract has an effect.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from open_data_contract_standard.model import CustomProperty, OpenDataContractStandard
from pydantic import ValidationError

from contracts.errors import BadContract, BadContracts, Faults, Location
from contracts.syntax import TYPE_WORDS, describe_value, parse_yaml, suggest

API_VERSION = "v3.1.0"

Kind = type | str
"""The type of a value, or the name of an element; `[name]` is a list of such elements."""
# The elements and keys of the standard that these contracts use.
ELEMENTS: Mapping[str, Mapping[str, Kind]] = {
    "contract": {
        **dict.fromkeys(("apiVersion", "kind", "id", "name", "domain", "version", "status"), str),
        "team": "team",
        "description": "description",
        "customProperties": "[custom]",
        "slaProperties": "[promise]",
        "schema": "[schema]",
    },
    "team": {"name": str},
    "description": dict.fromkeys(("purpose", "usage", "limitations"), str),
    "custom": {"property": str, "value": object, "description": str},
    "promise": {
        "value": object,
        **dict.fromkeys(("property", "unit", "element", "description"), str),
    },
    "schema": {
        "name": str,
        "physicalType": str,
        "properties": "[field]",
        "quality": "[check]",
        "customProperties": "[custom]",
    },
    "field": {
        **dict.fromkeys(("name", "description", "logicalType", "physicalType"), str),
        "required": bool,
        "classification": str,
        "logicalTypeOptions": dict,
        "quality": "[check]",
        "examples": list,
        "customProperties": "[custom]",
        "items": "item",
        "properties": "[field]",
    },
    "item": {"name": str, "description": str, "logicalType": str, "properties": "[field]"},
    "check": {
        **dict.fromkeys(("name", "description", "type", "metric", "engine"), str),
        "arguments": dict,
        "mustBe": object,
        "implementation": object,
    },
}


def parse(text: str, file: Path, faults: Faults) -> OpenDataContractStandard:
    """The file's text as the standard's model, without what it should not hold.

    Collects the faults; raises BadContract where the text is no document at all.
    """
    raw = parse_yaml(text, file, faults)
    cleaned = _clean(file, "contract", raw, faults, (), "the contract")
    try:
        made = OpenDataContractStandard(**cleaned)
    except ValidationError as error:
        location = error.errors()[0]["loc"]
        where, expected = ".".join(map(str, location)), f"what ODCS {API_VERSION} says"
        raise BadContract(
            file, where, expected, "other", "See its neighbours.", location
        ) from error
    if (made.apiVersion, made.kind) != (API_VERSION, "DataContract"):
        written = f"{made.kind} {made.apiVersion}"
        wanted = f"DataContract {API_VERSION}"
        faults.add(BadContract(file, "apiVersion and kind", wanted, written, "Write those."))
    return made


def _clean(
    file: Path, element: str, raw: Mapping[Any, Any], faults: Faults, location: Location, where: str
) -> dict[str, Any]:
    """The element, without unknown keys and values of other types: each of them is a fault."""
    kinds, cleaned = ELEMENTS[element], {}
    where = str(raw.get("name") or raw.get("property") or where)
    for key, value in raw.items():
        with faults.collect():
            if key not in kinds:
                listed, advice = ", ".join(kinds), suggest(key, kinds)
                raise BadContract(
                    file, where, f"one of {listed}", repr(key), advice, (*location, key)
                )
            if value is not None:
                cleaned[key] = _clean_value(file, key, kinds[key], value, faults, (*location, key))
    return cleaned


def _clean_value(
    file: Path, key: str, kind: Kind, raw: object, faults: Faults, location: Location
) -> Any:
    """The value of this kind. Raises BadContract."""
    value: Any = raw
    if isinstance(kind, type):
        wanted: type = kind
    else:
        wanted = list if kind.startswith("[") else dict
    if not isinstance(raw, wanted):
        advice = "Put it in quotes." if wanted is str else "See its neighbours."
        expected, found = TYPE_WORDS[wanted], describe_value(raw)
        raise BadContract(file, key, expected, found, advice, location)
    if isinstance(kind, type):
        return value
    if wanted is dict:
        return _clean(file, kind, value, faults, location, key)
    made = []
    for number, each in enumerate(value):
        with faults.collect():
            made.append(_clean_value(file, key, kind[1:-1], each, faults, (*location, number)))
    return made


class CustomProperties:
    """The custom properties of one element: a loader takes each once and refuses the others."""

    def __init__(
        self,
        file: Path,
        where: str,
        listed: list[CustomProperty] | None,
        faults: Faults,
        location: Location = (),
    ) -> None:
        self._file = file
        self._where = where
        self._at = (*location, "customProperties")
        self._values: dict[str, Any] = {}
        self._places: dict[str, Location] = {}
        for number, custom in enumerate(listed or ()):
            name = str(custom.property)
            self._places[name] = (*self._at, number)
            if name in self._values:
                once, advice = f"one custom property {name}", "Remove one of them."
                faults.add(self._explain(name, once, "two", advice, where), name)
            self._values[name] = custom.value

    def take(self, name: str, expected: type) -> Any:
        """The value, of the type expected. Raises BadContract where there is none."""
        value = self._values.pop(name, None)
        if not isinstance(value, expected) or isinstance(value, bool):
            raise self._explain(
                name,
                f"a value of type {expected.__name__}",
                repr(value),
                "Write it under customProperties.",
            )
        return value

    def find(self, name: str) -> Location:
        """Where the property is; where it should be, if it is not there."""
        return self._places.get(name, self._at)

    def take_optional(self, name: str, expected: type) -> Any:
        """The value, or None where there is none."""
        return self.take(name, expected) if name in self._values else None

    def refuse_others(self, *allowed: str) -> None:
        """Raise what was not taken. Raises BadContracts."""
        listed = f"custom properties {', '.join(allowed)}"
        faults = [
            self._explain(name, listed, name, suggest(name, allowed), self._where)
            for name in self._values
        ]
        if faults:
            raise BadContracts(faults)

    def _explain(
        self, name: str, expected: str, value: object, advice: str, where: str = ""
    ) -> BadContract:
        where = where or f"{self._where}, custom property {name}"
        return BadContract(self._file, where, expected, value, advice, self.find(name))
