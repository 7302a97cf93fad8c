"""Parameters that several routes share."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from services.api.http.cursors import CHARACTERS_MAX

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


def _to_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("expected a moment of the years 1 to 9999 in UTC") from error


Moment = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""A moment of world time, with its zone."""


CursorText = Annotated[
    str | None, Field(max_length=CHARACTERS_MAX, description="`next` of the page before")
]
"""The query parameter that asks for a later page of a list."""


class PageQuery(Parameters):
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX, description="entries per page")
    cursor: CursorText = None

    def select_filters(self) -> dict[str, str]:
        """The parameters beside those of the page that are set: columns to filter by, and values.

        For a query whose other parameters are all names of columns.
        """
        return self.model_dump(exclude=set(PageQuery.model_fields), exclude_none=True)


PageParameters = Annotated[PageQuery, Query()]
"""The query of a route to a list without filters."""
