"""Every fault by name, with its promise; and what is not among them."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from contracts.validation import FUTURE, LATE
from generators.event import Dirt
from infra.supervisor.parts import PIPELINES
from ops.faults import log_head, network, records, strangers
from ops.faults.actions import (
    AGAIN_STORE,
    AHEAD_STORE,
    BACKLOG_RECORDS,
    BEHIND_STORE,
    COPIES,
    FLOOD_RECORDS,
    OFFLINE_STORE,
    STRANGER_RECORDS,
    WRONG_CLOCK_RECORDS,
    damage_database,
    kill_part,
    lock_database,
    pause_part,
    publish,
    reach_quota,
    refuse_quota,
    refuse_tearing,
    require,
    restart_broker,
    set_clock_wrong,
    spoil,
    tear_checkpoint,
)
from ops.faults.fault import Fault, Promise
from ops.faults.processes import PARTS, SPARK

VIEWS_GO_ON = "views go on"


def list_faults() -> Iterator[Fault]:
    for part in PARTS:
        yield Fault(
            name=f"kill-{part.name}",
            does=f"kill -9 of {part.is_}",
            promise=part.promise,
            refusal=require(part.name),
            do=kill_part(part.name),
            ends=part.takes | {part.name},
        )
    for part in PARTS:
        yield Fault(
            name=f"pause-{part.name}",
            does=f"SIGSTOP of {part.is_}, and SIGCONT after --seconds",
            promise=part.promise,
            refusal=require(part.name),
            do=pause_part(part.name),
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
    """Faults of Kafka beside its end, of the network to it, and of its log."""
    yield Fault(
        "restart-broker",
        "a stop of Kafka in good order, and its start",
        Promise("views are served; nothing can be published", True, 120, 120),
        require("broker"),
        restart_broker,
        frozenset({"broker"}),
    )
    yield Fault(
        network.NAME,
        "no byte passes between Kafka and the pipelines for --seconds, and no connection ends; "
        "before, both start again with a line between them, and afterwards without",
        Promise("views are served as they are; the log grows", True, 240, 240),
        network.refuse_network,
        network.cut_network,
        prepare=network.put_line_between,
    )
    yield Fault(
        log_head.NAME,
        "DeleteRecords of half the movements that every live reader has passed; for good",
        Promise(
            f"{VIEWS_GO_ON}; a replay from zero says that the log begins later, and one from the "
            "archive may begin",
            True,
            60,
            240,
        ),
        log_head.refuse_deletion,
        log_head.delete_head,
        lacks=log_head.find_unsaid,
    )


def list_record_faults() -> Iterator[Fault]:
    """Faults that stay in the log for ever: records that no client should publish."""
    runs = require("broker")
    yield Fault(
        "poison-record",
        "one receipt of damaged bytes",
        Promise(f"{VIEWS_GO_ON}; the record is in the quarantine", True, 60, 60),
        runs,
        publish("damaged receipt", lambda one: spoil(one, Dirt.MALFORMED, 1)),
    )
    yield Fault(
        "poison-flood",
        f"{FLOOD_RECORDS:,} receipts of damaged bytes at once",
        Promise(f"{VIEWS_GO_ON}; each record is in the quarantine", True, 90, 90),
        runs,
        publish("damaged receipts", lambda one: spoil(one, Dirt.MALFORMED, FLOOD_RECORDS)),
    )
    yield Fault(
        "unknown-schema",
        "a receipt written with a schema that nobody knows",
        Promise(f"{VIEWS_GO_ON}; the record is in the quarantine", True, 60, 60),
        runs,
        publish("receipt of an unknown schema", lambda one: spoil(one, Dirt.UNKNOWN_SCHEMA, 1)),
    )
    yield Fault(
        "duplicate-storm",
        f"the newest receipts published again, each {COPIES} times",
        Promise(f"{VIEWS_GO_ON}; each receipt counts once", True, 90, 90),
        runs,
        publish("copies", lambda one: records.publish_copies(one.settings, COPIES)),
    )
    yield Fault(
        "silent-store",
        f"a store that was cut off for {records.OFFLINE_MINUTES} minutes of world time sends "
        f"{BACKLOG_RECORDS:,} receipts at once",
        Promise(f"{VIEWS_GO_ON}; each receipt counts when it happened", True, 60, 60),
        runs,
        publish(
            "receipts of a store that was cut off",
            lambda one: records.publish_backlog(one.settings, OFFLINE_STORE, BACKLOG_RECORDS),
        ),
    )
    yield from list_stranger_faults()
    yield from list_clock_faults()


def list_stranger_faults() -> Iterator[Fault]:
    """Faults of clients that are not this project's."""
    runs = require("broker")
    yield Fault(
        "foreign-transactions",
        f"four transactions of {STRANGER_RECORDS} receipts each: aborted, committed, aborted, and "
        "open for --seconds before it is committed",
        Promise(f"{VIEWS_GO_ON} up to the open one; what was aborted never counts", True, 90, 90),
        runs,
        publish(
            "receipts, half of them aborted",
            lambda one: strangers.publish_transactions(
                one.settings, STRANGER_RECORDS, one.pause_seconds
            ),
        ),
    )
    yield Fault(
        "restarted-counter",
        f"{STRANGER_RECORDS} ids of receipts used again an hour later, for other receipts",
        Promise(f"{VIEWS_GO_ON}; each receipt counts", True, 60, 60),
        runs,
        publish(
            "receipts, each id twice",
            lambda one: strangers.publish_restarted(one.settings, AGAIN_STORE, STRANGER_RECORDS),
        ),
    )
    yield Fault(
        "old-timestamps",
        f"{STRANGER_RECORDS} receipts of {strangers.BACK_MINUTES // 60} hours ago, stamped with "
        "that time, each twice",
        Promise(
            "views keep their last exact answer until replays take their place", True, 300, 300
        ),
        runs,
        publish(
            "receipts, each twice",
            lambda one: strangers.publish_backdated(one.settings, STRANGER_RECORDS),
        ),
    )
    yield Fault(
        "other-time-heartbeats",
        "heartbeats of 1970 and of the year 9999, stamped with those times and with the present",
        Promise(f"{VIEWS_GO_ON}; none moves the watermark", True, 60, 60),
        runs,
        publish("heartbeats", lambda one: strangers.publish_beats(one.settings)),
    )
    yield Fault(
        "other-partitioner",
        "the newest receipts published again by a client that hashes keys as librdkafka does",
        Promise(
            f"{VIEWS_GO_ON}; each receipt counts once, misplaced ones are in the quarantine",
            True,
            90,
            90,
        ),
        runs,
        publish("copies", lambda one: strangers.publish_elsewhere(one.settings)),
    )
    yield Fault(
        "rubbish-everywhere",
        "values and keys that nobody can read, and tombstones, in every topic, private ones too",
        Promise(f"{VIEWS_GO_ON}; every reader goes on", True, 90, 90),
        runs,
        publish("records of rubbish", lambda one: strangers.publish_rubbish(one.settings)),
    )


