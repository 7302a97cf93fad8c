"""Whether a record is accepted. The record alone decides, so that a replay decides the same.

contracts/validation.py does the same in Python: the same names for the same faults, in the same
order.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from contracts import Contract, render_rule_sql
from contracts.times import MILLISECOND
from contracts.validation import FUTURE, LATE, UNDECODABLE, WRONG_KEY, WRONG_PARTITION

INT_END = 2**31
CHOOSE_PARTITION = "choose_partition"
"""The function of every session with the partition of a key: java/ChoosePartition.java."""

Check = tuple[Column, str]
"""A condition that a faulty record meets, and the name of the fault."""


def list_content_checks(contract: Contract, name: str, key: Column) -> list[Check]:
    """The possible faults of a record of the contract that do not depend on its timestamp.

    `name`: the column that holds its event.
    """
    event = F.col(name)
    return [
        # A required field is null: the body does not fit the schema of the frame.
        (event["event_id"].isNull() | get_event_time(contract, name).isNull(), UNDECODABLE),
        (~F.is_valid_utf8(join_texts(contract, name)), UNDECODABLE),
        *[(is_too_large(one), UNDECODABLE) for one in select_of_type(contract, name, "int")],
        (~key.eqNullSafe(build_expected_key(contract, name)), WRONG_KEY),
        *[(~F.expr(sql), rule) for rule, sql in render_rule_sql(contract, prefix=f"{name}.")],
    ]


def list_place_checks(contract: Contract) -> list[Check]:
    """The possible fault of a record's partition, by its columns `key` and `partition`."""
    expected = F.call_function(CHOOSE_PARTITION, F.col("key"), F.lit(contract.settings.partitions))
    return [(F.col("partition") != expected, WRONG_PARTITION)]


def list_time_checks(contract: Contract, name: str, published: Column) -> list[Check]:
    """The possible faults of a record's timestamp."""
    # In milliseconds: Spark can add nothing to its last timestamps.
    delay_ms = F.unix_millis(published) - F.unix_millis(get_event_time(contract, name))
    checks = []
    if contract.horizon is not None:
        checks.append((delay_ms > contract.horizon // MILLISECOND, LATE))
    if contract.skew is not None:
        checks.append((-delay_ms > contract.skew // MILLISECOND, FUTURE))
    return checks


def join_texts(contract: Contract, name: str) -> Column:
    """All texts of the event in one. Spark copies texts from Avro without a check, but other
    readers take only valid UTF-8.
    """
    return F.concat_ws("/", *select_of_type(contract, name, "string"))


def is_too_large(integers: Column) -> Column:
    """Whether one of the integers has more than 32 bits."""
    return F.coalesce(
        (F.array_min(integers) < -INT_END) | (F.array_max(integers) >= INT_END), F.lit(False)
    )


def select_of_type(contract: Contract, name: str, kind: str) -> list[Column]:
    """The values of each field of the type, as arrays."""
    event = F.col(name)
    own = [F.array(event[one.name]) for one in contract.fields if one.type == kind]
    of_items = [
        event[one.name][inner.name]
        for one in contract.fields
        for inner in one.fields
        if inner.type == kind
    ]
    return own + of_items


def get_event_time(contract: Contract, name: str) -> Column:
    return F.col(name)[contract.event_time]


def build_expected_key(contract: Contract, name: str) -> Column:
    """The key that the contract expects."""
    return F.concat_ws("/", *[F.col(name)[field].cast("string") for field in contract.key])
