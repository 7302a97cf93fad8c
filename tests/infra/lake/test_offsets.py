"""Offsets are written as Spark does, and parsed again."""

from infra.lake import flatten_topics, group_by_topic


def test_offsets_are_spelled_by_topic_and_partition_and_understood_again() -> None:
    offsets = {("sales", 0): 5, ("stock", 2): 1, ("sales", 11): 9}
    by_topic = {"sales": {"0": 5, "11": 9}, "stock": {"2": 1}}
    assert group_by_topic(offsets) == by_topic
    assert flatten_topics(by_topic) == offsets
