"""Values around the limits of a contract: at each limit, one less, one more, ten times as much."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from contracts import Contract, Rule

SIZE_MAX = 200_000
"""Of what is ten times as much: more says nothing new, and takes long."""


class Around(NamedTuple):
    """A value near the limit of a rule."""

    rule: Rule
    value: dict[str, Any]
    keeps: bool
    """Whether it keeps the rule."""


def list_around(contract: Contract) -> Iterator[Around]:
    for rule in (rule for rule in contract.rules if rule.kind in NEAR):
        for value, keeps in NEAR[rule.kind](contract, rule):
            yield Around(rule, change(contract.examples[0], rule.path, value), keeps)


def change(record: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The record with that at the path; in every item, where there are items."""
    head, *rest = path
    if not rest:
        return {**record, head: value}
    return {**record, head: [change(item, tuple(rest), value) for item in record[head]]}


def vary_number(inwards: int) -> Callable[..., Iterator[tuple[int, bool]]]:
    def near(_: Contract, rule: Rule) -> Iterator[tuple[int, bool]]:
        limit = int(str(rule.limit))
        yield limit, True
        yield limit + inwards, True
        yield limit - inwards, False
        yield limit - inwards * max(abs(9 * limit), 9), False

    return near


def vary_size(inwards: int) -> Callable[..., Iterator[tuple[Any, bool]]]:
    def near(contract: Contract, rule: Rule) -> Iterator[tuple[Any, bool]]:
        limit = int(str(rule.limit))
        unit = create_unit(contract, rule)
        yield unit * limit, True
        yield unit * (limit + inwards), True
        if limit - inwards >= 0:
            yield unit * (limit - inwards), False
        if inwards < 0:
            yield unit * min(10 * limit, limit + SIZE_MAX), False

    return near


def create_unit(contract: Contract, rule: Rule) -> Any:
    """What can be repeated: a character, a byte, a list of one item."""
    if rule.kind == "maxBytes":
        return b"x"
    return "x" if rule.kind.endswith("Length") else take_first_items(contract, rule.path)


def take_first_items(contract: Contract, path: tuple[str, ...]) -> list[Any]:
    record: Any = contract.examples[0]
    for name in path[:-1]:
        record = record[name][0]
    return list(record[path[-1]][:1])


def vary_text(_: Contract, rule: Rule) -> Iterator[tuple[str, bool]]:
    """By the counts at the pattern's end: texts of letters, as short and as long as may be."""
    counts = re.search(r"\{(\d+)(?:,(\d+))?\}\$$", str(rule.limit))
    assert counts, f"a pattern that ends in counts, found {rule.limit}"
    before = 1 if str(rule.limit).startswith("^[a-z][") else 0
    least, most = int(counts[1]) + before, int(counts[2] or counts[1]) + before
    letter = "X" if "A-Z" in str(rule.limit) else "x"
    for size in (least, most, min(least + 1, most), max(most - 1, least)):
        yield letter * size, True
    for size in (least - 1, most + 1, 10 * most):
        yield letter * size, False
    yield letter * (least - 1) + "/", False


NEAR: Mapping[str, Callable[[Contract, Rule], Iterator[tuple[Any, bool]]]] = {
    "minimum": vary_number(1),
    "maximum": vary_number(-1),
    "minLength": vary_size(1),
    "minItems": vary_size(1),
    "maxLength": vary_size(-1),
    "maxItems": vary_size(-1),
    "maxBytes": vary_size(-1),
    "pattern": vary_text,
}
