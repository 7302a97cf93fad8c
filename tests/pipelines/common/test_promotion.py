"""What may become of a generation, and what may not."""

from dataclasses import replace

import pytest

from pipelines.common.generation import Generations, State
from pipelines.common.promotion import NotPromotable, switched
from tests.pipelines.generations import known


def states(of: Generations) -> list[State]:
    return [one.state for one in of.known]


def test_the_candidate_takes_the_place_of_the_promoted() -> None:
    after = switched(known(State.PROMOTED, State.READY))
    assert states(after) == [State.RETIRED, State.PROMOTED]


@pytest.mark.parametrize(
    "found",
    [
        known(State.PROMOTED),
        known(State.PROMOTED, State.CATCHING_UP),
        known(State.PROMOTED, State.INVALID),
        known(State.RETIRED, State.PROMOTED),
    ],
)
def test_only_what_is_ready_is_promoted(found: Generations) -> None:
    with pytest.raises(NotPromotable, match="retail replay start inventory"):
        switched(found)


def test_three_at_the_most_are_kept_running() -> None:
    found = known(State.RETIRED, State.RETIRED, State.PROMOTED, State.INVALID, State.READY)
    assert [one.number for one in found.running] == [2, 3, 5]


def test_a_number_is_never_given_again() -> None:
    found = known(State.PROMOTED, State.READY).minus(frozenset({2}))
    assert (len(found.known), found.newest) == (1, 2)


def test_an_invalid_generation_is_promoted_no_more() -> None:
    found = known(State.RETIRED, State.PROMOTED).to(State.INVALID, 2, "it dropped a record")
    assert found.promoted is None
    assert found.retired == replace(found.known[0])
