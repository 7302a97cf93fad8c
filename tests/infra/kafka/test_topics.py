from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from contracts.validation import VALIDATED
from infra.kafka import KafkaDown, apply_topics, is_answering, topics
from infra.settings import Settings
from tests.ports import free_port_base

SPARK_MS_MAX = 2**63 // 1000


def test_a_broker_that_is_down_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Settings(data_dir=tmp_path, port_base=free_port_base())
    assert not is_answering(nowhere, seconds_max=0.2)
    monkeypatch.setattr(topics, "REQUEST_SECONDS_MAX", 0.2)
    with pytest.raises(KafkaDown, match=r"does not answer on 127\.0\.0\.1:\d+\. .*make up"):
        apply_topics(nowhere, {})


@pytest.mark.e2e
@pytest.mark.parametrize("far_ms", [SPARK_MS_MAX + 1, -SPARK_MS_MAX - 1, 2**63 - 1, -(2**63)])
def test_a_timestamp_that_spark_cannot_count_is_in_no_topic(kafka: Settings, far_ms: int) -> None:
    """A pipeline would end at such a record, and so would its replay."""
    client = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    errors: list[KafkaError | None] = []
    for topic in VALIDATED:
        client.produce(topic, timestamp=far_ms, on_delivery=lambda error, _: errors.append(error))
    assert client.flush(30) == 0
    refused = [error and error.code() for error in errors]
    assert refused == [KafkaError.INVALID_TIMESTAMP] * len(VALIDATED)
