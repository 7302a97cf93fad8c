"""Errors of contracts: each says what was expected, what was found, and what to do."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Location = tuple[str | int, ...]
"""Keys and positions that lead to a part of a file: ("schema", 0, "properties", 3)."""
Part = str | tuple[str, ...]
"""A part of a contract: the path of a field, the name of a rule, or an attribute."""


class BadContract(Exception):
    """A fault of a contract's file: nothing is loaded."""

    line: int | None = None
    partial: Any = None
    """What is understood all the same."""

    def __init__(
        self,
        file: Path,
        where: str,
        expected: str,
        value: object,
        advice: str,
        location: Location = (),
    ) -> None:
        super().__init__(f"{where}: expected {expected}, found {value}. {advice}")
        self.file = file
        self.location = location
        self.faults: tuple[BadContract, ...] = (self,)

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        return f"{self.file}{line}: {self.args[0]}"


class BadContracts(BadContract):
    """Several faults, raised together."""

    def __init__(self, faults: Sequence[BadContract], partial: object = None) -> None:
        Exception.__init__(self, "\n".join(map(str, faults)))
        self.faults = tuple(faults)
        self.partial = partial

    def __str__(self) -> str:
        return str(self.args[0])


class Faults:
    """The faults of one file, collected while it is read, and the parts that they leave unread."""

    def __init__(self) -> None:
        self.found: list[BadContract] = []
        self.missing: set[Part] = set()

    @contextmanager
    def collect(self, *parts: Part) -> Iterator[None]:
        """Collect what is raised within; it leaves these parts unread, but for an empty name."""
        try:
            yield
        except BadContract as fault:
            self.add(fault, *parts)

    def add(self, fault: BadContract, *parts: Part) -> None:
        self.found += fault.faults
        self.missing.update(filter(None, parts))

    def attempt(self, part: Part, default: T, read: Callable[..., T], *arguments: Any) -> T:
        """What `read` returns; the default where it finds a fault."""
        try:
            return read(*arguments)
        except BadContract as fault:
            self.add(fault, part)
            return default

    def refuse(self, partial: object = None) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise BadContracts(self.found, partial)


class UnknownContract(LookupError):
    """No contract has this name."""

    def __init__(self, name: str, contracts: Iterable[str]) -> None:
        listed = ", ".join(sorted(contracts))
        super().__init__(f"expected the name of a contract, found {name!r}. Known: {listed}")


class StaleLock(LookupError):
    """The lock lacks the id of a contract's schema, or another lock gives the id to another one."""


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
