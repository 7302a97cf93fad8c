"""Errors of contracts: each says what was expected, what was found, and what to do."""

from collections.abc import Iterable


class BadContract(Exception):
    """The faults of contracts or consumers, a line each: nothing is loaded."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


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
