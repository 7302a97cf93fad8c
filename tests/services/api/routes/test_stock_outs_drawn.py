"""Stock-outs of drawn movements are those that a walk along them finds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from contracts import ADJUSTMENTS
from infra.lake import Folders
from services.api.lake.movements import TOPICS, Span
from services.api.lake.stock_outs import find_stock_outs
from services.api.lake.tables import Lake
from tests.seeds import create_random
from tests.services.api.routes.test_stock_outs import SKU, STORE
from tests.services.silver import Silver
from tests.services.world import find_minute

MOVEMENTS, MOMENTS = 40, 20
CHANGES = (-3, -2, -1, -1, 1, 2, 3)


@dataclass(frozen=True)
class Move:
    minute: int
    change: int
    published: int


def test_they_are_what_a_walk_along_the_movements_finds(silver: Silver, folders: Folders) -> None:
    """Random movements, several of one moment among them, in any order; compared with a walk along
    them."""
    chance = create_random("stock-outs")
    sold_unseen = Move(minute=-1, change=-1, published=0)  # so there is a stock-out in any draw
    moves = [*(move(chance) for _ in range(MOVEMENTS)), sold_unseen]
    tell(silver, moves)
    with Lake(folders).open(*TOPICS) as snapshot:
        stock_outs = find_stock_outs(snapshot, Span(STORE, SKU))
    answered = [
        (one["started_at"], one["ended_at"], one["known_at"], one["units_on_hand_min"])
        for one in stock_outs
    ]
    assert answered == list(walk(moves))
    assert stock_outs


def move(chance: Random) -> Move:
    when = chance.randrange(MOMENTS)
    return Move(when, chance.choice(CHANGES), when + chance.choice((0, 0, 1, 30)))


def tell(silver: Silver, moves: Sequence[Move]) -> None:
    for number, one in enumerate(moves):
        fields = {"event_id": f"m{number}", "_published": find_minute(one.published)}
        silver.put(ADJUSTMENTS, event_time=find_minute(one.minute), units=one.change, **fields)


def walk(moves: Sequence[Move]) -> Iterator[tuple[int, int | None, int, int]]:
    """Start, end, when it was known, and the fewest units."""
    on_hand, known = 0, 0
    begun: int | None = None
    fewest = 0
    for when, together in groupby(
        sorted(moves, key=lambda one: one.minute), lambda one: one.minute
    ):
        for one in together:
            on_hand += one.change
            known = max(known, one.published)
        if on_hand > 0 and begun is not None:
            yield to_ms(begun), to_ms(when), to_ms(known), fewest
            begun = None
        elif on_hand <= 0:
            fewest = on_hand if begun is None else min(fewest, on_hand)
            begun = when if begun is None else begun
    if begun is not None:
        yield to_ms(begun), None, to_ms(known), fewest


def to_ms(after_noon: int) -> int:
    return round(find_minute(after_noon).timestamp() * 1000)
