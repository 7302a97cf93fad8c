"""A contract as a pydantic model: it is strict, and names every broken rule at once."""

from collections.abc import Container, Mapping
from functools import cache
from typing import Any

from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic import Field as ModelField
from pydantic_core import InitErrorDetails, PydanticCustomError

from contracts.checks import Location, compile_checks, find_broken
from contracts.mapping import TYPES, to_camel
from contracts.rules import KINDS
from contracts.shape import Contract, Field, Limit
from contracts.syntax import STRICT

BROKEN_RULE = "broken_rule"
"""The type of the error that stands for a broken rule; the rule's name is its message."""


@cache
def build_model(contract: Contract) -> type[BaseModel]:
    """The contract's values in Python. Raises pydantic's ValidationError, one error per fault."""
    return create_model(
        to_camel(contract.entity),
        __config__=STRICT,
        __doc__=contract.description,
        __validators__={"keeps_every_rule": _create_validator(contract)},
        **_define_fields(contract, contract.fields, ()),
    )


def _define_fields(contract: Contract, fields: tuple[Field, ...], parents: tuple[str, ...]) -> Any:
    return {field.name: _define_field(contract, field, (*parents, field.name)) for field in fields}


def _define_field(contract: Contract, field: Field, path: tuple[str, ...]) -> tuple[Any, Any]:
    python = TYPES[field.type].python
    if field.item:
        python = list[_define_item(contract, field, path)]  # type: ignore[misc]  # made here, at run time
    extra: dict[str, Any] = {
        name: text for name in ("unit", "per") if (text := getattr(field, name))
    }
    for rule in contract.rules:
        if rule.path == path and (keyword := KINDS[rule.kind].keyword):
            extra[keyword] = _render_limit(rule.limit, field.required)
    facts: dict[str, Any] = {"description": field.description, "json_schema_extra": extra}
    if field.examples:
        facts["examples"] = list(field.examples)
    if field.required:
        return python, ModelField(**facts)
    return python | None, ModelField(default=None, **facts)


def _define_item(contract: Contract, field: Field, path: tuple[str, ...]) -> Any:
    return create_model(
        to_camel(f"{contract.entity}-{field.item}"),
        __config__=STRICT,
        __doc__=field.item_description,
        **_define_fields(contract, field.fields, path),
    )


def _render_limit(limit: Limit, required: bool) -> Any:
    """The limit in JSON Schema, where null is a value: an optional field may be null."""
    if not isinstance(limit, tuple):
        return limit
    return list(limit) if required else [*limit, None]


def _create_validator(contract: Contract) -> Any:
    asked = compile_checks(contract.fields, contract.rules)

    @model_validator(mode="wrap")
    def keeps_every_rule(
        cls: type[BaseModel], value: Any, handler: ModelWrapValidatorHandler[BaseModel]
    ) -> BaseModel:
        faults = [
            _create_fault(BROKEN_RULE, rule.name, location, found)
            for location, rule, found in (
                find_broken(asked, value) if isinstance(value, Mapping) else ()
            )
        ]
        try:
            made = handler(value)
        except ValidationError as error:
            faults += _select_others(error, {fault["loc"] for fault in faults})
        if faults:
            raise ValidationError.from_exception_data(cls.__name__, faults)
        return made

    return keeps_every_rule


def _select_others(error: ValidationError, named: Container[Location]) -> list[InitErrorDetails]:
    """The faults of shape and type; those of absent fields are among the broken rules already."""
    return [
        _create_fault(fault["type"], fault["msg"], fault["loc"], fault["input"])
        for fault in error.errors(include_url=False)
        if fault["loc"] not in named
    ]


def _create_fault(kind: str, message: str, location: Location, value: Any) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError(kind, message), loc=location, input=value)
