"""Records that break their contract, each in its way."""

from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Message

from contracts import RECEIPTS, Contract, encode, encode_key

TIME_END_MS = 2**63 - 1
HUGE_BYTES = 900_000

Bad = tuple[bytes | None, bytes | None]
"""Key and value."""


def get_good(contract: Contract, **changes: Any) -> tuple[bytes, bytes]:
    row = {**contract.examples[0], **changes}
    return encode_key(contract, row), encode(contract, row)


def list_bad(contract: Contract) -> Mapping[str, Bad]:
    """By what is wrong with it: a record of the topic that no reader may use."""
    key, value = get_good(contract)
    other = encode(RECEIPTS if contract is not RECEIPTS else contract, RECEIPTS.examples[0])
    return {
        "no frame": (key, b"\xff\xfe\xfd what is this"),
        "empty": (key, b""),
        "a frame alone": (key, value[:5]),
        "cut off": (key, value[:7]),
        "an unknown schema": (key, b"\0" + (2**31).to_bytes(4, "big") + value[5:]),
        "another topic's": (key, other if contract is not RECEIPTS else b"\0"),
        "huge": (key, value[:5] + b"\xff" * HUGE_BYTES),
        **({} if contract.kind == "view" else {"a wrong key": (b"\xff another/key", value)}),
        **({} if contract.kind == "view" else {"no key": (None, value)}),
        **dict(_list_extreme(contract, key)),
    }


def _list_extreme(contract: Contract, key: bytes) -> Iterator[tuple[str, Bad]]:
    """Times at the ends of 64 bits."""
    times = [field.name for field in contract.fields if field.type == "timestamp"]
    for end in (TIME_END_MS, -TIME_END_MS):
        if times:
            row = {**contract.examples[0], **dict.fromkeys(times, end)}
            yield f"a time of {end} ms", (key, encode(contract, row))


def create_message(contract: Contract, record: Bad, offset: int = 0) -> Message:
    """The record as a consumer gives it."""
    key, value = record
    return Message(
        topic=contract.name, partition=0, offset=offset, key=key, value=value, timestamp=(1, 0)
    )
