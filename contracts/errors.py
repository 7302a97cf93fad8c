"""Errors of contracts: each says what was expected, what was found, and what to do."""

from collections.abc import Iterable, Sequence
from pathlib import Path


class BadContract(Exception):
    """An invalid contract file: nothing is loaded."""

    def __init__(self, file: Path, where: str, expected: str, value: object, advice: str) -> None:
        super().__init__(f"{file}: {where}: expected {expected}, found {value}. {advice}")
        self.file = file
        self.where = where


class BadContracts(BadContract):
    """Several errors, raised together."""

    def __init__(self, faults: Sequence[BadContract]) -> None:
        Exception.__init__(self, "\n".join(map(str, faults)))
        self.file = faults[0].file
        self.where = faults[0].where
        self.faults = tuple(faults)


class UnknownContract(LookupError):
    """No contract has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        listed = ", ".join(sorted(known))
        super().__init__(f"expected the name of a contract, found {name!r}. Known: {listed}")
        self.name = name


class StaleLock(Exception):
    """A contract's schema has no id yet, so no reader could decode its records."""

    def __init__(self, topic: str, file: Path) -> None:
        super().__init__(
            f"{topic}: expected an id for its present schema in {file.name}, found none. "
            "Give it one: python -m contracts.lock"
        )


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


class UnknownConsumer(LookupError):
    """No consumer has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        listed = ", ".join(sorted(known))
        super().__init__(
            f"expected a consumer of contracts/consumers, found {name!r}. Known: {listed}"
        )


class AmbiguousSchema(ValueError):
    """Two locks give one id to two schemas."""

    def __init__(self, number: int, topic: str, other: str) -> None:
        super().__init__(
            f"schema {number} should mean one thing, but two locks give it to a schema of {topic} "
            f"and to another, of {other}. Give the newer one the next free id: "
            "python -m contracts.lock"
        )


class Undeclared(LookupError):
    """A consumer reads a topic or a field that its file does not declare."""

    def __init__(self, name: str, topic: str, field: str | None = None) -> None:
        what = topic if field is None else f"{topic}: field {field}"
        super().__init__(
            f"{name} reads {what}, but contracts/consumers/{name}.yaml does not say so. "
            "Name the topic there, with the fields that are used"
        )
