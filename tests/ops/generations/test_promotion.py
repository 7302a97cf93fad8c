import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from infra.errors import UserError
from infra.settings import Settings
from ops.generations.folders import remove
from ops.generations.promotion import NotPromotable, switch
from ops.generations.record import Generations, State
from tests.pipelines.generations import create_generations


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
