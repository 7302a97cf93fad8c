from collections import Counter, defaultdict

from generators.chance import create_random
from generators.customers import CASH, Customers

VISITS_PER_DAY = 6_000.0
STORES = 4


def list_visits(days: int) -> list[tuple[int, int, int, str | None]]:
    """Day, hour, store and card of everybody who comes, store after store."""
    customers = Customers(1, STORES, VISITS_PER_DAY)
    per_hour = int(VISITS_PER_DAY / STORES / 24)
    return [
        (day, hour, store, customers.draw_payer(store, day, hour, draw)[0])
        for store in range(STORES)
        for day in range(days)
        for hour in range(24)
        for draw in [create_random(store, day, hour)]
        for _ in range(per_hour)
    ]


def test_nobody_is_in_two_places_on_one_afternoon() -> None:
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for day, _, store, card in list_visits(10):
        if card:
            seen[card, day].add(store)
    assert all(len(stores) == 1 for stores in seen.values())


def test_some_travel_and_shop_elsewhere_in_the_afternoon() -> None:
    by_card: dict[str, Counter[int]] = defaultdict(Counter)
    away_hours = Counter[int]()
    visits = list_visits(30)
    for _, _, store, card in visits:
        if card:
            by_card[card][store] += 1
    home = {card: stores.most_common(1)[0][0] for card, stores in by_card.items()}
    for _, hour, store, card in visits:
        if card and by_card[card].total() > 6 and home[card] != store:
            away_hours[hour] += 1
    assert away_hours
    assert set(away_hours) <= set(range(12, 18))


def test_a_card_is_used_about_every_other_day() -> None:
    used = Counter(card for _, _, _, card in list_visits(10) if card)
    assert 3.5 < used.total() / len(used) < 6.5
    assert max(used.values()) < 30


def test_who_is_cast_comes_for_nothing_else() -> None:
    customers = Customers(1, STORES, VISITS_PER_DAY)
    cast = {
        customers.cast(store, share / 50, known)
        for store in range(STORES)
        for share in range(50)
        for known in (True, False)
    }
    assert CASH not in cast
    assert len({card for card, _ in cast}) == len(cast) == STORES * 100
    assert not {card for card, _ in cast} & {card for *_, card in list_visits(5)}
    assert sum(customer_id is not None for _, customer_id in cast) == STORES * 50
