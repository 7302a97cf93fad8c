"""The consumers of this repository, and readers that decode for them.

A program decodes with `create_reader`, which returns the declared fields and no others: a program
that reads another field fails in its first test.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path as File

from contracts.codec import Decoded, decode
from contracts.declarations import Consumer, load_consumers
from contracts.errors import Undeclared
from contracts.projection import Path, create_pruner
from contracts.shape import Contract

CONSUMERS: Mapping[str, Consumer] = load_consumers(File(__file__).parent / "consumers")


def list_declared(name: str, contract: Contract) -> tuple[Path, ...]:
    """The fields that a consumer reads of a topic. Raises Undeclared where it reads none."""
    use = CONSUMERS[name].reads.get(contract.name)
    if use is None:
        raise Undeclared(name, contract.name)
    return use.list_paths(contract)


def create_reader(name: str) -> Callable[[bytes | None], Decoded]:
    """`decode` for one consumer: a value holds the fields that its file declares, and no others.

    The function raises Undecodable, and Undeclared for a value of a topic that is not in the file.
    """
    pruned = cache(lambda contract: create_pruner(contract, list_declared(name, contract)))

    def read(data: bytes | None) -> Decoded:
        decoded = decode(data)
        return Decoded(decoded.contract, decoded.schema_id, pruned(decoded.contract)(decoded.value))

    return read
