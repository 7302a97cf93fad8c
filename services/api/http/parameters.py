"""Parameters of route handlers: the sources of answers, what stands in the path, times, pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import fastapi
from fastapi import Depends, Query, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from infra.identities import AsSent, Edge
from infra.kafka import Offsets
from infra.security.tokens import End, Token
from infra.settings import THIS_MACHINE
from services.api.commands import Commands
from services.api.http.paging import CHARACTERS_MAX, NO_GENERATION, Page, PageRequest
from services.api.lake.tables import Lake
from services.api.store.audit import Audit
from services.api.store.marker import Marker
from services.api.store.mirror import Layout, read_offsets
from services.api.store.snapshots import Snapshots
from services.api.store.store import Store
from services.api.store.tables import Selection, Stored, match

LIMIT_DEFAULT = 50
LIMIT_MAX = 500
ID_CHARACTERS_MAX = 64


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


# Coroutines: FastAPI would call plain functions in a worker thread.


async def get_sources(request: Request) -> Sources:
    sources: Sources = request.app.state.sources
    return sources


async def get_store(request: Request) -> Store:
    return (await get_sources(request)).store


async def get_lake(request: Request) -> Lake:
    return (await get_sources(request)).lake


FromSources = Annotated[Sources, Depends(get_sources)]
FromStore = Annotated[Store, Depends(get_store)]
FromLake = Annotated[Lake, Depends(get_lake)]

StoreId = Annotated[str, fastapi.Path(description="the store", max_length=ID_CHARACTERS_MAX)]
Sku = Annotated[str, fastapi.Path(description="the product", max_length=ID_CHARACTERS_MAX)]

IdFilter = Annotated[str | None, Field(max_length=ID_CHARACTERS_MAX)]
"""The query parameter that asks for rows of one id or of one short text."""


class Parameters(BaseModel):
    """The query of a route. The API refuses undeclared parameters."""

    model_config = ConfigDict(extra="forbid")


NoParameters = Annotated[Parameters, Query()]
"""The query of a route that takes none."""


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("expected a moment of the years 1 to 9999 in UTC") from error


Moment = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""A moment of world time, with its zone."""


class PageQuery(Parameters):
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="entries per page")
    cursor: str | None = Field(
        None, max_length=CHARACTERS_MAX, description="`next` of the page before"
    )

    def request_page(
        self, question: str, types: tuple[type, ...], generation: int = NO_GENERATION
    ) -> PageRequest:
        """The page that the client asks for: `question` and `types` as in PageRequest."""
        return PageRequest(self.limit, self.cursor, question, types, generation)

    def read_page(
        self, snapshots: Snapshots, selection: Selection, question: str
    ) -> tuple[Page[Stored], Marker]:
        """The requested page of a view's rows, and its marker. Raises Problem."""
        with snapshots.open() as snapshot:
            generation = snapshot.marker.generation
            request = self.request_page(question, selection.types, generation)
            return request.select(snapshot.select, selection), snapshot.marker

    def request_newest(
        self, what: str, layout: Layout, **filters: str
    ) -> tuple[Selection, PageRequest]:
        """The rows that the filters select, the newest first, and the requested page of them.

        The parameters beside those of the page are filters, too: names of columns, and the values.
        Raises Problem for an invalid cursor, even while the table is loading.
        """
        filters |= self.model_dump(exclude=set(PageQuery.model_fields), exclude_none=True)
        selection = Selection(layout.table, match(filters), layout.newest_first, descending=True)
        request = self.request_page(f"{what} of {filters}", selection.types)
        request.find_place()
        return selection, request

    def read_newest(
        self, store: Store, what: str, layout: Layout, **filters: str
    ) -> tuple[Page[Stored], Offsets]:
        """That page, and up to where the topic has been read. Raises Problem."""
        selection, request = self.request_newest(what, layout, **filters)
        with store.open(layout) as connection:
            page = request.select(connection.execute, selection)
            return page, read_offsets(connection, layout.topic)


PageParameters = Annotated[PageQuery, Query()]
"""The query of a route to a list without filters."""
