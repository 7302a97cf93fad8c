"""The problems of a store that cannot answer now."""

from services.api.problem import Unavailable


class ViewMissing(Unavailable):
    """No promoted generation that may be read carries the view.

    `refused`: the invalid generation that carries it, and why it is invalid. `trouble`: why the
    control topics are not read.
    """

    def __init__(self, view: str, refused: str | None, trouble: str | None) -> None:
        super().__init__(
            "View withdrawn" if refused else "View not there yet",
            f"Expected a promoted generation of the pipeline that writes {view}, found "
            f"{refused or 'none'}{render_cause(trouble)}. See which pipelines run: make status.",
        )


class ViewLoading(Unavailable):
    """The promoted generation of the view is not loaded yet."""

    def __init__(self, view: str, progress: str) -> None:
        super().__init__(
            "View being loaded",
            f"Expected {view} loaded to a marker, found {progress}. "
            "Try again when GET /readyz says ready.",
        )


class MirrorLoading(Unavailable):
    """The mirror of the topic does not hold the whole topic yet."""

    def __init__(self, topic: str, reason: str) -> None:
        super().__init__(
            "Topic being loaded",
            f"Expected {topic} read to its end, but: {reason}. Try again in a second.",
        )


class NoWorldClock(Unavailable):
    """No world clock has been announced."""

    def __init__(self) -> None:
        super().__init__(
            "No world clock",
            "Expected a world clock to tell the time by, found none in private.control.clock.v1. "
            "The simulator announces it: make up.",
        )


class NotRecorded(Unavailable):
    """The log does not take the record of an action, so the action must not begin."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Not recorded",
            f"Expected to record the action before it begins, but: {reason}. Nothing was done; "
            "try again.",
        )


def render_cause(trouble: str | None) -> str:
    """The trouble in brackets, to end a sentence with; empty where there is none."""
    return f" ({trouble})" if trouble else ""
