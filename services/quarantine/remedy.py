"""What can be done about a rejected record."""

from dataclasses import dataclass

from contracts import Contract, Row, codec
from contracts.validation import (
    FUTURE,
    LATE,
    RELEASABLE,
    WRONG_KEY,
    WRONG_PARTITION,
    Rejection,
    find_first_fault,
    read,
)

RELEASED_REASONS = (LATE, FUTURE, WRONG_KEY, WRONG_PARTITION)


@dataclass(frozen=True)
class Remedy:
    """Whether the record may be released, and what to do, in words."""

    event: Row | None
    """The event to release, its times in milliseconds since 1970; None: no release is allowed."""
    text: str


def find_remedy(contract: Contract, reason: str, value: bytes | None) -> Remedy:
    """The remedy, by the record alone. Its release checks later whether the event has counted."""
    if contract.name not in RELEASABLE:
        return Remedy(
            None,
            f"Announce it anew: what {contract.name} says holds from a time on, and a release "
            "would come behind that time.",
        )
    if reason not in RELEASED_REASONS:
        return Remedy(None, "Publish a corrected event: this one does not keep its contract.")
    event = read(contract, value)
    if isinstance(event, Rejection):
        return Remedy(None, "Publish a corrected event: this one does not decode.")
    fault = find_first_fault(contract, codec.encode_key(contract, event), event)
    if fault is not None:
        return Remedy(None, f"Publish a corrected event: this one breaks a rule: {fault.reason}.")
    return Remedy(event, "It may be released, once its event can no longer come in time.")
