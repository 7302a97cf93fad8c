"""The readers and writers of a topic, and which of them a change breaks."""

from collections.abc import Mapping

from contracts.consumer import Consumer, Use
from contracts.evolution.change import LOG, READERS, WRITERS, Change
from contracts.shape import Contract

Consumers = Mapping[str, Consumer]


def find_readers(consumers: Consumers, topic: str) -> dict[str, Use]:
    return {name: one.reads[topic] for name, one in consumers.items() if topic in one.reads}


def find_writers(consumers: Consumers, topic: str) -> tuple[str, ...]:
    return tuple(name for name, one in consumers.items() if topic in one.writes)


def find_broken_readers(change: Change, old: Contract, uses: Mapping[str, Use]) -> tuple[str, ...]:
    if not change.harms & (READERS | LOG):
        return ()
    return tuple(name for name, use in uses.items() if _concerns(change, old, use))


def find_broken_writers(change: Change, names: tuple[str, ...]) -> tuple[str, ...]:
    return names if change.harms & WRITERS else ()


def _concerns(change: Change, old: Contract, use: Use) -> bool:
    path = change.path
    if path is None:
        return any(getattr(use.relies_on, one) is not None for one in change.reliances)
    if change.meaning and use.fields == "all":  # it passes every field on, whatever it means
        return change.place in use.relies_on.fields
    return any(used[: len(path)] == path for used in use.list_paths(old))
