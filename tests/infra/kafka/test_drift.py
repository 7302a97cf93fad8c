"""A cluster that is otherwise than the contracts say, and one in which nothing is safe."""

from dataclasses import replace

import pytest

from contracts import CONTRACTS, RECEIPTS
from infra.kafka import create_admin
from infra.kafka.drift import Cluster, Drift, Topic, find_drifts, find_refusals, inspect, mend
from infra.kafka.topics import build_config
from infra.settings import Settings
from infra.wait import wait_until

NAME = RECEIPTS.name
GOOD = Topic(4, 3, {**build_config(RECEIPTS.settings), "min.insync.replicas": "2"})
THREE = Cluster(brokers=3, auto_create=False, topics={NAME: GOOD})


CHANGED = {**GOOD.config, "retention.ms": "604800000"}
WEAK = Topic(4, 2, {**GOOD.config, "min.insync.replicas": "1"})


@pytest.mark.parametrize(
    ("topic", "brokers", "found"),
    [
        (GOOD, 3, []),
        (None, 3, [("topic", "one", "none", True)]),
        (replace(GOOD, partitions=8), 3, [("partitions", "4", "8", False)]),
        (replace(GOOD, config=CHANGED), 3, [("retention.ms", "-1", "604800000", True)]),
        (WEAK, 3, [("replication", "3", "2", False), ("min.insync.replicas", "2", "1", True)]),
        (WEAK, 1, []),
    ],
)
def test_what_is_otherwise_than_the_contract_says_is_found_and_what_may_be_mended(
    topic: Topic | None, brokers: int, found: list[tuple[str, str, str, bool]]
) -> None:
    cluster = Cluster(brokers, auto_create=False, topics={NAME: topic} if topic else {})
    assert [
        (drift.what, drift.expected, drift.found, drift.mendable)
        for drift in find_drifts(cluster, {NAME: RECEIPTS}, frozenset({NAME}))
    ] == found


def test_fewer_copies_than_three_brokers_can_keep_are_refused() -> None:
    [why] = find_refusals(THREE, copies=1)
    assert "KAFKA_REPLICATION_FACTOR is 1. Set it to 3" in why
    assert list(find_refusals(THREE, copies=3)) == []
    assert list(find_refusals(replace(THREE, brokers=1), copies=1)) == []


def test_a_cluster_that_makes_topics_by_itself_is_refused() -> None:
    [why] = find_refusals(replace(THREE, auto_create=True), copies=3)
    assert "auto.create.topics.enable should be false" in why


@pytest.mark.e2e
def test_a_real_broker_is_read_and_mended(kafka: Settings) -> None:
    client = create_admin(kafka)
    cluster = inspect(client, list(CONTRACTS))
    assert (cluster.brokers, cluster.auto_create) == (1, False)
    assert list(find_drifts(cluster, CONTRACTS, frozenset(CONTRACTS))) == []
    spoiled = {**build_config(RECEIPTS.settings), "retention.ms": "1000000"}
    other = replace(RECEIPTS.settings, config=spoiled)
    mend(client, list(find_drifts(cluster, {NAME: replace(RECEIPTS, settings=other)}, frozenset())))

    def find_drift() -> list[Drift]:
        return list(find_drifts(inspect(client, [NAME]), CONTRACTS, frozenset()))

    wait_until(lambda: bool(find_drift()), "the broker has the other setting")
    assert [(drift.what, drift.found) for drift in find_drift()] == [("retention.ms", "1000000")]
    mend(client, find_drift())
    wait_until(lambda: not find_drift(), "the broker has the contract's setting again")
