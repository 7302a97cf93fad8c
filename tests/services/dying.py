"""A service that dies while it encodes what it publishes."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import Producer

from contracts import Contract, Row, encode
from infra.kafka import create_producer


class Died(BaseException):
    """The end of a service, anywhere."""


@dataclass
class Life:
    """How many rows the service encodes before it dies at the next; after that it lives on."""

    rows_left: int = 0
    producers: list[Producer] = field(default_factory=list)
    """Those of the dead too. To let go of one in the midst of a transaction would close it, which a
    process that dies does not; and librdkafka has aborted a test's process over it."""

    def create_producer(self, *asked: Any, **overrides: Any) -> Producer:
        self.producers.append(create_producer(*asked, **overrides))
        return self.producers[-1]

    def encode(self, contract: Contract, row: Row) -> bytes:
        self.rows_left -= 1
        if not self.rows_left:
            raise Died
        return encode(contract, row)


def limit_life(monkeypatch: pytest.MonkeyPatch, module: str) -> Life:
    """Let the service die by the rows that its module encodes."""
    life = Life()
    monkeypatch.setattr(f"{module}.encode", life.encode)
    monkeypatch.setattr(f"{module}.create_producer", life.create_producer)
    return life
