"""Who pays: customers with a card and a home store, and those who pay cash."""

from random import Random

from generators.chance import chance

CUSTOMERS_PER_STORE = 400
CASH_SHARE = 0.3
AWAY_SHARE = 0.03  # of the visits with a card, made in another store than the home
LOYAL_EVERY = 3  # every third card belongs to a customer who is known by name

# Card token and customer id; both are absent with cash.
Payer = tuple[str | None, str | None]
CASH: Payer = (None, None)


class Customers:
    """The same people every day: a card keeps its token and its owner."""

    def __init__(self, seed: int, stores: int) -> None:
        draw = chance(seed, "customers")
        self._payers: list[Payer] = [
            (
                f"tok_{draw.getrandbits(48):012x}",
                f"C{number:06d}" if number % LOYAL_EVERY == 0 else None,
            )
            for number in range(stores * CUSTOMERS_PER_STORE)
        ]

    def payer(self, store: int, draw: Random) -> Payer:
        """Who stands at a till of the store: mostly people who live nearby."""
        share = draw.random()
        if share < CASH_SHARE:
            return CASH
        if share < CASH_SHARE + AWAY_SHARE:
            return self._payers[int(draw.random() * len(self._payers))]
        return self._payers[int((store + draw.random()) * CUSTOMERS_PER_STORE)]
