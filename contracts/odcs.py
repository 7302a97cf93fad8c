"""Reading a file of the Open Data Contract Standard, strictly.

The standard's own model ignores unknown keys. Here they are errors, so that every line of a
contract has an effect.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from open_data_contract_standard.model import (
    CustomProperty,
    DataQuality,
    Description,
    OpenDataContractStandard,
    SchemaObject,
    SchemaProperty,
    ServiceLevelAgreementProperty,
    Team,
)
from pydantic import BaseModel, ValidationError

from contracts.errors import BadContract

API_VERSION = "v3.1.0"

# The keys of the standard that these contracts use.
KEYS: Mapping[type[BaseModel], tuple[str, ...]] = {
    OpenDataContractStandard: (
        "apiVersion",
        "kind",
        "id",
        "name",
        "domain",
        "version",
        "status",
        "team",
        "description",
        "customProperties",
        "slaProperties",
        "schema",
    ),
    Team: ("name",),
    Description: ("purpose", "usage", "limitations"),
    CustomProperty: ("property", "value", "description"),
    ServiceLevelAgreementProperty: ("property", "value", "unit", "element", "description"),
    SchemaObject: ("name", "physicalType", "properties", "quality", "customProperties"),
    SchemaProperty: (
        "name",
        "description",
        "logicalType",
        "physicalType",
        "required",
        "classification",
        "logicalTypeOptions",
        "quality",
        "examples",
        "customProperties",
        "items",
        "properties",
    ),
    DataQuality: (
        "name",
        "description",
        "type",
        "metric",
        "arguments",
        "mustBe",
        "engine",
        "implementation",
    ),
}


class Loader(yaml.CSafeLoader):
    """YAML that refuses a duplicate key; yaml itself lets the second replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read(file: Path) -> OpenDataContractStandard:
    """The file as the standard's model. Raises BadContract."""
    return parse(file.read_text(encoding="utf-8"), file)


def parse(text: str, file: Path) -> OpenDataContractStandard:
    """The file's text as the standard's model. Raises BadContract."""
    try:
        raw = yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise BadContract(file, "the file", "YAML", error, "Mend its syntax.") from error
    if not isinstance(raw, dict):
        raise BadContract(file, "the file", "a mapping", type(raw).__name__, "See its neighbours.")
    try:
        document = OpenDataContractStandard(**raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadContract(
            file, where, "what the standard says", first["msg"], f"See ODCS {API_VERSION}."
        ) from error
    _refuse_unknown_keys(file, "the contract", raw, document)
    if (document.apiVersion, document.kind) != (API_VERSION, "DataContract"):
        written = f"{document.kind} {document.apiVersion}"
        raise BadContract(
            file, "apiVersion and kind", f"DataContract {API_VERSION}", written, "Write those."
        )
    return document


def _refuse_unknown_keys(file: Path, where: str, raw: Mapping[str, Any], model: BaseModel) -> None:
    known = KEYS[type(model)]
    names = {info.alias or name: name for name, info in type(model).model_fields.items()}
    for key, value in raw.items():
        if key not in known:
            listed = ", ".join(known)
            raise BadContract(file, where, f"one of {listed}", repr(key), "Remove or rename it.")
        made = getattr(model, names[key])
        for raw_child, child in zip(_listed(value), _listed(made), strict=True):
            if isinstance(child, BaseModel):
                name = raw_child.get("name") or raw_child.get("property") or key
                _refuse_unknown_keys(file, str(name), raw_child, child)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class CustomProperties:
    """The custom properties of one element: a loader takes each once and refuses the others."""

    def __init__(self, file: Path, where: str, listed: list[CustomProperty] | None) -> None:
        self._file = file
        self._where = where
        self._values: dict[str, Any] = {}
        for one in listed or ():
            name = str(one.property)
            if name in self._values:
                raise BadContract(
                    file, where, f"one custom property {name}", "two", "Remove one of them."
                )
            self._values[name] = one.value

    def take(self, name: str, expected: type) -> Any:
        """The value, of the type expected. Raises BadContract where there is none."""
        value = self._values.pop(name, None)
        if not isinstance(value, expected) or isinstance(value, bool):
            raise BadContract(
                self._file,
                f"{self._where}, custom property {name}",
                f"a value of type {expected.__name__}",
                repr(value),
                "Write it under customProperties.",
            )
        return value

    def take_optional(self, name: str, expected: type) -> Any:
        """The value, or None where there is none."""
        return self.take(name, expected) if name in self._values else None

    def refuse_others(self, known: str) -> None:
        for name in self._values:
            raise BadContract(
                self._file, self._where, f"custom properties {known}", name, "Remove or rename it."
            )
