"""Who rests for whom, and until when."""

from pathlib import Path

from infra.settings import Settings
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.record import Generations, State
from pipelines.engine.throttle import REST_SECONDS, YIELD_SECONDS, compute_rest_seconds
from tests.pipelines.generations import create_generations

UNDISTURBED = [REST_SECONDS, 0, REST_SECONDS]


def test_whom_readers_follow_rests_for_a_candidate_that_catches_up_and_for_nobody_else(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path)
    generations = create_generations(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    candidate = locate_folder(settings, generations.members[-1])
    candidate.mkdir(parents=True)

    def list_rests(of: Generations) -> list[float]:
        return [compute_rest_seconds(settings, of, generation) for generation in of.members]

    assert list_rests(generations) == UNDISTURBED, "nothing runs it"
    with lease.take(candidate):
        assert list_rests(generations) == [REST_SECONDS, YIELD_SECONDS, REST_SECONDS]
        for state in (State.READY, State.INVALID):
            assert list_rests(generations.to(state, 3)) == UNDISTURBED
        assert list_rests(generations.minus(frozenset({3}))) == UNDISTURBED[:2]
    assert list_rests(generations) == UNDISTURBED, "it was killed"
