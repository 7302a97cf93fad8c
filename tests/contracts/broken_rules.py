"""What the Python model says of a record."""

from typing import Any

from pydantic import ValidationError

from contracts import Contract, build_model


def find_broken_rules(contract: Contract, record: Any) -> set[str]:
    """The messages of every fault; a broken rule's is its name."""
    try:
        build_model(contract).model_validate(record)
    except ValidationError as error:
        return {fault["msg"] for fault in error.errors()}
    return set()
