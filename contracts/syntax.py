"""YAML files, read strictly: a fault has its file and line."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from contracts.errors import BadContract, Location


class Loader(yaml.CSafeLoader):
    """YAML that refuses repeated keys; yaml itself lets the second replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    found = f"{key.value!r}, which stands twice"
                    fault = BadContract("the file", "each key once", found, "Remove one of them.")
                    fault.line = key.start_mark.line + 1
                    raise fault
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def read_text(file: Path) -> str:
    """The text of a file in UTF-8. Raises BadContract."""
    data = file.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        found = "bytes that are none"
        fault = BadContract("the file", "UTF-8", found, "Save it in that encoding.")
        fault.file, fault.line = file, data.count(b"\n", 0, error.start) + 1
        raise fault from error


def parse_yaml(text: str) -> dict[Any, Any]:
    """The mapping in the text. Raises BadContract."""
    try:
        raw = Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        # A bracket or a quote is wrong where it was opened, anything else where the parser stopped.
        opened = any(word in (error.context or "") for word in ("flow", "quoted"))
        mark = error.context_mark if opened else error.problem_mark
        found = f"this: {error.problem}"
        fault = BadContract("the file", "YAML", found, "Mend it, or quote the text.")
        fault.line = mark.line + 1 if mark else None
        raise fault from error
    except (yaml.YAMLError, ValueError) as error:  # a control character; a day in no calendar
        raise BadContract("the file", "YAML", error, "Mend it, or quote the text.") from error
    if not isinstance(raw, dict):
        raise BadContract("the file", "a mapping", describe_type(raw), "See its neighbours.")
    return raw


@contextmanager
def locate_fault(file: Path, text: str) -> Iterator[None]:
    """Give the faults that are raised within their file and line."""
    try:
        yield
    except BadContract as raised:
        for fault in raised.faults:
            fault.file = file
            if fault.line is None and fault.location:
                root = yaml.compose(text, Loader=yaml.CSafeLoader)
                fault.line = _find_line(root, fault.location)
        raise


def _find_line(node: yaml.Node | None, location: Location) -> int | None:
    """The line of the part, or of what it should be in."""
    line = None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pair = next((one for one in node.value if one[0].value == part), None)
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


def suggest(name: object, known: Iterable[str]) -> str:
    """What to do about a name that is not known."""
    near = get_close_matches(str(name), list(known), 1)
    return f"Did you mean {near[0]}?" if near else "Remove or rename it."
