"""Waiting ends with the thing itself, or with the limit."""

from infra.wait import until


def test_waiting_ends_when_it_happens() -> None:
    answers = iter([False, False, True])
    assert until(lambda: next(answers), seconds_max=5, poll_seconds=0)


def test_waiting_ends_when_the_time_is_over() -> None:
    assert not until(lambda: False, seconds_max=0)
