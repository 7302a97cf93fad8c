"""Parameters of route handlers: the sources of answers, what stands in the path, times, pages."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from infra.kafka import Offsets
from services.api.http.paging import CHARACTERS_MAX, NO_GENERATION, Page, PageRequest
from services.api.http.sources import Sources
from services.api.lake.tables import Lake
from services.api.store.mirror import Layout, read_offsets
from services.api.store.selection import Selection, match
from services.api.store.store import Store
from services.api.store.tables import Stored

LIMIT_DEFAULT = 50
LIMIT_MAX = 500
ID_CHARACTERS_MAX = 64


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

StoreId = Annotated[str, Path(description="the store", max_length=ID_CHARACTERS_MAX)]
Sku = Annotated[str, Path(description="the product", max_length=ID_CHARACTERS_MAX)]

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
