"""A service that dies while it encodes what it publishes."""

from dataclasses import dataclass

import pytest

from contracts import Contract, Row, encode


class Died(BaseException):
    """The end of a service, anywhere."""


@dataclass
class Life:
    """How many rows the service encodes before it dies at the next; after that it lives on."""

    rows_left: int = 0

    def encode(self, contract: Contract, row: Row) -> bytes:
        self.rows_left -= 1
        if not self.rows_left:
            raise Died
        return encode(contract, row)


def limit_life(monkeypatch: pytest.MonkeyPatch, module: str) -> Life:
    """Let the service die by the rows that its module encodes."""
    life = Life()
    monkeypatch.setattr(f"{module}.encode", life.encode)
    return life
