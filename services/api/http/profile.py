"""The secure profile: the valid tokens, and the rate of requests that each may send."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from infra.security.tokens import End, Token


@dataclass(frozen=True)
class Profile:
    """The valid tokens and their limits."""

    list_tokens: Callable[[], Sequence[Token]]
    requests_per_second_max: float
    """The rate of one token; all requests without a valid token share one such rate."""
    requests_at_once_max: int
    find_wall_ms: Callable[[], int]
    list_ends: Callable[[], Iterable[End]] = tuple
    """When tokens and certificates end."""
