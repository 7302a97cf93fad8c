"""Parameters that several routes share: of the path, of time, and of the pages of a list."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from services.api.http.paging import CHARACTERS_MAX, NO_GENERATION, PageRequest
from services.api.store.mirror import Layout
from services.api.store.selection import Selection, match

LIMIT_DEFAULT = 50
LIMIT_MAX = 500
ID_CHARACTERS_MAX = 64

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


PageParameters = Annotated[PageQuery, Query()]
"""The query of a route to a list without filters."""
