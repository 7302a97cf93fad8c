"""What a replay needs is measured where the broker writes."""

from dataclasses import replace
from random import Random

import pytest

from contracts import STOCK_LEVELS
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.record import State
from ops.replay.plan import measure_disk_bytes
from tests.pipelines.generations import create_generations
from tests.services.broker import KafkaLog

pytestmark = pytest.mark.e2e

RECORDS, BYTES = 40, 100_000


def test_the_disk_of_a_candidate_is_that_of_the_promoted_changelog(
    kafka: Settings, shared_broker: Settings
) -> None:
    [generation] = create_generations(State.PROMOTED).members
    changelog = f"{STOCK_LEVELS.name}.g1"
    promoted = replace(generation, outputs={STOCK_LEVELS.name: changelog})
    at_home = kafka.model_copy(update={"data_dir": shared_broker.data_dir})
    before = measure_disk_bytes(at_home, promoted)
    log, draw = KafkaLog(kafka), Random(1)
    log.make(changelog, STOCK_LEVELS.settings.partitions)
    for number in range(RECORDS):
        log.publish((changelog, 0), str(number).encode(), draw.randbytes(BYTES))
    log.flush()
    wait_until(  # a file system allocates some blocks a little later
        lambda: measure_disk_bytes(at_home, promoted) - before >= RECORDS * BYTES, "it has grown"
    )
    assert measure_disk_bytes(at_home, promoted) - before < 2 * RECORDS * BYTES
