"""Generations and markers as records, and which generation is promoted."""

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from contracts import GENERATIONS, MARKERS, build_model, decode, encode
from infra.errors import UserError
from infra.settings import Settings
from ops.generations.folders import remove
from ops.generations.marker import Marker
from ops.generations.promotion import NotPromotable, switch
from ops.generations.record import Generation, Generations, State
from tests.pipelines.generations import AT, create_generations

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


def list_states(of: Generations) -> list[State]:
    return [generation.state for generation in of.members]


@pytest.mark.parametrize(
    "generations",
    [
        create_generations(State.PROMOTED),
        create_generations(State.PROMOTED, State.CATCHING_UP),
        create_generations(State.PROMOTED, State.INVALID),
        create_generations(State.RETIRED, State.PROMOTED),
    ],
)
def test_only_what_is_ready_is_promoted(generations: Generations) -> None:
    with pytest.raises(NotPromotable, match="retail replay start inventory"):
        switch(generations, 2)


def test_another_candidate_than_the_one_that_is_named_is_not_promoted() -> None:
    generations = create_generations(State.PROMOTED, State.READY)
    assert list_states(switch(generations, 2)) == [State.RETIRED, State.PROMOTED]
    found = "Generation 3 of inventory .* found generation 2, ready"
    with pytest.raises(NotPromotable, match=found):
        switch(generations, 3)


@pytest.mark.parametrize("late", [1, 10**6])
def test_a_folder_is_gone_even_if_something_wrote_to_it_meanwhile(
    late: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patched rmtree writes for the late task, whose moment cannot be had otherwise."""
    settings, home = Settings(data_dir=tmp_path), tmp_path / "pipelines" / "fraud" / "g3"
    (home / "code").mkdir(parents=True)
    written = 0

    def remove_and_write(folder: Path, ignore_errors: bool) -> None:
        nonlocal written
        really(folder, ignore_errors=ignore_errors)
        if written < late:
            (home / "checkpoint" / "state").mkdir(parents=True)
            written += 1

    really = shutil.rmtree
    monkeypatch.setattr("ops.generations.folders.shutil.rmtree", remove_and_write)
    monkeypatch.setattr("ops.generations.folders.REMOVE_SECONDS_MAX", 1.0)
    refused = pytest.raises(UserError, match="is written to")
    with nullcontext() if late == 1 else refused:
        remove(settings, "fraud", 3)
    assert home.exists() == (late > 1)
    assert written > 0
