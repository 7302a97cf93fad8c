"""Records of any contract, made by hypothesis from the contract itself."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contracts import Contract, Field, Rule
from contracts.checks import compile_checks, find_broken
from contracts.rules import KINDS
from contracts.times import EPOCH

BITS = {"int": 32, "long": 64}
ITEMS_MAX = 3  # more say nothing new, and take long
MILLISECONDS_MAX = 4_102_444_800_000  # the year 2100

Record = st.SearchStrategy[dict[str, Any]]


def valid(contract: Contract) -> Record:
    """Records that keep every rule."""
    asked = compile_checks(contract.fields, contract.rules)
    made = _records(contract.fields, contract.rules, (), _kept)
    made = made.map(lambda record: _ordered(record, contract.rules))
    return made.filter(lambda record: not any(find_broken(asked, record)))


def typed(contract: Contract) -> Record:
    """Records whose fields have their types, or are absent; rules are kept and broken."""
    return _records(contract.fields, contract.rules, (), _any)


def _ordered(record: dict[str, Any], rules: Sequence[Rule]) -> dict[str, Any]:
    """The same with compared fields in their order: by chance alone several seldom are."""
    for rule in rules:
        if KINDS[rule.kind].limit_is_field and len(rule.path) == 1:
            [field], other = rule.path, str(rule.limit)
            if None not in (record[field], record[other]) and record[field] > record[other]:
                record = {**record, field: record[other], other: record[field]}
    return record


def draw_records(records: Record, count: int) -> list[dict[str, Any]]:
    """The given number of records, the same at every run, for a validation of all at once."""
    complete: list[dict[str, Any]] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(records)
    def collect(record: dict[str, Any]) -> None:
        complete.append(record)

    collect()
    return complete


Make = Callable[[Field, Sequence[Rule]], st.SearchStrategy[Any]]


def _records(
    fields: Sequence[Field], rules: Sequence[Rule], parents: tuple[str, ...], make: Make
) -> Record:
    return st.fixed_dictionaries(
        {field.name: _values(field, rules, (*parents, field.name), make) for field in fields}
    )


def _values(
    field: Field, rules: Sequence[Rule], path: tuple[str, ...], make: Make
) -> st.SearchStrategy[Any]:
    own = [rule for rule in rules if rule.path == path] + _borrowed(rules, path)
    if field.item:
        least = _limit(own, "minItems", 0) if make is _kept else 0
        items = _records(field.fields, rules, path, make)
        values: st.SearchStrategy[Any] = st.lists(items, min_size=least, max_size=ITEMS_MAX)
    else:
        values = make(field, own)
    may_be_absent = make is _any or not field.required
    return st.none() | values if may_be_absent else values


def _borrowed(rules: Sequence[Rule], path: tuple[str, ...]) -> list[Rule]:
    """Bounds of the field on the other side of a comparison: what lies beyond is no use."""
    return [
        bound
        for rule in rules
        if KINDS[rule.kind].limit_is_field
        for bound in rules
        if (rule.path == path and bound.path == (rule.limit,) and bound.kind == "maximum")
        or (path == (rule.limit,) and bound.path == rule.path and bound.kind == "minimum")
    ]


def _kept(field: Field, rules: Sequence[Rule]) -> st.SearchStrategy[Any]:
    if field.type == "string":
        for rule in rules:
            if isinstance(rule.limit, tuple):
                return st.sampled_from(rule.limit)
        longest = _limit(rules, "maxLength", 40)
        for rule in rules:
            if rule.kind == "pattern":
                made = st.from_regex(str(rule.limit).removesuffix("$") + r"\Z")
                return made.map(lambda text: text[:longest])
        return _text(_limit(rules, "minLength", 0), min(longest, 40))
    if field.type in BITS:
        end = 2 ** (BITS[field.type] - 1)
        least = _limit(rules, "minimum", -end)
        most = _limit(rules, "maximum", end - 1)
        return st.integers(least, most)
    return _plain(field)


def _any(field: Field, rules: Sequence[Rule]) -> st.SearchStrategy[Any]:
    """Values of the field's type: anything, what keeps the rules, and what just breaks them."""
    limits = [rule.limit for rule in rules]
    if field.type == "string":
        sizes = [limit + more for limit in limits if isinstance(limit, int) for more in (-1, 0, 1)]
        edges = ["a" * size for size in sizes]
        return st.sampled_from([*edges, "", "a", "a/b", "a\n"]) | _text(0, 40) | _kept(field, rules)
    if field.type in BITS:
        end = 2 ** (BITS[field.type] - 1)
        edges_of = [limit + more for limit in limits if type(limit) is int for more in (-1, 0, 1)]
        return st.sampled_from([*edges_of, -1, 0, 1]) | st.integers(-end, end - 1)
    return _plain(field)


def _plain(field: Field) -> st.SearchStrategy[Any]:
    if field.type == "bytes":  # limits are far away; the invalid examples go beyond them
        return st.binary(max_size=40)
    if field.type == "boolean":
        return st.booleans()
    return st.integers(0, MILLISECONDS_MAX).map(lambda ms: EPOCH + timedelta(milliseconds=ms))


def _text(least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=least, max_size=most)


def _limit(rules: Sequence[Rule], kind: str, otherwise: int) -> int:
    limits = (rule.limit for rule in rules if rule.kind == kind)
    return next((limit for limit in limits if isinstance(limit, int)), otherwise)
