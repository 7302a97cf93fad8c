"""`docs/systems.md` has every name of the talk and the notes, each with those who say it."""

import re
from collections.abc import Iterator, Mapping

from infra.settings import locate_root

PAGE = locate_root() / "docs" / "systems.md"
NAMES: Mapping[str, str] = {
    "talk N1 N2 N3 N4": "Kafka",
    "talk N1 N2 N3": "Log; Commit log; Topic; Consumer group",
    "talk N1 N2": "Log compaction; Offset",
    "talk N1 N2 N4": "Confluent",
    "talk N1 N3": "Hadoop",
    "talk N1": "Changelog",
    "talk N2 N3 N4": "Replication",
    "talk N2 N3": "Spark Streaming; Partition",
    "talk N2 N4": "Kafka Streams",
    "talk N2": "Database triggers; ZooKeeper",
    "talk N3 N4": "Samza",
    "talk N3": "Storm; Stream data platform",
    "talk N4": "Flink",
    "talk": "Teradata; Data warehouse; HTTP; REST; OLTP; Service-oriented architecture; Python; Rx;"
    "RxJava; Mesos; Enterprise messaging; CEP; ESB; ISWIM paper; Raft; multi-Paxos; Oracle; MySQL;"
    "Yahoo; LinkedIn; Twitter databases; Functional data structures; Atomic transactions;"
    "Key-value store; KIP-28",
    "N1": "HDFS; Data locality",
    "N2 N3": "Broker; Pub/sub",
    "N2 N4": "Sliding window; SQL",
    "N2": "KStream; KTable; Stream-table duality; Tumbling window; Hopping window; Chubby; CQL;"
    "Blocking operators; Parallel pipelined join; Streaming query; Database notifications; Aurora;"
    "Message queues; Oracle Streams; StreamBase; Lambda architecture; Pull; At-least-once",
    "N3": "ActiveMQ; RabbitMQ; rsync; OLAP/time-series DB",
    "N4": "Spark 1; Spark 2; Beam; Cloud Dataflow; Runner; Watermark; Early results; Late results;"
    "Refinements; Event time; Processing time; Session window; Aligned window; Schema registry;"
    "Topic registry; Data dictionary; Proxy; Client library; Heroku; CSP; Serverless",
}
"""Every name in the sources, by which of them say it."""
FOREIGN = (
    "YARN",
    "Kubernetes",
    "RocksDB",
    "Kappa",
    "Espresso",
    "PNUTS",
    "Manhattan",
    "KSQL",
    "Avro",
)
"""In no source."""

ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
MARK = re.compile(r"(?:^|; )(\w+): ")


def list_rows(page: str) -> Iterator[tuple[list[str], list[str], str]]:
    """Names, sources and words of each row of the two tables of what sources say."""
    said = page[page.index("## What they say of systems") : page.index("## Measured")]
    for names, sources, words in ROW.findall(said):
        if sources not in ("whose", "---"):
            yield names.split(", "), sources.split(", "), words


def test_each_name_of_the_sources_is_there_with_those_who_say_it_and_no_other() -> None:
    expected = {
        name.strip(): sources.split()
        for sources, names in NAMES.items()
        for name in names.split(";")
    }
    rows = list(list_rows(PAGE.read_text()))
    listed = [name for names, _, _ in rows for name in names]
    assert sorted(listed) == sorted(expected)
    assert {name: sources for names, sources, _ in rows for name in names} == expected


def test_each_claim_is_marked_with_one_who_makes_it() -> None:
    for names, sources, words in list_rows(PAGE.read_text()):
        marks = MARK.findall(words)
        assert {*marks} <= {*sources, "we"}, names
        assert marks or len(sources) == 1 or "](" in words, names
        assert not any(name in words for name in FOREIGN), names
