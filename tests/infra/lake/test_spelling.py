"""Offsets are spelled as Spark does, and understood again."""

from infra.lake import spelled, understood


def test_offsets_are_spelled_by_topic_and_partition_and_understood_again() -> None:
    offsets = {("sales", 0): 5, ("stock", 2): 1, ("sales", 11): 9}
    by_topic = {"sales": {"0": 5, "11": 9}, "stock": {"2": 1}}
    assert spelled(offsets) == by_topic
    assert understood(by_topic) == offsets
