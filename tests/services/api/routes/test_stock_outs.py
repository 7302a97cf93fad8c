"""When a shelf had nothing to sell, from the lake."""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import groupby
from random import Random
from typing import Any, NamedTuple

import pytest

from contracts import ADJUSTMENTS, RECEIPTS, SHIPMENTS
from contracts.times import to_epoch_ms
from infra.lake import Folders
from services.api.lake.movements import TOPICS, Span, find_stock_outs
from services.api.lake.tables import Lake
from services.times import render_instant
from tests.seeds import create_random
from tests.services.serving import Answers
from tests.services.silver import Silver
from tests.services.world import find_minute

STORE, SKU = "S003", "SKU-00417"
PATH = f"/v1/history/stock-outs/{STORE}/{SKU}"
MINUTE_MS = 60_000


def find_ms(after_noon: int) -> int:
    return to_epoch_ms(find_minute(after_noon))


def render_minute(after_noon: int) -> str:
    return render_instant(find_ms(after_noon))


def sell(silver: Silver, when: int, units: int, **other: Any) -> None:
    line = {"sku": SKU, "units": units, "unit_price_cents": 249}
    name = f"sold at {when}"
    silver.put(RECEIPTS, event_time=find_minute(when), event_id=name, lines=[line], **other)


def arrive(silver: Silver, when: int, status: str, units: int) -> None:
    line = {"sku": SKU, "dispatched_units": 9, "received_units": units}
    name = f"{status} at {when}"
    silver.put(SHIPMENTS, event_time=find_minute(when), event_id=name, status=status, lines=[line])


# minute    0        10       20       25            30        40       50        55
#           3 come   2 sold   1 sold   9 leave for   4 come    4 sold   1 sold,   2 found
#                                      the store                        by hand
# on hand   3        1        0                      4         0        -1        1
#                             |───────── out ────────|         |────── out ───────|
@pytest.fixture
def filled_silver(silver: Silver) -> Silver:
    silver.put(ADJUSTMENTS, event_time=find_minute(0), event_id="opening", units=3)
    sell(silver, 50, 1)
    sell(silver, 10, 2)
    sell(silver, 40, 4, _published=find_minute(100))
    arrive(silver, 25, "dispatched", 0)
    arrive(silver, 30, "received", 4)
    sell(silver, 20, 1)
    silver.put(ADJUSTMENTS, event_time=find_minute(55), event_id="found", units=2)
    return silver


def test_a_shelf_is_out_from_its_last_unit_to_the_next(filled_silver: Silver, api: Answers) -> None:
    page = api.json(PATH)
    names = ("started_at", "ended_at", "known_at", "units_on_hand_min", "lost_ms")
    first = (render_minute(20), render_minute(30), render_minute(30), 0, 10 * MINUTE_MS)
    second = (render_minute(40), render_minute(55), render_minute(100), -1, 15 * MINUTE_MS)
    assert page["items"] == [dict(zip(names, row, strict=True)) for row in (first, second)]
    assert (page["lost_ms"], page["next"]) == (25 * MINUTE_MS, None)
    assert page["as_of"]["inputs"][RECEIPTS.name] == [0, 4]


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, 19, []),
        (None, 20, [(20, None, 0)]),
        (None, 29, [(20, None, 9)]),
        (25, 52, [(20, 30, 5), (40, None, 12)]),
        (30, 52, [(40, None, 12)]),
        (55, None, []),
        (52, 45, []),
    ],
)
def test_time_counts_in_the_span_that_is_asked_for(
    filled_silver: Silver,
    api: Answers,
    since: int | None,
    until: int | None,
    expected: list[tuple[int, int | None, int]],
) -> None:
    moments = {"since": since, "until": until}
    asked = {name: render_minute(when) for name, when in moments.items() if when is not None}
    page = api.json(PATH, **asked)
    items = [(row["started_at"], row["ended_at"], row["lost_ms"]) for row in page["items"]]
    assert items == [
        (render_minute(start), None if end is None else render_minute(end), lost * MINUTE_MS)
        for start, end, lost in expected
    ]
    assert page["lost_ms"] == sum(lost for *_, lost in expected) * MINUTE_MS


