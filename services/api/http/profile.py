"""The secure profile: whose requests are answered, and how many of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infra.security.tokens import Token


@dataclass(frozen=True)
class Profile:
    """Who may ask, and how often."""

    list_tokens: Callable[[], Sequence[Token]]
    requests_per_second_max: float
    """With one token; all that show no valid one share as much."""
    requests_at_once_max: int
    find_wall_ms: Callable[[], int]
