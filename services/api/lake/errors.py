"""The reasons why the lake cannot answer now. `http` makes a problem document of each."""

from contracts import Contract


class LakeError(Exception):
    """The lake cannot answer now."""


class LakeMissing(LakeError):
    """The lake has no table of the topic's events, or cannot read it."""

    def __init__(self, topic: Contract, found: str) -> None:
        super().__init__(f"{topic.name}: {found}")
        self.topic = topic
        self.found = found


class LakeBusy(LakeError):
    """The number of concurrent readers of the lake is at its limit."""


class LakeTooSlow(LakeError):
    """A query of the lake exceeded its time limit."""
