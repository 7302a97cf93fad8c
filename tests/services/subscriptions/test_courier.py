"""What is written down of an attempt that failed."""

import pytest

from contracts import PROGRESS, build_model, decode
from services.subscriptions.courier import ERROR_CHARACTERS_MAX, park
from services.subscriptions.records import PARKED, Progress
from services.subscriptions.webhook import Undelivered


@pytest.mark.crosses("services/subscriptions/courier/ERROR_CHARACTERS_MAX")
@pytest.mark.parametrize("more", [-1, 0, 1, 100_000])
def test_of_a_long_error_the_beginning_is_kept(more: int) -> None:
    progress = Progress(subscription_id="9f31c0d2a4b5e6f7", retry_at=1)
    park(progress, Undelivered("x" * (ERROR_CHARACTERS_MAX + more)))
    row = decode(progress.to_record().value).value
    build_model(PROGRESS).model_validate(row)
    assert (row["state"], row["retry_at"]) == (PARKED, None)
    assert row["error"] == "x" * min(ERROR_CHARACTERS_MAX, ERROR_CHARACTERS_MAX + more)
