"""Control records are read as they were written."""

from datetime import UTC, datetime

from contracts import GENERATIONS, MARKERS, build_model, decode, encode
from ops.generations.marker import Marker
from ops.generations.record import Generation, Generations, State

AT = datetime(2026, 3, 2, tzinfo=UTC)
FIRST = Generation("inventory", 1, State.RETIRED, "9f31", AT, {"stock": "stock.g1"}, None, "2c26")
SECOND = Generation("inventory", 2, State.INVALID, "51c2", AT, {"stock": "stock.g2"}, "lost rows")
THIRD = Generation("inventory", 3, State.PROMOTED, "51c2", AT, {"stock": "stock.g3"})


def test_a_control_record_holds_the_generations_of_a_pipeline() -> None:
    known = Generations("inventory", (FIRST, SECOND, THIRD), newest=7)
    value = decode(encode(GENERATIONS, known.to_row())).value
    build_model(GENERATIONS).model_validate(value)
    assert value["promoted"] == 3
    assert Generations.parse(value) == known


def test_a_record_from_before_the_newest_number_was_kept_says_it_by_its_generations() -> None:
    value = {**Generations("inventory", (FIRST, SECOND)).to_row(), "newest": None}
    assert Generations.parse(value).newest == 2


def test_readers_keep_a_candidate_only_once_it_is_ready() -> None:
    known = Generations("inventory", (FIRST, THIRD))
    catching_up = known.plus(Generation("inventory", 4, State.CATCHING_UP, "aa", AT, {}))
    assert {one.number for one in catching_up.readable} == {1, 3}
    assert {one.number for one in catching_up.running} == {1, 3, 4}
    assert {one.number for one in catching_up.to(State.READY, 4).readable} == {1, 3, 4}


def test_a_marker_holds_the_offsets_of_a_batch() -> None:
    marker = Marker("inventory", 1, 4, {("sales", 0): 7, ("sales", 1): 9}, {("stock", 0): 3}, 5_000)
    value = decode(encode(MARKERS, marker.to_row())).value
    build_model(MARKERS).model_validate(value)
    assert Marker.parse(value) == marker


def test_a_marker_counts_records_or_is_of_an_earlier_version() -> None:
    marker = Marker("inventory", 1, 4, {("sales", 0): 7}, {}, 5_000, records={("sales", 0): 3})
    value = decode(encode(MARKERS, marker.to_row())).value
    assert Marker.parse(value) == marker
    del value["inputs"][0]["records"]
    assert Marker.parse(value).records is None


def test_a_marker_says_what_its_batch_took_or_nothing_of_it() -> None:
    marker = Marker("inventory", 1, 4, {}, {}, 5_000, took_ms=412, state_bytes=7_000)
    value = decode(encode(MARKERS, marker.to_row())).value
    build_model(MARKERS).model_validate(value)
    assert Marker.parse(value) == marker
    del value["took_ms"], value["state_bytes"]  # as in a record of an earlier version
    assert Marker.parse(value) == Marker("inventory", 1, 4, {}, {}, 5_000)
