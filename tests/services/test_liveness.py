"""The start of a service can be read by others, and each start is newer."""

import pytest

from infra.clock import get_wall_ms
from infra.settings import Settings
from services.liveness import read_start_ms, report_start

pytestmark = pytest.mark.e2e


def test_a_sign_says_when_a_service_last_came_up(kafka: Settings) -> None:
    for _ in range(2):
        before = get_wall_ms()
        report_start(kafka, "supplier")
        assert before <= read_start_ms(kafka, "supplier") <= get_wall_ms()
    report_start(kafka, "ordering")
    assert read_start_ms(kafka, "supplier") < read_start_ms(kafka, "ordering")
