"""Errors of contracts: each says what was expected, what was found, and what to do."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Location = tuple[str | int, ...]
"""Keys and positions that lead to a part of a file: ("schema", 0, "properties", 3)."""


class BadContract(Exception):
    """The first fault of a contract's file: nothing is loaded."""

    file: Path | None = None
    line: int | None = None

    def __init__(
        self, where: str, expected: str, value: object, advice: str, location: Location = ()
    ) -> None:
        super().__init__(f"{where}: expected {expected}, found {value}. {advice}")
        self.location = location

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.file}{line}: {self.args[0]}" if self.file else str(self.args[0])

    @property
    def faults(self) -> "Sequence[BadContract]":
        return (self,)


class BadContracts(BadContract):
    """The faults of several files, raised together."""

    def __init__(self, faults: Sequence[BadContract]) -> None:
        Exception.__init__(self, "\n".join(map(str, faults)))
        self._faults = faults

    @property
    def faults(self) -> Sequence[BadContract]:
        return self._faults


def read_all(reads: Iterable[Callable[[], T]]) -> list[T]:
    """What each function returns. Raises BadContracts with the faults of all that raise one."""
    values: list[T] = []
    faults: list[BadContract] = []
    for read in reads:
        try:
            values.append(read())
        except BadContract as fault:
            faults += fault.faults
    if faults:
        raise BadContracts(faults)
    return values


class Unencodable(ValueError):
    """A value that does not have its contract's fields: a mistake in the program."""

    def __init__(self, name: str, reason: object) -> None:
        super().__init__(
            f"expected a value with the fields of {name}, found one that does not encode: "
            f"{reason}. Validate it with build_model(get_contract(...)) to see every reason"
        )


class Undecodable(ValueError):
    """The bytes hold no value of a known contract. `reason` goes to the quarantine record."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Undeclared(LookupError):
    """A consumer reads a topic or a field that its file does not declare."""

    def __init__(self, name: str, topic: str, field: str | None = None) -> None:
        what = topic if field is None else f"{topic}: field {field}"
        super().__init__(
            f"{name} reads {what}, but contracts/consumers/{name}.yaml does not say so. "
            "Name the topic there, with the fields that are used"
        )
