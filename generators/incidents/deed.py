"""The deeds that a planned incident consists of."""

from typing import NamedTuple

from generators.customers import CASH, Payer

NOBODYS = -1  # no receipt


class Deed(NamedTuple):
    """Something to be done at a till. A plain tuple of plain values: it is written to snapshots."""

    at_ms: int
    store: int
    till: int
    does: str  # buy, or return
    payer: Payer = CASH
    goods: str = "usual"  # or the dearest or the cheapest of some: dear, cheap
    lines: int = 1
    units: int = 1  # of each line
    percent: int = 100  # of the price, where it is reduced; of the units bought, that come back
    reduced_lines: int = 0  # so many of the lines are sold below the price
    packs_hundredths: int = 0  # of each line, instead of units
    cents: int = 0  # how much money a return without a receipt is to bring
    receipt: int = NOBODYS  # the deed that bought what is returned, or bought again
    invented: bool = False  # a receipt is named that nobody ever issued
    real: bool = True  # whether any goods come back
    counts: bool = False  # whether it is what makes the incident as strong as it is
    delay_ms: int = 0  # published so long after it happened


class Plan(NamedTuple):
    deeds: list[Deed]
    strength: int = 0  # known beforehand; what the deeds count is added


NOTHING = Plan([])
