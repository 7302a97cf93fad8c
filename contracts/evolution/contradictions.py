"""Whether the declarations of consumers can hold: topics, fields, reliances, permission."""

from collections.abc import Iterator, Mapping
from datetime import date

from contracts.declarations import Consumer, Consumers, Use, find_writers
from contracts.evolution.released import Released
from contracts.evolution.reliances import find_unmet
from contracts.projection import Path, list_leaves, parse_path, render_path
from contracts.shape import Contract

Contracts = Mapping[str, Contract]


def find_drafts(present: Contracts, before: Released, consumers: Consumers) -> tuple[str, ...]:
    """The contracts that were never released and have no writer yet."""
    return tuple(
        name for name in present if name not in before and not find_writers(consumers, name)
    )


def find_faults(
    present: Contracts, before: Released, consumers: Consumers, today: date
) -> Iterator[str]:
    """The impossible declarations, each with the consumer that makes it."""
    drafted = find_drafts(present, before, consumers)
    for consumer in consumers.values():
        for topic, use in consumer.reads.items():
            if topic in present:
                yield from _check_use(consumer, use, present[topic], today)
        for verb, topics in (("reads", consumer.reads), ("writes", consumer.writes)):
            for topic in topics:
                if topic not in present:
                    yield f"{consumer.name} {verb} {topic}, which is no contract"
    for contract in present.values():
        yield from _check_readers(contract, consumers)
        if contract.name not in drafted and not find_writers(consumers, contract.name):
            yield f"{contract.name}: nobody in contracts/consumers writes it"
        yield from _check_sunset(contract, present, today)


def _check_use(consumer: Consumer, use: Use, contract: Contract, today: date) -> Iterator[str]:
    reads = f"{consumer.name} reads {contract.name}"
    if not may_read(consumer, contract):
        yield (
            f"{reads}, which is private to the domain {contract.domain}. Its owner, "
            f"{contract.owner}, may name {consumer.name} under readers in {contract.file}"
        )
    if contract.sunset and contract.sunset < today:
        yield f"{reads}, whose sunset was {contract.sunset}. Move to its successor"
    there = {path for path, _ in list_leaves(contract.fields)}
    used = set(use.list_paths(contract))
    for path in sorted(used - there):
        yield f"{reads}: field {render_path(path)}, which it does not have"
    for path, beside in _find_beside(contract):
        if path in used and beside not in used:
            yield (
                f"{reads}: field {render_path(path)} without {render_path(beside)}, "
                "which says what it is per"
            )
    for place in sorted(use.relies_on.fields):
        if not any(path[: len(parse_path(place))] == parse_path(place) for path in used):
            yield f"{reads}: relies on {place}, which is not among its fields"
    for each in find_unmet(use, contract):
        yield f"{reads}: {each}"


def _find_beside(contract: Contract) -> Iterator[tuple[Path, Path]]:
    """Each number that is per something, and the field that says what."""
    for path, field in list_leaves(contract.fields):
        if field.per is not None:
            yield path, (*path[:-1], field.per)


def may_read(consumer: Consumer, contract: Contract) -> bool:
    return (
        contract.visibility == "public"
        or consumer.domain == contract.domain
        or bool({consumer.name, f"every {consumer.kind}"} & set(contract.readers))
    )


def _check_readers(contract: Contract, consumers: Consumers) -> Iterator[str]:
    names = {*consumers, *(f"every {consumer.kind}" for consumer in consumers.values())}
    for name in contract.readers:
        if name not in names:
            yield f"{contract.name}: readers names {name}, who is not in contracts/consumers"


def _check_sunset(contract: Contract, present: Contracts, today: date) -> Iterator[str]:
    older = f"{contract.name.rpartition('.v')[0]}.v{contract.major - 1}"
    if older in present and present[older].sunset is None:
        yield (
            f"{older} has a successor, {contract.name}, but no sunset: say in "
            f"{present[older].file} until when it is kept up"
        )
    if contract.sunset and not any(
        other.name.rpartition(".v")[0] == contract.name.rpartition(".v")[0]
        and other.major > contract.major
        for other in present.values()
    ):
        yield f"{contract.name} has a sunset, {contract.sunset}, but no successor to move to"
