"""Promotions: for some days a product costs less, and demand for it is higher."""

from collections.abc import Mapping
from typing import NamedTuple

from generators.chance import create_random

EVERY_DAYS = 14  # a product's promotions may begin on one day of each fortnight
STARTED_SHARE = 0.2  # of the products whose day it is
DAYS_MIN = 2
DAYS_MAX = 5
NOTICE_DAYS = 6  # from plan to beginning: too few for two plans of a product at once
CUT_PERCENT_MIN = 15
CUT_PERCENT_MAX = 40
LIFT_PER_CUT_PERCENT = 6  # percent: half the price brings four times the buyers


class Promotion(NamedTuple):
    begins: int  # the world's n-th day
    days: int
    cut_percent: int

    @property
    def ends(self) -> int:
        """The first day after it."""
        return self.begins + self.days

    def compute_price_cents(self, usual_cents: int) -> int:
        return max(1, usual_cents * (100 - self.cut_percent) // 100)

    @property
    def lift_percent(self) -> int:
        """Demand for the product, in percent of the usual demand."""
        return 100 + LIFT_PER_CUT_PERCENT * self.cut_percent


class Promotions:
    """Promotions, drawn for each day independently of all other days."""

    def __init__(self, seed: int, products: int) -> None:
        self._seed = seed
        self._products = products

    def list_running(self, day: int) -> Mapping[int, Promotion]:
        """The promotions that run on the world's n-th day, by product; none on its first."""
        return {
            product: promotion
            for begins in range(day - DAYS_MAX + 1, day + 1)
            for product, promotion in self.list_beginning(begins).items()
            if day < promotion.ends
        }

    def list_planned(self, day: int) -> Mapping[int, Promotion]:
        """The future promotions that are planned by the world's n-th day, by product."""
        return {
            product: promotion
            for begins in range(day + 1, day + NOTICE_DAYS + 1)
            for product, promotion in self.list_beginning(begins).items()
        }

    def list_beginning(self, day: int) -> Mapping[int, Promotion]:
        """The promotions that begin on the world's n-th day, by product."""
        if day < 1:
            return {}
        draw = create_random(self._seed, "promotions", day)
        return {
            product: Promotion(
                begins=day,
                days=DAYS_MIN + int(draw.random() * (DAYS_MAX - DAYS_MIN + 1)),
                cut_percent=CUT_PERCENT_MIN
                + int(draw.random() * (CUT_PERCENT_MAX - CUT_PERCENT_MIN + 1)),
            )
            for product in range(day % EVERY_DAYS, self._products, EVERY_DAYS)
            if draw.random() < STARTED_SHARE
        }
