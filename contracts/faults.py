"""All faults of a value, each with its place, for its sender."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from contracts.checks import Location
from contracts.codec import encode
from contracts.errors import Unencodable
from contracts.models import build_model
from contracts.shape import Contract
from contracts.times import EPOCH, MILLISECOND
from contracts.validation import find_timing_fault

WHOLE = "event"
"""The place of a fault of the value as a whole."""
FOUND_CHARACTERS_MAX = 80


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: `lines[0].units`, the broken rule, and the value found."""

    place: str
    problem: str
    found: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}, found {self.found}"


def find_faults(contract: Contract, value: Any) -> tuple[Fault, ...]:
    """All faults of the value under its contract; a value without faults can be encoded."""
    try:
        build_model(contract).model_validate(value)
        encode(contract, value)
    except ValidationError as error:
        return tuple(
            Fault(render_place(each["loc"]), each["msg"], render_value(each["input"]))
            for each in error.errors(include_url=False)
        )
    except Unencodable as error:  # text with half a character, which JSON can spell
        return (Fault(WHOLE, "every text is valid Unicode", str(error.__cause__)),)
    return ()


def check_timing(contract: Contract, value: Any, published_ms: int) -> tuple[Fault, ...]:
    """The fault of a value that is late or ahead if it is published at that time; at most one.

    A value without a valid event time has none.
    """
    happened = value.get(contract.event_time) if isinstance(value, Mapping) else None
    if contract.event_time is None or not isinstance(happened, datetime) or happened.tzinfo is None:
        return ()
    happened_ms = (happened - EPOCH) // MILLISECOND
    rejection = find_timing_fault(contract, {contract.event_time: happened_ms}, published_ms)
    return (Fault(contract.event_time, rejection.reason, rejection.found),) if rejection else ()


def render_place(location: Location) -> str:
    """("lines", 0, "units") → lines[0].units"""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".") or WHOLE


def render_value(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value.isoformat() if isinstance(value, datetime) else repr(value)
    return text[:FOUND_CHARACTERS_MAX]
