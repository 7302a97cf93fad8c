"""Whether a contract promises what its consumers rely on."""

from collections.abc import Iterator
from datetime import timedelta

from contracts.declarations import FOR_EVER, NEWEST_PER_KEY, Reliances, Use
from contracts.projection import Path, list_leaves, parse_path
from contracts.shape import Contract, Rule
from contracts.times import parse_span, render_span

RETENTION_DEFAULT_MS = 604_800_000  # Kafka's
LEAST = {"positive": 1, "not negative": 0}


def find_unmet(use: Use, contract: Contract) -> Iterator[str]:
    """The reliances of a consumer that the contract does not promise, each with what it offers."""
    relies = use.relies_on
    yield from _check_fields(relies, contract)
    compacted = "compact" in contract.settings.config.get("cleanup.policy", "delete")
    key = ", ".join(contract.key)
    if relies.order is not None and tuple(relies.order) != contract.key:
        yield _render("order", f"the key {', '.join(relies.order)}", key)
    if relies.unique is not None and not _is_unique(tuple(relies.unique), contract, compacted):
        offered = f"rows of {key}" if compacted else "no such required field"
        yield _render("unique", ", ".join(relies.unique), offered)
    if relies.late and (contract.horizon is None or contract.horizon > parse_span(relies.late)):
        offered = "no horizon" if contract.horizon is None else render_span(contract.horizon)
        yield _render("late", f"at most {relies.late}", offered)
    if relies.kept and not _is_kept(relies.kept, contract, compacted):
        yield _render("kept", relies.kept, describe_retention(contract))


def _render(place: str, expected: str, offered: str) -> str:
    return f"{place}: relies on {expected}, found {offered}"


def describe_retention(contract: Contract) -> str:
    """How long the topic's records are kept, in words."""
    if "compact" in contract.settings.config.get("cleanup.policy", "delete"):
        return NEWEST_PER_KEY
    kept = _find_retention(contract)
    return FOR_EVER if kept is None else render_span(kept)


def _check_fields(relies: Reliances, contract: Contract) -> Iterator[str]:
    fields = dict(list_leaves(contract.fields))
    for place, unit in relies.units.items():
        field = fields.get(parse_path(place))
        if field is None or field.unit != unit:
            yield _render(place, unit, (field.unit if field else None) or "no unit")
    for place, sign in relies.sign.items():
        minimum = _find_rule(contract, parse_path(place), "minimum")
        least = minimum.limit if minimum and isinstance(minimum.limit, int) else None
        if least is None or least < LEAST[sign]:
            yield _render(place, sign, "anything" if least is None else f"at least {least}")
    for place, values in relies.values.items():
        rule = _find_rule(contract, parse_path(place), "validValues")
        admitted = set(rule.limit) if rule and isinstance(rule.limit, tuple) else None
        if admitted is None or admitted - set(values):
            offered = "anything" if admitted is None else ", ".join(sorted(admitted))
            yield _render(place, f"one of {', '.join(sorted(values))}", offered)


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
