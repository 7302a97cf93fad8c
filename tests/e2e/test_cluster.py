"""Three brokers, a Spark cluster, three APIs, two suppliers: the loss of any one loses no data."""

import json
import time
from collections.abc import Iterator
from functools import partial

import pytest
from confluent_kafka import TopicCollection

from contracts import HEARTBEATS, PURCHASE_ORDERS, RECEIPTS, Contract
from infra.kafka import create_admin, read_end_offsets
from infra.wait import wait_for
from ops.faults.healing import fetch_ages, watch
from tests.e2e.compose import Composed, composed
from tests.e2e.loop import WORLD, await_soon, check_each_step_is_taken_once, list_arrived
from tests.e2e.shop import Shop
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.docker, pytest.mark.e2e, pytest.mark.timeout(900)]

BROKERS = ("broker", "broker-2", "broker-3")
PIPELINES = ("inventory", "reorder")
CALMER = {**WORLD, "simulator_speed": 600, "pipeline_seconds_per_batch_min": 5}
"""A day in 144 seconds, and few batches: there are many more processes here than cores."""
SHARED_SECONDS_MAX = 60.0
STALE_SECONDS_MAX = 180.0
WORKERS = """
import json
from ops.cli.health import read_cluster
from infra.settings import read_settings
print(json.dumps(read_cluster(read_settings())["workers"]))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    folder, seed = tmp_path_factory.mktemp("a cluster"), create_random("a cluster").getrandbits(31)
    with composed(folder, seed, ",".join(PIPELINES), nodes=3, **CALMER) as shop:
        # The first API is ready with the first pipeline that it serves.
        await_soon(lambda: list_served(shop) == set(PIPELINES), "every pipeline is served")
        yield shop


def test_every_record_is_kept_three_times(cluster: Composed) -> None:
    client = create_admin(cluster.settings)
    described = client.describe_topics(TopicCollection([RECEIPTS.name]))
    partitions = described[RECEIPTS.name].result(10).partitions
    assert all(len(partition.replicas) == 3 for partition in partitions)


def test_two_suppliers_divide_the_stores(cluster: Composed) -> None:
    client = create_admin(cluster.settings)

    def shares() -> list[set[int]]:
        group = client.describe_consumer_groups(["supplier"])["supplier"].result(10)
        return [
            {assigned.partition for assigned in member.assignment.topic_partitions}
            for member in group.members
        ]

    assert wait_for(lambda: len(shares()) == 2 and all(shares()), SHARED_SECONDS_MAX)
    first, second = shares()
    assert not first & second
    every = read_end_offsets(client, [PURCHASE_ORDERS.name])
    assert first | second == {partition for _, partition in every}


def test_one_broker_of_three_may_be_stopped(cluster: Composed) -> None:
    gone = create_random("a broker to be stopped").choice(BROKERS)
    await_soon(lambda: is_in_sync(cluster), "all replicas are in sync")
    cluster.compose("stop", gone)
    await_progress(cluster, RECEIPTS)
    check_exact(cluster)
    cluster.compose("start", gone)
    await_soon(lambda: is_in_sync(cluster), "all replicas are in sync again")


def test_a_lost_part_is_made_up_for_and_comes_back(cluster: Composed) -> None:
    """Meanwhile another API answers every request, with what is not much older than the loss."""
    service = create_random("a part to be lost").choice([*BROKERS, "api-2", "supplier"])
    await_soon(lambda: is_in_sync(cluster), "all replicas are in sync")
    lost, *_ = cluster.containers(service)
    with watch(PIPELINES, partial(fetch_ages, cluster.settings)) as sight:
        await_soon(lambda: sight.begun, "the age of each answer is known")
        sight.forget()
        began = time.monotonic()
        cluster.kill(lost["Name"])
        await_progress(cluster, RECEIPTS)
        lasted = time.monotonic() - began
    assert sight.unanswered_seconds == 0
    assert sight.stale_seconds <= lasted + STALE_SECONDS_MAX
    cluster.compose("start", service)
    await_soon(lambda: is_in_sync(cluster), "all replicas are in sync again")
    check_exact(cluster)


def test_a_worker_that_is_added_takes_what_a_killed_one_leaves(cluster: Composed) -> None:
    await_soon(lambda: len(list_used_workers(cluster)) == 2, "both workers work")
    before = list_used_workers(cluster)
    first, *_ = cluster.containers("spark-worker")
    cluster.compose("up", "--detach", "--wait", "--no-recreate", "--scale", "spark-worker=3")
    cluster.kill(first["Name"])
    await_soon(lambda: list_used_workers(cluster) - before, "the added worker works")
    await_progress(cluster)


def test_each_api_catches_up_and_serves_the_same(cluster: Composed) -> None:
    [second] = cluster.containers("api-2")
    cluster.kill(second["Name"])
    await_progress(cluster)
    cluster.compose("up", "--detach", "--wait", "--no-recreate", "api-2")
    for node in cluster.nodes:
        check_exact(Shop(node.model_copy(update={"pipelines": "inventory"})))


def test_a_promotion_reaches_every_api_before_it_counts(cluster: Composed) -> None:
    command = ("python", "-m", "ops.cli.main", "replay", "start", "inventory", "--promote")
    cluster.compose("exec", "--no-TTY", "inventory", *command)
    assert [find_generation(Shop(node), "inventory") for node in cluster.nodes] == [2, 2, 2]


def test_nothing_was_lost_and_no_order_shipped_twice(cluster: Composed) -> None:
    await_soon(lambda: list_arrived(cluster), "a delivery is received")
    check_exact(cluster)
    check_each_step_is_taken_once(cluster)


def test_each_ends_by_itself_in_its_time_of_grace(cluster: Composed) -> None:
    cluster.stop()


def is_in_sync(shop: Shop) -> bool:
    """Whether each partition's replicas are all in sync, those of Kafka's own topics too.

    While one is behind on a busy machine, another may be the only one with the newest records: who
    stops that one waits until it is back.
    """
    topics = create_admin(shop.settings).list_topics(timeout=10).topics.values()
    partitions = [partition for topic in topics for partition in topic.partitions.values()]
    return all(set(partition.isrs) == set(partition.replicas) for partition in partitions)


def await_progress(shop: Shop, topic: Contract = HEARTBEATS) -> None:
    """Wait until the topic has a new record, and all pipelines have read beyond it.

    A heartbeat follows all records of its minute; there is one at night, too.
    """
    before = count_records(shop, topic)
    await_soon(lambda: count_records(shop, topic) > before, "the simulator publishes")
    markers = find_batches(shop)
    await_soon(
        lambda: all(batch > markers[name] + 1 for name, batch in find_batches(shop).items()),
        "every pipeline goes on",
    )


def count_records(shop: Shop, topic: Contract) -> int:
    return sum(read_end_offsets(create_admin(shop.settings), [topic.name]).values())


def find_batches(shop: Shop) -> dict[str, int]:
    """The last batch of each served pipeline."""
    return {name: shop.get(f"/v1/pipelines/{name}")["as_of"]["batch"] for name in PIPELINES}


def list_served(shop: Shop) -> set[str]:
    """The pipelines whose views are loaded."""
    pipelines = shop.get("/v1/pipelines")["pipelines"]
    return {pipeline["pipeline"] for pipeline in pipelines if "as_of" in pipeline}


def check_exact(shop: Shop) -> None:
    assert all(verdict["exact"] for verdict in shop.verify().values())


def find_generation(shop: Shop, pipeline: str) -> int:
    return int(shop.get(f"/v1/pipelines/{pipeline}")["generation"])


def list_used_workers(shop: Composed) -> set[str]:
    """The workers with taken task slots, by Spark's master."""
    answer = shop.compose("exec", "--no-TTY", "spark-master", "python", "-c", WORKERS)
    alive = [worker for worker in json.loads(answer) if worker["state"] == "ALIVE"]
    return {worker["id"] for worker in alive if worker["coresused"]}
