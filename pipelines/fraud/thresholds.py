"""The thresholds of the rules, each with its reason.

A value up to a limit that ends in `max` is innocent: an alert has measured more.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Thresholds:
    """A rule reads a subject's events of one interval together, and then forgets them."""

    # Card velocity: sales on one card within a window that ends with one of them.
    card_sales_per_window_max: int = 5  # a family or an office that shops together stays below
    card_sales_window: timedelta = timedelta(minutes=10)  # a thief with a card is in a hurry
    card_sales_interval: timedelta = timedelta(hours=1)

    # Impossible travel: two sales on one card; the straight distance over the time between them.
    speed_kmh_max: int = 300  # an express train or a flight, the way to it and the wait included
    distance_km_min: int = 50  # nearer than that, two people may share a card in two places
    travel_gap_max: timedelta = timedelta(hours=3)  # later than that, a flight gets anywhere
    travel_gap_min: timedelta = timedelta(
        minutes=1
    )  # tills agree no better: shorter counts as this
    travel_interval: timedelta = timedelta(days=1)

    # Sweethearting: lines of one cashier at less than half of the price on the list.
    line_percent_max: int = (
        50  # of the list, rounded down: clearance stickers go to half, no further
    )
    given_away_cents_max: int = 2_500  # a shift's free gifts and keying mistakes come to less
    given_away_receipts_min: int = 3  # one or two receipts are slips, or a spoilt crate
    sweethearting_interval: timedelta = timedelta(hours=8)  # a shift

    # Refund without a receipt, or beyond it: money for goods that the receipt did not sell.
    unbacked_cents_max: int = 2_000  # below, a lost record is likelier than a fraud, and costs less
    return_period: timedelta = timedelta(days=3)  # stores take food back no longer
    refund_interval: timedelta = timedelta(days=1)  # of the receipt; plus the period, of the refund
    receipt_ahead_max: timedelta = timedelta(minutes=5)  # tills' clocks differ: the contracts' skew

    # Refund rate: refunds of one cashier without a receipt, in cash or to one card again.
    blind_refunds_max: int = 6  # a bad day at any till, or one customer with much to bring back
    blind_refunds_percent: int = 6  # added, of all refunds of the cashier: lost receipts
    blind_refund_cents_min: int = 300  # nobody steals by refunding spoilt fruit
    refund_rate_interval: timedelta = timedelta(hours=8)  # a shift

    # Bulk purchase: packs of one product that one card, or one receipt in cash, bought.
    packs_hundredths_max: int = 400  # a party or a school fête takes up to four packs
    packs_line_hundredths_min: int = 100  # smaller lines are shopping, and are not added up
    bulk_interval: timedelta = timedelta(days=1)

    evidence_max: int = 20  # as many as the contract of alerts allows: a person reads them
    # Of a subject in an interval, the first by publication; ten times what is plausible. Further
    # ones make the row's version grow, and nothing else: state and Python hold no more.
    signals_max: int = 500
    # The same for a receipt: all lines of the largest one, all of them refunded, and some of them
    # once more. The cents of so many lines fit into 64 bits.
    receipt_signals_max: int = 4_200
