"""What is of the simulator, and what Kafka took twice."""

from infra.kafka import Record
from ops.verify.log import number_records


def record(offset: int, number: int | None, partition: int = 0) -> Record:
    headers = [] if number is None else [("sequence", number.to_bytes(8, "big"))]
    return Record("public.sales.receipt.v1", partition, offset, 0, b"S001", b"", headers)


def test_a_batch_that_kafka_took_twice_is_of_the_simulator_once() -> None:
    log = [record(offset, number) for offset, number in enumerate([0, 1, 2, 1, 2, 3])]
    assert [number for _, number in number_records(log)] == [0, 1, 2, None, None, 3]


def test_each_partition_has_numbers_of_its_own_and_others_have_none() -> None:
    log = [record(0, 0), record(0, 0, partition=1), record(1, None), record(2, 1)]
    assert [number for _, number in number_records(log)] == [0, 0, None, 1]
