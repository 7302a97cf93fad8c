from dataclasses import replace
from datetime import UTC, datetime

import pytest

from contracts import GENERATIONS, MARKERS, build_model, decode, encode
from ops.generations.marker import Marker
from ops.generations.record import Generation, Generations, State

AT = datetime(2026, 3, 2, tzinfo=UTC)
FIRST = Generation("inventory", 1, State.RETIRED, "9f31", AT, {"stock": "stock.g1"}, None, "2c26")
SECOND = Generation("inventory", 2, State.INVALID, "51c2", AT, {"stock": "stock.g2"}, "lost rows")
THIRD = Generation("inventory", 3, State.PROMOTED, "51c2", AT, {"stock": "stock.g3"})


def test_a_control_record_holds_the_generations_of_a_pipeline() -> None:
    generations = Generations("inventory", (FIRST, SECOND, THIRD), newest=7)
    value = decode(encode(GENERATIONS, generations.to_row())).value
    build_model(GENERATIONS).model_validate(value)
    assert value["promoted"] == 3
    assert Generations.parse(value) == generations


def test_a_record_from_before_the_newest_number_was_kept_says_it_by_its_generations() -> None:
    value = {**Generations("inventory", (FIRST, SECOND)).to_row(), "newest": None}
    assert Generations.parse(value).newest == 2


def test_readers_keep_a_candidate_only_once_it_is_ready() -> None:
    generations = Generations("inventory", (FIRST, THIRD))
    catching_up = generations.plus(Generation("inventory", 4, State.CATCHING_UP, "aa", AT, {}))
    assert {generation.number for generation in catching_up.readable} == {1, 3}
    assert {generation.number for generation in catching_up.running} == {1, 3, 4}
    assert {generation.number for generation in catching_up.to(State.READY, 4).readable} == {
        1,
        3,
        4,
    }


PLAIN = Marker("inventory", 1, 4, {("sales", 0): 7}, {("stock", 0): 3}, 5_000)
INPUTS, RECORDS = {("sales", 0): 7, ("sales", 1): 9}, {("sales", 0): 3, ("sales", 1): 4}
WHOLE = replace(PLAIN, inputs=INPUTS, records=RECORDS, took_ms=412, state_bytes=7_000)


@pytest.mark.parametrize("marker", [WHOLE, PLAIN], ids=["whole", "plain"])
def test_a_marker_is_read_as_it_was_written(marker: Marker) -> None:
    value = decode(encode(MARKERS, marker.to_row())).value
    build_model(MARKERS).model_validate(value)
    assert Marker.parse(value) == marker


def test_a_marker_of_an_earlier_version_lacks_counts_and_costs() -> None:
    value = decode(encode(MARKERS, WHOLE.to_row())).value
    del value["took_ms"], value["state_bytes"]
    for read in value["inputs"]:
        del read["records"]
    assert Marker.parse(value) == replace(WHOLE, records=None, took_ms=None, state_bytes=None)
