"""The log's head: what every live reader has passed, deleted as a retention would delete it."""

from collections.abc import Iterator

from confluent_kafka import TopicPartition

from generators.resume import find_last_published
from generators.world import MOVING
from infra.errors import UserError
from infra.kafka import Offsets, Partition, create_admin, read_end_offsets, read_start_offsets
from infra.lake import locate_folders, read_coverage
from infra.settings import Settings
from ops.faults.fault import Scene
from ops.generations.marker import read_markers
from ops.generations.promotion import find_prefix_ends
from ops.generations.record import read_generations
from pipelines.common.pipeline import load
from pipelines.engine.archive import LogTruncated, Source, find_truncated
from services.quarantine.follower import read_progress

TOPICS = tuple(topic.name for topic in MOVING)
"""The topics of movements. Dimensions, orders and confirmations are read from their first record at
each start, so their head may not go."""
ANSWER_SECONDS_MAX = 30.0


def refuse_deletion(scene: Scene) -> str | None:
    if "lake" not in scene.parts:
        return (
            "the lake does not run in this shop: without its archive nothing could be compared "
            "with the log any more. Keep one: make down && make up LAKE=on"
        )
    return None


def delete_head(scene: Scene) -> str:
    """Raises UserError where there is nothing to delete."""
    settings = scene.settings
    client = create_admin(settings)
    before = read_start_offsets(client, TOPICS)
    ends = find_deletable(settings, before)
    cut = {partition: end for partition, end in ends.items() if end > before[partition]}
    wanted = [TopicPartition(*partition, end) for partition, end in cut.items()]
    for future in client.delete_records(wanted).values() if wanted else ():
        future.result(ANSWER_SECONDS_MAX)
    deleted = sum(read_start_offsets(client, TOPICS).values()) - sum(before.values())
    if not deleted:
        raise UserError("The log should begin later, but no reader has passed more of it.")
    return f"deleted the first {deleted:,} records of {len(cut)} partitions"


def find_deletable(settings: Settings, starts: Offsets) -> dict[Partition, int]:
    """The offsets below which no reader needs a record: half of what all have passed.

    The last record of the simulator stays in each partition: it goes on from there.
    """
    ends = read_end_offsets(create_admin(settings), TOPICS)
    readers = list(list_readers(settings, ends))
    last = find_last_published(settings, list(TOPICS), "sequence")
    deletable = {}
    for partition, end in ends.items():
        passed = min(end, *(reader.get(partition, 0) for reader in readers))
        kept = (last[partition].offset() or 0) if partition in last else end
        deletable[partition] = min((starts[partition] + passed) // 2, kept)
    return deletable


def list_readers(settings: Settings, ends: Offsets) -> Iterator[Offsets]:
    """The offsets that each live reader has passed; the ends for a topic that it does not read."""
    yield read_coverage(locate_folders(settings).bronze).ends
    yield read_progress(settings)
    markers = read_markers(settings)
    for pipeline, generations in read_generations(settings).items():
        for generation in generations.running:
            marker = markers.get((pipeline, generation.number))
            yield {} if marker is None else {**ends, **marker.inputs}


def find_unsaid(scene: Scene) -> str | None:
    """The pipeline whose replay would not say that the log begins later, or not read the archive.

    None: each does.
    """
    lacking = (find_unsaid_of(scene.settings, name) for name in scene.settings.pipeline_names)
    return next((why for why in lacking if why is not None), None)


def find_unsaid_of(settings: Settings, name: str) -> str | None:
    pipeline = load(name)
    if not find_truncated(settings, [topic.name for topic in pipeline.inputs]):
        return None
    try:
        find_prefix_ends(settings, pipeline, Source.LOG)
    except LogTruncated:
        pass
    except UserError as error:
        return f"a replay of {name} is refused: {error}"
    else:
        return f"a replay of {name} does not say that the log begins later"
    try:
        find_prefix_ends(settings, pipeline, Source.ARCHIVE)
    except UserError as error:
        return f"a replay of {name} from the archive is refused: {error}"
    return None
