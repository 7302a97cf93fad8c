"""Every fault by name, with its promise. What is not among them: docs/faults.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from contracts.validation import FUTURE, LATE
from generators.event import Dirt
from infra.supervisor.parts import ENGINE, PIPELINES, WORKER
from ops.faults import network, records
from ops.faults.actions import (
    damage_database,
    kill_part,
    lock_database,
    pause_part,
    reach_quota,
    refuse_quota,
    refuse_tearing,
    require,
    restart_broker,
    tear_checkpoint,
)
from ops.faults.fault import Fault, Promise, Scene

FLOOD_RECORDS = 5_000
COPIES = 10
BACKLOG_RECORDS = 300
WRONG_CLOCK_RECORDS = 300
STRANGER_RECORDS = 50


class Part(NamedTuple):
    """A process that may be killed and paused, and what is promised then."""

    name: str
    is_: str
    promise: Promise
    takes: frozenset[str] = frozenset()
    """The parts that end with it."""


SPARK = frozenset({WORKER, ENGINE})
AS_THEY_ARE = Promise("views are served as they are", True, 240, 240)

PARTS = (
    Part("broker", "Kafka", Promise("views are served; nothing can be published", True, 120, 120)),
    Part(
        "simulator",
        "the simulator",
        Promise("views are served; the world stands still", True, 60, 90),
    ),
    Part("clock", "the clock of an own world", Promise("all goes on", True, 60, 90)),
    Part(
        "quarantine", "the quarantine", Promise("views go on; rejected records wait", True, 60, 90)
    ),
    Part(PIPELINES, "the pipelines' supervisor", AS_THEY_ARE, SPARK),
    Part(WORKER, "the pipelines' Python", AS_THEY_ARE, SPARK),
    Part(ENGINE, "the pipelines' Spark", AS_THEY_ARE),
    Part("ordering", "the ordering gate", Promise("views go on; orders wait", True, 60, 120)),
    Part("markdowns", "the markdown gate", Promise("views go on; markdowns wait", True, 60, 120)),
    Part("supplier", "the supplier", Promise("views go on; confirmations wait", True, 60, 120)),
    Part("api", "the API", Promise("the log grows and pipelines go on", False, 90, 90)),
    Part("lake", "the lake", Promise("views go on; the archive stands still", True, 60, 240)),
)


def list_faults() -> Iterator[Fault]:
    for part in PARTS:
        yield Fault(
            f"kill-{part.name}",
            f"kill -9 of {part.is_}",
            part.promise,
            require(part.name),
            kill_part(part.name),
            ends=part.takes | {part.name},
        )
    for part in PARTS:
        yield Fault(
            f"pause-{part.name}",
            f"SIGSTOP of {part.is_}, and SIGCONT after --seconds",
            part.promise,
            require(part.name),
            pause_part(part.name),
        )
    yield from list_kafka_faults()
    yield from list_record_faults()
    yield Fault(
        "full-disk",
        "the simulator started with a quota that the data folder is beyond, then with its own",
        Promise("views are served; the world stands still, and says why", True, 60, 90),
        refuse_quota,
        reach_quota,
        frozenset({"simulator"}),
    )
    yield Fault(
        "torn-checkpoint",
        "a pipeline's newest checkpoint file cut in half, while the pipelines are stopped",
        Promise("views are served as they are, until a replay has caught up", True, 300, 300),
        refuse_tearing,
        tear_checkpoint,
        SPARK | {PIPELINES},
    )
    yield Fault(
        "damaged-database",
        "a database of the API overwritten but for its first page, while the API is stopped",
        Promise("the log grows and pipelines go on", False, 120, 120),
        require("api"),
        damage_database,
        frozenset({"api"}),
    )
    yield Fault(
        "locked-database",
        "another program keeps a database of the API locked for --seconds",
        Promise("views are served as they are, and no database is made anew", True, 60, 60),
        require("api"),
        lock_database,
    )


def list_kafka_faults() -> Iterator[Fault]:
    """Faults of Kafka beside its end, and of the network to it."""
    yield Fault(
        "restart-broker",
        "a stop of Kafka in good order, and its start",
        Promise("views are served; nothing can be published", True, 120, 120),
        require("broker"),
        restart_broker,
        frozenset({"broker"}),
    )
    yield Fault(
        "network-cut",
        "no byte passes between Kafka and the pipelines for --seconds, and no connection ends; "
        "before, both start again with a line between them, and afterwards without",
        Promise("views are served as they are; the log grows", True, 240, 240),
        network.refuse_network,
        network.cut_network,
        prepare=network.put_line_between,
    )


def list_record_faults() -> Iterator[Fault]:
    for name, does, stays, seconds, publish in RECORD_FAULTS:
        yield Fault(
            name,
            does,
            Promise(stays, True, seconds, seconds),
            require("broker"),
            partial(do_publish, publish=publish),
        )


def do_publish(scene: Scene, publish: Callable[[Scene], int]) -> str:
    count = publish(scene)
    return f"published {count:,} record{'' if count == 1 else 's'}"


RECORD_FAULTS: Sequence[tuple[str, str, str, float, Callable[[Scene], int]]] = (
    (
        "poison-record",
        "one receipt of damaged bytes",
        "views go on; the record is in the quarantine",
        60,
        lambda scene: records.publish_spoilt(scene.settings, Dirt.MALFORMED, 1),
    ),
    (
        "poison-flood",
        f"{FLOOD_RECORDS:,} receipts of damaged bytes at once",
        "views go on; each record is in the quarantine",
        90,
        lambda scene: records.publish_spoilt(scene.settings, Dirt.MALFORMED, FLOOD_RECORDS),
    ),
    (
        "unknown-schema",
        "a receipt written with a schema that nobody knows",
        "views go on; the record is in the quarantine",
        60,
        lambda scene: records.publish_spoilt(scene.settings, Dirt.UNKNOWN_SCHEMA, 1),
    ),
    (
        "duplicate-storm",
        f"the newest receipts published again, each {COPIES} times",
        "views go on; each receipt counts once",
        90,
        lambda scene: records.publish_copies(scene.settings, COPIES),
    ),
    (
        "silent-store",
        f"a store that was cut off for {records.OFFLINE_MINUTES} minutes of world time sends "
        f"{BACKLOG_RECORDS:,} receipts at once",
        "views go on; each receipt counts when it happened",
        60,
        lambda scene: records.publish_backlog(scene.settings, "FAULT-OFFLINE", BACKLOG_RECORDS),
    ),
    (
        "foreign-transactions",
        f"four transactions of {STRANGER_RECORDS} receipts each: aborted, committed, aborted, and "
        "open for --seconds before it is committed",
        "views go on up to the open one; what was aborted never counts",
        90,
        lambda scene: records.publish_transactions(
            scene.settings, STRANGER_RECORDS, scene.pause_seconds
        ),
    ),
    (
        "restarted-counter",
        f"{STRANGER_RECORDS} ids of receipts used again an hour later, for other receipts",
        "views go on; each receipt counts",
        60,
        lambda scene: records.publish_restarted(scene.settings, "FAULT-AGAIN", STRANGER_RECORDS),
    ),
    (
        "old-timestamps",
        f"{STRANGER_RECORDS} receipts of {records.BACK_MINUTES // 60} hours ago, stamped with "
        "that time, each twice",
        "views keep their last exact answer until replays take their place",
        300,
        lambda scene: records.publish_backdated(scene.settings, STRANGER_RECORDS),
    ),
    (
        "other-time-heartbeats",
        "heartbeats of 1970 and of the year 9999, stamped with those times and with the present",
        "views go on; none moves the watermark",
        60,
        lambda scene: records.publish_beats(scene.settings),
    ),
    (
        "other-partitioner",
        "the newest receipts published again by a client that hashes keys as librdkafka does",
        "views go on; each receipt counts once, misplaced ones are in the quarantine",
        90,
        lambda scene: records.publish_copies(scene.settings, in_place=False),
    ),
    (
        "rubbish-everywhere",
        "values and keys that nobody can read, and tombstones, in every topic, private ones too",
        "views go on; every reader goes on",
        90,
        lambda scene: records.publish_rubbish(scene.settings),
    ),
    (
        "clock-ahead",
        f"a store whose clock is {records.AHEAD_MINUTES} minutes ahead sends "
        f"{WRONG_CLOCK_RECORDS} receipts, and as many when it is right again",
        f"views go on; the first are in the quarantine as {FUTURE}, the others count",
        60,
        lambda scene: records.publish_by_wrong_clock(
            scene.settings, "FAULT-AHEAD", WRONG_CLOCK_RECORDS, records.AHEAD_MINUTES
        ),
    ),
    (
        "clock-behind",
        f"a store whose clock is {records.BEHIND_MINUTES} minutes behind sends "
        f"{WRONG_CLOCK_RECORDS} receipts, and as many when it is right again",
        f"views go on; the first are in the quarantine as {LATE}, the others count",
        60,
        lambda scene: records.publish_by_wrong_clock(
            scene.settings, "FAULT-BEHIND", WRONG_CLOCK_RECORDS, -records.BEHIND_MINUTES
        ),
    ),
)
"""Faults that stay in the log for ever, records that no client should publish: name, what it does,
what stays, the seconds of its promise, and how it publishes."""

FAULTS: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in list_faults()})
