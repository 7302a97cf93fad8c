"""GET /v1/customers/{customer_id}/visits: the visits of a customer, the latest first."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import JSONResponse

from contracts import VISITS
from services.api.http.router import Router
from services.api.http.sources import FromStore
from services.api.routes import examples
from services.api.routes.rows import PAGE_PROBLEMS, Order, RowPage, RowsParameters, list_rows_of
from services.api.routes.views import TABLES

TABLE = TABLES[VISITS.name]

router = Router(tags=["shortcuts"])

CustomerId = Annotated[str, Path(description="the customer", max_length=192)]


@router.get(
    "/v1/customers/{customer_id}/visits",
    summary="The visits of a customer, the latest first",
    **examples.answer(RowPage, examples.ROW_PAGE, PAGE_PROBLEMS),
)
async def list_visits(
    store: FromStore, customer_id: CustomerId, query: RowsParameters
) -> JSONResponse:
    filters = {"customer_id": customer_id, "status": "counted"}
    return JSONResponse(await list_rows_of(store, TABLE, query, Order.NEWEST, filters))
