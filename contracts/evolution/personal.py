"""Whether contracts give each field that names a person a purpose and a retention."""

from collections.abc import Iterator, Mapping

from contracts.evolution.reliances import describe_retention
from contracts.projection import list_leaves, render_path
from contracts.shape import Contract, Field


def find_mistakes(present: Mapping[str, Contract]) -> Iterator[str]:
    """The mistakes, each with the contract and the field.

    In a public topic a personal field has a purpose and a retention. A stated retention equals that
    of the topic, in a private topic too. A field that is personal in one contract is personal in
    every contract that has a field of this name.
    """
    marked_in: dict[str, str] = {}
    for contract in present.values():
        for path, field in list_leaves(contract.fields):
            if field.personal:
                marked_in.setdefault(render_path(path), contract.name)
    for contract in present.values():
        for path, field in list_leaves(contract.fields):
            place = render_path(path)
            if place in marked_in:
                for text in _explain(contract, field, marked_in[place]):
                    yield f"{contract.name}: field {place}: {text}"


def _explain(contract: Contract, field: Field, marked_in: str) -> Iterator[str]:
    kept = describe_retention(contract)
    if field.personal is None:
        yield (
            f"expected classification: personal, as in {marked_in}, found none. Classify it, or "
            "rename it if it names nobody"
        )
        return
    if contract.visibility == "public" and field.personal.purpose is None:
        yield (
            "it is personal and the topic is public: expected a purpose, found none. Say under "
            f"its customProperties in {contract.file} what it serves, or leave the field out"
        )
    if contract.visibility == "public" and field.personal.retention is None:
        yield (
            "it is personal and the topic is public: expected a retention, found none. The topic "
            f"keeps its records {kept}: say so under its customProperties in {contract.file}, or "
            "change the topicConfig"
        )
    if field.personal.retention not in (None, kept):
        yield (
            f"expected the retention {kept}, since so the topic keeps its records, found "
            f"{field.personal.retention}. Mend it in {contract.file}, or the topicConfig"
        )
