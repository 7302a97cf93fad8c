"""The closed table of rules: one row gives the words and the Python of a condition.

pipelines/engine/java/Check.java has the Java of each.

An absent value breaks only the rule `required`. Every condition is true or false, never null.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.shape import Limit


@dataclass(frozen=True, slots=True)
class Kind:
    says: str
    """How the rule's name ends."""
    holds: Callable[[Any, Any], bool]
    keyword: str | None = None
    """Its name in JSON Schema."""
    limit_is_field: bool = False


def _limit_length_below(keyword: str) -> Kind:
    return Kind("has a length of at least {limit}", lambda x, limit: len(x) >= limit, keyword)


def _limit_length_above(keyword: str) -> Kind:
    return Kind("has a length of at most {limit}", lambda x, limit: len(x) <= limit, keyword)


KINDS: Mapping[str, Kind] = {
    "required": Kind("is given", lambda x, _: x is not None),
    "minimum": Kind("is at least {limit}", operator.ge, "minimum"),
    "maximum": Kind("is at most {limit}", operator.le, "maximum"),
    "minLength": _limit_length_below("minLength"),
    "maxLength": _limit_length_above("maxLength"),
    "maxBytes": Kind("has at most {limit} bytes", lambda x, limit: len(x) <= limit),
    "pattern": Kind(
        "matches {limit}", lambda x, limit: re.fullmatch(limit, x) is not None, "pattern"
    ),
    "validValues": Kind("is one of {limit}", lambda x, limit: x in limit, "enum"),
    "minItems": _limit_length_below("minItems"),
    "maxItems": _limit_length_above("maxItems"),
    "notEqual": Kind("is not {limit}", operator.ne),
    "lessThan": Kind("is less than {limit}", operator.lt, limit_is_field=True),
    "atMost": Kind("is at most {limit}", operator.le, limit_is_field=True),
}

# Only what Java, Python and RE2 read alike: literals, classes and counts, from end to end. None of
# them admits a "/", which joins the fields of a key.
ATOM = r"[A-Za-z0-9_-]|\[[A-Za-z0-9._-]+\]|\[\^/\]"
COUNT = r"\{\d+(?:,\d+)?\}|[+*?]"
PATTERN = re.compile(rf"\^(?:(?:{ATOM})(?:{COUNT})?)+\$")


def is_pattern(text: str) -> bool:
    """Whether the text is a pattern that every engine here reads alike."""
    if not PATTERN.fullmatch(text):
        return False
    try:
        re.compile(text)
    except re.error:  # as [z-a]
        return False
    return True


def describe_rule(path: Sequence[str], kind: str, limit: Limit) -> str:
    """`lines[].units is at least 1`: a rule in words."""
    return f"{'[].'.join(path)} {describe_condition(kind, limit)}"


def describe_condition(kind: str, limit: Limit) -> str:
    listed = ", ".join(limit) if isinstance(limit, tuple) else limit
    return KINDS[kind].says.format(limit=listed)
