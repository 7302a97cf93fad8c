"""Customers: with a card and a home store, or paying cash."""

from random import Random

from generators.chance import create_random

CASH_SHARE = 0.3
VISITS_PER_CARD_AND_DAY = 0.5  # on average: one visit every other day
CARDS_MIN = 402  # of a store
LOYAL_EVERY = 3  # every third card belongs to a customer who is known by name

# Some people of every store are on a journey each day, and may shop in one store far away. They do
# so in the afternoon only: a gap of a night leaves time to travel.
AWAY_SHARE = 0.05
AWAY_FROM_HOUR = 12
AWAY_UNTIL_HOUR = 18

# Customers who make no chance visits: they act in planned incidents only.
CAST = 30_000  # of every store; like its cards, a multiple of LOYAL_EVERY

TOKENS = 2**48

# Card token and customer id; both are absent with cash.
Payer = tuple[str | None, str | None]
CASH: Payer = (None, None)


class Customers:
    """The same people every day: a card keeps its token and its owner."""

    def __init__(self, seed: int, stores: int, card_visits_per_day: float) -> None:
        """`card_visits_per_day`: visits with a card, to all stores together."""
        draw = create_random(seed, "customers")
        self._step = draw.getrandbits(48) | 1  # odd: no two cards have the same token
        self._first = draw.getrandbits(48)
        self._stores = stores
        per_store = card_visits_per_day / VISITS_PER_CARD_AND_DAY / stores
        self._cards = max(CARDS_MIN, int(per_store) // LOYAL_EVERY * LOYAL_EVERY)
        self._away = int(self._cards * AWAY_SHARE)

    def draw_payer(self, store: int, day: int, hour_of_day: int, draw: Random) -> Payer:
        """A customer at a till of the store: mostly one who lives nearby."""
        share = draw.random()
        if share < CASH_SHARE:
            return CASH
        if share < CASH_SHARE + AWAY_SHARE and AWAY_FROM_HOUR <= hour_of_day < AWAY_UNTIL_HOUR:
            traveller = self._choose_traveller(store, day, draw)
            if traveller is not None:
                return traveller
        number = int(draw.random() * self._cards)
        if (number - day * self._away) % self._cards < self._away:  # on a journey
            number = (number + self._away) % self._cards
        return self._build_payer(store, number)

    def cast(self, store: int, share: float, has_id: bool) -> Payer:
        """A customer who makes no chance visits, with a customer id or without one.

        `share`: which one, from 0 to 1.
        """
        number = self._cards + int(share * CAST / LOYAL_EVERY) * LOYAL_EVERY
        return self._build_payer(store, number if has_id else number + 1)

    def _choose_traveller(self, store: int, day: int, draw: Random) -> Payer | None:
        """A customer of another store who may shop in this one today; None if there is none."""
        if self._stores < 2:
            return None
        elsewhere = self._stores - 1
        way = int(draw.random() * elsewhere)  # a home has a way to each other store
        home = (store - way - 1) % self._stores
        there = -(-(self._away - way) // elsewhere)
        if there < 1:
            return None
        on_the_way = way + elsewhere * int(draw.random() * there)
        return self._build_payer(home, (day * self._away + on_the_way) % self._cards)

    def _build_payer(self, store: int, number: int) -> Payer:
        card = store * (self._cards + CAST) + number
        token = f"tok_{(self._first + card * self._step) % TOKENS:012x}"
        return token, f"C{card:06d}" if card % LOYAL_EVERY == 0 else None
