"""Whether a client of the API that was written against one OpenAPI document can use another.

A small set of rules, for the parts that these documents have: a request may need less than before,
and an answer may only gain parts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Node = Mapping[str, Any]
Way = Literal["sent", "answered"]

METHODS = ("get", "put", "post", "delete", "patch", "head")
DEPTH_MAX = 12  # a schema may refer to itself
LOWER_BOUNDS = ("minimum", "exclusiveMinimum", "minLength", "minItems")
UPPER_BOUNDS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")


@dataclass(frozen=True, slots=True)
class _Pair:
    """The same element in both documents."""

    old: Node
    new: Node
    old_whole: Node
    new_whole: Node

    def at(self, *keys: str) -> "_Pair":
        old, new = self.old, self.new
        for key in keys:
            old, new = old.get(key, {}), new.get(key, {})
        return self.of(old, new)

    def of(self, old: Node, new: Node) -> "_Pair":
        return _Pair(
            _resolve(old, self.old_whole),
            _resolve(new, self.new_whole),
            self.old_whole,
            self.new_whole,
        )


def find_breaks(old: Node, new: Node) -> Iterator[str]:
    """What clients of the old document lose with the new one."""
    both = _Pair(old, new, old, new)
    for path, methods in old["paths"].items():
        for method in METHODS:
            if method in methods:
                name = f"{method.upper()} {path}"
                if method not in new["paths"].get(path, {}):
                    yield f"{name} is gone"
                else:
                    yield from _compare_operation(name, both.at("paths", path, method))


def _compare_operation(name: str, both: _Pair) -> Iterator[str]:
    yield from _compare_parameters(name, both)
    if both.new.get("requestBody", {}).get("required") and "requestBody" not in both.old:
        yield f"{name}: a body is required now"
    yield from _compare_contents(f"{name}: body", both.at("requestBody", "content"), "sent")
    for status in both.old.get("responses", {}):
        if status not in both.new.get("responses", {}):
            if status.startswith("2"):
                yield f"{name}: no answer {status} any more"
            continue
        answers = both.at("responses", status, "content")
        yield from _compare_contents(f"{name}: answer {status}", answers, "answered")


def _compare_parameters(name: str, both: _Pair) -> Iterator[str]:
    old, new = (_index_by_place(side.get("parameters", ())) for side in (both.old, both.new))
    for place, parameter in new.items():
        if parameter.get("required") and not old.get(place, {}).get("required"):
            yield f"{name}: {place} is required now"
    for place, parameter in old.items():
        if place not in new:
            yield f"{name}: {place} is gone"
        else:
            schemas = both.of(parameter.get("schema", {}), new[place].get("schema", {}))
            yield from _compare_schemas(f"{name}: {place}", _unwrap_repeatable(schemas), "sent")


def _unwrap_repeatable(both: _Pair) -> _Pair:
    """A parameter that may now be repeated still accepts a single value."""
    if "items" in both.new and "items" not in both.old:
        return both.of(both.old, both.new["items"])
    return both


def _index_by_place(parameters: Any) -> dict[str, Node]:
    return {f"{one['in']} parameter {one['name']}": one for one in parameters}


def _compare_contents(place: str, both: _Pair, way: Way) -> Iterator[str]:
    for media in both.old:
        if media not in both.new:
            yield f"{place}: no {media} any more"
        else:
            yield from _compare_schemas(place, both.at(media, "schema"), way)


def _compare_schemas(place: str, both: _Pair, way: Way, depth: int = 0) -> Iterator[str]:
    if depth > DEPTH_MAX or not both.old:
        return
    old_types, new_types = (
        _list_types(both.old, both.old_whole),
        _list_types(both.new, both.new_whole),
    )
    lost, won = old_types - new_types, new_types - old_types
    if (way == "sent" and lost and new_types) or (way == "answered" and won and old_types):
        yield f"{place}: {_join(old_types)} → {_join(new_types)}"
        return
    yield from _compare_values(place, both, way)
    yield from _compare_properties(place, both, way, depth)
    if "items" in both.old:
        yield from _compare_schemas(f"{place}[]", both.at("items"), way, depth + 1)


def _compare_values(place: str, both: _Pair, way: Way) -> Iterator[str]:
    old, new = (side.get("enum") for side in (both.old, both.new))
    if way == "answered" and old and (more := set(new or ("anything",)) - set(old)):
        yield f"{place}: may also be {_join(more)}"
    if way == "sent" and new and (less := set(old or ("anything",)) - set(new)):
        yield f"{place}: may not be {_join(less)} any more"
    if way == "sent":
        for names, stricter in ((LOWER_BOUNDS, 1), (UPPER_BOUNDS, -1)):
            for name in names:
                was, is_ = both.old.get(name), both.new.get(name)
                if is_ is not None and (was is None or (is_ - was) * stricter > 0):
                    yield f"{place}: {name} {was} → {is_}"


def _compare_properties(place: str, both: _Pair, way: Way, depth: int) -> Iterator[str]:
    old, new = (side.get("properties", {}) for side in (both.old, both.new))
    old_required, new_required = (set(side.get("required", ())) for side in (both.old, both.new))
    for name in old:
        if name not in new:
            yield f"{place}: {name} is gone"
        else:
            yield from _compare_schemas(
                f"{place}.{name}", both.of(old[name], new[name]), way, depth + 1
            )
    if way == "sent":
        yield from (f"{place}: {name} is required now" for name in new_required - old_required)
    else:
        yield from (
            f"{place}: {name} may be absent now"
            for name in sorted((old_required - new_required) & new.keys())
        )


def _resolve(node: Any, whole: Node) -> Node:
    """The target of a reference; for a choice between null and one type, that type."""
    for _ in range(DEPTH_MAX):
        if not isinstance(node, Mapping):
            return {}
        choices = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
        if "$ref" in node:
            at: Any = whole
            for part in node["$ref"].removeprefix("#/").split("/"):
                at = at[part]
            node = at
        elif len(choices) == 1:
            node = {**choices[0], "nullable": True}
        else:
            return node
    return {}


def _list_types(node: Node, whole: Node) -> set[str]:
    """The types that the schema admits, null among them; empty where it admits any type."""
    if "anyOf" in node:
        return {kind for one in node["anyOf"] for kind in _list_types(_resolve(one, whole), whole)}
    if "type" not in node:
        return set()
    named = node["type"]
    types = set(named) if isinstance(named, list) else {named}
    return types | ({"null"} if node.get("nullable") else set())


def _join(values: set[str]) -> str:
    return ", ".join(sorted(map(str, values))) or "anything"
