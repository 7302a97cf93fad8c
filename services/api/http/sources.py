"""The sources of answers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.identities import AsSent, Edge
from infra.security.tokens import End, Token
from infra.settings import THIS_MACHINE
from services.api.commands import Commands
from services.api.lake.tables import Lake
from services.api.store.audit import Audit
from services.api.store.store import Store


@dataclass(frozen=True)
class Profile:
    """The secure profile: the valid tokens, and the rate of requests that each may send."""

    list_tokens: Callable[[], Sequence[Token]]
    requests_per_second_max: float
    """The rate of one token; all requests without a valid token share one such rate."""
    requests_at_once_max: int
    find_wall_ms: Callable[[], int]
    list_ends: Callable[[], Iterable[End]] = tuple
    """When tokens and certificates end."""


@dataclass(frozen=True)
class Sources:
    """The sources of one app; `app.state.sources` holds them."""

    store: Store
    lake: Lake
    reports: Path
    """The folder of the differences that `retail replay` writes."""
    commands: Commands
    """The commands that clients may run."""
    audit: Audit
    """The record of commands and refusals."""
    hosts: Sequence[str] = THIS_MACHINE
    """The names that the API answers to."""
    profile: Profile | None = None
    """Who may ask what; None: every client of the API may read and publish."""
    edge: Edge = field(default_factory=AsSent)
    """The transformation of a posted event before it is published."""
