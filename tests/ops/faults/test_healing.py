from unittest.mock import Mock, call

import pytest

from infra.settings import Settings
from infra.wait import wait_until
from ops.faults import healing
from ops.faults.healing import Ages, Sight, heal, watch

FRESH: Ages = {"inventory": 0.5, "fraud": 0.0}


def test_an_answer_ages_until_a_newer_one_comes() -> None:
    seen = Sight(FRESH)
    seen.note(10.0, 10.0, FRESH)
    seen.note(14.0, 14.5, {"inventory": None, "fraud": 0.0})  # of this one it is not known
    assert seen.stale_seconds == 5.0  # what was held at 9.5
    seen.note(15.0, 15.0, FRESH)
    assert seen.stale_seconds == 5.0


def test_nothing_is_old_before_every_age_is_known() -> None:
    seen = Sight(FRESH)
    seen.note(10.0, 10.0, {"inventory": 60.0, "fraud": None})
    assert (seen.begun, seen.stale_seconds) == (False, 0.0)
    seen.note(11.0, 11.0, {"inventory": None, "fraud": 1.0})
    assert (seen.begun, seen.stale_seconds) == (True, 61.0)


def test_silence_lasts_from_the_first_request_without_an_answer_to_the_next_answer() -> None:
    seen = Sight(FRESH)
    for asked, now, ages in ((1.0, 1.0, FRESH), (2.0, 3.0, None), (4.0, 5.0, None)):
        seen.note(asked, now, ages)
    assert seen.unanswered_seconds == 3.0
    seen.note(6.0, 6.5, FRESH)
    seen.note(9.0, 9.0, FRESH)
    assert seen.unanswered_seconds == 4.5
    seen.note(20.0, 21.0, None)
    assert seen.unanswered_seconds == 4.5


def test_what_was_before_the_fault_is_forgotten_but_not_what_is_held() -> None:
    seen = Sight(FRESH)
    seen.note(1.0, 9.0, FRESH)
    seen.forget()
    assert (seen.begun, seen.stale_seconds) == (True, 0.0)


def test_whoever_watches_goes_on_when_nobody_answers() -> None:
    answers: list[Ages] = []

    def fetch() -> Ages:
        if not answers:
            raise ConnectionRefusedError
        return answers[0]

    with watch(FRESH, fetch) as seen:
        wait_until(lambda: seen.unanswered_seconds > 0, "silence is noted")
        answers.append(FRESH)
        wait_until(lambda: seen.begun, "an answer is noted")


def test_the_ends_to_be_covered_are_taken_once_and_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ({("public.sales.receipt.v1", 0): end} for end in (1, 2))
    ends = Mock(side_effect=[TimeoutError("the broker is away"), first, second])
    lacking = Mock(side_effect=[iter(["something"]), iter(["something"]), iter(())])
    monkeypatch.setattr(healing, "POLL_SECONDS", 0)
    monkeypatch.setattr(healing, "read_ends", ends)
    monkeypatch.setattr(healing, "list_lacking", lacking)
    healed, _ = heal(settings := Settings(), {}, 30.0)
    assert healed is not None
    assert lacking.call_args_list == [call(settings, {}, frozenset(), 0, first)] * 3
