"""Each system at the job, its answer held against the oracle's."""

from collections.abc import Callable, Iterator, Mapping

from contracts import RECEIPTS
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, aim_at_most
from ops.bench.scale import Scale
from ops.bench.systems import flink, inventory, log, message_queue, plain_loop, streams
from ops.bench.systems.answers import Run, Units, ask_oracle, compare

SYSTEMS: Mapping[str, Callable[[Settings, int], Run]] = {
    "Spark": inventory.run,
    "Kafka Streams": streams.run,
    "Flink": flink.run,
    "plain loop": plain_loop.run,
    "message queue": message_queue.run,
}
EXACT = ("Spark", "Kafka Streams", "Flink")
"""The systems that promise to count each receipt once, whatever is killed."""


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "systems"})
    with run_broker(own):
        log.publish(own, scale.counted)
        records = sum(read_end_offsets(create_admin(own), [RECEIPTS.name]).values())
        oracle = ask_oracle(own)
        for system, run in SYSTEMS.items():
            yield from describe(system, run(own, records), records, oracle)


def describe(system: str, run: Run, records: int, oracle: Units) -> Iterator[Figure]:
    """How fast the system was, and on how many shelves its two answers differ from the oracle's."""
    yield Figure(system, records / run.seconds, "records/s", note=run.how)
    aim = aim_at_most(0) if system in EXACT else None
    answer, killed = compare(run.answer, oracle), compare(run.answer_after_kill, oracle)
    yield Figure(f"{system}: wrong", answer.shelves, "shelves", aim, note=str(answer))
    what = f"{system}: wrong after a kill"
    yield Figure(what, killed.shelves, "shelves", aim, note=f"{run.kill} {killed}")
