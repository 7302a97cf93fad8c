"""Errors of a store that cannot answer now. `http` makes a problem document of each."""


class StoreError(Exception):
    """The store cannot answer now; a later attempt may succeed."""


class ViewMissing(StoreError):
    """No promoted generation that may be read carries the view.

    `refused`: the invalid generation that carries it, and why it is invalid. `trouble`: why the
    control topics are not read.
    """

    def __init__(self, view: str, refused: str | None, trouble: str | None) -> None:
        super().__init__(f"{view}: {refused or 'no promoted generation'}{render_cause(trouble)}")
        self.view, self.refused, self.trouble = view, refused, trouble


class ViewLoading(StoreError):
    """The promoted generation of the view is not loaded yet."""

    def __init__(self, view: str, progress: str) -> None:
        super().__init__(f"{view}: {progress}")
        self.view, self.progress = view, progress


class MirrorLoading(StoreError):
    """The mirror of the topic does not hold the whole topic yet."""

    def __init__(self, topic: str, reason: str) -> None:
        super().__init__(f"{topic}: {reason}")
        self.topic, self.reason = topic, reason


class NoWorldClock(StoreError):
    """No world clock has been announced."""


class NotRecorded(StoreError):
    """The log does not take the record of an action, so the action must not begin."""


def render_cause(trouble: str | None) -> str:
    """The trouble in brackets, to end a sentence with; empty where there is none."""
    return f" ({trouble})" if trouble else ""
