"""YAML files: their faults in our words, and the lines of their parts."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from contracts.errors import BadContract, Faults, Location

OPEN_QUOTE = re.compile(r"""[:-]\s+(["'])(?:(?!\1).)*$""", re.MULTILINE)
OPENED = ("flow", "quoted", "simple key")
"""Words of the parser, where the fault is in the line at which something began."""
ADVICE = "Close quotes and brackets, indent with spaces, write key: value, quote other signs."


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
        found = "bytes that are none"
        fault = BadContract(file, "the file", "UTF-8", found, "Save it in that encoding.")
        fault.line = data.count(b"\n", 0, error.start) + 1
        raise fault from error


def parse_yaml(text: str, file: Path, faults: Faults) -> dict[Any, Any]:
    """The mapping in the text. Collects keys that stand twice; raises BadContract otherwise."""
    try:
        loader = Loader(text)
        raw = loader.get_single_data()
    except yaml.YAMLError as error:
        raise _explain_syntax(error, text, file) from error
    for key, line in loader.repeated:
        found, advice = f"{key!r}, which stands twice", "Remove one of them."
        fault = BadContract(file, "the file", "each key once", found, advice)
        fault.line = line
        faults.add(fault)
    if not isinstance(raw, dict):
        found = describe_type(raw)
        raise BadContract(file, "the file", "a mapping", found, "See its neighbours.")
    return raw


def _explain_syntax(error: yaml.YAMLError, text: str, file: Path) -> BadContract:
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
    fault = BadContract(file, "the file", "YAML", repr(shown), ADVICE)
    fault.line = line
    return fault


def set_lines(text: str, faults: Iterable[BadContract]) -> None:
    """Give each fault the line of its part."""
    root = None
    for fault in faults:
        if fault.line is None and fault.location:
            root = root or yaml.compose(text, Loader=yaml.CSafeLoader)
            fault.line = _find_line(root, fault.location)


def _find_line(node: yaml.Node | None, location: Location) -> int | None:
    """The line of the part, or of what it should be in."""
    line = None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            pair = (node.value[part],) * 2
        else:
            pair = None
        if pair is None:
            break
        line, node = pair[0].start_mark.line + 1, pair[1]
    return line


TYPE_WORDS: Mapping[type, str] = {
    dict: "a mapping",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}


def describe_type(value: object) -> str:
    return TYPE_WORDS.get(type(value), "a day or a time")


def describe_value(value: object) -> str:
    """A value as a fault shows it: what it is, and for a single one its text."""
    if isinstance(value, dict | list | None):
        return describe_type(value)
    return repr(value) if isinstance(value, str) else f"{value}, {describe_type(value)}"


def suggest(name: object, allowed: Iterable[str]) -> str:
    """What to do about a name that is not known."""
    near = get_close_matches(str(name), list(allowed), 1)
    return f"Did you mean {near[0]}?" if near else "Remove or rename it."
