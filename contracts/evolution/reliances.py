"""Whether a contract promises what its consumers rely on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from contracts.declarations import FOR_EVER, NEWEST_PER_KEY, Reliances, Use, parse_span
from contracts.projection import Path, list_leaves, parse_path
from contracts.shape import Contract, Rule
from contracts.times import render_span

RETENTION_DEFAULT_MS = 604_800_000  # Kafka's
LEAST = {"positive": 1, "not negative": 0}


@dataclass(frozen=True, slots=True)
class Unmet:
    """A reliance of a consumer that the contract does not promise."""

    place: str
    expected: str
    offered: str

    def __str__(self) -> str:
        return f"{self.place}: relies on {self.expected}, found {self.offered}"


def find_unmet(use: Use, contract: Contract) -> Iterator[Unmet]:
    relies = use.relies_on
    yield from _check_fields(relies, contract)
    yield from _check_ceilings(relies, contract)
    compacted = "compact" in contract.settings.config.get("cleanup.policy", "delete")
    key = ", ".join(contract.key)
    if relies.order is not None and tuple(relies.order) != contract.key:
        yield Unmet("order", f"the key {', '.join(relies.order)}", key)
    if relies.unique is not None and not _is_unique(tuple(relies.unique), contract, compacted):
        offered = f"rows of {key}" if compacted else "no such required field"
        yield Unmet("unique", ", ".join(relies.unique), offered)
    if relies.late and (contract.horizon is None or contract.horizon > parse_span(relies.late)):
        offered = "no horizon" if contract.horizon is None else render_span(contract.horizon)
        yield Unmet("late", f"at most {relies.late}", offered)
    if relies.kept and not _is_kept(relies.kept, contract, compacted):
        yield Unmet("kept", relies.kept, describe_retention(contract))


def describe_retention(contract: Contract) -> str:
    """How long the topic's records are kept, in words."""
    if "compact" in contract.settings.config.get("cleanup.policy", "delete"):
        return NEWEST_PER_KEY
    kept = _find_retention(contract)
    return FOR_EVER if kept is None else render_span(kept)


def _check_fields(relies: Reliances, contract: Contract) -> Iterator[Unmet]:
    fields = dict(list_leaves(contract.fields))
    for place, unit in relies.units.items():
        field = fields.get(parse_path(place))
        if field is None or field.unit != unit:
            yield Unmet(place, unit, (field.unit if field else None) or "no unit")
    for place, sign in relies.sign.items():
        least = _find_least(contract, parse_path(place))
        if least is None or least < LEAST[sign]:
            yield Unmet(place, sign, "anything" if least is None else f"at least {least}")
    for place, values in relies.values.items():
        rule = _find_rule(contract, parse_path(place), "validValues")
        admitted = set(rule.limit) if rule and isinstance(rule.limit, tuple) else None
        if admitted is None or admitted - set(values):
            offered = "anything" if admitted is None else ", ".join(sorted(admitted))
            yield Unmet(place, f"one of {', '.join(sorted(values))}", offered)


def _check_ceilings(relies: Reliances, contract: Contract) -> Iterator[Unmet]:
    for place, most in relies.at_most.items():
        admitted = _find_most(contract, parse_path(place))
        if admitted is None or admitted > most:
            offered = "anything" if admitted is None else f"at most {admitted}"
            yield Unmet(place, f"at most {most}", offered)


def _find_most(contract: Contract, path: Path) -> int | None:
    """The largest number, or the most items, that the rules of a field admit."""
    for kind, less in (("maximum", 0), ("exclusiveMaximum", 1), ("maxItems", 0)):
        rule = _find_rule(contract, path, kind)
        if rule and isinstance(rule.limit, int):
            return rule.limit - less
    return None


def _find_least(contract: Contract, path: Path) -> int | None:
    for kind, more in (("minimum", 0), ("exclusiveMinimum", 1)):
        rule = _find_rule(contract, path, kind)
        if rule and isinstance(rule.limit, int):
            return rule.limit + more
    return None


def _find_rule(contract: Contract, path: Path, kind: str) -> Rule | None:
    matching = (rule for rule in contract.rules if (rule.path, rule.kind) == (path, kind))
    return next(matching, None)


def _is_unique(fields: tuple[str, ...], contract: Contract, compacted: bool) -> bool:
    if compacted:
        return fields == contract.key
    required = {field.name for field in contract.fields if field.required}
    return set(fields) <= required


def _is_kept(asked: str, contract: Contract, compacted: bool) -> bool:
    if asked == NEWEST_PER_KEY:
        return compacted
    kept = _find_retention(contract)
    if compacted:
        return False
    return kept is None or (asked != FOR_EVER and kept >= parse_span(asked))


def _find_retention(contract: Contract) -> timedelta | None:
    """None: for ever."""
    kept_ms = int(contract.settings.config.get("retention.ms", RETENTION_DEFAULT_MS))
    return None if kept_ms < 0 else timedelta(milliseconds=kept_ms)
