"""Slots: the number of long answers of one kind that the app gives at once."""

from http import HTTPStatus
from threading import BoundedSemaphore

from services.api.http.problems import Problem

RETRY_SECONDS = 5


class Slots:
    """The slots of one kind of answer, such as `exports`. Each taken slot is freed once."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._free = BoundedSemaphore(most)

    def take(self) -> None:
        """Take a slot. Raises Problem when none is free."""
        if not self._free.acquire(blocking=False):
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"Too many {self._kind}",
                f"Expected at most {self._most} {self._kind} at a time, found more. Try again when "
                "one of them has ended.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )

    def free(self) -> None:
        self._free.release()