def test_an_event_that_comes_late_undoes_a_stock_out(filled_silver: Silver, api: Answers) -> None:
    late = {"event_id": "late", "units": 9, "_published": find_minute(90)}
    filled_silver.put(ADJUSTMENTS, event_time=find_minute(15), **late)
    assert api.json(PATH)["items"] == []
    taken: dict[str, Any] = {"event_time": find_minute(16), "event_id": "released", "units": -9}
    filled_silver.release(ADJUSTMENTS, released_at=find_minute(120), **taken)
    first, second = api.json(PATH)["items"]
    assert (first["started_at"], first["known_at"]) == (render_minute(20), render_minute(120))
    assert (second["started_at"], second["lost_ms"]) == (render_minute(40), 15 * MINUTE_MS)


def test_what_lasts_has_no_end_and_counts_to_a_moment_alone(silver: Silver, api: Answers) -> None:
    sell(silver, 0, 2)  # of units that the books do not know of
    page = api.json(PATH)
    [lasting] = page["items"]
    assert (lasting["ended_at"], lasting["lost_ms"], page["lost_ms"]) == (None, None, 0)
    assert api.json(PATH, until=render_minute(3))["items"][0]["lost_ms"] == 3 * MINUTE_MS


def test_goods_on_their_way_to_a_new_shelf_make_no_stock_out(silver: Silver, api: Answers) -> None:
    arrive(silver, 0, "dispatched", 0)
    arrive(silver, 9, "received", 9)
    assert api.json(PATH)["items"] == []


def test_pages_repeat_and_hide_nothing(filled_silver: Silver, api: Answers) -> None:
    whole = api.json(PATH)
    first = api.json(PATH, limit=1)
    second = api.json(PATH, limit=1, cursor=first["next"])
    assert first["items"] + second["items"] == whole["items"]
    assert [page["lost_ms"] for page in (first, second)] == [whole["lost_ms"]] * 2
    assert second["next"] is None
    answer = api.get(PATH, cursor=first["next"], until=render_minute(60))
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


MOVEMENTS, MOMENTS = 40, 20
CHANGES = (-3, -2, -1, -1, 1, 2, 3)


class Move(NamedTuple):
    minute: int
    change: int
    published: int


def test_they_are_what_a_walk_along_the_movements_finds(silver: Silver, folders: Folders) -> None:
    """Random movements, several of one moment among them, in any order; compared with a walk along
    them."""
    chance = create_random("stock-outs")
    sold_unseen = Move(minute=-1, change=-1, published=0)  # so there is a stock-out in any draw
    moves = [*(move(chance) for _ in range(MOVEMENTS)), sold_unseen]
    for number, moved in enumerate(moves):
        told = {"event_id": f"m{number}", "_published": find_minute(moved.published)}
        silver.put(ADJUSTMENTS, event_time=find_minute(moved.minute), units=moved.change, **told)
    with Lake(folders).open(*TOPICS) as snapshot:
        stock_outs = find_stock_outs(snapshot, Span(STORE, SKU))
    answered = [
        (out["started_at"], out["ended_at"], out["known_at"], out["units_on_hand_min"])
        for out in stock_outs
    ]
    assert answered == list(walk(moves))
    assert stock_outs


def move(chance: Random) -> Move:
    when = chance.randrange(MOMENTS)
    return Move(when, chance.choice(CHANGES), when + chance.choice((0, 0, 1, 30)))


def walk(moves: Sequence[Move]) -> Iterator[tuple[int, int | None, int, int]]:
    """Start, end, when it was known, and the fewest units."""
    on_hand = known_minute = fewest = 0
    begun: int | None = None
    for when, together in groupby(sorted(moves), lambda moved: moved.minute):
        for moved in together:
            on_hand += moved.change
            known_minute = max(known_minute, moved.published)
        if on_hand > 0 and begun is not None:
            yield find_ms(begun), find_ms(when), find_ms(known_minute), fewest
            begun = None
        elif on_hand <= 0:
            fewest = on_hand if begun is None else min(fewest, on_hand)
            begun = when if begun is None else begun
    if begun is not None:
        yield find_ms(begun), None, find_ms(known_minute), fewest
