"""The inventory pipeline at the job; it does more than that: four topics, checks, accounting."""

from contracts import STOCK_LEVELS, decode
from infra.kafka import create_admin, read_end_offsets, read_to_end
from infra.processes import find_engines, run_supervisor
from infra.settings import Settings
from infra.wait import wait_until
from ops.bench.replay import open_replays
from ops.bench.shops import SPINE
from ops.bench.systems.answers import Run, Units, parse_row
from ops.generations.folders import find_checkpoint
from ops.generations.record import Generation, read_generations
from pipelines.common.pipeline import load

BATCHES = 5
"""In so many batches a generation reads the log in which it is killed."""
READ_SECONDS_MAX = 300.0


def run(settings: Settings, records: int) -> Run:
    with open_replays(settings) as again:
        again.replay()  # discarded: Java has compiled nothing yet
        with again.generation() as generation:
            seconds = again.run(generation)
            answer = read_view(settings, generation)
    return Run(
        seconds,
        answer,
        count_with_kill(settings, records),
        "A replay by the inventory pipeline, warm. Beside the sums by shelf it validates, accounts "
        "for each record, and keeps stock, not only units sold.",
        "Its Java is killed after half of the log; the supervisor starts it again.",
    )


def count_with_kill(settings: Settings, records: int) -> Units:
    """What a generation answers whose Java is killed after half of the log."""
    own = settings.model_copy(
        update={"pipelines": SPINE, "pipeline_records_per_batch_max": records // BATCHES}
    )
    with run_supervisor(own, own.data_dir / "pipelines.log") as pid:
        wait_until(lambda: count_read(own) >= records // 2, "half is read", READ_SECONDS_MAX)
        for java in find_engines(pid):
            java.kill()
        wait_until(lambda: count_unread(own) == 0, "all is read", READ_SECONDS_MAX)
        [generation] = read_generations(own)[SPINE].running
        return read_view(own, generation)


def count_unread(settings: Settings) -> int:
    topics = [topic.name for topic in load(SPINE).inputs]
    written = sum(read_end_offsets(create_admin(settings), topics).values())
    return written - count_read(settings)


def count_read(settings: Settings) -> int:
    """The records of the finished batches of the first generation."""
    return sum(find_checkpoint(settings, SPINE, 1).read_committed().values())


def read_view(settings: Settings, generation: Generation) -> Units:
    rows = read_to_end(settings, generation.outputs[STOCK_LEVELS.name]).values()
    return dict(parse_row(decode(row).value) for row in rows)
