"""Waiting ends with the thing itself, or with the limit."""

from infra.wait import ask_until, wait_for


def test_waiting_ends_when_the_time_is_over() -> None:
    assert not wait_for(lambda: False, seconds_max=0)


def test_asking_ends_with_the_answer_that_is_looked_for() -> None:
    answers = iter([1, 2, 3])
    assert ask_until(lambda: next(answers), lambda answer: answer == 2, 5, poll_seconds=0) == 2
