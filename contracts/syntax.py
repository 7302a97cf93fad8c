"""Files in YAML as strict models: every fault of a file in our words, each with its line."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from contracts.errors import BadContract

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]
"""Keys, positions and names that lead to a part of a file: ("schema", 0, "properties", "sku")."""
Fault = tuple[Location, str, object, str]
"""Where it is, what was expected, what was found, and what to do."""

OPEN_QUOTE = re.compile(r"""[:-]\s+(["'])(?:(?!\1).)*$""", re.MULTILINE)
OPENED = ("flow", "quoted", "simple key")
"""Words of the parser, where the fault is in the line at which something began."""
ADVICE = "Close quotes and brackets, indent with spaces, write key: value, quote other signs."
TYPE_WORDS: Mapping[type, str] = {
    dict: "a mapping",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}
EXPECTED = {
    "missing": "a value",
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
}
"""Words for pydantic's errors, by type."""
WORDS = {
    "Input should be ": "",
    "Value error, expected ": "",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
REFUSED = "refused"
STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
"""Other keys, and values of other types, are errors."""


class Loader(yaml.CSafeLoader):
    """YAML that notes repeated keys; yaml itself lets the second replace the first."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[tuple[str, int]] = []
        """Each key, and its line."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    self.repeated.append((key.value, key.start_mark.line + 1))
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # as 2027-02-30
            mark = node.start_mark
            raise yaml.constructor.ConstructorError(None, None, "no such value", mark) from error


def read_text(file: Path) -> str:
    """The text of a file in UTF-8. Raises BadContract."""
    data = file.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        advice = "Save it in that encoding."
        fault = render_fault(line, "the file", "UTF-8", "bytes that are none", advice)
        raise BadContract([f"{file}{fault}"]) from error


def read_model(kind: type[Model], text: str) -> tuple[Model | None, list[str]]:
    """The text as a model, None where it has faults; and the faults, as `explain` renders them."""
    try:
        loader = Loader(text)
        raw = loader.get_single_data()
    except yaml.YAMLError as error:
        return None, [_explain_syntax(error, text)]
    faults = [
        render_fault(
            line, "the file", "each key once", f"{key!r}, which stands twice", "Remove it."
        )
        for key, line in loader.repeated
    ]
    try:
        model = kind.model_validate(raw)
    except ValidationError as error:
        keys = set(_list_keys(kind))
        for each in error.errors(include_url=False):
            faults.append(explain(text, *_translate(each, keys)))
    return (None if faults else model), faults


def refuse(expected: str, found: object, advice: str) -> PydanticCustomError:
    """The error of a validator, in the words of a fault."""
    return PydanticCustomError(
        REFUSED, "{expected}", {"expected": expected, "found": found, "advice": advice}
    )


def explain(text: str, location: Location, expected: str, found: object, advice: str) -> str:
    """A fault of the file with this text: `:7: name: expected …, found …. What to do.`"""
    line = _find_line(yaml.compose(text, Loader=yaml.CSafeLoader), location)
    where = ".".join(str(part) for part in location if part != "customProperties")
    where = where.replace("schema.0.properties.", "field ").replace(".items.properties.", "[].")
    where = where.removeprefix("schema.0.")
    return render_fault(line, where or "the file", expected, found, advice)


def render_fault(line: int | None, where: str, expected: str, found: object, advice: str) -> str:
    place = "" if line is None else f":{line}"
    return f"{place}: {where}: expected {expected}, found {found}. {advice}"


def describe_value(value: object) -> str:
    """A value as a fault shows it: what it is, and for a single one its text."""
    what = TYPE_WORDS.get(type(value), "a day or a time")
    if isinstance(value, dict | list | None):
        return what
    return repr(value) if isinstance(value, str) else f"{value}, {what}"


def _translate(error: ErrorDetails, keys: set[str]) -> Fault:
    """Pydantic's error in our words. `keys`: those that the file may have."""
    location = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] == REFUSED:
        context = error["ctx"]
        return location, context["expected"], context["found"], context["advice"]
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(location[-1]), keys, 1)
        advice = f"Did you mean {near[0]}?" if near else "Remove or rename it."
        return location, "keys that are used here", repr(location[-1]), advice
    expected = EXPECTED.get(error["type"], error["msg"])
    for words, ours in WORDS.items():
        expected = expected.replace(words, ours)
    found = "none" if error["type"] == "missing" else describe_value(error["input"])
    advice = "Put it in quotes." if expected == "a text" else "See its neighbours."
    return location, expected, found, advice


def _list_keys(kind: type[BaseModel]) -> Iterator[str]:
    """Every key of a file of this kind, at whatever depth."""
    schema = kind.model_json_schema(by_alias=True)
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", ())


def _explain_syntax(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        began = any(words in str(error.context) for words in OPENED)
        mark = (began and error.context_mark) or error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        # A quote that is not closed ends at the next one, where the parser begins to wonder.
        if opened := OPEN_QUOTE.search("\n".join(text.splitlines()[: line - 1])):
            line = opened.string.count("\n", 0, opened.end()) + 1
    else:  # the reader stopped at one character
        line = text.encode().count(b"\n", 0, getattr(error, "position", 0)) + 1
    shown = (text.splitlines()[line - 1 : line] or [""])[0].strip()
    return render_fault(line, "the file", "YAML", repr(shown), ADVICE)


def _find_line(node: yaml.Node | None, location: Location) -> int | None:
    """The line of the part, or of what it should be in."""
    line = None
    for part in location:
        pair = _find_pair(node, part)
        if pair is None:
            break
        line, node = pair[0].start_mark.line + 1, pair[1]
    return line


def _find_pair(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The key and the value of a part. An element of a list is both, found by position or name."""
    if isinstance(node, yaml.MappingNode):
        values = {key.value: (key, value) for key, value in node.value}
        if part in values or "value" not in values:
            return values.get(part)
        return _find_pair(values["value"][1], part)  # of a custom property
    if isinstance(node, yaml.SequenceNode):
        for number, element in enumerate(node.value):
            if part == number or part in _list_names(element):
                return element, element
    return None


def _list_names(element: yaml.Node) -> list[str]:
    if not isinstance(element, yaml.MappingNode):
        return []
    return [value.value for key, value in element.value if key.value in ("name", "property")]
