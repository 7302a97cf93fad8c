"""Reading a file of the Open Data Contract Standard, strictly.

The standard has more keys than these contracts use. Others are errors here, so that every line of a
contract has an effect.
"""

from collections.abc import Mapping
from typing import Any

from open_data_contract_standard.model import CustomProperty, OpenDataContractStandard
from pydantic import ValidationError

from contracts.errors import BadContract, Location
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


def parse(text: str) -> OpenDataContractStandard:
    """A file's text as the standard's model. Raises BadContract."""
    raw = parse_yaml(text)
    _check_element("contract", raw, (), "the contract")
    try:
        made = OpenDataContractStandard(**raw)
    except ValidationError as error:
        at = error.errors()[0]["loc"]
        where, expected = ".".join(map(str, at)), f"what ODCS {API_VERSION} says"
        raise BadContract(where, expected, "other", "See its neighbours.", at) from error
    if (made.apiVersion, made.kind) != (API_VERSION, "DataContract"):
        written = f"{made.kind} {made.apiVersion}"
        raise BadContract(
            "apiVersion and kind", f"DataContract {API_VERSION}", written, "Write those."
        )
    return made


def _check_element(element: str, raw: Mapping[Any, Any], at: Location, where: str) -> None:
    """Raise BadContract for an unknown key, or a value of another type."""
    known = ELEMENTS[element]
    where = str(raw.get("name") or raw.get("property") or where)
    for key, value in raw.items():
        if key not in known:
            advice = suggest(key, known)
            raise BadContract(where, f"one of {', '.join(known)}", repr(key), advice, (*at, key))
        if value is not None:
            _check_value(key, known[key], value, (*at, key))


def _check_value(key: str, kind: Kind, value: Any, at: Location) -> None:
    of_elements = list if str(kind).startswith("[") else dict
    wanted: type = kind if isinstance(kind, type) else of_elements
    if not isinstance(value, wanted):
        advice = "Put it in quotes." if wanted is str else "See its neighbours."
        raise BadContract(key, TYPE_WORDS[wanted], describe_value(value), advice, at)
    inner: Any = value
    if isinstance(kind, str) and wanted is dict:
        _check_element(kind, inner, at, key)
    elif isinstance(kind, str):
        for number, each in enumerate(inner):
            _check_value(key, kind[1:-1], each, (*at, number))


class CustomProperties:
    """The custom properties of one element: a loader takes each once and refuses the others."""

    def __init__(self, where: str, listed: list[CustomProperty] | None, at: Location = ()) -> None:
        self._where = where
        self._at = (*at, "customProperties")
        self._values: dict[str, Any] = {}
        self._places: dict[str, Location] = {}
        for number, one in enumerate(listed or ()):
            name = str(one.property)
            self._places[name] = (*self._at, number)
            if name in self._values:
                expected, advice = f"one custom property {name}", "Remove one of them."
                raise BadContract(where, expected, "two", advice, self.find(name))
            self._values[name] = one.value

    def take(self, name: str, expected: type) -> Any:
        """The value, of the type expected. Raises BadContract where there is none."""
        value = self._values.pop(name, None)
        if not isinstance(value, expected) or isinstance(value, bool):
            where = f"{self._where}, custom property {name}"
            wanted, advice = (
                f"a value of type {expected.__name__}",
                "Write it under customProperties.",
            )
            raise BadContract(where, wanted, repr(value), advice, self.find(name))
        return value

    def take_optional(self, name: str, expected: type) -> Any:
        """The value, or None where there is none."""
        return self.take(name, expected) if name in self._values else None

    def find(self, name: str) -> Location:
        """Where the property is; where it should be, if it is not there."""
        return self._places.get(name, self._at)

    def refuse_others(self, *known: str) -> None:
        """Raise BadContract for a property that was not taken."""
        for name in self._values:
            expected, advice = f"custom properties {', '.join(known)}", suggest(name, known)
            raise BadContract(self._where, expected, name, advice, self.find(name))
