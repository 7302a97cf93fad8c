"""Topics, where there is no broker."""

from pathlib import Path

import pytest

from infra.kafka import KafkaDown, apply_topics, is_answering, topics
from infra.settings import Settings
from tests.ports import free_port_base


@pytest.fixture
def nowhere(tmp_path: Path) -> Settings:
    """Settings of a broker that does not run."""
    return Settings(data_dir=tmp_path, port_base=free_port_base())


def test_a_broker_that_does_not_run_does_not_answer(nowhere: Settings) -> None:
    assert not is_answering(nowhere, seconds_max=0.2)


def test_a_broker_that_does_not_run_is_said_with_what_to_do(
    nowhere: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "REQUEST_SECONDS_MAX", 0.2)
    with pytest.raises(KafkaDown, match=r"does not answer on 127\.0\.0\.1:\d+\. .*make up"):
        apply_topics(nowhere, {})
