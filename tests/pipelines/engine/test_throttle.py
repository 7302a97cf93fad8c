"""Who rests for whom, and until when."""

from pathlib import Path

from infra.settings import Settings
from ops.generations import lease
from ops.generations.folders import locate_folder
from ops.generations.record import Generations, State
from pipelines.engine.throttle import REST_SECONDS, YIELD_SECONDS, compute_rest_seconds
from tests.pipelines.generations import create_generations


def test_whom_readers_follow_rests_for_a_candidate_that_catches_up_and_for_nobody_else(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path)
    beside = create_generations(State.RETIRED, State.PROMOTED, State.CATCHING_UP)
    folder = locate_folder(settings, beside.known[-1])
    folder.mkdir(parents=True)

    def list_rests(known: Generations) -> list[float]:
        return [compute_rest_seconds(settings, known, one) for one in known.known]

    assert list_rests(beside) == [REST_SECONDS, 0, REST_SECONDS], "nothing runs it"
    with lease.take(folder):
        assert list_rests(beside) == [REST_SECONDS, YIELD_SECONDS, REST_SECONDS]
        for state in (State.READY, State.INVALID):
            assert list_rests(beside.to(state, 3)) == [REST_SECONDS, 0, REST_SECONDS]
        assert list_rests(beside.minus(frozenset({3}))) == [REST_SECONDS, 0], "it was pruned"
    assert list_rests(beside) == [REST_SECONDS, 0, REST_SECONDS], "it was killed"
