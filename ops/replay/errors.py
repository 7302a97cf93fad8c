"""Errors of a replay."""

from infra.errors import UserError
from ops.generations.record import Generation, Generations


class NotPromoted(UserError):
    """There is no promoted generation to compare with."""

    def __init__(self, pipeline: str) -> None:
        super().__init__(
            f"{pipeline} should have a promoted generation, but has none. See: make status"
        )


class NotComparable(UserError):
    """What readers follow has views of which this code has no contract any more."""

    def __init__(self, promoted: Generation, gone: list[str]) -> None:
        super().__init__(
            f"Generation {promoted.number} of {promoted.pipeline}, which readers follow, should "
            f"have views of this code's contracts, but has {', '.join(gone)}: nothing can be "
            f"compared with it. Its successor is promoted as it is: retail replay promote "
            f"{promoted.pipeline}"
        )


class NotWindowed(UserError):
    """Sums over the whole log cannot begin in the middle."""

    def __init__(self, pipeline: str, views: list[str]) -> None:
        super().__init__(
            f"--from a time is for views whose rows begin and end; {pipeline} writes "
            f"{', '.join(views)}, which add up from the log's first record. Leave --from out."
        )


class WhichOne(UserError):
    """It is not clear which generation to prune."""

    def __init__(self, known: Generations) -> None:
        there = ", ".join(f"{one.number} ({one.state.value})" for one in known.known) or "none"
        super().__init__(
            f"Expected one generation of {known.pipeline} that is not promoted, found of all: "
            f"{there}. Say which: retail replay prune {known.pipeline} --number N"
        )
