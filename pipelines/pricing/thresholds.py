"""The thresholds of markdowns, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Which stock is too much or enough for its sales, and how much cheaper it gets."""

    cover_days: int = 7  # of demand: goods that are ordered in the cheapest lots last less
    enough_days: int = 3  # of demand at the lower price: up to twice the usual, so below cover_days
    deviations: int = 3  # of sales: of seven hundred half-hours one is so slow by chance
    dispersion: int = 3  # variance over mean: customers take up to six of a thing at once
    cut_percent: int = 25  # of the price: promotions of that size brought 2.5 times the buyers
    loss_percent_max: int = 10  # of the cost: better than to throw it away, and not much is lost
    shares_permille: tuple[int, ...] = (
        *(4, 3, 1, 1, 1, 3, 11, 25, 45, 64, 71, 75),
        *(80, 69, 62, 63, 73, 91, 98, 79, 43, 20, 13, 5),
    )  # of a day's receipts, by hour, UTC: two weeks of twelve stores
