"""The deeds that a planned incident consists of."""

from typing import NamedTuple

from generators.customers import CASH, Payer

NOBODYS = -1  # no receipt


class Deed(NamedTuple):
    """A purchase or a return at a till. A tuple of plain values: snapshots contain it."""

    at_ms: int
    store: int
    till: int
    does: str  # buy, or return
    payer: Payer = CASH
    goods: str = "usual"  # or the dearest or the cheapest of some: dear, cheap
    lines: int = 1
    units: int = 1  # of each line
    percent: int = 100  # of the price, on reduced lines; of the bought units, in a return
    reduced_lines: int = 0  # lines sold below the price
    packs_hundredths: int = 0  # of each line, instead of units
    cents: int = 0  # the value of a return without a receipt
    receipt: int = NOBODYS  # the deed that bought what is returned, or bought again
    invented: bool = False  # the refund names a receipt that was never issued
    real: bool = True  # whether any goods come back
    counts: bool = False  # whether it adds to the incident's strength
    delay_ms: int = 0  # from the event to its publication


class Plan(NamedTuple):
    deeds: list[Deed]
    strength: int = 0  # known beforehand; the counts of the deeds are added


NOTHING = Plan([])
