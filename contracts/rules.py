"""The closed table of rules: one row gives the words, the SQL and the Python of a condition.

An absent value breaks only the rule `required`. Every condition is true or false, never null.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.shape import Field, Limit, Rule


@dataclass(frozen=True, slots=True)
class Kind:
    says: str
    """How the rule's name ends."""
    sql: str
    """Spark SQL of {x}, the value, and {limit}."""
    holds: Callable[[Any, Any], bool]
    keyword: str | None = None
    """Its name in JSON Schema."""
    items_sql: str | None = None
    """Spark SQL of {x}, the values in all items at once. A lambda takes ten times as long, for
    Spark does not compile it."""
    limit_is_field: bool = False


def _limit_length_below(length_sql: str, keyword: str) -> Kind:
    return Kind(
        "has a length of at least {limit}",
        f"{length_sql} >= {{limit}}",
        lambda x, limit: len(x) >= limit,
        keyword,
    )


def _limit_length_above(length_sql: str, keyword: str) -> Kind:
    return Kind(
        "has a length of at most {limit}",
        f"{length_sql} <= {{limit}}",
        lambda x, limit: len(x) <= limit,
        keyword,
    )


KINDS: Mapping[str, Kind] = {
    "required": Kind("is given", "{x} is not null", lambda x, _: x is not None),
    "minimum": Kind(
        "is at least {limit}",
        "{x} >= {limit}",
        operator.ge,
        keyword="minimum",
        items_sql="array_min({x}) >= {limit}",
    ),
    "maximum": Kind(
        "is at most {limit}",
        "{x} <= {limit}",
        operator.le,
        keyword="maximum",
        items_sql="array_max({x}) <= {limit}",
    ),
    "exclusiveMinimum": Kind(
        "is more than {limit}",
        "{x} > {limit}",
        operator.gt,
        keyword="exclusiveMinimum",
        items_sql="array_min({x}) > {limit}",
    ),
    "exclusiveMaximum": Kind(
        "is less than {limit}",
        "{x} < {limit}",
        operator.lt,
        keyword="exclusiveMaximum",
        items_sql="array_max({x}) < {limit}",
    ),
    "minLength": _limit_length_below("length({x})", "minLength"),
    "maxLength": _limit_length_above("length({x})", "maxLength"),
    "maxBytes": Kind(
        "has at most {limit} bytes",
        "octet_length({x}) <= {limit}",
        lambda x, limit: len(x) <= limit,
    ),
    "pattern": Kind(
        "matches {limit}",
        "regexp_like({x}, {limit})",
        lambda x, limit: re.fullmatch(limit, x) is not None,
        keyword="pattern",
        # No pattern admits a "/". So one search finds an item that does not match in all items,
        # joined by "/"; the count of "/" shows that no item holds one.
        items_sql="array_size({x}) = 0 or (not regexp_like(array_join({x}, '/'), {limit}) and "
        "length(array_join({x}, '/')) - length(replace(array_join({x}, '/'), '/')) "
        "= array_size({x}) - 1)",
    ),
    "validValues": Kind(
        "is one of {limit}",
        "{x} in {limit}",
        lambda x, limit: x in limit,
        keyword="enum",
        items_sql="array_size(array_except({x}, array{limit})) = 0",
    ),
    "minItems": _limit_length_below("array_size({x})", "minItems"),
    "maxItems": _limit_length_above("array_size({x})", "maxItems"),
    "notEqual": Kind("is not {limit}", "{x} <> {limit}", operator.ne),
    "lessThan": Kind("is less than {limit}", "{x} < {limit}", operator.lt, limit_is_field=True),
    "atMost": Kind("is at most {limit}", "{x} <= {limit}", operator.le, limit_is_field=True),
}

# Only what Java, Python and RE2 read alike: literals, classes and counts, from end to end. None of
# them admits a "/", which joins the fields of a key.
ATOM = r"[A-Za-z0-9_-]|\[[A-Za-z0-9._-]+\]|\[\^/\]"
COUNT = r"\{\d+(?:,\d+)?\}|[+*?]"
PATTERN = re.compile(rf"\^(?:(?:{ATOM})(?:{COUNT})?)+\$")

# The pattern of most texts: some characters, and no "/". A search for it takes as long as all other
# rules of a receipt together, so plain functions check it where they can.
RUN = re.compile(r"\^\[\^/\]\{(\d+),(\d+)\}\$")
RUN_SQL = "length({x}) between {least} and {most} and instr({x}, '/') = 0"
RUN_ITEMS_SQL = (
    "array_size({x}) = 0 or (instr(concat('/', array_join({x}, '/'), '/'), '//') = 0 and "
    "length(array_join({x}, '/')) - length(replace(array_join({x}, '/'), '/')) "
    "= array_size({x}) - 1 and "
    "(length(array_join({x}, '/')) <= {most} or not regexp_like(array_join({x}, '/'), {limit})))"
)


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
    listed = ", ".join(limit) if isinstance(limit, tuple) else limit
    return f"{'[].'.join(path)} {KINDS[kind].says.format(limit=listed)}"


def render_sql(rule: Rule, fields: Sequence[Field], prefix: str) -> str:
    """The rule in Spark SQL, over the columns `prefix` + field."""
    condition = _render_condition(rule, rule.path, fields, prefix)
    return condition if rule.kind == "required" else f"coalesce({condition}, true)"


def _render_condition(rule: Rule, path: Sequence[str], fields: Sequence[Field], prefix: str) -> str:
    """True, false, or null where there is no value."""
    kind = KINDS[rule.kind]
    head, *rest = path
    x = f"{prefix}{head}"
    if rule.kind == "pattern" and len(rest) < 2 and (run := RUN.fullmatch(str(rule.limit))):
        least, most = run.groups()
        if not rest:
            return RUN_SQL.format(x=x, least=least, most=most)
        if least == "1":
            pattern = _render_literal(rule, items=True)
            return RUN_ITEMS_SQL.format(x=f"{x}.{rest[0]}", most=most, limit=pattern)
    if len(rest) == 1 and kind.items_sql:
        return kind.items_sql.format(x=f"{x}.{rest[0]}", limit=_render_literal(rule, items=True))
    if rest:
        array = next(field for field in fields if field.name == head)
        inner = _render_condition(rule, rest, array.fields, f"{array.item}.")
        return f"forall({x}, {array.item} -> {inner})"
    limit = f"{prefix}{rule.limit}" if kind.limit_is_field else _render_literal(rule)
    return kind.sql.format(x=x, limit=limit)


def _render_literal(rule: Rule, *, items: bool = False) -> str:
    """The rule's limit in SQL; for items joined by "/", the pattern of one that does not match.

    An absent item is among the values: it breaks only the rule `required`.
    """
    limit = rule.limit
    if isinstance(limit, tuple):
        return f"({', '.join([*map(_quote, limit), *(['null'] if items else [])])})"
    if rule.kind == "pattern" and isinstance(limit, str):
        one = limit.removeprefix("^").removesuffix("$")
        # Java's $ overlooks a line break at the end; \z does not.
        return _quote(rf"(?:^|/)(?!{one}(?:/|\z))" if items else rf"^{one}\z")
    return _quote(limit) if isinstance(limit, str) else str(limit)


def _quote(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace("'", r"\'")
    return f"'{escaped}'"
