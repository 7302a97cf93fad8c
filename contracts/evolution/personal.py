"""Whether contracts give each field that names a person a purpose and a retention."""

from collections.abc import Iterable, Iterator, Mapping

from contracts.evolution.reliances import describe_retention
from contracts.projection import list_leaves, render_path
from contracts.shape import Contract, Personal


def find_mistakes(present: Mapping[str, Contract]) -> Iterator[str]:
    """The mistakes, each with the contract and the field.

    In a public topic a personal field has a purpose and a retention. A stated retention equals that
    of the topic, in a private topic too. A field that is personal in one contract is personal in
    every contract that has a field of this name.
    """
    first = _find_first(present.values())
    for contract in present.values():
        for path, field in list_leaves(contract.fields):
            place = render_path(path)
            if field.personal:
                mistakes = _explain(contract, field.personal)
            elif place in first:
                mistakes = iter([_render_unmarked(first[place])])
            else:
                continue
            yield from (f"{contract.name}: field {place}: {text}" for text in mistakes)


def _find_first(contracts: Iterable[Contract]) -> dict[str, str]:
    """By personal field: the first contract that marks it."""
    first: dict[str, str] = {}
    for contract in contracts:
        for path, field in list_leaves(contract.fields):
            if field.personal:
                first.setdefault(render_path(path), contract.name)
    return first


def _explain(contract: Contract, personal: Personal) -> Iterator[str]:
    kept = describe_retention(contract)
    if contract.visibility == "public" and personal.purpose is None:
        yield (
            "it is personal and the topic is public: expected a purpose, found none. Say under "
            f"its customProperties in {contract.file} what it serves, or leave the field out"
        )
    if contract.visibility == "public" and personal.retention is None:
        yield (
            "it is personal and the topic is public: expected a retention, found none. The topic "
            f"keeps its records {kept}: say so under its customProperties in {contract.file}, or "
            "change the topicConfig"
        )
    if personal.retention not in (None, kept):
        yield (
            f"expected the retention {kept}, since so the topic keeps its records, found "
            f"{personal.retention}. Mend it in {contract.file}, or the topicConfig"
        )


def _render_unmarked(marked_in: str) -> str:
    return (
        f"expected classification: personal, as in {marked_in}, found none. Classify it, or "
        "rename it if it names nobody"
    )
