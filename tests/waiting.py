"""Waiting for a condition, with a limit; never for a length of time."""

from collections.abc import Callable

from infra.wait import until


def wait_until(condition: Callable[[], bool], what: str, seconds_max: float = 30.0) -> None:
    """Return when the condition holds; raises TimeoutError when it does not in time."""
    if not until(condition, seconds_max, poll_seconds=0.02):
        raise TimeoutError(f"Within {seconds_max:g} s this should hold: {what}")
