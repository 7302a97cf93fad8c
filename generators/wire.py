"""Encodes an event for the log, intact or spoilt.

The draws depend on the event's id only: the same bytes each time.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from random import Random
from typing import Any

from contracts import Contract, encode, get_contract
from contracts.times import MILLISECOND
from generators.chance import create_random
from generators.event import Dirt, Event, Publication
from generators.ticks import HOUR_MS

MAGIC_BYTES = 1
FRAME_BYTES = 5
AHEAD_MS_MAX = 24 * HOUR_MS  # added to the skew
NOISE_SHARE = 0.3  # of the malformed; the others are cut short
NOISE_BYTES_MAX = 64
UNKNOWN_ID_MIN = 1_000_000_000  # no lock file ever reaches it
UNKNOWN_IDS = 1_000

# By kind of rule: a value that breaks it, given its limit; other kinds are never broken.
BREAKING: Mapping[str, Callable[[Any], Any]] = {
    "minimum": lambda limit: limit - 1,
    "maximum": lambda limit: limit + 1,
    "minLength": lambda limit: "?" * (limit - 1),
    "maxLength": lambda limit: "?" * (limit + 1),
    "pattern": lambda _: "a/b",  # no pattern admits a "/"
    "validValues": lambda _: "?",
    "minItems": lambda _: [],
    "notEqual": lambda limit: limit,
}


def encode_value(publication: Publication) -> bytes:
    """The record's value, framed, or spoilt as the publication's dirt says."""
    _, topic, _, _, _, event, dirt = publication
    of = get_contract(topic)
    if not dirt or dirt not in BECOMES:
        return encode(of, event)
    return BECOMES[dirt](of, event, create_random(event["event_id"], "wire"))


def _encode_ahead(of: Contract, event: Event, draw: Random) -> bytes:
    """The event of a till whose clock is ahead by more than the contract allows."""
    skew = of.skew or timedelta()
    ahead_ms = skew // MILLISECOND + 1 + int(draw.random() * AHEAD_MS_MAX)
    return encode(of, {**event, "event_time": event["event_time"] + ahead_ms})


def _malform(of: Contract, event: Event, draw: Random) -> bytes:
    if draw.random() < NOISE_SHARE:
        noise = bytes(draw.getrandbits(8) for _ in range(int(draw.random() * NOISE_BYTES_MAX)))
        return b"?" + noise  # no magic byte: readers stop here
    whole = encode(of, event)
    return whole[: FRAME_BYTES + int(draw.random() * (len(whole) - FRAME_BYTES))]


def _encode_unknown(of: Contract, event: Event, draw: Random) -> bytes:
    whole = encode(of, event)
    number = UNKNOWN_ID_MIN + int(draw.random() * UNKNOWN_IDS)
    return whole[:MAGIC_BYTES] + number.to_bytes(4, "big") + whole[FRAME_BYTES:]


def _encode_broken(of: Contract, event: Event, draw: Random) -> bytes:
    """The event with one rule broken: a field of the event, or of its first line."""
    kept = *of.key, "event_id"  # a spoilt record keeps its key and its id
    rules = [rule for rule in of.rules if rule.kind in BREAKING and rule.path[0] not in kept]
    rule = rules[int(draw.random() * len(rules))]
    bad = BREAKING[rule.kind](rule.limit)
    head, *rest = rule.path
    if rest:
        first, *others = event[head]
        bad = [{**first, rest[0]: bad}, *others]
    return encode(of, {**event, head: bad})


BECOMES: Mapping[Dirt, Callable[[Contract, Event, Random], bytes]] = {
    Dirt.FUTURE: _encode_ahead,
    Dirt.MALFORMED: _malform,
    Dirt.UNKNOWN_SCHEMA: _encode_unknown,
    Dirt.BROKEN_RULE: _encode_broken,
}
