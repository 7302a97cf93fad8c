"""What a system answers, what the oracle answers, and whether they are one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from contracts import RECEIPTS, STOCK_LEVELS, Row, compute_digest
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.inventory import Oracle

Units = dict[tuple[str, str], int]
"""Units sold by shelf: store_id and sku."""

UNITS = "units_sold"
UNITS_SOLD = replace(
    STOCK_LEVELS,
    fields=tuple(
        field for field in STOCK_LEVELS.fields if field.name in (*STOCK_LEVELS.key, UNITS)
    ),
)
"""Of the stock view, what all the systems answer."""


@dataclass(frozen=True)
class Comparison:
    """An answer beside the oracle's."""

    digest: str
    oracle_digest: str
    shelves: int
    """How many differ."""
    units: int
    """Units sold in the answer, less those in the oracle's."""

    @property
    def agrees(self) -> bool:
        return self.digest == self.oracle_digest

    def __str__(self) -> str:
        if self.agrees:
            return f"The oracle's answer: SHA-256 {self.digest[:8]}…"
        return (
            f"SHA-256 {self.digest[:8]}…, the oracle's {self.oracle_digest[:8]}…: "
            f"{self.units:+,} units sold."
        )


def compare(answer: Units, oracle: Units) -> Comparison:
    return Comparison(
        digest=compute_digest(UNITS_SOLD, list_rows(answer)),
        oracle_digest=compute_digest(UNITS_SOLD, list_rows(oracle)),
        shelves=sum(answer.get(at) != oracle.get(at) for at in answer.keys() | oracle.keys()),
        units=sum(answer.values()) - sum(oracle.values()),
    )


def list_rows(answer: Units) -> Iterator[Row]:
    for shelf, units in answer.items():
        yield {**dict(zip(STOCK_LEVELS.key, shelf, strict=True)), UNITS: units}


def parse_row(row: Row) -> tuple[tuple[str, str], int]:
    """The shelf and its units, from a row of the stock view."""
    return (row["store_id"], row["sku"]), row[UNITS]


def ask_oracle(settings: Settings) -> Units:
    """The units sold by all receipts in the log."""
    ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
    return dict(map(parse_row, Oracle(settings, ends).compute_view()))


@dataclass(frozen=True)
class Run:
    """How a system did the job: undisturbed, and once more with a kill in the middle."""

    seconds: float
    """From the first receipt until all are counted; undisturbed."""
    answer: Units
    answer_after_kill: Units
    how: str
    """What was measured, for a person."""
    kill: str
    """What was killed, where."""