def list_clock_faults() -> Iterator[Fault]:
    """Faults of a store whose clock is wrong beyond what the contract allows."""
    for name, store_id, minutes, reason in (
        ("clock-ahead", AHEAD_STORE, records.AHEAD_MINUTES, FUTURE),
        ("clock-behind", BEHIND_STORE, -records.BEHIND_MINUTES, LATE),
    ):
        yield Fault(
            name,
            f"a store whose clock is {abs(minutes)} minutes {name.removeprefix('clock-')} sends "
            f"{WRONG_CLOCK_RECORDS} receipts, and as many when it is right again",
            Promise(
                f"{VIEWS_GO_ON}; the first are in the quarantine as {reason}, the others count",
                True,
                60,
                60,
            ),
            require("broker"),
            set_clock_wrong(store_id, minutes),
        )


FAULTS: Mapping[str, Fault] = MappingProxyType({one.name: one for one in list_faults()})

NOT_COVERED: Mapping[str, str] = MappingProxyType(
    {
        "a disk without any room": "filling the disk of a machine that others use is not safe: "
        "`full-disk` reaches a quota instead, which stops the world long before",
        "a wall clock that jumps": "it belongs to the machine, and setting it needs root. "
        "`clock-ahead` and `clock-behind` are the wrong clock of a store",
        "a torn file of Spark's state": "not tried yet. Only the newest offsets and the newest "
        "commit of a checkpoint are looked at before a start",
        "one broker of three, a Spark worker of several": "a shop of one machine has one of each. "
        "`retail fault run --cluster` does it in containers",
        "an unclean leader": "a shop of one machine has one copy of each partition. Of three "
        "brokers two have what was acknowledged and two make a majority, so it waits for one that "
        "has it: `tests/infra/broker/test_three.py`",
        "a network cut with lost packets, or by a firewall": "`network-cut` holds all bytes back "
        "in a proxy; the kernel's own means (`tc`, `iptables`) need root",
        "a power cut": "kill -9 leaves what the kernel has not written yet; a power cut does not",
    }
)
"""Faults that are not in the catalogue: why, or which test tries them."""
