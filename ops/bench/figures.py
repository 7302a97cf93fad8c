"""A figure: a measured value, its aim, and its yardstick."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Aim:
    """The bound that a value should reach, in its own unit."""

    bound: float
    at_least: bool
    stretch: float | None = None
    """A better bound."""

    def is_met(self, measured: float) -> bool:
        return self._is_beyond(measured, self.bound)

    def is_stretch_met(self, measured: float) -> bool:
        return self.stretch is not None and self._is_beyond(measured, self.stretch)

    def _is_beyond(self, measured: float, bound: float) -> bool:
        return measured >= bound if self.at_least else measured <= bound


def aim_at_least(bound: float, stretch: float | None = None) -> Aim:
    return Aim(bound, at_least=True, stretch=stretch)


def aim_at_most(bound: float) -> Aim:
    return Aim(bound, at_least=False)


@dataclass(frozen=True)
class Yardstick:
    """Something simpler, measured in the same run on the same machine."""

    what: str
    measured: float
    """In the figure's unit."""
    aim: Aim | None = None
    """The aim for the figure as a percentage of the yardstick."""


@dataclass(frozen=True)
class Figure:
    what: str
    measured: float
    unit: str
    aim: Aim | None = None
    yardstick: Yardstick | None = None
    note: str = ""
    """What exactly the figure measures."""

    @property
    def percent(self) -> float:
        """Percent of the yardstick; raises ValueError where there is none."""
        if self.yardstick is None:
            raise ValueError(f"{self.what} should have a yardstick, but has none")
        return 100 * self.measured / self.yardstick.measured


@dataclass(frozen=True)
class Outcome:
    """The outcome of one part of the bench."""

    part: str
    figures: tuple[Figure, ...]
    seconds: float
    """How long the part took, with all starts."""
    failure: str | None = None
    """Why there are no more figures; None: the part is complete."""
