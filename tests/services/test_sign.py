"""A service's sign is there for whoever asks, and a newer one after each start."""

import pytest

from infra.settings import Settings
from services.clock import wall_ms
from services.sign import give, given_ms

pytestmark = pytest.mark.e2e


def test_a_sign_says_when_a_service_last_came_up(kafka: Settings) -> None:
    for _ in range(2):
        before = wall_ms()
        give(kafka, "supplier")
        assert before <= given_ms(kafka, "supplier") <= wall_ms()
    give(kafka, "ordering")
    assert given_ms(kafka, "supplier") < given_ms(kafka, "ordering")
