"""Records of a contract: what keeps every rule, what breaks one, and damaged bytes."""

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from contracts import Contract, Row, Unencodable, encode, encode_key
from tests.contracts.strategies import draw_records, typed, valid
from tests.pipelines.log import OPENING

RECORDS = 150
# Times that no calendar has and Spark does, up to the last that it has.
FAR_MS = [sign * far // 1000 for far in (2**60, 2**63 - 1000) for sign in (1, -1)]
TWO_BILLION = bytes((0x80, 0xD0, 0xAC, 0xF3, 0x0E))
"""How Avro writes 2,000,000,000: the length of a text, or the number of an array's items."""

ODD = (
    b"\x01",  # -1: the last place of a list, in Python
    b"\x03",
    b"\x05",
    b"\x80" * 10 + b"\x02",  # more bytes than a number has
    b"\x82" * 12 + b"\x01",
    b"\xff" * 9 + b"\x01",  # the least number of 64 bits
    b"\xfe" + b"\xff" * 8 + b"\x01",
    b"\x06\xed\xa0\x80",  # half a pair of UTF-16, in UTF-8
    b"\x06\xef\xbf\xbd",  # what is put for bytes that are no UTF-8
    b"\x04\xc0\x80",  # more bytes than the character needs
)
"""What no writer writes, and a reader may take for a number or a text."""

Sent = tuple[bytes | None, bytes | None]
"""A record's key and value."""


@cache
def list_records(agreed: Contract) -> Sequence[Sent]:
    """Records of the contract: good ones, ones that break a rule, and ones of another time.

    To draw them takes seconds. They are the same at each call.
    """
    events = [
        *agreed.examples,
        *(example.value for example in agreed.invalid_examples),
        *draw_records(typed(agreed), RECORDS),
        *({**event, "event_time": OPENING} for event in draw_records(valid(agreed), RECORDS)),
        *({**agreed.examples[0], "event_time": far} for far in FAR_MS),
    ]
    records: list[Sent] = []
    for event in events:
        try:
            value = encode(agreed, event)
        except Unencodable:
            continue
        records += [(find_key(agreed, event), value), (None, value)]
    return tuple(records)


def find_key(agreed: Contract, event: Row) -> bytes | None:
    return None if any(event[name] is None for name in agreed.key) else encode_key(agreed, event)


@cache
def damage(agreed: Contract) -> Sequence[Sent]:
    """A good record with bytes cut off, changed, put in, or announced and not there; and noise."""
    example = {**agreed.examples[0], "event_time": OPENING}
    whole, right = encode(agreed, example), encode_key(agreed, example)
    position = st.integers(0, len(whole) - 1)
    change = st.tuples(position, st.binary(max_size=3), position).map(
        lambda drawn: {"value": whole[: drawn[0]] + drawn[1] + whole[drawn[0] + drawn[2] % 3 :]}
    )
    bodies = st.binary(max_size=60).map(lambda body: {"value": whole[:5] + body})
    drawn = (*draw_records(change, RECORDS), *draw_records(bodies, RECORDS))
    changed = [record["value"] for record in drawn]
    cut = [whole[:length] for length in range(len(whole))]
    announced = [whole[:place] + TWO_BILLION for place in range(5, len(whole))]
    places = range(5, min(len(whole), 120))
    odd = [whole[:place] + noise + whole[place + 1 :] for noise in ODD for place in places]
    values = (None, whole + b"\0\0", *cut, *announced, *changed, *odd)
    return tuple((right, value) for value in values)
